# SPDX-License-Identifier: Apache-2.0
"""An unknown release is refused, unless its DWARF has the layouts of its structs, or the user says
which known release it is treated as."""
import json
import time
import unittest

import beamflame
import nodes
from beamflame import DONE, UNSUPPORTED

NEEDS = "all nodes"
UNKNOWN = 99


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

    def test_unknown_release_without_dwarf_is_refused(self):
        """The exit code is 5. The message has the release found, the known releases, and the
        alternative."""
        for release in (25, 29):
            with self.subTest(release=release), self.node(release) as node:
                done = beamflame.run("-p", node.pid, "-d", 1, "-o", self.out / "x.folded")
                self.assertEqual(done.returncode, UNSUPPORTED, done.stderr)
                for text in (f"OTP {UNKNOWN} ", node.ready["erts"], "DWARF"):
                    self.assertIn(text, done.stderr)
                self.assertRegex(done.stderr, r"OTP \d+ to (\d+), .*--assume-release \1\b")
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertFalse((self.out / "x.folded").exists())

    def test_list_of_vms_has_the_unknown_release_with_an_error(self):
        """The list of VMs has the node, with an error in place of the unknown fields."""
        with self.node(27) as node:
            vms = json.loads(beamflame.record("ps", "--json").stdout)
        vm = next(vm for vm in vms if vm["pid"] == node.pid)
        self.assertEqual(vm["otp_release"], str(UNKNOWN))
        self.assertIn(f"OTP {UNKNOWN} ", vm["error"])
        self.assertNotIn("processes", vm)

    def test_unknown_release_is_skipped_among_all(self):
        """-a skips the node, says so, and profiles the others."""
        with self.node(27) as unknown, nodes.Node(25, "identity") as known:
            done = beamflame.run("-a", "-d", 1, "-F", 199, "-o", self.out / "x.folded",
                                 "--stats", self.out / "s.json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stderr, rf"process {unknown.pid} is skipped: .*OTP {UNKNOWN} ")
        pids = [t["pid"] for t in json.loads((self.out / "s.json").read_text())["targets"]]
        self.assertIn(known.pid, pids)
        self.assertNotIn(unknown.pid, pids)

    def test_unknown_release_with_dwarf_is_profiled(self):
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

    def assert_assumed(self, done, release):
        """The command has succeeded, and its only message is a warning with both releases."""
        self.assertEqual(done.returncode, DONE, done.stderr)
        warnings = [line for line in done.stderr.splitlines() if "warning" in line]
        self.assertEqual(len(warnings), 1, done.stderr)
        self.assertRegex(warnings[0], rf"OTP {UNKNOWN} .*treated as OTP {release}\b")

    def record_assumed(self, node, release, layout):
        """Record the node as this release; nearly all of its stacks are complete."""
        time.sleep(0.5)
        done = beamflame.run("-p", node.pid, "-d", 3, "-F", 999, "-o", self.out / "x.folded",
                             "--stats", self.out / "s.json", "--assume-release", release)
        self.assert_assumed(done, release)
        stats = json.loads((self.out / "s.json").read_text())
        self.assertEqual(stats["target"]["otp_release"], str(UNKNOWN))
        self.assertEqual(stats["target"]["layout"], layout)
        self.assertGreater(stats["erlang_samples"], 80)
        self.assertGreaterEqual(stats["complete_stacks"] / stats["erlang_samples"], 0.99)
        stacks = beamflame.read_folded(self.out / "x.folded")
        self.assertGreater(beamflame.weight_of(stacks, "request:serve/3"), 0)

    def test_assumed_release_gives_layout_and_features(self):
        """With --assume-release the node is profiled by the layout and features of that release."""
        for release in (25, 27, 29):
            with self.subTest(release=release), self.node(release) as node:
                self.record_assumed(node, release, "table")

    def test_assumed_release_leaves_the_layout_to_dwarf(self):
        """The layout is that of DWARF; the features are those of the assumed release."""
        with self.node("27-usdt-dwarf") as node:
            self.record_assumed(node, 27, "dwarf")

    def test_all_commands_can_assume_a_release(self):
        """The commands ps, probes, dump and doctor have the option too."""
        with self.node(29) as node:
            listed = beamflame.run("ps", "--json", "--assume-release", 29)
            probes = beamflame.run("probes", "-p", node.pid, "--assume-release", 29)
            dump = beamflame.run("dump", "-p", node.pid, "--json", "--assume-release", 29)
            doctor = beamflame.run("doctor", "-p", node.pid, "-j", "--assume-release", 29)
        for done in (listed, probes, dump):
            self.assert_assumed(done, 29)
        vm = next(vm for vm in json.loads(listed.stdout) if vm["pid"] == node.pid)
        self.assertEqual(vm["otp_release"], str(UNKNOWN))
        self.assertGreater(vm["processes"], 10)
        self.assertIn("gc_begin", probes.stdout)
        self.assertNotIn("refused", probes.stdout)
        self.assertIn("request", dump.stdout)
        self.assertEqual(doctor.returncode, DONE, doctor.stdout)
        found = {finding["check"]: finding for finding in json.loads(doctor.stdout)}
        self.assertEqual(found[f"vm {node.pid} release"]["status"], "warning")
        self.assertIn("treated as OTP 29", found[f"vm {node.pid} release"]["found"])

    def test_wrong_assumed_release_is_refused(self):
        """The checks of the layout refuse a release whose structs differ from those of the VM."""
        for own, assumed in ((27, 29), (29, 25)):
            with self.subTest(assumed=assumed), self.node(own) as node:
                done = beamflame.run("-p", node.pid, "-d", 1, "-o", self.out / "x.folded",
                                     "--assume-release", assumed)
                self.assertEqual(done.returncode, UNSUPPORTED, done.stderr)
                self.assertIn(f"treated as OTP {assumed}", done.stderr)
                self.assertFalse((self.out / "x.folded").exists())

    def test_known_release_is_not_assumed(self):
        """A VM of a known release is treated as its own."""
        with nodes.Node(27, "request") as node:
            done = beamflame.run("-p", node.pid, "-d", 1, "-o", self.out / "x.folded",
                                 "--assume-release", 25)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertNotIn("treated as", done.stderr)
