# SPDX-License-Identifier: Apache-2.0
"""What profiling costs the node: the work it does for each second of CPU time, with and without;
and the time of the BPF program by the kernel's accounting."""
import json
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import beamflame
import nodes
from figures import Figure, median_and_error
from recording import folder, kill, perf_running, running, stop

COST_HZ = 999
ACCOUNTING = Path("/proc/sys/kernel/bpf_stats_enabled")


@contextmanager
def counting(pid, hz):
    """A BPF program that only counts."""
    process = subprocess.Popen(
        ["bpftrace", "-e", f"profile:hz:{hz} /pid == {pid}/ {{ @ = count() }}"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        process.stdout.readline()  # "Attaching 1 probe..."
        time.sleep(0.2)
        yield
        stop(process)
        if b"@: " not in process.stdout.read():
            raise RuntimeError("bpftrace counted nothing")
    finally:
        kill(process)
        process.stdout.close()


def samplers(pid, out):
    """Samplers of CPU time, by name."""
    return {
        "99 Hz": lambda: running(pid, 99, out / "x.bfr"),
        "999 Hz": lambda: running(pid, 999, out / "x.bfr"),
        "count": lambda: counting(pid, 999),
        "perf": lambda: perf_running(pid, 999, out / "perf.data"),
    }


def work(node, seconds):
    """Requests for each second of CPU time."""
    before = node.report()
    time.sleep(seconds)
    after = node.report()
    return ((after["requests"] - before["requests"])
            / (after["cpu_ns"] - before["cpu_ns"]) * 1e9)


def window(node, profiler, options):
    with profiler():
        time.sleep(0.3)
        return work(node, options.window)


def ratios(node, profilers, options):
    """Of each profiler, the work of windows with it to that of the windows just before and after
    without any: what drifts from window to window weighs little."""
    found = {kind: [] for kind in profilers}
    before = window(node, nullcontext, options)
    for number in range(options.rounds):
        kinds = list(profilers)
        for kind in kinds if number % 2 == 0 else reversed(kinds):
            own = window(node, profilers[kind], options)
            after = window(node, nullcontext, options)
            found[kind].append(2 * own / (before + after))
            print(f"round {number + 1}: {kind} {found[kind][-1]:.4f}", file=sys.stderr)
            before = after
    return found


def overhead(release, options):
    with nodes.Node(release, "request") as node, folder() as out:
        time.sleep(2)
        ratio = ratios(node, samplers(node.pid, out), options)
    for kind, name, least in (("99 Hz", "beamflame, 99 Hz", 0.994),
                              ("999 Hz", "beamflame, 999 Hz", None),
                              ("count", "BPF program that counts, 999 Hz", None),
                              ("perf", "perf record -g, 999 Hz", None)):
        median, error = median_and_error(ratio[kind])
        yield Figure(f"work per CPU second: {name}", median, least=least, error=error)
    for kind, name, least in (("count", "a BPF program that counts", -0.005),
                              ("perf", "perf record -g", 0)):
        median, error = median_and_error(
            [own - other for own, other in zip(ratio["999 Hz"], ratio[kind])])
        yield Figure(f"beamflame at 999 Hz less {name}", median, "{:+.4f}", least=least,
                     error=error)


EVENTS = "gc,alloc,sched,msg"
STORMS = (("request", ()), ("storm", ("what=messages",)), ("storm", ("what=collections",)))


def events(release, options):
    """What probes on all of these events cost, at the default budget of 1 %."""
    for load, arguments in STORMS:
        with nodes.Node(release, load, *arguments) as node, folder() as out:
            time.sleep(2)
            ratio = ratios(node, {"events": lambda pid=node.pid, out=out: running(
                pid, 99, out / "x.bfr", "-e", EVENTS)}, options)
        median, error = median_and_error(ratio["events"])
        yield Figure(f"work per CPU second: -e {EVENTS}, {load} {' '.join(arguments)}", median,
                     least=0.985, error=error)


@contextmanager
def accounting():
    """The kernel measures BPF programs meanwhile."""
    before = ACCOUNTING.read_text(encoding="ascii")
    ACCOUNTING.write_text("1", encoding="ascii")
    try:
        yield
    finally:
        ACCOUNTING.write_text(before, encoding="ascii")


def program_ids():
    return {program["id"] for program in beamflame.bpftool("prog", "show")
            if program.get("name") == "sample_cpu"}


def accounted(pid, seconds, out):
    """How often the program ran while this node was profiled, the nanoseconds it took, and the
    samples that came of it."""
    others = program_ids()
    stats = out / "stats.json"
    with running(pid, COST_HZ, out / "x.bfr", "--stats", stats):
        program, = program_ids() - others
        time.sleep(seconds)
        shown = beamflame.bpftool("prog", "show", "id", str(program))
    samples = json.loads(stats.read_text())["samples"] if stats.exists() else 0
    return shown["run_cnt"], shown["run_time_ns"], samples


def cost(release, options):
    """The program runs on each tick of each CPU. What a tick costs that hits no thread of the
    target is measured on a node that does nothing, beside the same load, and taken off."""
    with nodes.Node(release, "request") as node, accounting(), folder() as out, \
            nodes.Node(release, "request", "clients=0") as idle:
        time.sleep(1)
        missed_runs, missed_ns, _ = accounted(idle.pid, options.seconds / 2, out)
        (out / "stats.json").unlink(missing_ok=True)
        runs, run_ns, samples = accounted(node.pid, options.seconds, out)
    miss = missed_ns / missed_runs
    yield Figure("BPF program, µs a sample", (run_ns - miss * (runs - samples)) / samples / 1000,
                 "{:.2f}", most=5)
    yield Figure("BPF program, µs a tick of other threads", miss / 1000, "{:.2f}")
    yield Figure("BPF program, share of ticks that were samples, %", 100 * samples / runs, "{:.0f}")
