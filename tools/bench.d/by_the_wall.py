# SPDX-License-Identifier: Apache-2.0
"""What profiling costs by the clock on the wall: work for each second, and how long requests take
that come at a fixed rate. beamflame records in each second window; the others are without it."""
import time
from contextlib import contextmanager

import nodes
from figures import Figure, median_and_error
from overhead import EVENTS
from recording import folder, running
from stalls import programs

WINDOW = 4  # seconds
SETTLE = 0.5  # after it has started or ended: neither window has that
RATE = 2000  # requests a second, about a fourth of what two CPUs can do
WITH = {"cpu": ("-e", "cpu"), "all events": ("-e", f"cpu,{EVENTS}")}


@contextmanager
def window(node, out, options):
    """Reports before and after a window in which beamflame records (None: in which it does not)."""
    reports = []
    if options is None:
        time.sleep(SETTLE)
        reports.append(node.report())
        time.sleep(WINDOW)
        reports.append(node.report())
    else:
        with running(node.pid, 99, out / "x.bfr", *options):
            time.sleep(SETTLE)
            reports.append(node.report())
            time.sleep(WINDOW)
            reports.append(node.report())
    yield reports


def rate(reports):
    before, after = reports
    return (after["requests"] - before["requests"]) / (after["time_ns"] - before["time_ns"]) * 1e9


def throughput(release, options, rows):
    """Each window with is compared with those just before and after."""
    for name, events in rows.items():
        with nodes.Node(release, "request") as node, folder() as out:
            time.sleep(2)
            ratios = []
            with window(node, out, None) as reports:
                before = rate(reports)
            for _ in range(options.rounds):
                with window(node, out, events) as reports:
                    between = rate(reports)
                with window(node, out, None) as reports:
                    after = rate(reports)
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
    """All windows of a kind together, whose order is with, without, without, with..."""
    found = {}
    with nodes.Node(release, "latency", f"rate={RATE}") as node, folder() as out, programs(hogs):
        time.sleep(2)
        for number in range(2 * options.rounds):
            kind = "all events" if number % 4 in (0, 3) else "none"
            with window(node, out, WITH[kind] if kind in WITH else None) as (before, after):
                new = [b - a for a, b in zip(before["histogram"], after["histogram"])]
            found[kind] = [a + b for a, b in zip(found.get(kind, [0] * len(new)), new)]
    beside = f"beside {hogs} hogs" if hogs else "quiet"
    for part, most in ((0.5, None), (0.99, 1.05), (0.999, None)):
        values = {kind: percentile(histogram, part) for kind, histogram in found.items()}
        yield Figure(f"p{100 * part:g} of requests, {beside}: all events, {values['all events']:.0f}"
                     f" µs, to none", values["all events"] / values["none"], "{:.3f}", most=most)


def by_the_wall(release, options):
    yield from throughput(release, options, WITH)
    for hogs in (0, 2):
        yield from latency(release, options, hogs)
