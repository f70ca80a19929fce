# SPDX-License-Identifier: Apache-2.0
"""The cost of a trap, measured without beamflame."""
import ctypes
import functools
import mmap
import os
import tempfile
import time
import unittest

from uprobe_counters import UprobeCounters

CODE = b"\x55\x5d\xc3"  # push %rbp, which the kernel emulates; pop %rbp; ret
CALLS, ROUNDS = 2000, 10
SLOW_US = 3


def map_code(fd):
    """Map the file for execution. Writable memory, as of Python's own mmap, has no probes."""
    mapped = ctypes.CDLL(None).mmap
    mapped.restype = ctypes.c_void_p
    return mapped(None, ctypes.c_size_t(mmap.PAGESIZE), mmap.PROT_READ | mmap.PROT_EXEC,
                  mmap.MAP_PRIVATE, fd, ctypes.c_long(0))


def us_per_call(function):
    began = time.perf_counter_ns()
    for _ in range(CALLS):
        function()
    return (time.perf_counter_ns() - began) / CALLS / 1000


@functools.cache
def cost_us():
    """The time that a probe adds to each call of a function, in microseconds."""
    with tempfile.TemporaryFile() as file:
        file.write(CODE.ljust(mmap.PAGESIZE, b"\0"))
        file.flush()
        address = map_code(file.fileno())
    function = ctypes.CFUNCTYPE(None)(address)
    bare = min(us_per_call(function) for _ in range(ROUNDS))
    probe = UprobeCounters(os.getpid(), {"code": address})
    probed = min(us_per_call(function) for _ in range(ROUNDS))
    if probe.close()["code"] != CALLS * ROUNDS:
        raise AssertionError("the probe has not counted each call")
    return probed - bare


def require_fast():
    """Skip a test that needs many traps a second. Some hypervisors handle each trap themselves, which
    takes ten times as long."""
    if cost_us() > SLOW_US:
        raise unittest.SkipTest(f"a trap takes {cost_us():.1f} us, more than {SLOW_US} us")
