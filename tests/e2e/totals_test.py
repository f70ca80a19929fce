# SPDX-License-Identifier: Apache-2.0
"""What the samples of an event add up to is its total, whichever output shows it: where probes have
windows, and where they are attached all of the time."""
import json
import time
import unittest
from collections import Counter

import beamflame
import nodes
from beamflame import DONE

EVENTS = ("gc", "alloc", "sched", "msg")
EDGE = 3e8  # ns: probes are attached one by one before the start, and detached after the end


def sums_of(path, *options):
    """Return {(event, value): sum} over the samples of a recording that options select."""
    done = beamflame.run("report", path, "-q", "--format", "json", "-o", "-", *options)
    sums = Counter()
    if done.returncode == beamflame.NO_SAMPLES:
        return sums
    if done.returncode != DONE:
        raise AssertionError(done.stderr)
    for line in done.stdout.splitlines():
        entry = json.loads(line)
        if entry["type"] == "sample":
            for value, number in entry["values"].items():
                sums[entry["event"], value] += number
    return sums


def growth(log, start, end, column):
    """Return by how much a count of load `ordinary` grew between two moments, in ns since 1970."""
    rows = [row[column] for row in log if start <= row[0] <= end]
    return rows[-1] - rows[0]


class Totals(unittest.TestCase):
    def record(self, *arguments):
        """Return the recording, and {(event, value): total}."""
        beamflame.require()
        out = beamflame.folder(self.addCleanup) / "x.bfr"
        done = beamflame.run(*arguments, "-q", "-e", ",".join(("cpu", *EVENTS)), "-o", out,
                             "--stats", out.with_suffix(".json"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        return out, self.totals(out.with_suffix(".json"))

    def totals(self, path):
        """Return {(event, value): total}. Samples are those of the events."""
        stats = json.loads(path.read_text(encoding="utf-8"))
        events = stats["events"]
        self.assertEqual(stats["samples"], sum(event["samples"] for event in events.values()))
        return {(event, value): of["sum"] for event in EVENTS
                for value, of in events[event]["values"].items()}

    def check(self, sums, totals, targets=1):
        """Each VM's sum may be one less, by rounding. What no sample has can't be shown, of one VM
        or of all."""
        shown = 0
        for key, total in totals.items():
            missing = total - sums[key]
            self.assertGreaterEqual(missing, -2 * targets, key)
            if sums[key] and targets == 1:
                self.assertLessEqual(missing, 2, key)
            shown += sums[key] > 0 and missing <= 2 * targets
        self.assertGreater(shown, 8)

    def test_words_reclaimed_on_dirty_schedulers_are_those_of_the_node(self):
        """With probes attached all of the time. A collection that is left to a dirty scheduler finds
        most of the words on a heap that the process does not use any more."""
        for release in nodes.RELEASES:
            with self.subTest(release), nodes.Node(release, "ordinary", "what=batch") as node:
                path, totals = self.record("-p", node.pid, "-d", 4, "--budget", 100)
                time.sleep(0.6)
                log = node.report()["log"]
            start = self.start_of(path)
            end = start + 4e9
            least, most = (growth(log, start + edge, end - edge, 3) for edge in (EDGE, -EDGE))
            self.assertGreater(most, 1e6)
            self.assertTrue(0.98 * least <= totals["gc", "reclaimed"] <= 1.02 * most,
                            (least, totals, most))

    def start_of(self, path):
        """Return the start of a recording, in ns since 1970."""
        lines = beamflame.record("report", path, "-q", "--format", "json", "-o", "-").stdout
        return json.loads(lines.partition("\n")[0])["start_realtime_ns"]

    def test_counts_in_windows_are_those_of_the_node(self):
        """Collections of a load that is not steady, and the words that they reclaimed, at the default
        budget. Some of the words are reclaimed by a few collections on dirty schedulers, which can
        be longer than a window: the total is right, or its error is."""
        for release in nodes.RELEASES:
            with self.subTest(release), nodes.Node(release, "ordinary", "what=mixed") as node:
                path, totals = self.record("-p", node.pid, "-d", 4)
                log = node.report()["log"]
            start = self.start_of(path)
            events = json.loads(path.with_suffix(".json").read_text("utf-8"))["events"]
            end = start + events["gc"]["span_ms"] * 1e6
            self.assertLess(events["gc"]["covered_ms"], 0.2 * events["gc"]["span_ms"])
            for value, column in (("count", 2), ("reclaimed", 3)):
                truth = growth(log, start, end, column)
                error = events["gc"]["values"][value]["standard_error"]
                if value == "count" or error is not None:
                    self.assertAlmostEqual(totals["gc", value], truth, msg=value,
                                           delta=0.1 * truth + (0 if value == "count" else 3 * error))

    def test_waits_longer_than_windows_are_not_sure(self):
        """Each process waits for a tenth of a second, in windows of some milliseconds. With probes
        attached all of the time the waits are known."""
        with nodes.Node(27, "ordinary", "what=timers") as node:
            for budget, is_sure in ((1, False), (100, True)):
                path, totals = self.record("-p", node.pid, "-d", 2, "--budget", budget)
                wait = json.loads(path.with_suffix(".json").read_text("utf-8"))[
                    "events"]["sched"]["values"]["wait"]
                self.assertEqual((wait["sure"], wait["standard_error"]),
                                 (is_sure, 0 if is_sure else None))
        self.assertAlmostEqual(totals["sched", "wait"] / (500 * 2e9), 1, delta=0.15)

    def test_samples_in_windows_add_up(self):
        """Of each release at the default budget, where windows cover a hundredth of the time."""
        for release in nodes.RELEASES:
            with self.subTest(release), nodes.Node(release, "request") as node:
                path, totals = self.record("-p", node.pid, "-d", 4)
                self.check(sums_of(path), totals)

    def test_binaries_that_windows_see_in_part_are_not_sure(self):
        """The binaries of a collection are known if its process had an earlier one in the window.
        With probes attached all of the time they are known."""
        with nodes.Node(27, "request") as node:
            for budget, error in ((1, None), (100, 0)):
                path, _ = self.record("-p", node.pid, "-d", 3, "--budget", budget)
                binaries = json.loads(path.with_suffix(".json").read_text("utf-8"))[
                    "events"]["alloc"]["values"]["binaries"]
                self.assertEqual((binaries["standard_error"], binaries["sure"]),
                                 (error, error is not None))

    def test_samples_of_attached_probes_add_up(self):
        """Hits are more than stacks are taken of: samples stand for several hits."""
        with nodes.Node(27, "request") as node:
            path, totals = self.record("-p", node.pid, "-d", 2, "--budget", 100)
        self.check(sums_of(path), totals)

    def test_every_output_and_selection_has_the_same_sums(self):
        """A copy, folded stacks and parts of a recording have the sums of the recording. The budget is
        for windows in each part, also on a busy machine."""
        with nodes.Node(27, "request") as node:
            path, totals = self.record("-p", node.pid, "-d", 4, "--budget", 10)
        copy = path.with_name("copy.bfr")
        beamflame.record("report", path, "-q", "-o", copy)
        self.check(sums_of(copy), totals)
        count = totals["gc", "count"]
        stacks = beamflame.folded(path, "--event", "gc", "--weight", "count")
        self.assertAlmostEqual(sum(stacks.values()), count, delta=2)
        halves = [sums_of(path, "--event", "gc", *part)["gc", "count"]
                  for part in (("--to", "2"), ("--from", "2"))]
        self.assertAlmostEqual(sum(halves), count, delta=2)

    def test_samples_of_each_vm_add_up(self):
        """Several VMs have windows of their own."""
        with nodes.Node(25, "request") as one, nodes.Node(29, "request") as other:
            path, totals = self.record("-p", one.pid, "-p", other.pid, "-d", 4)
        self.check(sums_of(path), totals, targets=2)


if __name__ == "__main__":
    unittest.main()
