# SPDX-License-Identifier: Apache-2.0
"""`beamflame calls --slow` on each kernel of tools/kernel-lab: breakpoints on entries and on return
addresses count and measure. Each boot takes a minute."""
import json
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import kernel_test  # noqa: E402 pylint: disable=wrong-import-position
import nodes  # noqa: E402 pylint: disable=wrong-import-position
from beamflame import DONE, UNSUPPORTED  # noqa: E402 pylint: disable=wrong-import-position

ROUNDS = 300  # of the loop that is phases:ets_work/2


class KernelCalls(unittest.TestCase):
    def test_calls_are_counted_and_timed(self):
        """Calls have times by their only caller, and each is listed with its stack."""
        nodes.compiled_loads(25)
        for kernel in kernel_test.require():
            with self.subTest(kernel):
                done = subprocess.run(
                    [kernel_test.KERNEL_LAB, "run", "--build", nodes.BUILD, "--script",
                     HERE / "kernel_calls.sh", kernel], stdout=subprocess.PIPE, check=True)
                lines = json.loads(done.stdout)["output"].splitlines()
                self.assertIn(f"code {DONE}", lines, lines)
                counted = json.loads(next(line for line in lines if line.startswith("calls "))[6:])
                self.check(counted)
                self.check_split(kernel, lines)
                self.check_matched(json.loads(next(
                    line for line in lines if line.startswith("matched {"))[8:]))

    def check(self, counted):
        function, = counted["functions"]
        self.assertGreater(function["calls"], 10 * ROUNDS)
        self.assertEqual(function["half"], 0)
        self.assertGreater(function["latency"]["returned"], function["calls"] / ROUNDS / 2)
        self.assertLessEqual(function["latency"]["returned"], function["calls"] / ROUNDS + 2)
        self.assertEqual(len(counted["slow_calls"]), function["latency"]["returned"])
        for call in counted["slow_calls"]:
            self.assertEqual([frame["function"] for frame in call["stack"]][:2],
                             ["phases:repeat/3", "phases:phase_ets/1"])
            self.assertEqual(call["arguments"], f"(#Ref<...>, {ROUNDS})")
        self.assertEqual(function["calls_without_arguments"], 0)
        self.assertEqual(sorted(row["text"] for row in function["arguments"]),
                         sorted(f"(#Ref<...>, {n})" for n in range(ROUNDS + 1)))

    def check_split(self, kernel, lines):
        """The load computes: it runs nearly all of the time, or waits for a CPU."""
        if kernel == "5.10":  # needs Linux 5.15
            self.assertIn(f"split code {UNSUPPORTED}", lines)
            return
        self.assertIn(f"split code {DONE}", lines)
        counted = json.loads(next(line for line in lines if line.startswith("split {"))[6:])
        function, = counted["functions"]
        split, latency = function["split"], function["latency"]
        self.assertEqual(split["measured"], latency["returned"])
        self.assertGreater(counted["split_hits"], 100)
        self.assertGreater(split["running_ns"] + split["preempted_ns"] + split["runnable_ns"],
                           0.9 * latency["mean_ns"])

    def check_matched(self, counted):
        """Only the first rounds match."""
        function, = counted["functions"]
        self.assertGreater(function["calls"], 5)
        self.assertAlmostEqual(function["unmatched"], ROUNDS * function["calls"], delta=2 * ROUNDS)
        self.assertEqual(function["unchecked"], 0)


if __name__ == "__main__":
    unittest.main()
