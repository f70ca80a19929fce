# SPDX-License-Identifier: Apache-2.0
"""The effect of starting and stopping on the machine: the longest time that a CPU did not run a
program that wants to run every 5 ms, and suspect lines of the kernel's log."""
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import beamflame
import nodes
from figures import Figure
from recording import folder

HERTZ = (99, 499, 999)
RECORDING = 0.2  # seconds
BUSY = 2  # per CPU, each wants all of it; for a load average of 20 there are 20
SUSPECT = ("lockup", "stall", "took too long", "BUG", "WARNING", "hung", "leaking")

# One process for each CPU. Prints each delay that is longer than the longest one so far.
MONITOR = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
last, most = time.monotonic(), 0
while os.getppid() == int(sys.argv[2]):
    time.sleep(0.005)
    now = time.monotonic()
    if now - last > most:
        most = now - last
        print(most, flush=True)
    last = now
"""


@contextmanager
def monitors(gaps):
    """Watch each CPU inside the block; then append the longest delay of each to `gaps`."""
    started = [subprocess.Popen([sys.executable, "-c", MONITOR, str(cpu), str(os.getpid())],
                                stdout=subprocess.PIPE, text=True)
               for cpu in sorted(os.sched_getaffinity(0))]
    try:
        yield
    finally:
        for monitor in started:
            monitor.terminate()
            said, _ = monitor.communicate()
            gaps.append(max(map(float, said.split()), default=0))


@contextmanager
def programs(count):
    """Run this many programs that want a CPU."""
    started = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for program in started:
            program.send_signal(signal.SIGKILL)
            program.wait()


def kernel_log():
    return subprocess.run(["dmesg"], capture_output=True, text=True, check=True).stdout.splitlines()


def start_and_stop(pid, hz, count, out, clock):
    """Make short recordings. A node that is half idle may have no sample in so short a time."""
    for _ in range(count):
        done = beamflame.run("-q", "-p", pid, "-F", hz, "-d", RECORDING, "--clock", clock, "-o",
                             out / "x.bfr", timeout=300)
        if done.returncode not in (beamflame.DONE, beamflame.NO_SAMPLES):
            raise RuntimeError(f"exit code {done.returncode}: {done.stderr}")


def stalls(release, options):
    """Make `options.starts` recordings, in equal parts on an idle machine, on a busy one, and
    beside 20 programs that want a CPU. Watch as long a time without beamflame."""
    conditions = {"idle": 0, "busy": BUSY * os.cpu_count(), "load 20": 20}
    each = max(1, options.starts // (len(conditions) * len(HERTZ)))
    before = kernel_log()

    for name, count in conditions.items():
        with ExitStack() as stack:
            node = stack.enter_context(nodes.Node(release, "halfidle"))
            out = stack.enter_context(folder())
            stack.enter_context(programs(count))
            with_it, without = [], []
            began = time.monotonic()
            with monitors(with_it):
                for hz in HERTZ:
                    start_and_stop(node.pid, hz, each, out, options.clock)
            took = time.monotonic() - began
            with monitors(without):
                time.sleep(took)
        yield Figure(f"{name}: longest stall without, s ({took:.0f} s)", max(without), "{:.3f}")
        yield Figure(f"{name}: longest stall, s ({len(HERTZ) * each} starts, {options.clock})",
                     max(with_it), "{:.3f}", most=max(0.3, 1.5 * max(without)))
    suspect = [line for line in kernel_log()[len(before):] if any(s in line for s in SUSPECT)]
    yield Figure("suspect lines in the kernel's log", len(suspect), "{:.0f}", most=0)
    for line in suspect:
        print(f"     {line}", flush=True)
