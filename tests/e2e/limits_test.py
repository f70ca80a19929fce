# SPDX-License-Identifier: Apache-2.0
"""Limits of the kernel on beamflame are raised, or named."""
import os
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

import beamflame
import nodes
from beamflame import DONE, FAILED, NO_PROCESS

EVENTS = "cpu,gc,alloc,sched,msg"


class Descriptors(beamflame.OneNode, unittest.TestCase):
    def record(self, limits):
        """Record with these limits on descriptors, "SOFT:HARD"."""
        return subprocess.run(
            ["prlimit", f"--nofile={limits}", beamflame.BINARY, "-q", "-p", str(self.node.pid),
             "-d", "1", "-e", EVENTS, "--budget", "100", "-o", self.out / "x.bfr"],
            capture_output=True, text=True, timeout=60)

    def test_soft_limit_on_descriptors_is_raised(self):
        """A soft limit that is too low does no harm: the hard one counts."""
        done = self.record("24:4096")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(done.stderr, "")

    def test_hard_limit_on_descriptors_is_named(self):
        """Wherever descriptors run out, beamflame ends with a code of its own. Where it happens
        after the VM was opened, the sentence has the limit and what to do."""
        named = 0
        for limit in range(12, 60, 2):
            with self.subTest(limit):
                done = self.record(f"{limit}:{limit}")
                self.assertIn(done.returncode, (DONE, FAILED, NO_PROCESS), done.stderr)
                sentence = f"{limit} open files are too few"
                if sentence in done.stderr:
                    named += 1  # with DONE a warning: windows of some probes are missing
                    self.assertIn(done.returncode, (DONE, FAILED))
                    self.assertIn("ulimit -Hn", done.stderr)
                elif done.returncode != DONE:
                    self.assertLess(limit, 24, done.stderr)
        self.assertGreater(named, 5)


class Cpus(beamflame.Profilers, unittest.TestCase):
    """Switches a CPU off and on, which disturbs all that runs on the machine: only where
    BEAMFLAME_HOTPLUG=1 allows it."""

    def test_cpu_that_comes_online_is_sampled(self):
        """A CPU that is offline at the start is sampled from when it comes online, and again after
        it was off for some time."""
        beamflame.require()
        switch = Path("/sys/devices/system/cpu/cpu1/online")
        if os.environ.get("BEAMFLAME_HOTPLUG") != "1" or not switch.exists():
            self.skipTest("BEAMFLAME_HOTPLUG=1 allows to switch CPU 1 off and on")
        out = beamflame.folder(self.addCleanup) / "x.bfr"
        self.addCleanup(switch.write_text, "1")
        with nodes.Node(25, "request") as node:
            switch.write_text("0")
            profiler = self.start("-v", "-p", node.pid, "-o", out)
            while "sampling 1 VM" not in profiler.stderr.readline():
                pass
            node.take_precedence()  # so that it uses both CPUs, whatever else runs
            for on in "1", "0", "1":
                switch.write_text(on)
                time.sleep(2.5)
            profiler.send_signal(signal.SIGINT)
            code, said = self.ended(profiler)
        self.assertEqual(code, DONE, said)
        self.assertEqual(said.count("CPU 1 is online and is sampled from now on"), 2, said)
        self.assertEqual(said.count("CPU 1 is offline"), 1, said)
        beamflame.record("report", out, "-o", out.with_suffix(".perf"))
        times = [float(found[1]) for found in re.finditer(
            r"\[001\] +(\d+\.\d+):", out.with_suffix(".perf").read_text())]
        self.assertGreater(times[-1] - times[0], 3.5)  # before and after it was off


if __name__ == "__main__":
    unittest.main()
