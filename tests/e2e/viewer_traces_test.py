# SPDX-License-Identifier: Apache-2.0
"""The page of a node whose processes work for traces: its table of traces, and what a click on one
selects."""
import collections
import json
import unittest

import beamflame
import nodes
import viewer
from viewer import number

NEEDS = "own nodes"
RELEASE = 27
UNKNOWN = "f" * 32


class Traces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        viewer.require()
        beamflame.require()
        folder = beamflame.folder(cls.addClassCleanup)
        recording, cls.page = folder / "x.bfr", folder / "x.html"
        with nodes.Node(RELEASE, "traces") as node:
            cls.spans = node.report()["spans"]
            beamflame.record("-p", node.pid, "-d", 4, "-F", 499, "-e", "cpu,wall", "-o", recording)
        for output in (cls.page, folder / "x.json"):
            beamflame.record("report", "-q", recording, "--weight", "samples", "-o", output)
        lines = [json.loads(line) for line in (folder / "x.json").read_text().splitlines()]
        cls.traces = collections.Counter(line.get("trace_id") for line in lines
                                         if line["type"] == "sample" and line["event"] == "cpu")
        cls.viewer = viewer.Viewer()
        cls.addClassCleanup(cls.viewer.close)

    def show(self, fragment="panel=traces"):
        self.viewer.open(self.page, fragment)
        return self.viewer

    def rows(self):
        """Return {trace: samples} of the table."""
        return {trace: number(total) for trace, _, total, *_ in self.viewer.rows()}

    def test_table_has_the_traces_of_the_samples(self):
        page, whole = self.show(), sum(self.traces.values())
        self.assertEqual(self.rows(), {trace: count for trace, count in self.traces.items() if trace})
        self.assertLessEqual({self.spans[name][0] for name in ("first", "second", "child")},
                             set(self.rows()))
        self.assertEqual(page.text("#panel .foot"),
                         f"{100 * self.traces[None] / whole:.1f} % of the total is in no trace.")
        self.assertEqual(page.step("wrong"), [])
        self.assertEqual(page.step("complaints"), [])

    def test_click_selects_a_trace_and_back_undoes_it(self):
        page, first, second = self.show(), self.spans["child"][0], self.spans["second"][0]
        before = page.status
        page.click(f"#panel [role=row]:has-text('{first}')")
        self.assertEqual(number(page.status), self.traces[first])
        self.assertEqual(page.texts("#chips .chip"), [f"trace {first}\n\u00d7"])
        self.assertIn(f"trace={first}", page.fragment)
        self.assertEqual(len(self.rows()), len(self.traces) - 1)
        page.click(f"#panel [role=row]:has-text('{second}')", "Control")
        self.assertEqual(number(page.status), self.traces[first] + self.traces[second])
        page.click(f"[aria-label='without: trace {first}']")
        self.assertEqual(number(page.status), self.traces[second])
        page.step("travel", -3)
        self.assertEqual([page.status, page.step("visible", "#chips")], [before, False])

    def test_link_selects_a_trace_of_each_event(self):
        trace = self.spans["waiting"][0]
        page = self.show(f"trace={trace.upper()}")
        self.assertEqual(number(page.status), self.traces[trace])
        page.choose_event("wall")
        self.assertIn(f"trace={trace}", page.fragment)
        self.assertGreater(number(page.status.split(" in ")[-1]), 0)

    def test_trace_that_the_recording_has_not_is_named_and_dropped(self):
        page = self.show(f"trace={UNKNOWN}")
        self.assertIn(f"trace={UNKNOWN}", page.text("#notice"))
        self.assertEqual([number(page.status), page.fragment], [sum(self.traces.values()), ""])


if __name__ == "__main__":
    unittest.main(verbosity=2)
