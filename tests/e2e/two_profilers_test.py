# SPDX-License-Identifier: Apache-2.0
"""Two profilers with all events on one node: one counts as if it were alone, also when the other is
killed."""
import json
import random
import signal
import time
import unittest

import beamflame
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


if __name__ == "__main__":
    unittest.main()
