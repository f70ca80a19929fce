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
EVENTS = ("cpu", "wall", "gc", "alloc", "sched", "msg")


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
            cls.dumps = [json.loads(beamflame.record("dump", "--json", "-p", node.pid).stdout)
                         for _ in range(10)]
            cls.text = "".join(beamflame.record("dump", "-p", node.pid).stdout for _ in range(10))
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
        missing = [s for s in self.samples if s.event != "wall" and not s.trace
                   and function_of(s.stack) in self.spans]
        others = [s for s in missing if s.status != "garbage_collecting"]
        self.assertIn("garbage_collecting", {s.status for s in missing})
        self.assertLessEqual(len(others), len(self.samples) / 500, [s.stack for s in others])
        self.assertGreaterEqual(self.losses["trace"], len([s for s in missing if s.event == "cpu"]))

    def test_waiting_processes_have_the_ids_of_their_spans(self):
        """A sweep reads the trace of a process that does not run. A process that has run since the
        sweep read it has none: one of 8 at most."""
        waiting = [s for s in self.samples if s.event == "wall" and s.status in ("waiting", "blocked")
                   and function_of(s.stack) == "waiting"]
        self.assertGreater(len(waiting), 20)
        with_ids = [s for s in waiting if s.trace]
        self.assertEqual({s.trace for s in with_ids}, {self.spans["waiting"]})
        self.assertLessEqual(len(waiting) - len(with_ids), len(waiting) / 8)

    def test_what_is_not_read_is_counted(self):
        without = [s for s in self.samples if not s.trace and s.event == "cpu"]
        unread = [s for s in without if function_of(s.stack) in UNREADABLE
                  or s.status == "garbage_collecting"]
        self.assertEqual({function_of(s.stack) for s in unread} & UNREADABLE, UNREADABLE)
        self.assertGreaterEqual(self.losses["trace"], len(unread))
        self.assertEqual([s.stack for s in self.samples
                          if s.trace and function_of(s.stack) in OF_NONE | UNREADABLE], [])

    def test_dump_has_the_traces_of_processes(self):
        """Of ten dumps. Ten texts have them too."""
        found = collections.Counter()
        for dump in self.dumps:
            for process in dump["processes"]:
                stack = [] if process["stack"] is None else dump["stacks"][process["stack"]]
                function = function_of([frame["function"] for frame in reversed(stack)])
                if "trace_id" in process and function:
                    ids = process["trace_id"], process["span_id"]
                    self.assertEqual(ids, self.spans.get(function), stack)
                    found[function] += 1
        self.assertGreater(found["waiting"], 0)
        self.assertRegex(self.text, r" trace [0-9a-f]{32} span [0-9a-f]{16}\n")

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
