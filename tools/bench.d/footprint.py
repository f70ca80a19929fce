# SPDX-License-Identifier: Apache-2.0
"""The cost of the profiler itself: time to attach, CPU time, memory, disk."""
import json
import statistics
import time
from pathlib import Path

import nodes
from figures import Figure
from recording import folder, record, running

ATTACHES = 7


def attach(release, _options):
    """Attach to nodes with the modules that OTP loads by itself, and with 3,000 more."""
    for count, most in ((0, 250), (3000, 1000)):
        with nodes.Node(release, "modules", f"count={count}") as node, folder() as out:
            modules = node.report()["modules"]
            took = [record(node.pid, 0.5, 99, out / "x.bfr")["attach_ms"]
                    for _ in range(ATTACHES)]
        yield Figure(f"attach, {modules} modules: median of {ATTACHES}, ms",
                     statistics.median(took), "{:.0f}", most=most)
        yield Figure(f"attach, {modules} modules: slowest, ms", max(took), "{:.0f}")


def peak_kb(pid):
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise RuntimeError(f"process {pid} has no memory")


def profiler(release, options):
    """Measure a long run at the default frequency, and one of the same length at ten times that:
    samples grow tenfold, stacks do not."""
    for hz in (99, 999):
        with nodes.Node(release, "request") as node, folder() as out:
            time.sleep(1)
            stats_path = out / "stats.json"
            with running(node.pid, hz, out / "x.bfr", "--stats", stats_path) as process:
                time.sleep(options.long / 2)
                half = peak_kb(process.pid)
                time.sleep(options.long / 2)
                end = peak_kb(process.pid)
            stats = json.loads(stats_path.read_text())
            size = (out / "x.bfr").stat().st_size
        name = f"{options.long} s at {hz} Hz"
        yield Figure(f"{name}: CPU of the profiler, % of a core",
                     100 * stats["profiler_cpu_ms"] / stats["duration_ms"], "{:.2f}",
                     most=1 if hz == 99 else None)
        yield Figure(f"{name}: memory after half of it, MB", half / 1024, "{:.1f}")
        yield Figure(f"{name}: memory at the end, MB", end / 1024, "{:.1f}", most=64)
        yield Figure(f"{name}: recording, bytes a sample", size / stats["samples"], "{:.1f}",
                     most=100)
        yield Figure(f"{name}: samples", stats["samples"], "{:.0f}")
        yield Figure(f"{name}: samples lost", stats["lost_events"], "{:.0f}")
