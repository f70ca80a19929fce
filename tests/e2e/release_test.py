# SPDX-License-Identifier: Apache-2.0
"""An unknown release is refused, unless its DWARF has the layouts of its structs."""
import json
import time
import unittest

import beamflame
import nodes
from beamflame import DONE, UNSUPPORTED

UNKNOWN = 31


class UnknownRelease(unittest.TestCase):
    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)

    def node(self, release, load="request"):
        """Start a node of an unknown release: the emulator of a known one, with another number in
        the banner."""
        banner = "Erlang/OTP {}%s [erts-".format
        program = nodes.emulator(release).read_bytes()
        own = banner(nodes.otp(release)).encode()
        self.assertEqual(program.count(own), 1)
        altered = self.out / "beam.smp"
        altered.write_bytes(program.replace(own, banner(UNKNOWN).encode()))
        altered.chmod(0o755)
        return nodes.Node(release, load, emulator=altered)

    def test_stripped(self):
        """Exit code 5; the message has the release found, the known releases, and the
        alternative."""
        for release in (25, 29):
            with self.subTest(release=release), self.node(release) as node:
                done = beamflame.run("-p", node.pid, "-d", 1, "-o", self.out / "x.folded")
                self.assertEqual(done.returncode, UNSUPPORTED, done.stderr)
                for text in (f"OTP {UNKNOWN} ", node.ready["erts"], "24 to 29", "DWARF"):
                    self.assertIn(text, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertFalse((self.out / "x.folded").exists())

    def test_list(self):
        """The list of VMs has the node, with an error in place of the unknown fields."""
        with self.node(27) as node:
            vms = json.loads(beamflame.record("ps", "--json").stdout)
        vm = next(vm for vm in vms if vm["pid"] == node.pid)
        self.assertEqual(vm["otp_release"], str(UNKNOWN))
        self.assertIn(f"OTP {UNKNOWN} ", vm["error"])
        self.assertNotIn("processes", vm)

    def test_left_out_of_all(self):
        """-a skips the node, says so, and profiles the others."""
        with self.node(27) as unknown, nodes.Node(25, "identity") as known:
            done = beamflame.run("-a", "-d", 1, "-F", 199, "-o", self.out / "x.folded",
                                 "--stats", self.out / "s.json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stderr, rf"process {unknown.pid} is skipped: .*OTP {UNKNOWN} ")
        pids = [t["pid"] for t in json.loads((self.out / "s.json").read_text())["targets"]]
        self.assertIn(known.pid, pids)
        self.assertNotIn(unknown.pid, pids)

    def test_with_dwarf(self):
        """With DWARF the node is profiled like any other."""
        with self.node("27-usdt-dwarf") as node:
            time.sleep(0.5)
            beamflame.record("-p", node.pid, "-d", 3, "-F", 999, "-o", self.out / "x.folded",
                             "--stats", self.out / "s.json")
        stats = json.loads((self.out / "s.json").read_text())
        self.assertEqual(stats["target"]["otp_release"], str(UNKNOWN))
        self.assertEqual(stats["target"]["layout"], "dwarf")
        self.assertGreater(stats["erlang_samples"], 80)
        self.assertGreaterEqual(stats["complete_stacks"] / stats["erlang_samples"], 0.99)
        stacks = beamflame.read_folded(self.out / "x.folded")
        self.assertGreater(beamflame.weight_of(stacks, "request:serve/3"), 0)
