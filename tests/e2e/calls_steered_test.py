# SPDX-License-Identifier: Apache-2.0
"""`beamflame ctl add` and `remove`: functions come and leave while calls are counted. What is
counted of each is exact, and says of which time it is."""
import json
import os
import subprocess
import time
import unittest

import beamflame
import breakpoints
import nodes
from breakpoints import breakpoint_in
from call_counts import counting, schema, validator

NEEDS = "own nodes"
EACH = 5000
LOCAL, REMOTE, TAIL, FUN = ("counted:local/1", "counted:remote/1", "counted:tail/2",
                            "counted:'-called/1-fun-0-'/2")


def ctl(counted, *words, code=beamflame.DONE):
    """Steer a count; return what is printed or, if it fails, said."""
    done = beamflame.run("ctl", "-p", counted["recorder"], *words, timeout=30)
    if done.returncode != code:
        raise AssertionError(f"exit code {done.returncode}: {done.stdout}{done.stderr}")
    return done.stderr if code else done.stdout


def rows(counted):
    """The functions by name. None has two rows."""
    of = {f["function"]: f for f in counted["functions"]}
    assert len(of) == len(counted["functions"]), list(of)
    return of


class Steered(unittest.TestCase):
    def setUp(self):
        breakpoints.require()

    def check_rows(self, function):
        """Callers, processes and seconds add up to the calls."""
        for key in "callers", "processes":
            self.assertEqual(sum(row["calls"] for row in function[key]), function["calls"])
        self.assertEqual(sum(n or 0 for n in function["calls_over_time"]), function["calls"])

    def test_counts_between_add_and_remove_are_exact(self):
        """A function has the calls of the time in which it was counted; one that stays has all."""
        for release in nodes.RELEASES:
            with self.subTest(release), nodes.Node(release, "counted", f"each={EACH}") as node:
                with counting(node, LOCAL) as counted:
                    node.tell("calls")
                    self.assertIn("2 functions are counted now\n", ctl(counted, "add", REMOTE))
                    node.tell("calls")
                    ctl(counted, "add", "counted:tail")
                    truth = node.tell("calls")["calls"]
                    self.assertIn("2 functions are counted now\n", ctl(counted, "remove", REMOTE))
                    node.tell("calls")
                of = rows(counted)
                self.assertEqual({name: f["calls"] for name, f in of.items()},
                                 {LOCAL: 4 * truth[LOCAL], REMOTE: 2 * truth[REMOTE],
                                  TAIL: 2 * truth[TAIL]})
                self.assertEqual((counted["windows"], counted["covered_percent"]), (0, 100))
                for function in counted["functions"]:
                    self.assertEqual((function["half"], function["seen"]), (0, function["calls"]))
                    self.check_rows(function)
                end = counted["seconds"]
                self.assertEqual(of[LOCAL]["counted_from"], 0)
                self.assertAlmostEqual(of[LOCAL]["counted_to"], end, delta=0.01)
                self.assertGreater(of[REMOTE]["counted_from"], 0.05)
                self.assertGreater(of[TAIL]["counted_from"], of[REMOTE]["counted_from"] + 0.05)
                self.assertLess(of[REMOTE]["counted_to"], end - 0.05)
                self.assertAlmostEqual(of[TAIL]["counted_to"], end, delta=0.01)

    def test_seconds_without_a_count_are_not_zero(self):
        """They are null, and calls a second are those of the time in which it was counted."""
        with nodes.Node(27, "counted", f"each={EACH}") as node:
            with counting(node, LOCAL) as counted:
                time.sleep(2.2)
                ctl(counted, "add", REMOTE)
                node.tell("calls")
                time.sleep(1.2)
                ctl(counted, "remove", REMOTE)
                truth = node.tell("calls")["calls"]
                time.sleep(2.2)
        remote = rows(counted)[REMOTE]
        over_time = remote["calls_over_time"]
        self.assertEqual(over_time[:2], [None, None], over_time)
        self.assertIsNone(over_time[-1])
        self.assertIn(0, over_time)
        self.assertEqual(sum(filter(None, over_time)), truth[REMOTE])
        self.assertNotIn(None, rows(counted)[LOCAL]["calls_over_time"])
        seconds = remote["counted_to"] - remote["counted_from"]
        self.assertGreater(seconds, 1.2)
        self.assertAlmostEqual(remote["calls_per_second"] * seconds, truth[REMOTE],
                               delta=0.01 * truth[REMOTE])

    def test_a_function_that_is_added_again_has_a_second_row(self):
        with nodes.Node(27, "counted", f"each={EACH}") as node:
            with counting(node, LOCAL, TAIL) as counted:
                node.tell("calls")
                ctl(counted, "remove", TAIL)
                node.tell("calls")
                ctl(counted, "add", TAIL)
                node.tell("calls")
                truth = node.tell("calls")["calls"]
        tails = sorted((f for f in counted["functions"] if f["function"] == TAIL),
                       key=lambda f: f["counted_from"])
        self.assertEqual([f["calls"] for f in tails], [truth[TAIL], 2 * truth[TAIL]])
        self.assertLess(tails[0]["counted_to"], tails[1]["counted_from"])
        for function in tails:
            self.check_rows(function)

    def test_a_reload_finds_the_functions_that_were_added(self):
        """The versions of a module that are loaded after the function was added count."""
        with nodes.Node(27, "counted", f"each={EACH}") as node:
            node.tell("loads")
            with counting(node, LOCAL) as counted:
                ctl(counted, "add", "counted_code:called/1")
                truth = node.tell("versions")["calls"]
        self.assertEqual(rows(counted)["counted_code:called/1"]["calls"],
                         truth["counted_code:called/1"])

    def test_the_table_says_which_rows_are_of_a_part_of_the_time(self):
        with nodes.Node(27, "counted", f"each={EACH}") as node:
            process = beamflame.start("calls", "-p", node.pid, "--budget", 100, LOCAL, FUN,
                                      stdin=subprocess.DEVNULL)
            self.addCleanup(process.kill)
            counted = {"recorder": process.pid}
            self.assertIn("counting", process.stderr.readline())
            ctl(counted, "add", REMOTE)
            node.tell("calls")
            ctl(counted, "remove", REMOTE)
            ctl(counted, "add", "counted:spawned/1")
            ctl(counted, "stop")
            out, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, beamflame.DONE, said)
        part = r"\n +counted for \d+\.\d s only, from \d+\.\d s to \d+\.\d s\n"
        self.assertRegex(out, rf"{REMOTE}{part}")
        self.assertRegex(out, rf" 0 +0\.0  counted:spawned/1{part}")
        self.assertEqual(len(out.split("counted for ")), 3, out)

    # ---- more functions than breakpoints ----

    def test_a_fifth_function_makes_groups(self):
        """Then all numbers are estimates, and they are near the truth. Functions that leave make
        room again."""
        with nodes.Node(27, "callrate", "all=1", "work=20000") as node:
            names = [f"callrate_all:f{n}/1" for n in (20, 25, 30, 35)]
            with counting(node, *names) as counted:
                began = node.report()
                time.sleep(1)
                self.assertIn("5 functions are counted now, in 2 groups that take turns: numbers "
                              "of calls are estimates\n", ctl(counted, "add", "callrate_all:f40/1"))
                added = node.report()
                time.sleep(4)
                left = node.report()
                self.assertIn("4 functions are counted now\n", ctl(counted, "remove", names[0]))
                time.sleep(1)
                ended = node.report()
        of = rows(counted)
        for name, first, last in ((names[0], began, left), (names[3], began, ended),
                                  ("callrate_all:f40/1", added, ended)):
            truth = last["calls"][name] - first["calls"][name]
            self.assertGreater(of[name]["half"], 0)
            # The count is longer than the time between the reports.
            self.assertAlmostEqual(of[name]["calls"], truth,
                                   delta=2 * of[name]["half"] + 0.15 * truth)
            self.assertLess(of[name]["seen"], of[name]["calls"])

    def test_functions_that_come_while_windows_are_open(self):
        """The budget does not pay for all hits: estimates of both functions hold."""
        with nodes.Node(27, "callrate") as node:
            with counting(node, "--budget", 5, "callrate:often/1") as counted:
                began = node.report()
                time.sleep(3)
                ctl(counted, "add", "callrate:rare/1")
                added = node.report()
                time.sleep(4)
                ended = node.report()
        of = rows(counted)
        self.assertLess(counted["covered_percent"], 60)
        self.assertLess(counted["cost_percent"], 7)
        for name, first in (("callrate:often/1", began), ("callrate:rare/1", added)):
            truth = ended["calls"][name] - first["calls"][name]
            self.assertLess(abs(of[name]["calls"] - truth), 2 * of[name]["half"] + 0.15 * truth)

    def test_times_of_functions_that_come_and_leave(self):
        """With --latency functions are counted in turn: all have times, and estimated calls."""
        with nodes.Node(27, "callrate", "all=1", "work=20000") as node:
            with counting(node, "--latency", "callrate_all:f30/1") as counted:
                time.sleep(1)
                self.assertIn("2 groups", ctl(counted, "add", "callrate_all:f40/1"))
                time.sleep(2)
                ctl(counted, "remove", "callrate_all:f30/1")
                ctl(counted, "add", "callrate_all:f35/1")
                time.sleep(2)
        for function in rows(counted).values():
            self.assertGreater(function["latency"]["returned"], 100, function["function"])
            self.assertLess(function["seen"], function["calls"])

    # ---- several counts ----

    def test_two_counts_of_one_node_share_breakpoints(self):
        """Each is steered by itself. What the other one leaves no breakpoint for is refused, and
        what is counted already stays exact."""
        with nodes.Node(27, "counted", f"each={EACH}") as node:
            with counting(node, LOCAL) as one, counting(node, REMOTE, TAIL) as other:
                node.tell("calls")
                ctl(one, "add", FUN)
                said = ctl(other, "add", LOCAL, code=beamflame.FAILED)
                self.assertIn("no hardware breakpoint is free", said)
                node.tell("calls")
                ctl(one, "remove", FUN)
                ctl(other, "add", LOCAL)
                truth = node.tell("calls")["calls"]
        self.assertEqual({name: f["calls"] for name, f in rows(one).items()},
                         {LOCAL: 3 * truth[LOCAL], FUN: truth[FUN]})
        self.assertEqual({name: f["calls"] for name, f in rows(other).items()},
                         {REMOTE: 3 * truth[REMOTE], TAIL: 3 * truth[TAIL], LOCAL: truth[LOCAL]})


class Requests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        breakpoints.require()
        cls.node = nodes.Node(27, "counted", f"each={EACH}")
        cls.addClassCleanup(cls.node.kill)

    def test_what_is_refused_changes_nothing(self):
        """Each refusal has its reason, and counts stay exact."""
        cases = ((("add", LOCAL), f"{LOCAL} is counted already"),
                 (("add", "counted:locl/1"), "did you mean 'counted:local/1'?"),
                 (("add", "nobody:f/1"), "module 'nobody' is not loaded in this VM"),
                 (("add", "erlang:self/0"), "is a BIF"),
                 (("add", "gc"), "'gc' is no function: write MODULE:FUNCTION/ARITY"),
                 (("add", "x" * 600), "a request has at most 512 bytes"),
                 (("add", "counted:none*"), "no function of this VM matches"),
                 (("remove", TAIL), f"{TAIL} is not counted"),
                 (("remove", "'"), "is no function"),
                 (("remove", "counted:_"), "no function would be left"),
                 (("pause",), "a count of calls has no pauses, marks and snapshots"),
                 (("mark", "x"), "a count of calls has no pauses, marks and snapshots"))
        with counting(self.node, LOCAL) as counted:
            self.node.tell("calls")
            for words, message in cases:
                with self.subTest(words):
                    code = beamflame.USAGE if "512" in message else beamflame.FAILED
                    self.assertIn(message, ctl(counted, *words, code=code))
            truth = self.node.tell("calls")["calls"]
        self.assertEqual({name: f["calls"] for name, f in rows(counted).items()},
                         {LOCAL: 2 * truth[LOCAL]})
        self.assertEqual(counted["windows"], 0)

    def test_breakpoints_that_others_use(self):
        """A debugger has taken three: a second function is refused, and later it is not."""
        held = []
        for tid in map(int, os.listdir(f"/proc/{self.node.pid}/task")):
            held += [breakpoint_in(tid, 0x1000 + 8 * n) for n in range(3)]
        with counting(self.node, LOCAL) as counted:
            try:
                self.assertIn("no hardware breakpoint is free",
                              ctl(counted, "add", REMOTE, code=beamflame.FAILED))
                self.node.tell("calls")
            finally:
                for fd in held:
                    os.close(fd)
            ctl(counted, "add", REMOTE)
            truth = self.node.tell("calls")["calls"]
        self.assertEqual({name: f["calls"] for name, f in rows(counted).items()},
                         {LOCAL: 2 * truth[LOCAL], REMOTE: truth[REMOTE]})

    def test_a_run_has_64_functions(self):
        """Those that were removed count, because they have rows."""
        with counting(self.node, LOCAL) as counted:
            for _ in range(63):
                ctl(counted, "add", TAIL)
                ctl(counted, "remove", TAIL)
            self.assertIn("a run counts at most 64 functions",
                          ctl(counted, "add", TAIL, code=beamflame.FAILED))
            truth = self.node.tell("calls")["calls"]
        self.assertEqual(len(counted["functions"]), 64)
        self.assertEqual(next(f["calls"] for f in counted["functions"] if f["function"] == LOCAL),
                         truth[LOCAL])

    def test_status(self):
        with counting(self.node, LOCAL) as counted:
            ctl(counted, "add", TAIL)
            self.node.tell("calls")
            text = ctl(counted, "status")
            self.assertRegex(text, r"^counting calls, \d+ s since the start: 2 functions, [1-9]\d* "
                                   r"hits\nsince: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [-+]\d{4}\n"
                                   rf"VMs: {self.node.pid}\ncommand: beamflame calls -p "
                                   rf"{self.node.pid} --budget 100 --json {LOCAL}\n"
                                   rf"functions: {LOCAL}, {TAIL}\n$")
            self.assertRegex(beamflame.run("ctl", "list").stdout,
                             rf"(?m)^{counted['recorder']}  counting calls, ")
            status = json.loads(ctl(counted, "status", "--json"))
        validator(schema("status")).validate(status)
        self.assertEqual((status["state"], status["functions"], status["function_count"]),
                         ("counting", [LOCAL, TAIL], 2))
        self.assertGreater(status["hits"], EACH)

    def test_a_recording_takes_events(self):
        """A function is event call there."""
        folder = beamflame.folder(self.addCleanup)
        process = beamflame.start("-p", self.node.pid, "-o", folder / "x.bfr",
                                  stdin=subprocess.DEVNULL)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        beamflame.read_until(process, "sampling")
        self.assertIn(f"there is no event '{LOCAL}'; the events are: ",
                      ctl({"recorder": process.pid}, "add", LOCAL, code=beamflame.FAILED))


if __name__ == "__main__":
    unittest.main()
