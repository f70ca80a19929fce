# SPDX-License-Identifier: Apache-2.0
"""Limits of the kernel on beamflame are raised, or named."""
import subprocess
import unittest

import beamflame
import nodes
from beamflame import DONE, FAILED, NO_PROCESS

EVENTS = "cpu,gc,alloc,sched,msg"


class Descriptors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.node = nodes.Node(25, "request")
        cls.addClassCleanup(cls.node.kill)

    def record(self, limits):
        """Record with these limits on descriptors, "SOFT:HARD"."""
        out = beamflame.folder(self.addCleanup) / "x.bfr"
        return subprocess.run(
            ["prlimit", f"--nofile={limits}", beamflame.BINARY, "-q", "-p", str(self.node.pid),
             "-d", "1", "-e", EVENTS, "--budget", "100", "-o", out],
            capture_output=True, text=True, timeout=60)

    def test_a_soft_limit_is_raised(self):
        """A soft limit that is too low does no harm: the hard one counts."""
        done = self.record("24:4096")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(done.stderr, "")

    def test_a_hard_limit_is_named(self):
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


if __name__ == "__main__":
    unittest.main()
