# SPDX-License-Identifier: Apache-2.0
"""Rows of tables of an event that is recorded in windows, compared with what a node has done."""
import json
import math
import re
import unittest

import beamflame
import nodes
from beamflame import DONE

NUMBER = r"[\d,]+"
ROW = re.compile(rf" +(?P<count>{NUMBER})(?: +\+- (?P<half>{NUMBER}|\?))? +[\d,.]+ +[\d.]+ .*?"
                 rf" (?P<samples>{NUMBER})  (?P<name>\S.*)")
TOTAL = re.compile(rf"  count +(?P<count>{NUMBER}) times(?: \+- (?P<half>{NUMBER}|\?))?")


def number(text):
    return int(text.replace(",", "")) if text and text != "?" else None


def rows_of(summary, heading):
    """Return {name: (count, half, samples)} of a table; half is None if a row has none."""
    lines = summary.partition(f"\n{heading}\n")[2].partition("\n\n")[0].splitlines()[1:]
    found = {}
    for line in lines:
        match = ROW.fullmatch(line)
        found[match["name"]] = tuple(number(match[key]) for key in ("count", "half", "samples"))
    return found


class Rows(unittest.TestCase):
    """Several recordings of one node."""

    release = 27
    recordings = 5

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.truths, cls.summaries, cls.texts, cls.totals = [], [], [], []
        folder = beamflame.folder(cls.addClassCleanup)
        with nodes.Node(cls.release, "pairs", flags=nodes.NO_BUSY_WAIT) as node:
            before = node.report()["results"]
            for i in range(cls.recordings):
                path = folder / f"{i}.bfr"
                with beamflame.recording("-p", node.pid, "-e", "msg", "--budget", 2, "-o", path, "--stats",
                                         folder / "stats.json"):
                    after = node.tell("run")["results"]
                cls.truths.append({name: after[name] - before[name] for name in after})
                before = after
                stats = json.loads((folder / "stats.json").read_text(encoding="utf-8"))
                cls.totals.append(stats["events"]["msg"])
                cls.summaries.append(beamflame.record("report", "--summary", "full", path).stdout)
                beamflame.record("report", path, "-q", "-o", path.with_suffix(".txt"))
                cls.texts.append(path.with_suffix(".txt").read_text(encoding="utf-8"))

    def assert_held(self, held, rows):
        """At least 90 % of the rows' intervals hold the truth. Of few rows, chance permits less."""
        self.assertGreater(rows, self.recordings * 2)
        self.assertGreaterEqual(held, 0.9 * rows - 1.3 * rows ** 0.5 / 3, f"of {rows}")

    def test_windows_cover_a_part_of_the_time(self):
        """Else rows are exact, and the other tests say nothing."""
        for total in self.totals:
            self.assertLess(total["covered_ms"], 0.9 * total["span_ms"])

    def test_intervals_of_pairs_hold_the_truth(self):
        """Of messages by sender and receiver, and by receiver."""
        for heading, name_of in (("messages by sender and receiver", lambda edge: edge),
                                 ("messages by receiver", lambda edge: edge.split(" -> ")[-1])):
            held = rows = 0
            for truth, summary in zip(self.truths, self.summaries):
                table = rows_of(summary, heading)
                for edge, count in truth.items():
                    if name_of(edge) not in table:
                        continue
                    shown, half, samples = table[name_of(edge)]
                    rows += 1
                    held += abs(shown - count) <= half
                    self.assertGreaterEqual(samples, 5)
            with self.subTest(heading):
                self.assert_held(held, rows)

    def test_rows_add_up_to_the_total(self):
        for total, summary in zip(self.totals, self.summaries):
            count = total["values"]["count"]["sum"]
            for heading in ("messages by sender and receiver", "messages by receiver"):
                rows = rows_of(summary, heading)
                self.assertAlmostEqual(sum(row[0] for row in rows.values()), count, delta=2)
            shares = re.findall(r" (\d+\.\d) % +\S+ samples?  ",
                                summary.partition("\ncall sites of msg")[2].partition("\n\n")[0])
            self.assertAlmostEqual(sum(map(float, shares)), 100, delta=0.6)

    def test_rare_senders_are_not_listed(self):
        """What was seen once may be there by chance. The last row has it."""
        for summary in self.summaries:
            rows = rows_of(summary, "messages by sender and receiver")
            self.assertFalse([name for name in rows if name.startswith("rare_")], rows)
            self.assertRegex(list(rows)[-1], r"^other \([\d,]+ pairs?\)$")

    def test_totals_are_the_same_everywhere(self):
        """In the summary, the report of functions, --stats and the graph of each recording."""
        for total, summary, text in zip(self.totals, self.summaries, self.texts):
            value = total["values"]["count"]
            match = TOTAL.search(summary)
            self.assertEqual(number(match["count"]), value["sum"])
            self.assertEqual(number(match["half"]), math.ceil(1.96 * value["standard_error"]))
            self.assertEqual(TOTAL.search(text)[0], match[0])
            self.assertIs(value["sure"], 1.96 * value["standard_error"] <= value["sum"])

    def test_total_of_few_hits_says_so(self):
        """A node that hardly does anything has no total of messages that says something, or one
        with an interval, or one that was counted in full."""
        with nodes.Node(self.release, "waiting", flags=nodes.NO_BUSY_WAIT) as node:
            path = beamflame.folder(self.addCleanup) / "x.json"
            for _ in range(10):  # a second without any hit has no samples
                done = beamflame.run("-p", node.pid, "-d", 1, "-e", "msg,gc,alloc,sched", "-o",
                                     path.with_suffix(".bfr"), "--stats", path)
                if done.returncode == DONE:
                    break
            self.assertEqual(done.returncode, DONE, done.stderr)
        for name, event in json.loads(path.read_text(encoding="utf-8"))["events"].items():
            counted = event["values"]["count"]["sum"] == event["hits"]
            for value, of in event["values"].items():
                if of["sum"] and event["windows"] and not counted:
                    self.assertNotEqual(of["standard_error"], 0, (name, value))


if __name__ == "__main__":
    unittest.main()
