# SPDX-License-Identifier: Apache-2.0
"""The kernel has far more samples than beamflame takes: what is lost is counted and reported, and what
the kernel counts itself stays exact."""
import json
import re
import signal
import time
import unittest

import beamflame
import nodes

USUAL_HZ = 99  # the default of --frequency


class Overrun(beamflame.Profilers, unittest.TestCase):
    def test_samples_of_a_full_ring_are_counted(self):
        """beamflame gets no CPU while a node works: samples of events come at 100 times the usual
        rate, besides those of cpu at 20 times. (The guard of the clock ends recordings of cpu at 50
        times on slow machines.)"""
        beamflame.require()
        out = beamflame.folder(self.addCleanup)
        with nodes.Node(27, "memory") as node:
            profiler = self.start("-p", node.pid, "-F", 1999, "-e", "cpu,gc,alloc", "--budget", 100,
                                  "-o", out / "x.bfr", "--stats", out / "x.json")
            self.assertIn("sampling", profiler.stderr.readline())
            before = node.report()
            profiler.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            after = node.tell("allocate")
            seconds = time.monotonic() - began
            profiler.send_signal(signal.SIGCONT)
            time.sleep(0.5)
            profiler.send_signal(signal.SIGINT)
            summary, said = profiler.communicate(timeout=60)
        self.assertEqual(profiler.returncode, beamflame.DONE, said)
        stats = json.loads((out / "x.json").read_text(encoding="utf-8"))
        lost, events = stats["losses"]["ring_full"], stats["events"]
        truth = nodes.difference(after, before, "gc")
        self.assertGreater(2 * truth["count"] / seconds, 100 * USUAL_HZ)
        # Each collection is a hit of both events, which was read or lost.
        self.assertGreater(lost, 10000)
        self.assertGreaterEqual(lost, events["gc"]["lost"] + events["alloc"]["lost"])
        for event in "gc", "alloc":
            self.assertAlmostEqual(events[event]["hits"] / truth["count"], 1, delta=0.01)
        self.assertAlmostEqual((events["gc"]["samples"] + events["gc"]["lost"])
                               / events["gc"]["hits"], 1, delta=0.01)
        self.assertAlmostEqual(events["gc"]["values"]["reclaimed"]["sum"] / truth["reclaimed"], 1,
                               delta=0.01)
        self.assertAlmostEqual(events["alloc"]["values"]["words"]["sum"] / 100e6, 1, delta=0.02)
        self.assertRegex(summary, rf"{lost:,} +samples dropped because the ring buffer was full")
        self.assertTrue(re.search(r"samples lost", summary), summary)


if __name__ == "__main__":
    unittest.main()
