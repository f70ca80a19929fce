# SPDX-License-Identifier: Apache-2.0
"""`beamflame calls --split`: what the time of calls is made of is what the load did, on each
release.

The load computes and waits by the clock. So what is known of a call are least times, whatever else
the machine does; and of 20 calls together the CPU time."""
import signal
import statistics
import subprocess
import time
import unittest

import beamflame
import breakpoints
import nodes
from call_counts import counting

NEEDS = "own nodes"
MS = 1000000
PARTS = ("running_ns", "preempted_ns", "runnable_ns", "waiting_ns")
NO_BUSY_WAIT = ("+sbwt", "none", "+sbwtdcpu", "none", "+sbwtdio", "none")


def on_scheduler(split):
    return split["running_ns"] + split["preempted_ns"]


@nodes.each_release
class Split:
    release = None

    def setUp(self):
        breakpoints.require()

    def node(self, schedulers=2):
        node = nodes.Node(self.release, "splits",
                          flags=(*NO_BUSY_WAIT, "+S", f"{schedulers}:{schedulers}"))
        self.addCleanup(node.kill)
        return node

    def measure(self, work, function, calls=20, schedulers=2, least=0.9):
        """Return the parts of each call of the last request, the report of the node, and what was
        counted. The first request tells where calls return to."""
        node = self.node(schedulers)
        with counting(node, "--split", f"splits:{function}", "--slow", "1us") as counted:
            node.tell(work)
            time.sleep(0.2)
            report = node.tell(work)
        self.check_sums(counted, least)
        slow = sorted(counted["slow_calls"], key=lambda call: call["ended"])[-calls:]
        return [call["split"] for call in slow if call["split"]], report, counted

    def check_sums(self, counted, least):
        """Parts add up to the time of each call, and of most calls they are known."""
        function, = counted["functions"]
        returned = function["latency"]["returned"]
        self.assertEqual(function["split"]["measured"] + function["not_split"], returned)
        self.assertGreaterEqual(function["split"]["measured"], least * returned)
        self.assertEqual(len(counted["slow_calls"]), returned)
        for call in counted["slow_calls"]:
            if call["split"]:
                self.assertAlmostEqual(sum(call["split"][part] for part in PARTS), call["took_ns"],
                                       delta=2000)
                self.assertLessEqual(call["split"]["collecting_ns"], call["split"]["running_ns"])

    def check_waits(self, splits):
        """The calls wait for 10 ms. A scheduler can lose its CPU after the timer has begun and
        before the process waits: that part is none of waiting."""
        self.assertGreater(statistics.median(s["waiting_ns"] for s in splits), 9.9 * MS)
        for split in splits:
            self.assertGreater(split["waiting_ns"] + split["preempted_ns"], 9.9 * MS)

    def check_shares(self, counted):
        """A share is that of the calls sorted by that part. It is not known of few calls."""
        split = counted["functions"][0]["split"]
        calls = [call["split"] for call in counted["slow_calls"] if call["split"]]
        self.assertEqual(len(calls), split["measured"])
        self.assertGreaterEqual(len(calls), 50)
        for share in (50, 90, 99):
            if len(calls) * (100 - share) < 100:
                self.assertIsNone(split[f"p{share}"])
                continue
            for part in (*PARTS, "collecting_ns"):
                expected = sorted(call[part] for call in calls)[-(-len(calls) * share // 100) - 1]
                self.assertAlmostEqual(split[f"p{share}"][part], expected, delta=2 + expected / 60,
                                       msg=f"{share} {part}")

    def test_computing(self):
        """Running is the CPU time that the VM used meanwhile, and not what it waited for a CPU."""
        splits, report, _ = self.measure("computes", "computed/1")
        self.assertGreater(len(splits), 18)
        for split in splits:
            self.assertGreater(on_scheduler(split), 20 * MS - 20000)
            self.assertLess(split["waiting_ns"], MS)
        self.assertAlmostEqual(sum(s["running_ns"] for s in splits) / report["cpu_ns"], 1,
                               delta=0.1)

    def test_waiting(self):
        splits, _, counted = self.measure("waits", "waited/1", calls=50)
        self.check_waits(splits)
        self.check_shares(counted)
        self.assertLess(counted["functions"][0]["split"]["running_ns"], MS)

    def test_computing_and_waiting(self):
        splits, _, _ = self.measure("mixed", "mixed/1")
        for split in splits:
            self.assertGreater(on_scheduler(split), 5 * MS - 20000)
        self.check_waits(splits)

    def test_run_queues(self):
        """In each of 10 turns two neighbours compute for a millisecond each on the only
        scheduler."""
        splits, _, _ = self.measure("queues", "computed/1", calls=10, schedulers=1)
        for split in splits:
            self.assertGreater(split["runnable_ns"], 18 * MS)
            self.assertGreater(on_scheduler(split), 20 * MS - 20000)
            self.assertLess(split["waiting_ns"], MS)

    def test_collections(self):
        """Collections of much data take as long as the node says, with what they waited for a
        scheduler and a CPU. Those of little data are on the process's own scheduler."""
        for work in "collects", "tidies":
            with self.subTest(work):
                splits, report, _ = self.measure(work, "collected/2")
                total = {key: sum(split[key] for split in splits) for key in splits[0]}
                took = report["collected_ns"] * len(splits) / 20
                self.assertLess(total["collecting_ns"], took)
                self.assertGreater(total["collecting_ns"] + total["preempted_ns"]
                                   + total["runnable_ns"], 0.7 * took)
                self.assertGreater(total["collecting_ns"], 0.3 * total["running_ns"])
                self.assertLess(total["waiting_ns"], 0.05 * took)

    def test_suspended_processes(self):
        """They wait. The VM suspends a process while it runs it for a signal only."""
        splits, _, _ = self.measure("suspends", "halted/2")
        for split in splits:
            self.assertGreater(split["waiting_ns"], 9.9 * MS)

    def test_dirty_schedulers(self):
        splits, report, _ = self.measure("dirty", "dirty/1")
        for split in splits:
            self.assertGreater(on_scheduler(split), 5 * MS - 20000)
        self.assertAlmostEqual(sum(s["running_ns"] for s in splits) / report["cpu_ns"],
                               len(splits) / 20, delta=0.15)

    def test_recursion(self):
        """A call has the parts of the calls in it."""
        _, _, counted = self.measure("recurses", "deep/1", calls=30)
        callers = counted["functions"][0]["callers"]
        outer = next(c for c in callers if c["function"] != "splits:deep/1")
        inner = next(c for c in callers if c["function"] == "splits:deep/1")
        self.assertGreater(outer["split"]["waiting_ns"], 15 * MS - 20000)
        self.assertGreater(inner["split"]["waiting_ns"], 7.5 * MS - 20000)
        self.assertLess(inner["split"]["waiting_ns"], outer["split"]["waiting_ns"])

    def test_windows(self):
        """Where hits exceed the budget, the probes are attached in windows, as breakpoints are set:
        calls in them are split, and cost is within bounds."""
        node = self.node()
        with counting(node, "--split", "--budget", 5, "splits:waited/1") as counted:
            for _ in range(3):
                node.tell("counts")
                node.tell("waits")
        function, = counted["functions"]
        self.assertGreater(counted["windows"], 2)
        self.assertGreater(counted["split_hits"], 100)
        self.assertLess(counted["cost_percent"], 15)
        if function["split"]:
            self.assertGreater(function["split"]["waiting_ns"], 9.9 * MS)


class Text(unittest.TestCase):
    def test_table_and_slow_calls(self):
        """Functions, callers and slow calls have a line with the parts."""
        breakpoints.require()
        with nodes.Node(27, "splits") as node:
            process = beamflame.start("calls", "-p", node.pid, "--budget", 100, "--split",
                                      "--slow", "1ms", "splits:mixed/1", stdin=subprocess.DEVNULL)
            self.addCleanup(process.kill)
            self.assertIn("counting", process.stderr.readline())
            for _ in range(2):
                node.tell("mixed")
            process.send_signal(signal.SIGINT)
            out, said = process.communicate(timeout=60)
        lines = out.splitlines()
        shares = [line for line in lines if " each part by itself, at most " in line]
        self.assertEqual([line.split(" of calls")[0].strip() for line in shares], ["in 50 %", "in 90 %"])
        lines = [line for line in lines if line not in shares]
        parts = [n for n, line in enumerate(lines) if " running" in line and " waiting" in line]
        self.assertIn("splits:mixed/1", lines[parts[0] - 1])
        self.assertIn("called by splits:", lines[parts[1] - 1])
        self.assertIn("    on average ", lines[parts[0]])
        slow = next(n for n, line in enumerate(lines) if "SLOW CALLS" in line)
        self.assertIn(slow + 2, parts)
        self.assertRegex(said, r"[\d,]+ hits of probes on scheduling and collections, of about "
                               r"\d+\.\d us each, are in it")


if __name__ == "__main__":
    unittest.main()
