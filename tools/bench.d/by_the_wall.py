# SPDX-License-Identifier: Apache-2.0
"""What profiling costs by the clock on the wall: work for each second, and how long requests take
that come at a fixed rate. beamflame records all of the time; in each second window it is held, with
no probe attached and its CPU samples off."""
import time
from contextlib import contextmanager

import nodes
from figures import Figure, median_and_error
from overhead import EVENTS, Probing, Sampling
from recording import folder, running
from stalls import programs

WINDOW = 4  # seconds: held, its budget goes on, but saves up half a second's at most
START = 5  # until beamflame has read the target's code and knows what hits cost
STEADY = "clients=8"  # with 2 a node does 130,000 requests a second or 100,000, by how they lie
RATE = 2000  # requests a second, about a fourth of what two CPUs can do
WITH = {"cpu": ("-e", "cpu"), "all events": ("-e", f"cpu,{EVENTS}")}


class Profiler:
    """A beamflame that can be held."""

    def __init__(self, process):
        self.sampling, self.probing = Sampling(process), Probing(process)

    def set(self, on):
        if on:
            self.sampling.set(True)
            self.probing.go_on()
        else:
            self.probing.stop()
            self.sampling.set(False)


@contextmanager
def profiling(pid, out, events):
    with running(pid, 99, out / "x.bfr", *events) as process:
        time.sleep(START)
        profiler = Profiler(process)
        try:
            yield profiler
        finally:
            profiler.set(True)
            profiler.sampling.close()


def window(node, profiler, on):
    """Reports before and after a window."""
    profiler.set(on)
    before = node.report()
    time.sleep(WINDOW)
    return before, node.report()


def rate(reports):
    before, after = reports
    return (after["requests"] - before["requests"]) / (after["time_ns"] - before["time_ns"]) * 1e9


def throughput(release, options):
    """Each window with is compared with those just before and after."""
    for name, events in WITH.items():
        with nodes.Node(release, "request", STEADY) as node, folder() as out, \
                profiling(node.pid, out, events) as profiler:
            ratios, before = [], rate(window(node, profiler, False))
            for _ in range(2 * options.rounds):
                between = rate(window(node, profiler, True))
                after = rate(window(node, profiler, False))
                ratios.append(2 * between / (before + after))
                before = after
            median, error = median_and_error(ratios)
        yield Figure(f"requests a second, {name} to none", median,
                     least=0.994 if name == "cpu" else 0.985, error=error)


def percentile(histogram, part):
    """In microseconds, from buckets of a quarter of an octave; within a bucket by its share."""
    wanted, seen = part * sum(histogram), 0
    for number, count in enumerate(histogram):
        if count and seen + count >= wanted:
            return 2 ** ((number + (wanted - seen) / count) / 4)
        seen += count
    return 0


def latency(release, options, hogs):
    """All windows of a kind together."""
    found = {}
    with nodes.Node(release, "latency", f"rate={RATE}") as node, folder() as out, programs(hogs), \
            profiling(node.pid, out, WITH["all events"]) as profiler:
        for number in range(4 * options.rounds):
            on = number % 4 in (0, 3)
            before, after = window(node, profiler, on)
            new = [b - a for a, b in zip(before["histogram"], after["histogram"])]
            found[on] = [a + b for a, b in zip(found.get(on, [0] * len(new)), new)]
    beside = f"beside {hogs} hogs" if hogs else "quiet"
    for part, most in ((0.5, None), (0.99, 1.05), (0.999, None)):
        with_it, without = (percentile(found[on], part) for on in (True, False))
        yield Figure(f"p{100 * part:g} of requests, {beside}: {without:.0f} µs, times with all events",
                     with_it / without, "{:.3f}", most=most)


def by_the_wall(release, options):
    yield from throughput(release, options)
    for hogs in (0, 2):
        yield from latency(release, options, hogs)
