# SPDX-License-Identifier: Apache-2.0
"""The loads and the lab themselves: all other tests rely on them."""
import os
import time
import unittest

import nodes

NEEDS = "own nodes"


class Loads(unittest.TestCase):
    def test_node_runs_the_requested_release(self):
        """The node runs the requested release, and its pid is that of a BEAM."""
        for release in nodes.RELEASES + nodes.BUILDS:
            with self.subTest(release=release):
                nodes.require(release)
                with nodes.Node(release, "request") as node:
                    self.assertEqual(node.ready["otp"], nodes.otp(release))
                    self.assertEqual(node.ready["dynamic_trace"],
                                     "systemtap" if release in nodes.BUILDS else "none")
                    self.assertTrue(os.readlink(f"/proc/{node.pid}/exe").endswith("beam.smp"))

    def test_node_has_the_requested_namespaces(self):
        """With --ns the node has its own pid namespace, without it the host's."""
        for ns in (False, True):
            with self.subTest(ns=ns), nodes.Node(25, "request", ns=ns) as node:
                same = os.readlink(f"/proc/{node.pid}/ns/pid") == os.readlink("/proc/self/ns/pid")
                self.assertEqual(same, not ns)

    def test_requests_are_counted(self):
        """Requests and CPU time grow between two reports."""
        with nodes.Node(25, "request") as node:
            first = node.report()
            time.sleep(0.5)
            second = node.report()
        self.assertGreater(second["requests"], first["requests"])
        self.assertGreater(second["cpu_ns"], first["cpu_ns"])

    def test_phases_get_equal_time(self):
        """With slices of 10 ms, all phases get about the same time."""
        with nodes.Node(25, "phases", "slice=10", flags=nodes.NO_BUSY_WAIT) as node:
            first = node.report()
            time.sleep(2)
            spent = nodes.difference(node.report(), first, "time_ns")
        self.assertEqual(len(spent), 14)
        for phase, share in nodes.shares(spent).items():
            self.assertAlmostEqual(share, 1 / len(spent), delta=0.04, msg=phase)

    def test_each_part_of_the_split_gets_cpu_time(self):
        with nodes.Node(25, "split", flags=nodes.NO_BUSY_WAIT) as node:
            time.sleep(1)
            self.assertTrue(all(ns > 0 for ns in node.report()["cpu_ns"].values()))

    def test_a_killed_node_leaves_nothing(self):
        """The VM has ended when its node object has, also in namespaces of its own."""
        for release in nodes.RELEASES:
            with self.subTest(release=release):
                nodes.require(release)
                with nodes.Node(release, "identity") as node:
                    pid = node.pid
                deadline = time.monotonic() + 5
                while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline:
                    time.sleep(0.05)
                self.assertFalse(os.path.exists(f"/proc/{pid}"))
