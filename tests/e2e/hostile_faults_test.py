# SPDX-License-Identifier: Apache-2.0
"""A VM whose memory is not where its structs say: samples of its running process lack what can't be
read. They are counted, in --stats and in the summary."""
import json
import os
import signal
import subprocess
import time
import unittest

import beamflame
import nodes
from hostile_test import HOSTILE

NEEDS = "own nodes"
HZ = 99
SECONDS = 2  # a node that lies is recorded for so long
ENOUGH = 10  # samples of it; other programs may run here
LACKS = "samples without a part of their memory, which could not be read"


class Faults(unittest.TestCase):
    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)

    def record(self, lie=None):
        """Record a node whose process is in a NIF, after a lie; return its statistics and its
        summary."""
        path, stats = self.out / "x.bfr", self.out / "s.json"
        with nodes.Node(27, "hostile", "spin=60", flags=nodes.NO_BUSY_WAIT) as node, \
                beamflame.recording("-p", node.pid, "-F", HZ, "-o", path, "--stats", stats):
            node.send("tell spin")
            time.sleep(0.5)
            if lie:
                os.kill(node.pid, signal.SIGSTOP)
                subprocess.run([HOSTILE, str(node.pid), lie], check=True)
                os.kill(node.pid, signal.SIGCONT)
            time.sleep(SECONDS)
        return json.loads(stats.read_text()), beamflame.record("report", path).stdout

    def check_counted(self, lie):
        """Samples after the lie are counted, and not those before it."""
        stats, summary = self.record(lie)
        faults = stats["losses"]["read_fault"]
        self.assertGreater(faults, ENOUGH)
        self.assertLess(faults, stats["samples"])
        self.assertIn(f"{faults:,}  {LACKS}", summary)
        return stats, faults

    def test_samples_without_their_stack_are_counted(self):
        stats, faults = self.check_counted("absent_stack")
        self.assertGreaterEqual(stats["losses"]["stack_incomplete"], faults)

    def test_samples_without_their_process_are_counted(self):
        stats, faults = self.check_counted("absent_process")
        self.assertLessEqual(faults, stats["samples"] - stats["erlang_samples"])

    def test_samples_of_an_honest_node_lack_nothing(self):
        stats, summary = self.record()
        self.assertGreater(stats["samples"], ENOUGH)
        self.assertEqual(stats["losses"]["read_fault"], 0)
        self.assertNotIn(LACKS, summary)


if __name__ == "__main__":
    unittest.main()
