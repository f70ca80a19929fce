# SPDX-License-Identifier: Apache-2.0
"""The JSON form: its lines can be read one by one, and contain the same data as the other forms."""
import gzip
import json
import re
import unittest
from collections import Counter

import beamflame
import nodes

NEEDS = "own nodes"


def read(path):
    """Return the objects of the lines. No line may refer to a later one."""
    known = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            value = json.loads(line)
            for key in ("target", "process", "thread", "module", "frame"):
                if isinstance(value.get(key), int):
                    known[key, value[key]]
            if value["type"] == "sample":
                for key, kind in (("stack", "stack"), ("peer", "process")):
                    if key in value:
                        known[kind, value[key]]
            if value["type"] == "stack" and "parent" in value:
                known["stack", value["parent"]]
            if "id" in value:
                if (value["type"], value["id"]) in known:
                    raise AssertionError(f"twice: {line}")
                known[value["type"], value["id"]] = value
            yield value


class Json(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        folder = beamflame.folder(cls.addClassCleanup)
        cls.recording = folder / "x.bfr"
        with nodes.Node(27, "families") as node:
            beamflame.record("-p", node.pid, "-d", 4, "-F", 499, "-e", "cpu,gc,wall,sched",
                             "-o", cls.recording, "-o", folder / "direct.json.gz")
        beamflame.record("report", cls.recording, "-o", folder / "x.json.gz",
                         "--stats", folder / "x.stats")
        cls.lines = list(read(folder / "x.json.gz"))
        cls.direct = list(read(folder / "direct.json.gz"))
        cls.stats = json.loads((folder / "x.stats").read_text())
        cls.tables = {(line["type"], line["id"]): line for line in cls.lines if "id" in line}
        cls.samples = [line for line in cls.lines if line["type"] == "sample"]

    def stack(self, sample):
        """Return the stack of a sample, root first."""
        stack, at = [], sample.get("stack")
        while at:
            node = self.tables["stack", at]
            stack.append(self.tables["frame", node["frame"]]["symbol"])
            at = node.get("parent")
        return tuple(reversed(stack)) or ("[no stack]",)

    def test_header_is_first_and_times_never_decrease(self):
        """The header comes first, the totals last, and times never decrease."""
        self.assertEqual(self.lines[0]["type"], "header")
        self.assertEqual(self.lines[-1]["type"], "totals")
        times = [sample["time_ns"] for sample in self.samples]
        self.assertEqual(times, sorted(times))
        self.assertLessEqual(times[-1], self.lines[-1]["duration_ns"])

    def test_stacks_have_the_sums_of_the_folded_form(self):
        """For each event, the stacks have the sums of the folded form."""
        events = {sample["event"] for sample in self.samples}
        self.assertLessEqual({"cpu", "gc", "wall", "sched"}, events)
        for event, value in (("cpu", "time"), ("gc", "reclaimed"), ("wall", "time")):
            sums = Counter()
            for sample in self.samples:
                if sample["event"] == event and sample["values"][value]:
                    sums[self.stack(sample)] += sample["values"][value]
            weight = event if value == "time" else value
            expected = Counter()
            for stack, count in beamflame.folded(self.recording, "--event", event, "--weight",
                                                 weight, "--group-by", "none",
                                                 "--idle").items():
                # In JSON, the activity of a thread without a process is a field of the sample.
                of_thread = re.match(r"\[(scheduler|port|aux|thread)\]", stack[0])
                expected[stack[1:] if of_thread else stack] += count
            self.assertEqual(sums, expected, event)

    def test_counts_are_those_of_the_statistics(self):
        totals = self.lines[-1]
        for key in ("erlang_samples", "complete_stacks", "frames", "cut", "losses"):
            self.assertEqual(totals[key], self.stats[key], key)
        self.assertEqual(len(self.samples), totals["samples"])
        counted = {line["event"]: line for line in self.lines if line["type"] == "counted"}
        for event, has in counted.items():
            expected = self.stats["events"][event]
            self.assertEqual(has["hits"], expected["hits"], event)
            self.assertEqual(has["sums"], {name: value["sum"] for name, value
                                           in expected["values"].items()}, event)
        self.assertIn("gc", counted)

    def test_processes_have_pids_metrics_and_ancestors(self):
        """Processes have pids, metrics and ancestors; files have build ids."""
        ran = [sample for sample in self.samples if sample.get("erlang")]
        self.assertGreater(len(ran), 100)
        for sample in ran:
            self.assertRegex(self.tables["process", sample["process"]]["pid"], r"^<0\.\d+\.0>$")
            self.assertIn("status", sample)
        self.assertTrue(any("reductions" in sample.get("metrics", {}) for sample in ran))
        self.assertTrue(any("shop_sup" in line.get("ancestors", ()) for line in self.lines))
        modules = [line for line in self.lines if line["type"] == "module"
                   and line["path"].endswith("/beam.smp")]
        self.assertEqual(len(modules), 1)
        self.assertRegex(modules[0]["build_id"], "^[0-9a-f]{40}$")

    def test_recording_and_report_write_the_same(self):
        """The output of a recording and that of report are the same."""
        self.assertEqual(self.direct, self.lines)

    def test_delta_is_refused(self):
        """--delta is refused: JSON does not contain changes."""
        done = beamflame.run("report", self.recording, "--weight", "heap", "--delta",
                             "--format", "json", "-o", "-")
        self.assertEqual(done.returncode, beamflame.USAGE)
        self.assertTrue(re.search("--delta does not work with .json", done.stderr), done.stderr)
