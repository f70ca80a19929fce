# SPDX-License-Identifier: Apache-2.0
"""`beamflame ps`, compared with what the nodes say."""
import json
import os
import signal
import unittest

import beamflame
import nodes

NEEDS = "all nodes"
NAME = ("-sname", "beamflame_test", "-dist_listen", "false", "-start_epmd", "false")


def listed(pid):
    """Return the entry of this pid in the JSON form, or None."""
    vms = json.loads(beamflame.record("ps", "--json").stdout)
    return next((vm for vm in vms if vm["pid"] == pid), None)


class Ps(unittest.TestCase):
    def setUp(self):
        beamflame.require()

    def test_each_release_is_described(self):
        """Release, flavor, node name, schedulers and processes are those of the node."""
        for release in nodes.RELEASES:
            with self.subTest(release=release), \
                    nodes.Node(release, "identity", flags=NAME) as node:
                vm = listed(node.pid)
                self.assertIsNotNone(vm)
                self.assertEqual(str(vm["otp_release"]), node.ready["otp"])
                self.assertEqual(vm["erts"], node.ready["erts"])
                self.assertEqual(vm["flavor"], node.ready["flavor"])
                self.assertEqual(vm["node"], node.ready["node"])
                for kind in ("schedulers", "dirty_cpu_schedulers", "dirty_io_schedulers"):
                    self.assertEqual(vm[kind], node.ready[kind], kind)
                self.assertEqual(vm["libc"], "glibc")
                self.assertEqual(vm["frames"], "ra")
                self.assertEqual(vm["layout"], "table")
                self.assertAlmostEqual(vm["processes"], node.ready["processes"], delta=10)

    def test_node_of_musl_is_marked(self):
        """The JSON form and the table say musl of a VM that is linked against it."""
        with nodes.Node("27-musl", "identity") as node:
            self.assertEqual(listed(node.pid)["libc"], "musl")
            lines = beamflame.record("ps").stdout.splitlines()
        mine = next(line for line in lines if line.split()[0] == str(node.pid))
        self.assertIn(" musl ", mine)

    def test_node_with_frame_pointers_is_marked(self):
        with nodes.Node(27, "identity", flags=("+JPperf", "fp")) as node:
            self.assertEqual(listed(node.pid)["frames"], "fp")

    def test_table_has_pid_release_and_node_name(self):
        """The table has a line with the pid, the release and the node name."""
        with nodes.Node(25, "identity", flags=NAME) as node:
            lines = beamflame.record("ps").stdout.splitlines()
        mine = [line for line in lines if str(node.pid) in line.split()]
        self.assertEqual(len(mine), 1, lines)
        self.assertIn("25", mine[0])
        self.assertIn(node.ready["node"], mine[0])

    def test_os_process_is_described(self):
        """User, age, state and command line are those of the OS process. The cookie is left
        out, and a stopped node differs from a running one."""
        flags = (*NAME, "-setcookie", "open_sesame")
        with nodes.Node(25, "identity", flags=flags) as node:
            vm = listed(node.pid)
            self.assertEqual(vm["user"], "root")
            self.assertLess(vm["age_s"], 60)
            self.assertFalse(vm["stopped"])
            self.assertIn("-setcookie ***", vm["command"])
            self.assertIn("-sname beamflame_test", vm["command"])
            os.kill(node.pid, signal.SIGSTOP)
            stopped, table = listed(node.pid), beamflame.record("ps")
            os.kill(node.pid, signal.SIGCONT)
            self.assertTrue(stopped["stopped"])
            line = next(line for line in table.stdout.splitlines()
                        if line.split()[0] == str(node.pid))
            self.assertIn(" root ", line)
            self.assertIn(" stopped ", line)
            self.assertNotIn("open_sesame", table.stdout)

    def test_other_processes_are_not_listed(self):
        """A process is listed because it is a BEAM, not because of its name."""
        with nodes.Node(25, "identity") as node:
            names = {vm["pid"] for vm in json.loads(beamflame.record("ps", "--json").stdout)}
            self.assertIn(node.pid, names)
            self.assertNotIn(1, names)

    def test_ended_node_is_not_listed(self):
        with nodes.Node(25, "identity") as node:
            pid = node.pid
        self.assertIsNone(listed(pid))
