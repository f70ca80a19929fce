# SPDX-License-Identifier: Apache-2.0
"""Two profilers with all events on one node: one counts as if it were alone, also when the other is
killed."""
import json
import random
import signal
import time
import unittest

import beamflame
import breakpoints
import kills
import nodes


class TwoProfilers(beamflame.Profilers, unittest.TestCase):
    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)

    def attached(self, node, name):
        """Start a profiler that counts everything, all of the time."""
        profiler = self.start("-p", node.pid, "-e", kills.EVENTS, "--budget", 100,
                              "-o", self.out / f"{name}.bfr", "--stats", self.out / f"{name}.json")
        self.assertIn("sampling", profiler.stderr.readline())
        return profiler

    def check(self, name, truth):
        """The counts are those of the node (as in memory_test.py)."""
        stats = json.loads((self.out / f"{name}.json").read_text(encoding="utf-8"))
        events = stats["events"]
        for event in "gc", "alloc", "msg", "sched":
            self.assertEqual(events[event]["covered_ms"], events[event]["span_ms"], event)
        self.assertGreater(truth["count"], 50)
        gc = events["gc"]["values"]
        self.assertAlmostEqual(gc["count"]["sum"] / truth["count"], 1, delta=0.01)
        self.assertAlmostEqual(gc["reclaimed"]["sum"] / truth["reclaimed"], 1, delta=0.01)
        self.assertAlmostEqual(events["alloc"]["values"]["words"]["sum"] / 100e6, 1, delta=0.02)

    def test_profiler_counts_everything_while_another_is_killed(self):
        """Both have probes in the same places; one is killed while the node works."""
        before_any = set(kills.objects())
        with nodes.Node(27, "memory") as node:
            killer = kills.Killer(node, self.out, random.Random(1))
            stays, goes = self.attached(node, "stays"), self.attached(node, "goes")
            before = node.report()
            node.send("tell allocate")
            time.sleep(0.3)
            goes.kill()
            while (after := node.report())["done"] == before["done"]:
                time.sleep(0.05)
            stays.send_signal(signal.SIGINT)
            code, said = self.ended(stays)
            self.assertEqual(code, beamflame.DONE, said)
            self.check("stays", nodes.difference(after, before, "gc"))
            goes.wait(timeout=60)
            self.assertIn(beamflame.run("report", self.out / "goes.bfr").returncode,
                          (beamflame.DONE, beamflame.NO_SAMPLES))
            self.assertEqual(killer.left(before_any), [])

    def test_each_recording_keeps_within_its_own_budget(self):
        """Two at once on one node: neither takes the other's budget, nor gets its hits."""
        with nodes.Node(27, "request") as node:
            profilers = {name: self.start("-p", node.pid, "-e", "gc,alloc", "--budget", 2, "-d", 8,
                                          "-o", self.out / f"{name}.bfr",
                                          "--stats", self.out / f"{name}.json")
                         for name in ("one", "other")}
            for profiler in profilers.values():
                code, said = self.ended(profiler)
                self.assertEqual(code, beamflame.DONE, said)
        for name in profilers:
            stats = json.loads((self.out / f"{name}.json").read_text(encoding="utf-8"))
            for event in "gc", "alloc":
                self.assertGreater(stats["events"][event]["hits"], 0, event)
                self.assertGreater(stats["events"][event]["covered_ms"], 0, event)
            cost = sum(stats["events"][event]["cost_ms"] for event in ("gc", "alloc"))
            self.assertLess(cost / stats["events"]["gc"]["target_cpu_ms"], 0.03)

    def test_breakpoints_that_another_uses_are_refused_with_a_sentence(self):
        """The first counts on; three and two functions need more than the four of a CPU."""
        breakpoints.require()
        with nodes.Node(27, "request") as node:
            first = self.start("calls", "-p", node.pid, "-d", 8, "lists:map/2", "lists:reverse/1",
                               "maps:to_list/1")
            beamflame.read_until(first, "counting calls")
            done = beamflame.run("calls", "-p", node.pid, "-d", 1, "lists:foreach/2",
                                 "lists:foldl/3")
            self.assertEqual(done.returncode, beamflame.UNSUPPORTED)
            self.assertIn("no hardware breakpoint is free: a CPU has 4, and debuggers and other "
                          "profilers of this VM use the rest", done.stderr)
            counted, said = first.communicate(timeout=60)
            self.assertEqual(first.returncode, beamflame.DONE, said)
            self.assertIn("maps:to_list/1", counted)


if __name__ == "__main__":
    unittest.main()
