# SPDX-License-Identifier: Apache-2.0
"""The cost of a hit of a probe: the trap, as beamflame calibrates it; the BPF program, by the
kernel's accounting; and as a check, the work that the node loses. Also the CPU time of user space
while the kernel counts as many hits as possible."""
import json
import time
from pathlib import Path

import nodes
from accounting import cost_ns, counted, total, traps
from figures import Figure, median_and_error
from recording import folder, running

# Events, each with the load (storm, what=...) that makes as many of them as it can.
STORMS = (("gc", "collections"), ("alloc", "collections"), ("sched", "messages"),
          ("msg", "messages"), ("bif:lists:member/2", "calls"), ("probe:lists_member_2", "calls"),
          ("probe:lists_member_2+0x0", "calls"))
MOST = ("--budget", "100")

# Hits a second from which a figure per million makes sense. Expensive hits (on an instruction that
# is single-stepped) are fewer, and the CPU time of user space does not grow with them.
ENOUGH = 300000


def less(after, before):
    """Return the growth of each pair of sums."""
    return {name: tuple(a - b for a, b in zip(after[name], before.get(name, (0, 0))))
            for name in after}


def used(before, after):
    """Return the CPU nanoseconds per round of the load between two reports."""
    return (after["cpu_ns"] - before["cpu_ns"]) / (after["requests"] - before["requests"])


def without(node, options):
    before = node.report()
    time.sleep(options.window)
    return used(before, node.report())


def probed(node, event, out, options):
    """Return the same with the event's probes attached, the growth of hits by program, and all hits
    per round."""
    with running(node.pid, 99, out / "x.bfr", "-e", event, *MOST) as process:
        time.sleep(0.3)
        first, before = counted(process), node.report()
        time.sleep(options.window)
        last, after = counted(process), node.report()
    sums = less(last, first)
    return used(before, after), sums, total(sums)[0] / (after["requests"] - before["requests"])


def rounds(node, event, out, options):
    """Return runs and nanoseconds by program over all windows, and the CPU time that the node lost
    per hit in each window, compared with the windows just before and after."""
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
    """Measure few hits, of which a good part becomes samples: return runs, nanoseconds, and the
    number of samples."""
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
        if event != "alloc":  # the samples of `alloc` are also CPU samples
            few_runs, few_ns, samples = with_samples(release, event, what, options)
            part = samples / few_runs
            if part > 0.01:  # otherwise noise hides the cost of samples
                yield Figure(f"{event}: ns more with a sample ({100 * part:.0f} % of hits)",
                             (few_ns - few_runs * ns / runs) / samples, "{:.0f}")


def cpu_ns(pid):
    """Return the CPU time of all threads that still exist."""
    return sum(int(path.read_text(encoding="ascii").split()[0])
               for path in Path(f"/proc/{pid}/task").glob("*/schedstat"))


def aggregation(release, options):
    """Measure the CPU time of user space while all hits count, after it has attached and read the
    VM."""
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
