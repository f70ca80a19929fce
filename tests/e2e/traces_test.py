# SPDX-License-Identifier: Apache-2.0
"""Samples carry the trace that their process works for. The nodes do not run OpenTelemetry itself:
the load writes the same terms (tests/loads/traces.erl)."""
import collections
import json
import re
import unittest

import beamflame
import nodes

NEEDS = "own nodes"
NAME = re.compile(r"traces:(\w+)/1")
OF_NONE = {"none", "undefined", "no_op"}
UNREADABLE = {"negative", "long", "other", "tree"}
EVENTS = ("cpu", "gc", "alloc", "sched", "msg")


def function_of(stack):
    """Return the function nearest to the leaf that works for a span, of those of the load. None if
    there is none, or if with_value() is just changing the context."""
    for frame in reversed(stack):
        if frame == "traces:with_value/2":
            return None
        if match := NAME.fullmatch(frame):
            return match[1]
    return None


class Sample:
    """A sample of a JSON file: its event and status, its stack, root first, its trace and span."""

    def __init__(self, line, tables):
        self.event = line["event"]
        self.stack = []
        at = line.get("stack")
        while at:
            node = tables["stack", at]
            self.stack.insert(0, tables["frame", node["frame"]]["symbol"])
            at = node.get("parent")
        self.status = line.get("status")
        self.trace = (line["trace_id"], line["span_id"]) if "trace_id" in line else None


def read(path):
    """Return the samples of a JSON file, and what was lost."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    tables = {(line["type"], line["id"]): line for line in lines if "id" in line}
    return ([Sample(line, tables) for line in lines if line["type"] == "sample"],
            lines[-1]["losses"])


@nodes.each_release
class Traces:
    release = None

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.folder = beamflame.folder(cls.addClassCleanup)
        with nodes.Node(cls.release, "traces") as node:
            cls.spans = {name: tuple(ids) for name, ids in node.report()["spans"].items()}
            beamflame.record("-p", node.pid, "-d", 6, "-F", 499, "-e", ",".join(EVENTS),
                             "--budget", 20, "-o", cls.folder / "run.bfr", "-o",
                             cls.folder / "run.json")
        cls.samples, cls.losses = read(cls.folder / "run.json")

    def test_no_sample_has_the_ids_of_another_span(self):
        for sample in self.samples:
            function, ids = function_of(sample.stack), sample.trace
            if function and ids:
                self.assertEqual(ids, self.spans.get(function), sample.stack)

    def test_samples_of_each_span_and_event_have_its_ids(self):
        counts = collections.Counter((s.event, function_of(s.stack)) for s in self.samples
                                     if s.trace)
        for event in EVENTS:
            for function in self.spans:
                self.assertGreater(counts[event, function], 0, (event, function))

    def test_samples_without_ids_are_counted_and_of_collections(self):
        """Apart from them, a page of a heap can be missing when BPF reads it: one of 500 at most."""
        missing = [s for s in self.samples if function_of(s.stack) in self.spans and not s.trace]
        others = [s for s in missing if s.status != "garbage_collecting"]
        self.assertIn("garbage_collecting", {s.status for s in missing})
        self.assertLessEqual(len(others), len(self.samples) / 500, [s.stack for s in others])
        self.assertGreaterEqual(self.losses["trace"], len([s for s in missing if s.event == "cpu"]))

    def test_what_is_not_read_is_counted(self):
        without = [s for s in self.samples if not s.trace and s.event == "cpu"]
        unread = [s for s in without if function_of(s.stack) in UNREADABLE
                  or s.status == "garbage_collecting"]
        self.assertEqual({function_of(s.stack) for s in unread} & UNREADABLE, UNREADABLE)
        self.assertGreaterEqual(self.losses["trace"], len(unread))
        self.assertEqual([s.stack for s in self.samples
                          if s.trace and function_of(s.stack) in OF_NONE | UNREADABLE], [])

    def test_report_selects_a_trace_and_a_span(self):
        trace, span = self.spans["child"]
        for option, value in (("--trace", trace), ("--span", span.upper())):
            beamflame.run("report", self.folder / "run.bfr", "-q", option, value, "-o",
                          self.folder / "selected.json")
            selected = read(self.folder / "selected.json")[0]
            self.assertEqual({s.trace for s in selected}, {(trace, span)})
            self.assertEqual(len(selected), len([s for s in self.samples
                                                 if s.trace == (trace, span)]))


del Traces

if __name__ == "__main__":
    unittest.main(verbosity=2)
