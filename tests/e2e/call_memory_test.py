# SPDX-License-Identifier: Apache-2.0
"""`beamflame calls --memory`: calls allocate as many words as the code says, and as tprof says."""
import time
import unittest

import beamflame
import breakpoints
import nodes
from call_counts import counting

NEEDS = "own nodes"
FLAT, LISTED = 9, 200  # words
TPROF = 27  # the first release that has it


@nodes.each_release
class CallMemory:
    release = None

    @classmethod
    def setUpClass(cls):
        breakpoints.require()
        cls.node = nodes.Node(cls.release, "makers")
        cls.addClassCleanup(cls.node.kill)
        for work in ("flat", "listed", "waited"):
            cls.node.tell(work)

    def measure(self, function, *works):
        """Return what was measured. The first work shows the callers."""
        with counting(self.node, "--memory", f"makers:{function}") as counted:
            for work in works:
                self.node.tell(work)
                time.sleep(0.2)
        return {**counted, **counted["functions"][0]}

    def check(self, found, words):
        """Collections in calls change nothing. Only calls in which a process was scheduled out are
        not measured."""
        memory, returned = found["memory"], found["latency"]["returned"]
        self.assertGreater(returned, 0.4 * found["calls"])
        self.assertGreater(memory["measured"], 0.9 * returned)
        self.assertLessEqual(memory["measured"], returned)
        self.assertEqual(memory["words_per_call"], words)
        self.assertAlmostEqual(memory["words"] / (words * found["calls"]),
                               memory["measured"] / returned, delta=0.01)
        for caller in found["callers"]:
            self.assertIn(caller["memory"]["words_per_call"], (words, None))

    def test_words_of_a_function(self):
        self.check(self.measure("flat/1", "flat", "flat"), FLAT)

    def test_words_with_callees_and_collections(self):
        self.check(self.measure("listed/1", "listed", "listed"), LISTED)

    def test_words_on_a_heap_that_grows(self):
        self.check(self.measure("listed/1", "kept", "kept"), LISTED)

    def test_calls_that_wait_are_not_measured(self):
        """Others may have caused the collections of their scheduler meanwhile."""
        found = self.measure("waited/1", "waited", "waited")
        self.assertGreater(found["latency"]["returned"], 15)
        self.assertEqual((found["memory"]["measured"], found["memory"]["words"]), (0, None))

    def test_words_are_those_of_tprof(self):
        if self.release < TPROF:
            self.skipTest(f"OTP {self.release} has no tprof")
        self.assertEqual(self.node.tell("traced")["traced"], 1000 * FLAT)

    def test_table(self):
        """The table has the words of a call, and of all calls."""
        process = beamflame.start("calls", "-p", self.node.pid, "--budget", 100, "-d", 2, "--memory",
                                  "makers:flat/1")
        self.assertIn("counting", process.stderr.readline())
        self.node.tell("flat")
        time.sleep(0.2)
        self.node.tell("flat")
        out, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, beamflame.DONE, said)
        titles, row = (line.split() for line in out.splitlines()[:2])
        self.assertEqual(titles[-3:], ["WORDS/CALL", "WORDS", "FUNCTION"])
        self.assertEqual((row[0], row[-1]), ("10,000", "makers:flat/1"))
        self.assertIn(" 9.0 ", out.splitlines()[1])


if __name__ == "__main__":
    unittest.main()
