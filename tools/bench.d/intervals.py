# SPDX-License-Identifier: Apache-2.0
"""Totals that are scaled up from windows, compared with what the node says, and how often their
confidence intervals contain it."""
import bisect
import json
import math
import statistics
import threading
import time

import beamflame
import nodes
from figures import Figure
from recording import folder, record, running

ERRORS_OF_95_PERCENT = 1.96

# The beginning and end of a recording are known here to some hundredths of a second.
TIMING = 0.005

# For each load and event: the value, and the field of the node's report that says the same.
TRUTHS = (("messages", (("sched", "context_switches"), ("msg", "requests"))),
          ("collections", (("gc", "collections"),)))
EVENTS = "gc,alloc,sched,msg"
EDGE_NS = 50e6

# The loads of tests/loads/ordinary.erl; for each event and value, the count in its log.
ORDINARY = ("paced", "pauses", "bursts", "pipeline", "batch", "timers", "publish", "mixed")
# Loads that say nothing of an event. A process that runs only to handle signals, as those of a call,
# is a switch for the node, and not for beamflame. Words that are still alive are not reclaimed.
SILENT = {"sched": ("paced", "pauses", "bursts", "mixed"), "alloc": ("batch", "mixed")}
ORDINARY_TRUTHS = (("sched", "count", "switches"), ("gc", "count", "collections"),
                   ("gc", "reclaimed", "words"), ("alloc", "words", "words"),
                   ("msg", "count", "sent"))


class Watch:
    """Asks a node for its report again and again, so that its counts are known at any moment."""

    def __init__(self, node):
        self.node = node
        self.times, self.reports = [], []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.ask)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()

    def ask(self):
        while not self.stop.wait(0.05):
            self.times.append(time.monotonic())
            self.reports.append(self.node.report())

    def at(self, moment, name):
        """Return a count at a moment, interpolated between two reports."""
        after = bisect.bisect(self.times, moment)
        start, end = self.times[after - 1:after + 1]
        first, last = (report[name] for report in self.reports[after - 1:after + 1])
        return first + (last - first) * (moment - start) / (end - start)


def one(node, out, seconds):
    """Make one recording; return by event what the node says, and what was counted."""
    stats_path = out / "s.json"
    with Watch(node) as watch:
        time.sleep(0.2)
        launched = time.monotonic()
        with running(node.pid, 99, out / "x.bfr", "-e", EVENTS, "--stats", stats_path):
            time.sleep(seconds)
        time.sleep(0.2)
    stats = json.loads(stats_path.read_text())
    start = launched + stats["attach_ms"] / 1000

    def said(event, name):
        end = start + stats["events"][event]["span_ms"] / 1000
        return watch.at(end, name) - watch.at(start, name)

    return said, stats["events"]


def apart(said, counted):
    """Return the error of a count against what the node says, and half of its interval, as parts of
    it; None if there were too few windows for an interval."""
    count = counted["values"]["count"]
    if count["standard_error"] is None:
        return None
    return count["sum"] / said - 1, ERRORS_OF_95_PERCENT * count["standard_error"] / said


class Log:
    """The counts that load `ordinary` has logged, by the system's clock."""

    FIELDS = ("switches", "collections", "words", "sent")

    def __init__(self, report):
        self.rows = report["log"]
        self.times = [row[0] for row in self.rows]

    def between(self, start, end, name):
        """Return by how much a count grew between two moments, in ns since 1970."""
        return self.at(end, name) - self.at(start, name)

    def at(self, moment, name):
        after = bisect.bisect(self.times, moment)
        first, last = self.rows[after - 1:after + 1]
        part = (moment - first[0]) / (last[0] - first[0])
        column = 1 + self.FIELDS.index(name)
        return first[column] + (last[column] - first[column]) * part


def logged(node, out, seconds):
    """Make one recording of load `ordinary`; return its log, and by event the start and end of the
    recording and what was counted."""
    node.report()
    time.sleep(0.4)
    stats = record(node.pid, seconds, 99, out / "x.bfr", "-e", EVENTS)
    time.sleep(0.4)  # until the log has more than the recording
    header = beamflame.record("report", out / "x.bfr", "-q", "--format", "json", "-o", "-").stdout
    start = json.loads(header.partition("\n")[0])["start_realtime_ns"]
    return Log(node.report()), {
        event: (start, start + counted["span_ms"] * 1e6, counted)
        for event, counted in stats["events"].items()}


def tally(runs, event, value, name):
    """Return the number of recordings with too few windows, and of each other one: the error and
    half of the interval as parts of the truth, and whether the interval holds the truth. The
    beginning and end of the recording are known to EDGE_NS."""
    unknown, told = 0, []
    for log, events in runs:
        start, end, counted = events[event]
        found, truth = counted["values"][value], log.between(start, end, name)
        least = log.between(start + EDGE_NS, end - EDGE_NS, name)
        most = log.between(start - EDGE_NS, end + EDGE_NS, name)
        if found["standard_error"] is None:
            unknown += 1
        elif truth > 0:
            half = ERRORS_OF_95_PERCENT * found["standard_error"]
            told.append((found["sum"] / truth - 1, half / truth,
                         least <= found["sum"] + half and found["sum"] - half <= most))
    return unknown, told


def covered(runs, event):
    """Return the share of time in windows, in %, of the median recording."""
    return statistics.median(100 * counted["covered_ms"] / counted["span_ms"]
                             for *_, counted in (events[event] for _, events in runs))


def ordinary(release, options):
    """The intervals of totals on loads that are like those of ordinary nodes."""
    held_of = {truth[:2]: [] for truth in ORDINARY_TRUTHS}
    for what in ORDINARY:
        with nodes.Node(release, "ordinary", f"what={what}") as node, folder() as out:
            time.sleep(1)
            runs = [logged(node, out, options.recording) for _ in range(options.recordings)]
        for event in EVENTS.split(","):
            yield Figure(f"{what}, {event}: covered, %", covered(runs, event), "{:.2f}")
        for event, value, name in ORDINARY_TRUTHS:
            if what in SILENT.get(event, ()):
                continue
            unknown, told = tally(runs, event, value, name)
            yield Figure(f"{what}, {event} {value}: interval unknown, of {len(runs)}", unknown,
                         "{:.0f}")
            if not told:
                continue
            held = [holds for *_, holds in told]
            held_of[event, value] += held
            off, half = (100 * statistics.median(column) for column in list(zip(*told))[:2])
            yield Figure(f"{what}, {event} {value}: off by {off:+.0f} %, ± {half:.0f} % (medians), "
                         "held, %", 100 * sum(held) / len(held), "{:.0f}")
    for (event, value), held in held_of.items():
        yield Figure(f"all ordinary loads, {event} {value}: intervals that hold it, %",
                     100 * sum(held) / max(len(held), 1), "{:.0f}", least=90,
                     error=100 * math.sqrt(0.9 * 0.1 / max(len(held), 1)))


def intervals(release, options):
    for what, truths in TRUTHS:
        with nodes.Node(release, "storm", f"what={what}") as node, folder() as out:
            time.sleep(1)
            runs = [one(node, out, options.recording) for _ in range(options.recordings)]
        for event, name in truths:
            found = [apart(said(event, name), events[event]) for said, events in runs]
            told = [pair for pair in found if pair]
            label = f"storm {what}, {event} in {options.recording:g} s"
            yield Figure(f"{label}: recordings with too few windows to tell",
                         len(found) - len(told), "{:.0f}")
            if len(told) < 2:
                continue
            off = [pair[0] for pair in told]
            yield Figure(f"{label}: off by, % (mean)", 100 * statistics.mean(off), "{:+.1f}",
                         error=100 * statistics.stdev(off) / math.sqrt(len(off)))
            yield Figure(f"{label}: half of the interval, % (median)",
                         100 * statistics.median(pair[1] for pair in told), "{:.1f}")
            held = sum(abs(distance) <= half + TIMING for distance, half in told) / len(told)
            yield Figure(f"{label}: intervals (and 0.5 %) that hold it, %", 100 * held, "{:.0f}", least=95,
                         error=100 * math.sqrt(0.95 * 0.05 / len(told)))
