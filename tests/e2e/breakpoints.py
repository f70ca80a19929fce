# SPDX-License-Identifier: Apache-2.0
"""Hardware breakpoints, tried without beamflame."""
import ctypes
import functools
import os
import struct
import unittest

import beamflame
from uprobe_counters import UprobeCounters

PERF_TYPE_BREAKPOINT, HW_BREAKPOINT_X = 5, 4
DISABLED, EXCLUDE_KERNEL = 1, 1 << 5
CALLS = 10


def breakpoint_in(tid, address, flags=DISABLED):
    """Take a hardware breakpoint of a thread, as a debugger does; return its descriptor."""
    # struct perf_event_attr, 112 bytes: type, size, ..., flags, ..., bp_type, bp_addr, bp_len
    attr = struct.pack("<II5QIIQQ", PERF_TYPE_BREAKPOINT, 112, 0, 0, 0, 0, flags | EXCLUDE_KERNEL,
                       0, HW_BREAKPOINT_X, address, ctypes.sizeof(ctypes.c_long))
    return UprobeCounters.open(ctypes.create_string_buffer(attr.ljust(112, b"\0"), 112), tid)


@functools.cache
def work():
    """True if the kernel counts hits of breakpoints. Some hypervisors accept breakpoints that are
    never hit."""
    function = ctypes.CDLL(None).labs
    try:
        fd = breakpoint_in(0, ctypes.cast(function, ctypes.c_void_p).value, flags=0)
    except OSError:
        return False
    for _ in range(CALLS):
        function(-1)
    count = struct.unpack("<Q", os.read(fd, 8))[0]
    os.close(fd)
    return count == CALLS


def require():
    """Skip the test if BPF programs can't be loaded, or if breakpoints are never hit. This check does not
    use beamflame, so that an error of beamflame is not taken for a limit of the machine."""
    beamflame.require()
    if not work():
        raise unittest.SkipTest("hardware breakpoints of this machine are never hit")
