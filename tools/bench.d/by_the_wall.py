# SPDX-License-Identifier: Apache-2.0
"""The cost of profiling in wall-clock time: requests per second, and the latency of requests that
come at a fixed rate. beamflame records all of the time. In every second window it is held, with no
probe attached and its CPU samples off."""
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Callable

import applications
import nodes
import traffic
from figures import Figure, median_and_error
from overhead import EVENTS, Probing, Sampling
from recording import folder, running
from stalls import programs

WINDOW = 4  # seconds; while beamflame is held its budget grows, by at most half a second's
START = 5  # seconds until beamflame has read the target's code and knows the cost of hits
STEADY = "clients=8"  # with 2, placement decides: 130,000 or 100,000 requests a second
RATE = 2000  # requests a second, about a fourth of what two CPUs can do
MESSAGE_RATE = 1000
WITH = {"cpu": ("-e", "cpu"), "all events": ("-e", f"cpu,{EVENTS}")}


@dataclass
class Load:
    """A node that serves requests: without pause, and at a rate. Both are context managers."""

    name: str  # of the requests
    saturated: Callable
    steady: Callable


def loads(release):
    if release == applications.RELEASE:
        return [Load("messages of RabbitMQ", traffic.RabbitMQ,
                     lambda: traffic.RabbitMQ(MESSAGE_RATE)),
                Load("orders in Elixir", traffic.Shop, lambda: traffic.Shop(RATE))]
    return [Load("requests", lambda: nodes.Node(release, "request", STEADY),
                 lambda: nodes.Node(release, "latency", f"rate={RATE}"))]


class Profiler:
    """A running beamflame that can be held."""

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
    """Return the node's reports before and after a window."""
    profiler.set(on)
    before = node.report()
    time.sleep(WINDOW)
    return before, node.report()


def rate(reports):
    before, after = reports
    return (after["requests"] - before["requests"]) / (after["time_ns"] - before["time_ns"]) * 1e9


def throughput(load, options):
    """Compare each window with profiling to the windows just before and after."""
    for name, events in WITH.items():
        with load.saturated() as node, folder() as out, \
                profiling(node.pid, out, events) as profiler:
            ratios, before = [], rate(window(node, profiler, False))
            for _ in range(2 * options.rounds):
                between = rate(window(node, profiler, True))
                after = rate(window(node, profiler, False))
                ratios.append(2 * between / (before + after))
                before = after
            median, error = median_and_error(ratios)
        yield Figure(f"{load.name} a second, {name} to none", median,
                     least=0.994 if name == "cpu" else 0.985, error=error)


def percentile(histogram, part):
    """Return a percentile in microseconds, interpolated within a bucket. Buckets have the width of
    a quarter of an octave."""
    wanted, seen = part * sum(histogram), 0
    for number, count in enumerate(histogram):
        if count and seen + count >= wanted:
            return 2 ** ((number + (wanted - seen) / count) / 4)
        seen += count
    return 0


def latency(load, options, hogs):
    """Measure the latency over all windows of a kind together."""
    found = {}
    with load.steady() as node, folder() as out, programs(hogs), \
            profiling(node.pid, out, WITH["all events"]) as profiler:
        for number in range(4 * options.rounds):
            on = number % 4 in (0, 3)
            before, after = window(node, profiler, on)
            new = [b - a for a, b in zip(before["histogram"], after["histogram"])]
            found[on] = [a + b for a, b in zip(found.get(on, [0] * len(new)), new)]
    beside = f"beside {hogs} hogs" if hogs else "quiet"
    for part, most in ((0.5, None), (0.99, 1.05), (0.999, None)):
        with_it, without = (percentile(found[on], part) for on in (True, False))
        yield Figure(f"p{100 * part:g} of {load.name}, {beside}: {without:.0f} µs, times with all events",
                     with_it / without, "{:.3f}", most=most)


def by_the_wall(release, options):
    for load in loads(release):
        yield from throughput(load, options)
        for hogs in (0, 2):
            yield from latency(load, options, hogs)
