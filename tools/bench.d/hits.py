# SPDX-License-Identifier: Apache-2.0
"""What a hit of a probe costs: the trap as beamflame calibrates it, the BPF program by the kernel's
accounting, and as a check the work that the node loses by it; and what user space takes of a core
while the kernel counts as many hits as there can be."""
import json
import time
from pathlib import Path

import nodes
from accounting import cost_ns, counted, total, traps
from figures import Figure, median_and_error
from recording import folder, running

# Events, and the load (storm, what=...) that makes as many of them as it can.
STORMS = (("gc", "collections"), ("alloc", "collections"), ("sched", "messages"),
          ("msg", "messages"), ("bif:lists:member/2", "calls"), ("probe:lists_member_2", "calls"),
          ("probe:lists_member_2+0x0", "calls"))
MOST = ("--budget", "100")

# Hits a second, where a figure for a million can be told. Where a hit is dear (on an instruction that
# is stepped) there are fewer, and what user space takes does not grow with them.
ENOUGH = 300000


def less(after, before):
    """How much each of some sums grew."""
    return {name: tuple(a - b for a, b in zip(after[name], before.get(name, (0, 0))))
            for name in after}


def used(before, after):
    """CPU nanoseconds for each round of the load between two reports."""
    return (after["cpu_ns"] - before["cpu_ns"]) / (after["requests"] - before["requests"])


def without(node, options):
    before = node.report()
    time.sleep(options.window)
    return used(before, node.report())


def probed(node, event, out, options):
    """The same with the event's probes attached; hits by program, and of all for each round."""
    with running(node.pid, 99, out / "x.bfr", "-e", event, *MOST) as process:
        time.sleep(0.3)
        first, before = counted(process), node.report()
        time.sleep(options.window)
        last, after = counted(process), node.report()
    sums = less(last, first)
    return used(before, after), sums, total(sums)[0] / (after["requests"] - before["requests"])


def rounds(node, event, out, options):
    """Runs and nanoseconds by program in all windows, and what the node lost in each for a hit: CPU
    time for a round against that in the windows just before and after."""
    sums, lost = {}, []
    before = without(node, options)
    for _ in range(options.rounds):
        own, window, hits = probed(node, event, out, options)
        after = without(node, options)
        lost.append((own - (before + after) / 2) / hits)
        for name, (runs, ns) in window.items():
            old = sums.get(name, (0, 0))
            sums[name] = (old[0] + runs, old[1] + ns)
        before = after
    return {name: of for name, of in sums.items() if of[0]}, lost


def with_samples(release, event, what, options):
    """Where hits are so few that a good part of them becomes samples: runs, nanoseconds, and the
    samples."""
    with nodes.Node(release, "storm", f"what={what}", "rest=50") as node, folder() as out:
        time.sleep(1)
        stats = out / "s.json"
        with running(node.pid, 99, out / "x.bfr", "-e", event, *MOST, "--stats",
                     stats) as process:
            time.sleep(options.window + 1)
            runs, ns = total(counted(process))
        return runs, ns, json.loads(stats.read_text())["samples"]


def hits(release, options):
    for event, what in STORMS:
        with nodes.Node(release, "storm", f"what={what}") as node, folder() as out:
            time.sleep(1)
            trap = traps(node.pid, event)
            if not trap:  # not every VM exports the function
                continue
            sums, lost = rounds(node, event, out, options)
        for name, (runs, ns) in sums.items():
            yield Figure(f"{event} {name}: ns a hit ({trap[name]} + {ns / runs:.0f})",
                         trap[name] + ns / runs, "{:.0f}")
        runs, ns = total(sums)
        median, error = median_and_error(lost)
        yield Figure(f"{event}: ns a hit, of all", cost_ns(sums, trap) / runs, "{:.0f}")
        yield Figure(f"{event}: ns of work lost a hit", median, "{:.0f}", error=error)
        if event != "alloc":  # whose samples are of the CPU too
            few_runs, few_ns, samples = with_samples(release, event, what, options)
            part = samples / few_runs
            if part > 0.01:  # else it is lost in what hits cost
                yield Figure(f"{event}: ns more with a sample ({100 * part:.0f} % of hits)",
                             (few_ns - few_runs * ns / runs) / samples, "{:.0f}")


def cpu_ns(pid):
    """CPU time of all threads that there are."""
    return sum(int(path.read_text(encoding="ascii").split()[0])
               for path in Path(f"/proc/{pid}/task").glob("*/schedstat"))


def aggregation(release, options):
    """CPU time of user space while all hits count, once it has attached and read the VM."""
    for event, what in (("bif:lists:member/2", "calls"), ("sched", "messages")):
        with nodes.Node(release, "storm", f"what={what}") as node, folder() as out:
            time.sleep(1)
            with running(node.pid, 99, out / "x.bfr", "-e", event, *MOST) as process:
                time.sleep(2)
                start, cpu, before = time.monotonic(), cpu_ns(process.pid), total(counted(process))[0]
                time.sleep(options.seconds)
                cpu = cpu_ns(process.pid) - cpu
                rate = ((total(counted(process))[0] - before) / (time.monotonic() - start))
                share = cpu / (time.monotonic() - start) / 1e9
        yield Figure(f"{event}: hits a second", rate, "{:.0f}")
        yield Figure(f"{event}: user space at that rate, % of a core", 100 * share, "{:.2f}")
        if rate > ENOUGH:
            yield Figure(f"{event}: the same at 1,000,000 hits a second", 100 * share * 1e6 / rate,
                         "{:.2f}", most=5)
