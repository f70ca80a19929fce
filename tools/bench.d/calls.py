# SPDX-License-Identifier: Apache-2.0
"""`beamflame calls` on functions that are called very often: what it costs the node, and how often
its intervals hold the node's own counts, of two functions and of 40 in turn; and what the options
and patterns cost, at a known rate of calls."""
import json
import math
import signal
import statistics
import subprocess
import time

import beamflame
import nodes
from figures import Figure

FUNCTIONS = ("callrate:often/1", "callrate:rare/1")
MANY = ("callrate_all:f*/1",)
OPTIONS = ((), ("--latency",), ("--args", 2), ("--latency", "--args", 2), ("--split",))
MATCHES = {"integer": ("1",), "map": ("#{id := 1}", "#{kind := item}")}  # of 2, 1 and all of 80 calls
RATE = 150000  # calls a second
BURST, WORK = 80, 25000  # of the load
EDGE = 0.05  # s: the beginning and the end of counting are known so well


class Counter:
    """`beamflame calls`, from the first line that it prints."""

    def __init__(self, node, functions):
        self.process = beamflame.start("calls", "-p", node.pid, "--json", *functions,
                                       stdin=subprocess.DEVNULL)
        self.process.stderr.readline()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        out, said = self.process.communicate(timeout=60)
        if self.process.returncode != beamflame.DONE:
            raise RuntimeError(said)
        return json.loads(out)


def speed(before, after):
    """The turns of the load for each second of the node's CPU time."""
    return (after["turns"] - before["turns"]) / (after["cpu_ns"] - before["cpu_ns"]) * 1e9


def over(node, seconds):
    """Return the node's reports at both ends of some seconds, each with the time."""
    before, began = node.report(), time.monotonic()
    time.sleep(seconds)
    return before, node.report(), time.monotonic() - began


def one(node, functions, seconds):
    """Count once, between two times without; return the speed as a ratio to that without, and of
    each function whether its interval holds the truth, or None if it is unknown."""
    quiet = speed(*over(node, seconds)[:2])
    counter = Counter(node, functions)
    before, after, passed = over(node, seconds)
    counted = counter.end()
    ratio = speed(before, after) / ((quiet + speed(*over(node, seconds)[:2])) / 2)
    held = []
    for function in counted["functions"]:
        rate = (after["calls"][function["function"]] - before["calls"][function["function"]]) / passed
        truth, edge = rate * counted["seconds"], rate * EDGE
        held.append(None if function["half"] is None
                    else abs(function["calls"] - truth) <= function["half"] + edge)
    return ratio, held, counted


def calls(release, options):
    with nodes.Node(release, "callrate", f"burst={BURST}", f"work={WORK}") as node:
        time.sleep(1)
        before, after, passed = over(node, 2)
        runs = [one(node, FUNCTIONS, options.window) for _ in range(options.recordings)]
    yield Figure("calls a second without counting",
                 (after["calls"][FUNCTIONS[0]] - before["calls"][FUNCTIONS[0]]) / passed, "{:,.0f}")
    yield from figures_of("2 functions", runs)
    with nodes.Node(release, "callrate", "all=1", "burst=4", f"work={WORK}") as node:
        time.sleep(1)
        runs = [one(node, MANY, options.window) for _ in range(options.recordings)]
    yield from figures_of("40 functions in turn", runs)


def work_for(release, rate, *load):
    """Return the work in a turn of the load with which it makes so many calls a second."""
    with nodes.Node(release, "callrate", f"burst={BURST}", f"work={WORK}", *load) as node:
        time.sleep(1)
        before, after, passed = over(node, 3)
    calls_made = after["calls"][FUNCTIONS[0]] - before["calls"][FUNCTIONS[0]]
    return round(WORK * calls_made / passed / rate)


def costs(release, options, counts, *load):
    """Measure what counts cost at a known rate of calls: `counts` are arguments of `calls` by name."""
    work = work_for(release, RATE, *load)
    with nodes.Node(release, "callrate", f"burst={BURST}", f"work={work}", *load) as node:
        time.sleep(1)
        before, after, passed = over(node, 3)
        yield Figure("calls a second without counting",
                     (after["calls"][FUNCTIONS[0]] - before["calls"][FUNCTIONS[0]]) / passed, "{:,.0f}")
        for what, arguments in counts.items():
            yield from costs_of(what, [one(node, arguments, options.window)
                                       for _ in range(options.recordings)])


def call_options(release, options):
    yield from costs(release, options, {" ".join(map(str, given)) or "no option": (*given, FUNCTIONS[0])
                                        for given in OPTIONS})


def call_matches(release, options):
    for argument, patterns in MATCHES.items():
        counts = {f"--match {pattern}": ("--match", f"callrate:often({pattern})")
                  for pattern in patterns}
        yield from costs(release, options, counts, f"argument={argument}")


def costs_of(what, runs):
    ratios = [ratio for ratio, _, _ in runs]
    yield Figure(f"{what}: work for each CPU second, of that without", statistics.mean(ratios),
                 "{:.4f}", least=0.99, error=statistics.stdev(ratios) / math.sqrt(len(ratios)))
    yield Figure(f"{what}: cost of a hit, ns", statistics.median(c["hit_ns"] for *_, c in runs), "{:,.0f}")
    yield Figure(f"{what}: cost of all hits, % of the CPU time",
                 statistics.median(c["cost_percent"] for *_, c in runs), "{:.2f}")
    yield Figure(f"{what}: time covered, %", statistics.median(c["covered_percent"] for *_, c in runs),
                 "{:.2f}")


def figures_of(what, runs):
    told = [holds for _, held, _ in runs for holds in held if holds is not None]
    yield from costs_of(what, runs)
    halves = [100 * function["half"] / function["calls"] for *_, c in runs
              for function in c["functions"] if function["half"]]
    if halves:
        yield Figure(f"{what}: half of the interval, median, %", statistics.median(halves), "{:.0f}")
    count = sum(len(held) for _, held, _ in runs)
    yield Figure(f"{what}: intervals that are unknown, of {count}", count - len(told), "{:.0f}")
    yield Figure(f"{what}: intervals that hold the node's count, %", 100 * sum(told) / max(len(told), 1),
                 "{:.0f}", least=90, error=100 * math.sqrt(0.09 / max(len(told), 1)))
