# SPDX-License-Identifier: Apache-2.0
"""The cost of profiling to the node: its work per second of CPU time, with and without profiling,
and the time of the BPF program by the kernel's accounting."""
import ctypes
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import beamflame
import nodes
from figures import Figure, median_and_error
from recording import folder, kill, perf_running, running, stop, wait_for

COST_HZ = 999
SLICE = 0.2  # seconds
ACCOUNTING = Path("/proc/sys/kernel/bpf_stats_enabled")


def counted(event):
    """Return the count of a perf event so far. `perf record` asks for more fields, which follow."""
    return int.from_bytes(os.read(event, 4096)[:8], sys.byteorder)


class Sampling:
    """The perf events that take the CPU samples of a running profiler. They can be disabled and
    enabled while everything else continues. The node must be busy on all CPUs."""

    ENABLE, DISABLE = 0x2400, 0x2401  # PERF_EVENT_IOC_, linux/perf_event.h
    PIDFD_GETFD = 438  # asm-generic/unistd.h

    def __init__(self, process):
        target = os.pidfd_open(process.pid)
        self.events = []
        for entry in Path(f"/proc/{process.pid}/fd").iterdir():
            if "perf_event" in os.readlink(entry):
                fd = ctypes.CDLL(None).syscall(self.PIDFD_GETFD, target, int(entry.name), 0)
                assert fd >= 0, entry
                self.events.append(fd)
        os.close(target)
        assert self.events, f"{process.args[0]} has no perf events"
        self.leave_out_ticks()
        self.set(False)

    def leave_out_ticks(self):
        """Drop the perf events of ticks, which count in their event's windows only."""
        before = [counted(event) for event in self.events]
        time.sleep(0.5)
        grown = [counted(event) - first for event, first in zip(self.events, before)]
        for event, growth in list(zip(self.events, grown)):
            if growth < max(grown) / 2:
                self.events.remove(event)
                os.close(event)

    def set(self, enabled):
        for event in self.events:
            fcntl.ioctl(event, self.ENABLE if enabled else self.DISABLE, 0)

    def close(self):
        for event in self.events:
            os.close(event)


@contextmanager
def sampling(running_profiler):
    """Yield the Sampling of a profiler, or None without a profiler."""
    with running_profiler as process:
        if not process:
            yield None
            return
        time.sleep(2)  # until it has read the target's code
        found = Sampling(process)
        try:
            yield found
        finally:
            found.set(True)
            found.close()


def ticks(clock, hz):
    """Return bpftrace's name for a clock of that frequency."""
    if clock == "cpu-clock":
        return f"profile:hz:{hz}"
    mhz = re.search(r"cpu MHz\s*: ([0-9.]+)", Path("/proc/cpuinfo").read_text(encoding="ascii"))[1]
    return f"hardware:{clock}:{float(mhz) * 1e6 / hz:.0f}"


@contextmanager
def counting(pid, clock, hz):
    """Run a BPF program that only counts."""
    process = subprocess.Popen(
        ["bpftrace", "-e", f"{ticks(clock, hz)} /pid == {pid}/ {{ @ = count() }}"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        process.stdout.readline()  # "Attaching 1 probe..."
        yield process
        stop(process)
        if b"@: " not in process.stdout.read():
            raise RuntimeError("bpftrace counted nothing")
    finally:
        kill(process)
        process.stdout.close()


def work_of(running, seconds):
    """Return the requests of nodes per second of their CPU time."""
    before = [node.report() for node in running]
    time.sleep(seconds)
    after = [node.report() for node in running]
    requests, cpu = (sum(last[key] - first[key] for first, last in zip(before, after))
                     for key in ("requests", "cpu_ns"))
    return requests / cpu * 1e9


def work(node, seconds):
    return work_of([node], seconds)


def ratio(own, other, count):
    """Return the median, and its standard error, of the work of `count` windows of one kind, each
    divided by the work of the windows of the other kind just before and after. Drift from window to
    window matters little that way. Both are functions that return the work of one window."""
    ratios = []
    before = other()
    for _ in range(count):
        between = own()
        after = other()
        ratios.append(2 * between / (before + after))
        before = after
    return median_and_error(ratios)


def sampled(node, own, other):
    """Return the work of a short window in which `own` samples and `other` does not."""
    for which, enabled in ((other, False), (own, True)):
        if which:
            which.set(enabled)
    return work(node, SLICE)


def overhead(release, options):
    """Compare profilers in short alternating windows: they run all of the time, and sample in their
    own windows only."""
    with nodes.Node(release, "request") as node, folder() as out:
        time.sleep(2)
        for hz, name, profiler, least in (
                (99, "none", nullcontext, 0.994),
                (999, "a BPF program that counts", lambda: counting(node.pid, options.clock, 999),
                 0.995),
                (999, "perf record -g", lambda: perf_running(node.pid, 999, out / "perf.data"), 1),
                (999, "none", nullcontext, None)):
            with sampling(running(node.pid, hz, out / "x.bfr", "--clock", options.clock)) as own, \
                    sampling(profiler()) as other:
                median, error = ratio(lambda o=own, t=other: sampled(node, o, t),
                                      lambda o=own, t=other: sampled(node, t, o),
                                      options.alternations)
            yield Figure(f"work per CPU second: {hz} Hz to {name}", median, least=least, error=error)


EVENTS = "gc,alloc,sched,msg"
STORMS = (("request", ()), ("storm", ("what=messages",)), ("storm", ("what=collections",)))


class Probing:
    """A beamflame with probes, which can be stopped while no probe is attached; its CPU samples
    continue. Its budget grows meanwhile, so in the other half of the time it spends the budget of
    all of it."""

    def __init__(self, process):
        self.process = process
        self.at_rest = min(self.attached() for _ in range(2000))

    def attached(self):
        """Count the descriptors of probes, and of other links and perf events that always exist."""
        links = 0
        for entry in Path(f"/proc/{self.process.pid}/fd").iterdir():
            try:
                where = os.readlink(entry)
            except FileNotFoundError:
                continue
            links += "bpf_link" in where or "perf" in where
        return links

    def is_stopped(self):
        stat = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
        return stat.rsplit(")", 1)[1].split()[0] == "T"

    def stop(self):
        while True:
            self.process.send_signal(signal.SIGSTOP)
            wait_for(self.is_stopped, "stop")
            if self.attached() <= self.at_rest:
                return
            self.go_on()
            time.sleep(0.01)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)


def probed(node, probing):
    """Return the work of a short window in which probes may be attached."""
    probing.go_on()
    return work(node, SLICE)


def unprobed(node, probing):
    probing.stop()
    return work(node, SLICE)


def events(release, options):
    """Measure the cost of probes on all of these events at the default budget of 1 %, and the share
    of the CPU time that beamflame reports as their cost."""
    for load, arguments in STORMS:
        with nodes.Node(release, load, *arguments) as node, folder() as out:
            stats = out / "s.json"
            time.sleep(2)
            with running(node.pid, 99, out / "x.bfr", "-e", EVENTS, "--stats", stats) as process:
                time.sleep(3)
                probing = Probing(process)
                try:
                    median, error = ratio(lambda n=node, p=probing: probed(n, p),
                                          lambda n=node, p=probing: unprobed(n, p),
                                          options.alternations)
                finally:
                    probing.go_on()
            said = json.loads(stats.read_text())["events"].values()
        name = f"-e {EVENTS}, {load} {' '.join(arguments)}".strip()
        yield Figure(f"CPU time that probes take, %: {name}", 50 * (1 - median), "{:.2f}", most=1,
                     error=50 * error)
        yield Figure(f"by beamflame's account: {name}",
                     100 * sum(event["cost_ms"] / event["target_cpu_ms"] for event in said),
                     "{:.2f}")


@contextmanager
def accounting():
    """Let the kernel account BPF programs inside the block."""
    before = ACCOUNTING.read_text(encoding="ascii")
    ACCOUNTING.write_text("1", encoding="ascii")
    try:
        yield
    finally:
        ACCOUNTING.write_text(before, encoding="ascii")


def program_ids():
    return {program["id"] for program in beamflame.bpftool("prog", "show")
            if program.get("name") == "sample_cpu"}


def accounted(pid, seconds, clock, out):
    """Profile this node; return how often the program ran, its nanoseconds, and its samples."""
    others = program_ids()
    stats = out / "stats.json"
    with running(pid, COST_HZ, out / "x.bfr", "--clock", clock, "--stats", stats):
        program, = program_ids() - others
        time.sleep(seconds)
        shown = beamflame.bpftool("prog", "show", "id", str(program))
    samples = json.loads(stats.read_text())["samples"] if stats.exists() else 0
    return shown["run_cnt"], shown["run_time_ns"], samples


def cost(release, options):
    """Measure the program, which runs on each tick of each CPU. The cost of a tick that hits no
    thread of the target is measured on an idle node beside the same load, and subtracted."""
    with nodes.Node(release, "request") as node, accounting(), folder() as out, \
            nodes.Node(release, "request", "clients=0") as idle:
        time.sleep(1)
        missed_runs, missed_ns, _ = accounted(idle.pid, options.seconds / 2, options.clock, out)
        (out / "stats.json").unlink(missing_ok=True)
        runs, run_ns, samples = accounted(node.pid, options.seconds, options.clock, out)
    miss = missed_ns / missed_runs
    yield Figure("BPF program, µs a sample", (run_ns - miss * (runs - samples)) / samples / 1000,
                 "{:.2f}", most=5)
    yield Figure("BPF program, µs a tick of other threads", miss / 1000, "{:.2f}")
    yield Figure("BPF program, share of ticks that were samples, %", 100 * samples / runs, "{:.0f}")
