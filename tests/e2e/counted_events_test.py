# SPDX-License-Identifier: Apache-2.0
"""Events call:M:F/A of a recording: each call is counted, by function and process, while events
sample."""
import json
import time
import unittest

import beamflame
import breakpoints
import nodes
import viewer
from prof_test import prof, tables

NEEDS = "own nodes"
EACH = 25000
FUNCTIONS = ("counted:local/1", "counted:remote/1", "counted:tail/2",
             "counted:'-called/1-fun-0-'/2")
OFTEN = "callrate:often/1"
EVENTS = ",".join(f"call:{name}" for name in FUNCTIONS)


def rows(path, *arguments):
    """The calls of each function, and half of their interval."""
    table, = tables(path, "--type", "count", *arguments)["tables"]
    return {row["function"]: (row["calls"], row["calls_half"]) for row in table["functions"]}


def callers_of(path, function):
    """The calls of a function by caller; "" if it has none."""
    done = beamflame.record("report", "-q", path, "--event", f"call:{function}", "--group-by",
                            "none", "--format", "folded", "-o", "-")
    callers = {}
    for line in done.stdout.splitlines():
        stack, calls = line.rsplit(" ", 1)
        *caller, called = stack.split(";")
        if called != function:
            raise AssertionError(line)
        callers[";".join(caller)] = int(calls)
    return callers


def exactly(truth, times=1):
    return {name: (times * truth[name], 0) for name in FUNCTIONS}


@nodes.each_release
class Exact:
    release = None

    def setUp(self):
        breakpoints.require()
        self.path = beamflame.folder(self.addCleanup) / "x.bfr"

    def node(self):
        return nodes.Node(self.release, "counted", f"each={EACH}")

    def test_calls_are_those_of_the_load(self):
        """All functions at once, beside CPU samples: in all, by process, and as tprof prints them."""
        with self.node() as node:
            with beamflame.recording("-p", node.pid, "-F", 499, "-e", f"cpu,{EVENTS}", "--budget",
                                     100, "-o", self.path):
                truth = node.tell("calls")["calls"]
        self.assertEqual(rows(self.path), exactly(truth))
        found = tables(self.path, "--type", "count", "--per", "process")["tables"]
        self.assertEqual([{row["function"]: row["calls"] for row in table["functions"]}
                          for table in found],
                         [{name: truth[name] // 4 for name in FUNCTIONS}] * 4)
        text = prof(self.path, "--type", "count", "--format", "tprof")
        self.assertIn("CALLS where events counted them: exact\n", text)
        for name in FUNCTIONS:
            self.assertRegex(text, rf"(?m)^{name} +{truth[name]}  \[")
        timed, = tables(self.path)["tables"]
        for row in timed["functions"]:
            if row["function"] in FUNCTIONS:
                self.assertEqual((row["calls"], row["calls_half"]), (truth[row["function"]], 0))
                self.assertGreater(row["own_half"], 0)
        self.assertIn("counted:local/1", [row["function"] for row in timed["functions"]])

    def test_stacks_have_the_callers(self):
        """All calls are divided among the functions that make them; a tail call has the caller of the
        function that makes it."""
        with self.node() as node:
            with beamflame.recording("-p", node.pid, "-e", EVENTS, "--budget", 100, "-o",
                                     self.path):
                truth = node.tell("calls")["calls"]
        for function, callers in (("counted:local/1", ("counted:first/1", "counted:second/1")),
                                  ("counted:tail/2", ("counted:work/1",))):
            with self.subTest(function):
                self.assertEqual(callers_of(self.path, function),
                                 {caller: truth[function] // len(callers) for caller in callers})
        summary = beamflame.record("report", self.path).stdout
        sites = summary.split("\ncall sites of call:counted:local/1 by count\n")[1].split("\n\n")[0]
        self.assertEqual({line.split()[-1] for line in sites.splitlines()},
                         {"counted:first/1", "counted:second/1"})

    def test_processes_begin_without_a_caller(self):
        with self.node() as node:
            with beamflame.recording("-p", node.pid, "-e", "call:counted:spawned/1", "--budget", 100,
                                     "-o", self.path):
                truth = node.tell("spawns")["calls"]
        self.assertEqual(callers_of(self.path, "counted:spawned/1"),
                         {"": truth["counted:spawned/1"]})

    def test_code_that_is_replaced(self):
        """Callers of all versions have their names."""
        with self.node() as node:
            node.tell("loads")
            with beamflame.recording("-p", node.pid, "-e", "call:counted_code:called/1", "--budget",
                                     100, "-o", self.path):
                truth = node.tell("versions")["calls"]
        self.assertEqual(callers_of(self.path, "counted_code:called/1"),
                         {"counted_code:calls/2": truth["counted_code:called/1"]})

    def test_bifs_have_callers_and_time(self):
        """Calls and samples of a BIF are one row."""
        with nodes.Node(self.release, "calls") as node:
            with beamflame.recording("-p", node.pid, "-F", 999, "-e", "cpu,call:erlang:md5/1",
                                     "--budget", 100, "-o", self.path):
                for _ in range(10):
                    node.tell("bifs")
        self.assertEqual(callers_of(self.path, "erlang:md5/1"),
                         {"calls:first/1": 50000, "calls:second/1": 50000})
        timed, = tables(self.path)["tables"]
        row, = (row for row in timed["functions"] if row["function"] == "erlang:md5/1")
        self.assertEqual((row["calls"], row["calls_half"]), (100000, 0))

    def test_the_node_counts_the_same(self):
        """The node's own call_count, as tprof uses it, agrees."""
        with self.node() as node:
            with beamflame.recording("-p", node.pid, "-e", EVENTS, "--budget", 100, "-o",
                                     self.path):
                traced = node.tell("traced")["traced"]
        self.assertEqual(rows(self.path), exactly(traced))

    def test_segments_and_pauses_lose_no_call(self):
        """Calls before a snapshot, after it, and after a pause count. Those in the pause do not."""
        with self.node() as node:
            with beamflame.recording("-p", node.pid, "-e", EVENTS, "--budget", 100, "-o",
                                     self.path) as recorder:
                truth = node.tell("calls")["calls"]
                self.control(recorder, "snapshot")
                node.tell("calls")
                self.control(recorder, "pause")
                node.tell("calls")
                self.control(recorder, "resume")
                node.tell("calls")
        self.assertEqual(rows(self.path), exactly(truth, 3))

    def control(self, recorder, command):
        done = beamflame.run("ctl", "-p", recorder.pid, command)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_times_are_selected(self):
        """Samples are of one second each: a second without calls has none."""
        with self.node() as node:
            with beamflame.recording("-p", node.pid, "-e", EVENTS, "--budget", 100, "-o",
                                     self.path):
                time.sleep(2.5)
                truth = node.tell("calls")["calls"]
        self.assertEqual(rows(self.path, "--from", "1.5"), exactly(truth))
        done = beamflame.run("prof", self.path, "--type", "count", "--to", "1.5")
        self.assertIn("the options select none of the", done.stderr)


class Killed(unittest.TestCase):
    def test_calls_of_a_node_that_rests_since_are_in_the_file(self):
        """Though no newer samples come, which would push them out."""
        breakpoints.require()
        path = beamflame.folder(self.addCleanup) / "x.bfr"
        with nodes.Node(27, "counted", f"each={EACH}") as node:
            process = beamflame.start("-p", node.pid, "-e", EVENTS, "--budget", 100, "-o", path)
            self.addCleanup(process.communicate)
            self.addCleanup(process.kill)
            beamflame.read_until(process, "sampling")
            truth = node.tell("calls")["calls"]
            time.sleep(4)
            process.kill()
        self.assertEqual(rows(path), exactly(truth))


class Page(unittest.TestCase):
    def test_functions_have_calls_and_the_time_of_one(self):
        """Calls are exact; time per call is the total by them, in the unit that fits."""
        breakpoints.require()
        viewer.require()
        path = beamflame.folder(self.addCleanup) / "x.html"
        with nodes.Node(27, "counted", f"each={EACH}") as node:
            with beamflame.recording("-p", node.pid, "-F", 999, "-e", f"cpu,{EVENTS}", "--budget",
                                     100, "-o", path):
                truth = node.tell("calls")["calls"]
        page = viewer.Viewer()
        self.addCleanup(page.close)
        page.open(path, "event=cpu&group=none&panel=functions")
        heads = [head.split(" ")[0] for head in page.heads()]
        at = heads.index("calls")
        self.assertEqual(heads[at + 1], "per")
        found = {row[0]: row[at:at + 2] for row in page.rows()}
        shown = set(FUNCTIONS) & set(found)
        self.assertTrue(shown, found)
        for name in shown:
            calls, per_call = found[name]
            self.assertEqual(calls, f"{truth[name]:,}")
            self.assertRegex(per_call, r"^\d[\d.]* (ns|us)")
        self.assertIn(["", ""], found.values())
        page.choose_event("call:counted:local/1")
        self.assertNotIn("calls", page.heads())


class Windows(unittest.TestCase):
    """Where all calls would cost too much, they are estimates."""

    def test_an_estimate_has_an_interval_that_holds_the_truth(self):
        breakpoints.require()
        path = beamflame.folder(self.addCleanup) / "x.bfr"
        with nodes.Node(27, "callrate") as node:
            with beamflame.recording("-p", node.pid, "-e", f"cpu,call:{OFTEN}", "--budget",
                                     4, "-o", path, "--stats", path.with_suffix(".json")):
                before = node.report()["calls"][OFTEN]
                time.sleep(8)
                truth = node.report()["calls"][OFTEN] - before
        calls, half = rows(path)[OFTEN]
        event = json.loads(path.with_suffix(".json").read_text("utf-8"))
        event = event["events"][f"call:{OFTEN}"]
        self.assertLess(event["covered_ms"], 0.8 * event["span_ms"])
        self.assertGreater(half, 0)
        self.assertLess(half, 0.4 * truth)
        self.assertLess(abs(calls - truth), 2 * half + 0.05 * truth)
        self.assertIn("CALLS where events counted them: from samples", prof(path, "--type", "count"))

    def test_each_segment_has_an_interval(self):
        """Windows begin anew in each segment; the segments together have the calls of all."""
        breakpoints.require()
        folder = beamflame.folder(self.addCleanup)
        with nodes.Node(27, "callrate") as node:
            before = node.report()["calls"][OFTEN]
            beamflame.record("-p", node.pid, "-d", 12, "--loop", 6, "-q", "-e",
                             f"cpu,call:{OFTEN}", "--budget", 5, "-o", folder / "x.bfr")
            truth = node.report()["calls"][OFTEN] - before
        found = [rows(path)[OFTEN] for path in sorted(folder.glob("x-*.bfr"))[:2]]
        self.assertEqual(len(found), 2)
        for calls, half in found:
            self.assertGreater(half, 0)
            self.assertLess(half, calls)
        # The node also calls while the recording begins and ends.
        calls = sum(calls for calls, _ in found)
        self.assertLess(calls - 2 * sum(half for _, half in found), truth)
        self.assertGreater(calls, 0.4 * truth)


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.node = nodes.Node(27, "counted", f"each={EACH}")
        cls.addClassCleanup(cls.node.kill)

    def refused(self, code, says, *arguments):
        done = beamflame.run("record", "-d", 1, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(says, done.stderr)

    def test_what_cannot_be_counted_is_refused(self):
        pid = self.node.pid
        usage = beamflame.USAGE
        for code, says, event in (
                (usage, "did you mean 'counted:local/1'?", "call:counted:lokal/1"),
                (usage, "module 'nowhere' is not loaded", "call:nowhere:f/1"),
                (usage, "'counted' is no function", "call:counted"),
                (beamflame.UNSUPPORTED, "its calls can't be counted", "call:erlang:length/1")):
            with self.subTest(event):
                self.refused(code, says, "-p", pid, "-e", event)
        for options in (("-a",), ("-p", pid, "-p", pid)):
            with self.subTest(options):
                self.refused(usage, "counts calls in one VM: give one -p", *options, "-e",
                             "call:counted:local/1")
        self.refused(usage, "--keep can't remove the files of event call:counted:local/1", "-p", pid,
                     "-e", "cpu,call:counted:local/1", "--loop", 1, "--keep", 2, "-o", "x.svg")


if __name__ == "__main__":
    unittest.main()
