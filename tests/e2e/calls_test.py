# SPDX-License-Identifier: Apache-2.0
"""`beamflame calls`: each call is counted once, by caller and process, on each release."""
import json
import os
import signal
import subprocess
import time
import unittest

import beamflame
import breakpoints
import nodes
from breakpoints import breakpoint_in
from call_counts import counting

NEEDS = "own nodes"
EACH = 25000
FUNCTIONS = ("counted:local/1", "counted:remote/1", "counted:tail/2",
             "counted:'-called/1-fun-0-'/2")
RATED = ("callrate:often/1", "callrate:rare/1")
MANY_SECONDS = 12  # beside other tests, a group has a window a second


def calls(counted):
    return {f["function"]: f["calls"] for f in counted["functions"]}


@nodes.each_release
class Exact:
    release = None
    flags = ()

    def setUp(self):
        breakpoints.require()

    def node(self):
        return nodes.Node(self.release, "counted", f"each={EACH}", flags=self.flags)

    def check(self, counted, truth):
        """Totals are the truth, and callers and processes add up to them."""
        self.assertEqual(calls(counted), {name: truth[name] for name in calls(counted)})
        for function in counted["functions"]:
            for key, lost in (("callers", "calls_without_caller"),
                              ("processes", "calls_without_process")):
                self.assertEqual(function[lost], 0)
                self.assertEqual(sum(row["calls"] for row in function[key]), function["calls"],
                                 (function["function"], key))
        self.assertEqual(counted["missing_schedulers"], 0)

    def test_local_remote_tail_and_fun_calls(self):
        """Four functions at once, called in four processes; processes yield in them. Callers are
        those of the source, with their lines."""
        with self.node() as node:
            with counting(node, *FUNCTIONS) as counted:
                truth = node.tell("calls")["calls"]
        self.check(counted, truth)
        by_name = {f["function"]: f for f in counted["functions"]}
        local = by_name["counted:local/1"]
        lines = (nodes.LOADS / "counted.erl").read_text("utf-8").splitlines()
        places = {c["function"]: (c["calls"], lines[c["line"] - 1]) for c in local["callers"]}
        self.assertEqual({name: n for name, (n, _) in places.items()},
                         {"counted:first/1": 4 * EACH, "counted:second/1": 4 * EACH})
        for name, (_, line) in places.items():
            self.assertTrue(line.startswith(name[8:-2]), (name, line))
        tail = by_name["counted:tail/2"]
        self.assertEqual([c["function"] for c in tail["callers"]], ["counted:work/1"])
        for function in counted["functions"]:
            self.assertEqual([p["calls"] for p in function["processes"]],
                             [function["calls"] // 4] * 4)

    def test_calls_of_processes_that_start(self):
        """Functions that a process begins with, by spawn and by apply."""
        with self.node() as node:
            with counting(node, "counted:spawned/1") as counted:
                truth = node.tell("spawns")["calls"]
        self.check(counted, truth)
        callers = {c["function"]: c["calls"] for c in counted["functions"][0]["callers"]}
        self.assertEqual(callers["[start of process]"], truth["counted:spawned/1"], callers)

    def test_code_that_is_replaced(self):
        """The counts of all versions of a module add up."""
        with self.node() as node:
            node.tell("loads")
            with counting(node, "counted_code:called/1") as counted:
                truth = node.tell("versions")["calls"]
        self.check(counted, truth)
        self.assertGreaterEqual(counted["reloads"], 5)
        self.assertLess(counted["blind_seconds"], 0.3)

    def test_functions_that_the_node_traces(self):
        """The node's own call_count agrees, and its breakpoints change nothing."""
        with self.node() as node:
            with counting(node, *FUNCTIONS) as counted:
                report = node.tell("traced")
        self.check(counted, report["calls"])
        self.assertEqual(report["calls"], report["traced"])

    def test_calls_over_time(self):
        """Pieces of a second add up to the calls; a second without calls has none."""
        with self.node() as node:
            with counting(node, "counted:local/1") as counted:
                node.tell("calls")
                time.sleep(2.5)
                truth = node.tell("calls")["calls"]["counted:local/1"]
                time.sleep(0.5)
        function, = counted["functions"]
        pieces, ends = function["calls_over_time"], counted["piece_ends"]
        self.assertEqual((len(pieces), sum(pieces)), (len(ends), 2 * truth))
        self.assertEqual(function["calls"], 2 * truth)
        for before, after in zip([0] + ends, ends[:-1]):
            self.assertAlmostEqual(after - before, 1, delta=0.3)
        self.assertAlmostEqual(ends[-1], counted["seconds"], delta=0.01)
        quiet = pieces.index(0)
        self.assertGreater(sum(pieces[:quiet]), 0.9 * truth)
        self.assertGreater(sum(pieces[quiet:]), 0.9 * truth)

    def test_bifs(self):
        """They are counted as functions are, also those that the VM calls through Erlang code, also
        while the node traces them. Callers have the lines of the source."""
        with nodes.Node(self.release, "calls", flags=self.flags) as node:
            with counting(node, "erlang:md5/1", "binary:copy/2", "erlang:process_info/1") as counted:
                node.tell("bifs")
                node.tell("heavy_bifs")
                traced = node.tell("traced_bifs")["traced"]
        truth = {name: 2 * count for name, count in traced.items()}
        self.check(counted, {**truth, "erlang:process_info/1": 1000})
        callers = {f["function"]: {c["function"]: c["calls"] for c in f["callers"]}
                   for f in counted["functions"]}
        self.assertEqual(callers, {
            "erlang:md5/1": {"calls:first/1": 10000, "calls:second/1": 10000},
            "binary:copy/2": {"calls:second/1": 10000},
            "erlang:process_info/1": {"calls:heavy_bifs/1": 1000}})
        lines = (nodes.LOADS / "calls.erl").read_text("utf-8").splitlines()
        for function in counted["functions"]:
            name = function["function"].split(":")[1].split("/")[0]
            for caller in function["callers"]:
                self.assertIn(f"{name}(", lines[caller["line"] - 1])

    def test_arguments_of_bifs(self):
        with nodes.Node(self.release, "calls", flags=self.flags) as node:
            with counting(node, "--args", "1", "--match", "binary:copy(_, 100)",
                          "erlang:process_info/1") as counted:
                node.tell("heavy_bifs")
                node.tell("bifs")
        self.assertEqual(calls(counted), {"binary:copy/2": 5000, "erlang:process_info/1": 1000})
        info = next(f for f in counted["functions"] if "info" in f["function"])
        (row,) = info["arguments"]
        self.assertRegex(row["text"], r"^\(<0\.\d+\.0>\)$")

    def test_nifs(self):
        with nodes.Node(self.release, "calls", flags=self.flags) as node:
            with counting(node, "spin_nif:spin/1") as counted:
                node.tell("nifs")
        self.check(counted, {"spin_nif:spin/1": 1000})


class FramePointers(Exact, unittest.TestCase):
    release = 27
    flags = ("+JPperf", "fp")


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.node = nodes.Node(27, "counted", f"each={EACH}")
        cls.addClassCleanup(cls.node.kill)

    def refused(self, code, *arguments):
        done = beamflame.run("calls", "-p", self.node.pid, "-d", 1, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_unknown_names(self):
        """Near names are suggested."""
        for name, says in (("counted:lokal/1", "did you mean 'counted:local/1'?"),
                           ("counted:local/7", "did you mean 'counted:local/1'?"),
                           ("countde:local/1", "module 'countde' is not loaded in this VM; did you "
                                               "mean 'counted'?"),
                           ("Enum.map/2", "module 'Enum' is not loaded in this VM"),
                           ("local", "'local' is no function: write MODULE:FUNCTION/ARITY")):
            with self.subTest(name):
                self.assertIn(says, self.refused(beamflame.USAGE, name))

    def test_bifs(self):
        """Those that are instructions are refused, and times of others."""
        for name in ("erlang:length/1", "erlang:'+'/2", "erlang:get/1", "erlang:self/0",
                     "erlang:hibernate/3"):
            with self.subTest(name):
                self.assertIn("makes a part of the code that calls it",
                              self.refused(beamflame.UNSUPPORTED, name))
        for option in (["--latency"], ["--memory"], ["--split"], ["--slow", "1ms"]):
            with self.subTest(option):
                self.assertIn("record ets:insert/2 with -e bif:ets:insert/2",
                              self.refused(beamflame.UNSUPPORTED, *option, "ets:insert/2"))

    def test_patterns(self):
        """Patterns are resolved to the functions of the VM but BIFs; what is too much is refused."""
        for patterns, found in ((["lists:map*"], {"lists:map/2", "lists:mapfoldl/3",
                                                  "lists:mapfoldr/3"}),
                                (["counted:tail/_"], {"counted:tail/2"}),
                                (["count*d:local/1", "counted:local"], {"counted:local/1"}),
                                (["counted:-called*"], {"counted:'-called/1-fun-0-'/2"}),
                                (["erlang:mem*/_"], {"erlang:memory/0", "erlang:memory/1"})):
            with self.subTest(patterns):
                done = beamflame.run("calls", "-p", self.node.pid, "--dry-run", *patterns)
                self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
                self.assertLessEqual(found, set(done.stdout.splitlines()))
        for pattern, says in (("lists:_/_", "at most 64"), ("_:*", "at most 64"),
                              ("nobod*:_", "no function of this VM matches nobod*:*"),
                              ("lists:zz*/1", "no function of this VM matches lists:zz*"),
                              ("listz:ma*", "did you mean 'lists'?")):
            with self.subTest(pattern):
                self.assertIn(says, self.refused(beamflame.USAGE, pattern))

    def test_breakpoints_that_others_use(self):
        """With one free breakpoint, one function is counted and two are refused."""
        breakpoints.require()
        held = []
        self.addCleanup(lambda: [os.close(fd) for fd in held])
        for tid in map(int, os.listdir(f"/proc/{self.node.pid}/task")):
            held += [breakpoint_in(tid, 0x1000 + 8 * n) for n in range(3)]
        self.assertIn("no hardware breakpoint is free",
                      self.refused(beamflame.UNSUPPORTED, "counted:local/1", "counted:tail/2"))
        with counting(self.node, "counted:local/1") as counted:
            truth = self.node.tell("calls")["calls"]
        self.assertEqual(calls(counted)["counted:local/1"], truth["counted:local/1"])


class StacksApart(unittest.TestCase):
    def test_calls_are_refused(self):
        """Erlang stacks are apart from the machine stack: no breakpoint would find a return address."""
        beamflame.require()
        with nodes.Node("25-musl", "counted", f"each={EACH}") as node:
            for arguments in (["calls", "-p", node.pid, "-d", 1, "counted:local/1"],
                              ["-p", node.pid, "-d", 1, "-e", "call:counted:local/1"]):
                with self.subTest(arguments[0]):
                    done = beamflame.run(*arguments)
                    self.assertEqual(done.returncode, beamflame.UNSUPPORTED, done.stderr)
                    self.assertIn("keeps return addresses apart from the machine stack", done.stderr)


class Limits(unittest.TestCase):
    def setUp(self):
        breakpoints.require()

    def test_calls_in_windows(self):
        """Functions that are called too often for the budget are counted at random times. The
        intervals hold the node's own counts, rows add up and have the right shares, and hits cost
        what they may."""
        for release in nodes.RELEASES:
            with self.subTest(release), nodes.Node(release, "callrate") as node:
                with counting(node, "--budget", 5, *RATED) as counted:
                    before = node.report()
                    time.sleep(6)
                    after = node.report()
            self.check_windows(counted, before, after)

    def check_windows(self, counted, before, after):
        self.assertGreater(counted["windows"], 10)
        self.assertLess(counted["covered_percent"], 60)
        self.assertLess(counted["cost_percent"], 7)
        for function in counted["functions"]:
            name, half = function["function"], function["half"]
            truth = after["calls"][name] - before["calls"][name]
            self.assertGreater(half, 0)
            # The recording is longer than the time between the reports.
            self.assertLess(abs(function["calls"] - truth), 2 * half + 0.1 * truth, function)
            for rows in function["callers"], function["processes"]:
                self.assertEqual(sum(row["calls"] for row in rows), function["calls"])
                self.assertEqual(sum(row["seen"] for row in rows), function["seen"])
        often = next(f for f in counted["functions"] if f["function"] == RATED[0])
        shares = {c["function"]: c["calls"] / often["calls"] for c in often["callers"]}
        self.assertAlmostEqual(shares["callrate:many/1"], 0.75, delta=0.15)

    def test_many_functions_are_counted_in_turn(self):
        """40 functions share 4 breakpoints. Of the intervals that are known, most hold the node's own
        count, with the budget and without: those of the 10 groups are alike. The order is that of
        the calls."""
        for budget in 5, 100:
            with self.subTest(budget), nodes.Node(27, "callrate", "all=1", "work=20000") as node:
                with counting(node, "--budget", budget, "callrate_all:f*/1") as counted:
                    before = node.report()
                    time.sleep(MANY_SECONDS)
                    after = node.report()
                self.assertEqual(len(counted["functions"]), 40)
                self.assertLess(counted["covered_percent"], 10.1)
                told = [self.holds(f, before, after, counted["seconds"] / MANY_SECONDS)
                        for f in counted["functions"] if f["half"] is not None]
                self.assertGreater(len(told), 8)
                self.assertGreaterEqual(sum(told) / len(told), 0.6)
                order = [int(f["function"][14:-2]) for f in counted["functions"]]
                self.assertLess(sum(order[30:]) / 10, sum(order[:10]) / 10 - 15)

    @staticmethod
    def holds(function, before, after, longer):
        """The recording is longer than the time between the reports."""
        name = function["function"]
        truth = (after["calls"][name] - before["calls"][name]) * longer
        return abs(function["calls"] - truth) <= function["half"] + 0.03 * truth

    def test_calls_within_the_budget_are_exact(self):
        """The budget is no reason to estimate what it pays for."""
        with nodes.Node(27, "counted", "each=1") as node:
            with counting(node, "--budget", 50, "counted:local/1") as counted:
                truth = node.tell("calls")["calls"]
        self.assertEqual((counted["windows"], counted["covered_percent"]), (0, 100))
        self.assertEqual(calls(counted)["counted:local/1"], truth["counted:local/1"])
        self.assertEqual(counted["functions"][0]["half"], 0)

    def test_vm_that_ends(self):
        with nodes.Node(27, "counted", f"each={EACH}") as node:
            process = beamflame.start("calls", "-p", node.pid, "--budget", 100, "--json",
                                      "counted:local/1", stdin=subprocess.DEVNULL)
            self.assertIn("counting", process.stderr.readline())
            truth = node.tell("calls")["calls"]
            node.kill()
            out, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, beamflame.DONE, said)
        self.assertIn("the VM has ended", said)
        self.assertEqual(calls(json.loads(out))["counted:local/1"], truth["counted:local/1"])

    def test_module_that_is_loaded_later(self):
        """With --wait-load, calls count once the module is loaded. A signal ends the wait."""
        with nodes.Node(27, "counted") as node:
            process = beamflame.start("calls", "-p", node.pid, "--wait-load", "--budget", 100,
                                      "--json", "counted_code:called/1", stdin=subprocess.DEVNULL)
            self.addCleanup(process.kill)
            self.assertIn("waiting until the VM has loaded module 'counted_code'",
                          process.stderr.readline())
            node.tell("loads")
            self.assertIn("counting calls of counted_code:called/1", process.stderr.readline())
            truth = node.tell("versions")["calls"]
            process.send_signal(signal.SIGINT)
            out, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, beamflame.DONE, said)
            self.assertEqual(calls(json.loads(out)), truth)
            waiting = beamflame.start("calls", "-p", node.pid, "--wait-load", "nobody:called/1",
                                      stdin=subprocess.DEVNULL)
            self.addCleanup(waiting.kill)
            self.assertIn("waiting", waiting.stderr.readline())
            waiting.send_signal(signal.SIGTERM)
            out, _ = waiting.communicate(timeout=5)
            self.assertEqual((waiting.returncode, out), (128 + signal.SIGINT, ""))

    def test_table(self):
        """Rows of callers and of processes add up, those that are not listed too."""
        with nodes.Node(27, "counted", "each=1000") as node:
            process = beamflame.start("calls", "-p", node.pid, "--budget", 100, "--top", 1,
                                      "counted:local/1", stdin=subprocess.DEVNULL)
            self.assertIn("counting", process.stderr.readline())
            node.tell("calls")
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        rows = [(int(line.split()[0].replace(",", "")), line[29:]) for line in out.splitlines()[1:]]
        self.assertEqual(rows[0], (8000, "counted:local/1"))
        for word in ("  called by ", "  in "):
            self.assertEqual(sum(n for n, what in rows if what.startswith(word)), 8000, out)
        self.assertTrue(any("called by 1 others" in what for _, what in rows), out)


if __name__ == "__main__":
    unittest.main()
