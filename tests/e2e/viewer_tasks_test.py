# SPDX-License-Identifier: Apache-2.0
"""Questions about real nodes, answered with the page alone, by clicks."""
import re
import unittest

import beamflame
import nodes
import viewer

NEEDS = "own nodes"
RELEASE = 27
LOAD = "puzzles"
SECONDS = 6


def line_of(answer):
    """Return "puzzles.erl:N" of the line of the load that a comment marks as the answer."""
    lines = (nodes.LOADS / f"{LOAD}.erl").read_text("utf-8").splitlines()
    number, = [i for i, line in enumerate(lines, 1) if line.endswith(f"%% {answer}")]
    return f"{LOAD}.erl:{number}"


class Tasks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        viewer.require()
        beamflame.require()
        cls.folder = beamflame.folder(cls.addClassCleanup)
        cls.page = viewer.Viewer()
        cls.addClassCleanup(cls.page.close)

    def record(self, name, events, *options, schedulers=2):
        recording = self.folder / f"{name}.bfr"
        with nodes.Node(RELEASE, LOAD, *options, flags=("+S", f"{schedulers}:{schedulers}")) as node:
            beamflame.record("-p", node.pid, "-d", SECONDS, "-F", 199, "-e", events, "--budget", 100,
                             "-o", recording, timeout=300)
        return recording

    def open(self, *command):
        made = self.folder / "made.html"
        beamflame.record(*command, "-o", made, timeout=300)
        self.page.open(made)
        self.addCleanup(lambda: self.assertEqual(self.page.step("complaints"), []))
        return self.page

    def show_table(self, name):
        """Show a table beside the graph, which a window of this width has."""
        self.page.click(f"#panel [role=tab]:text-is('{name}')")

    def pick(self, name):
        """Click the row of the table whose name this is."""
        self.page.click(f"#panel [role=row]:has(.name:text-is('{name}'))")

    def test_the_leaking_process_and_the_line_that_feeds_it(self):
        """All processes allocate as much; the one that grows is `sessions`. The lines of its
        function show which one allocates what it keeps."""
        page = self.open("report", self.record("leak", "cpu,alloc", "what=leak"))
        self.show_table("Processes")
        page.click("#panel [role=columnheader] button:has-text('growth')")
        process, grown = page.rows()[0][0], page.rows()[0][page.heads().index("growth \u2193")]
        self.assertRegex(process, r"^sessions\b")
        self.assertRegex(grown, r"^\+[\d.]+ MB$")
        page.click("#panel [data-index='0']")
        page.choose_event("alloc")
        self.show_table("Functions")
        self.pick(f"{LOAD}:sessions/2")
        self.show_table("Lines")
        line, function, *_ = page.rows()[0]
        self.assertEqual([line, function], [line_of("leak"), f"{LOAD}:sessions/2"])

    def test_which_of_two_deploys_made_gc_worse_and_where(self):
        """Tab gc has the time of both; the first function has grown most, and its lines show where.
        With the recordings in the other order, the answer is the other one."""
        old, new = (self.record(version, "gc", "what=deploy", f"version={version}")
                    for version in ("old", "new"))
        for a, b in ((old, new), (new, old)):
            page = self.open("diff", a, b)
            self.assertEqual(page.event, "gc")
            worse = 1 if b == new else -1
            names = [row[0] for row in page.rows()[:3]]
            self.assertIn(f"{LOAD}:render/1", names)
            self.pick(f"{LOAD}:render/1")
            self.show_table("Lines")
            line, function, in_a, in_b, change, _ = page.rows()[0]
            self.assertEqual([line, function], [line_of("deploy"), f"{LOAD}:render/1"])
            self.assertEqual(change[0], "+" if worse > 0 else "\u2212")
            self.assertEqual(milliseconds(in_b) > milliseconds(in_a), worse > 0, (in_a, in_b))
            shown = [re.match(r"[AB] ([\d.]+ \w+)", text)[1]
                     for text in page.texts("#events [aria-selected=true] small")]
            self.assertEqual(milliseconds(shown[1]) > milliseconds(shown[0]), worse > 0, shown)

    def test_who_delays_the_late_process(self):
        """`server` is late because of `reporter`, on the same scheduler, and not of `indexer`, which
        runs more often on another one. A click on the culprit shows what it ran."""
        page = self.open("report", self.record("late", "cpu,sched", "what=late", schedulers=3))
        page.choose_event("sched")
        self.show_table("Processes")
        self.pick("server")
        said = page.text("#panel .foot")
        self.assertRegex(said, r"^server was in run queues for [\d.]+ m?s, \d+ times\. Meanwhile its "
                               r"schedulers used [\d.]+ m?s of CPU time: reporter \d\d")
        self.assertNotIn("indexer", said)
        page.click("#panel .foot button >> nth=0")
        self.assertEqual(page.event, "cpu")
        self.assertIn("reporter", page.text("#chips"))
        self.show_table("Lines")
        self.assertIn([line_of("late"), f"{LOAD}:report/1"], [row[:2] for row in page.rows()])


def milliseconds(text):
    """Return the time in a text: "1.2 s" is 1200."""
    amount, unit = text.split()
    return float(amount.replace(",", "")) * {"s": 1000, "ms": 1, "\u00b5s": 0.001, "us": 0.001,
                                             "ns": 0.000001}[unit]


if __name__ == "__main__":
    unittest.main()
