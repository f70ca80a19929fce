# SPDX-License-Identifier: Apache-2.0
"""`beamflame calls --latency`: calls take as long as the node says, on each release, however they
begin and end."""
import time
import unittest

import beamflame
import breakpoints
import nodes
from call_counts import counting

NEEDS = "own nodes"
MS = 1000000
PAUSE = "pause"


@nodes.each_release
class Latency:
    release = None
    flags = ()

    @classmethod
    def setUpClass(cls):
        breakpoints.require()
        cls.node = nodes.Node(cls.release, "latencies", flags=cls.flags)
        cls.addClassCleanup(cls.node.kill)
        for work in ("once", "recurses", "loops", "throws", "exits", "many", "quick"):
            cls.node.tell(work)  # the VM loads what they need

    def measure(self, function, *works, budget=100, arguments=()):
        with counting(self.node, "--latency", f"latencies:{function}", "--budget", budget,
                      *arguments) as counted:
            for work in works:
                if work == PAUSE:
                    time.sleep(0.2)  # the callers are found
                else:
                    report = self.node.tell(work)
        return {**counted, **counted["functions"][0], "node": report}

    def test_calls_that_migrate_between_schedulers(self):
        """The median is the node's, and all calls that were followed are matched."""
        found = self.measure("slept/1", "once", PAUSE, "sleeps")
        latency = found["latency"]
        self.assertEqual(found["calls"], 1001)
        self.assertEqual(latency["returned"], 1000)  # the first one tells where calls return to
        self.assertEqual(latency["open"] + found["not_returned"] + found["process_ended"]
                         + found["not_followed"] + found["not_timed"], 0)
        self.assertAlmostEqual(latency["p50_ns"] / found["node"]["median_ns"], 1, delta=0.01)
        self.assertGreater(latency["p50_ns"], 10 * MS)
        self.assertLessEqual(latency["p50_ns"], latency["p90_ns"])
        self.assertLessEqual(latency["p90_ns"], latency["p99_ns"])
        self.assertLessEqual(latency["p99_ns"], latency["longest_ns"])
        self.assertEqual(sum(calls for _, calls in latency["histogram"]), latency["returned"])

    def test_recursion(self):
        """Each call of a recursion ends by itself: an outer one takes as long as the inner ones."""
        found = self.measure("deep/1", "recurses", "recurses")
        self.assertEqual(found["calls"], 200)
        self.assertGreaterEqual(found["latency"]["returned"], 130)
        inner, outer = sorted((c["latency"] for c in found["callers"]), key=lambda l: -l["returned"])
        self.assertGreaterEqual(inner["returned"], 4 * outer["returned"] - 4)
        self.assertGreater(outer["p50_ns"], 5 * MS)
        self.assertLessEqual(inner["longest_ns"], outer["longest_ns"])

    def test_loop(self):
        """The rounds of a loop are one call in time."""
        found = self.measure("looped/1", "loops", "loops")
        self.assertEqual(found["calls"], 2 * 20 * 51)
        self.assertGreaterEqual(found["latency"]["returned"], 38)
        self.assertLessEqual(found["latency"]["returned"], 40)
        self.assertGreater(found["latency"]["p50_ns"], 50 * MS)
        self.assertEqual(found["not_returned"], 0)

    def test_exceptions(self):
        """A call that an exception has passed has no time."""
        found = self.measure("thrown/1", "throws", "throws")
        self.assertEqual(found["calls"], 80)
        self.assertIn(found["latency"]["returned"], range(30, 41))
        self.assertIn(found["not_returned"], range(30, 41))
        self.assertIn("did not return: an exception passed them", found["said"])

    def test_processes_that_end(self):
        found = self.measure("exited/1", "exits", PAUSE, "exits")
        self.assertEqual(found["calls"], 40)
        self.assertIn(found["process_ended"], range(10, 21))
        self.assertGreaterEqual(found["latency"]["returned"], 10)
        self.assertIn("did not return: their process ended", found["said"])

    def test_more_callers_than_breakpoints(self):
        """Callers are followed in turn. Each has its own times."""
        found = self.measure("spread/1", *["many"] * 4)
        lines = (nodes.LOADS / "latencies.erl").read_text("utf-8").splitlines()
        followed = 0
        for caller in found["callers"]:
            line = lines[caller["line"] - 1]
            slept = int(line.partition("spread(")[2][0]) if "spread(" in line else 6
            if caller["latency"]["returned"] > 5:
                followed += 1
                self.assertGreater(caller["latency"]["p50_ns"], slept * MS)
                self.assertLess(caller["latency"]["p50_ns"], (slept + 4) * MS, caller)
        self.assertGreaterEqual(followed, 4)
        self.assertLess(found["latency"]["returned"], found["calls"])

    def test_slow_calls(self):
        """Each call that takes as long is listed with its process and the stack of its caller."""
        lines = (nodes.LOADS / "latencies.erl").read_text("utf-8").splitlines()
        began = time.time()
        found = self.measure("thrown/1", "throws", "throws", arguments=("--slow", "1ms"))
        slow = found["slow_calls"]
        self.assertEqual(len(slow), found["latency"]["returned"])
        self.assertEqual(slow[0]["took_ns"], found["latency"]["longest_ns"])
        self.assertEqual(slow, sorted(slow, key=lambda call: -call["took_ns"]))
        for call in slow:
            self.assertEqual((call["function"], call["name"]), ("latencies:thrown/1", "told"))
            self.assertGreater(call["took_ns"], 2 * MS)
            self.assertTrue(began < call["ended"] < time.time())
            self.assertEqual([frame["function"] for frame in call["stack"]][:2],
                             ["latencies:thrown_by/1", "latencies:throws/0"])
            self.assertIn("thrown_by(false)", lines[call["stack"][1]["line"] - 1])
        found = self.measure("thrown/1", "throws", arguments=("--slow", "10s"))
        self.assertEqual(found["slow_calls"], [])
        self.assertNotIn("slow calls are missing", found["said"])

    def test_slow_calls_that_are_longer_than_windows(self):
        """They can't be seen, which is said."""
        found = self.measure("looped/1", "loops", "loops", budget=1, arguments=("--slow", "50ms"))
        self.assertGreater(found["windows"], 0)
        self.assertIn("slow calls are missing: calls were followed for", found["said"])

    def test_a_loop_whose_first_rounds_were_not_followed(self):
        """A call that was not followed adds nothing to the next one, which has its place."""
        found = self.measure("rounds/1", "short", PAUSE, "short", "short")
        self.assertEqual(found["calls"], 3 * 4)
        self.assertEqual(found["latency"]["returned"], 2)
        self.assertLess(found["latency"]["longest_ns"], 150 * MS)  # the pause takes 200

    def test_functions_in_turn(self):
        """Several functions are measured one at a time, also with more callers than breakpoints and
        two versions of code."""
        self.node.tell("reload")
        with counting(self.node, "--latency", "latencies:slept/1", "latencies:spread/1",
                      "latencies:looped/1") as measured:
            for _ in range(4):
                self.node.tell("many")
        self.assertGreater(measured["windows"], 5)
        by_name = {function["function"]: function for function in measured["functions"]}
        self.assertEqual(len(by_name), 3)
        for name, calls in (("latencies:slept/1", 720), ("latencies:spread/1", 720)):
            function = by_name[name]
            self.assertLess(abs(function["calls"] - calls), 4 * max(function["half"] or calls, 20))
            self.assertGreater(function["latency"]["returned"], 10)
            self.assertGreater(function["latency"]["p50_ns"], MS)
            self.assertLess(function["latency"]["p50_ns"], 10 * MS)

    def test_quick_calls(self):
        """What breakpoints add to a call is subtracted."""
        found = self.measure("quick/1", "quick", PAUSE, "quick")
        self.assertEqual(found["calls"], 2000)
        self.assertGreaterEqual(found["latency"]["returned"], 1000)
        self.assertLess(found["latency"]["p50_ns"], found["own_ns"] / 2)
        self.assertIn("to each call, which is subtracted from its time", found["said"])

    def test_calls_that_have_not_returned(self):
        """Their times are unknown. (The first one was not followed.)"""
        found = self.measure("slept/1", "endless", "once", PAUSE, "once", "endless")
        open_ones = [c["latency"] for c in found["callers"] if c["latency"]["open"]]
        self.assertEqual([(latency["open"], latency["returned"]) for latency in open_ones], [(1, 0)])
        self.assertIsNone(open_ones[0]["p50_ns"])
        self.assertIsNone(open_ones[0]["longest_ns"])
        self.assertEqual(found["latency"]["returned"], 1)

    def test_windows(self):
        """Under a budget that the hits exceed, the median is that of all calls."""
        found = self.measure("slept/1", "once", *["sleeps"] * 3, budget=3)
        self.assertGreater(found["windows"], 2)
        self.assertLess(found["latency"]["returned"], 0.95 * found["calls"])
        self.assertAlmostEqual(found["latency"]["p50_ns"] / found["node"]["median_ns"], 1, delta=0.1)


class FramePointers(Latency, unittest.TestCase):
    release = 27
    flags = ("+JPperf", "fp")


if __name__ == "__main__":
    unittest.main()
