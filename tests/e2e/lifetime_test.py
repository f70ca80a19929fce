# SPDX-License-Identifier: Apache-2.0
"""The ways a recording can end: its samples are written, and no probe outlasts the profiler."""
import json
import os
import re
import signal
import time
import unittest
from pathlib import Path

import beamflame
import nodes


class Lifetime(beamflame.Profilers, unittest.TestCase):
    def setUp(self):
        beamflame.require()
        nodes.require(25)
        self.out = beamflame.folder(self.addCleanup)

    def outputs(self):
        return [a for s in ("bfr", "perf", "folded", "svg") for a in ("-o", self.out / f"x.{s}")]

    def check_outputs(self):
        self.assertGreater(sum(beamflame.read_folded(self.out / "x.folded").values()), 50)
        self.assertGreater(sum(beamflame.folded(self.out / "x.bfr").values()), 50)
        for suffix in ("perf", "svg"):
            self.assertGreater((self.out / f"x.{suffix}").stat().st_size, 1000)

    def test_ignored_hangup_does_not_end_the_recording(self):
        """SIGHUP is ignored by a program that was started so (nohup)."""
        with nodes.Node(25, "request") as node:
            before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
            self.addCleanup(signal.signal, signal.SIGHUP, before)
            profiler = self.start("-p", node.pid, "-d", 3, "-F", 199, *self.outputs())
            time.sleep(1.5)
            profiler.send_signal(signal.SIGHUP)
            time.sleep(1)
            self.assertIsNone(profiler.poll())
            code, said = self.ended(profiler)
        self.assertEqual(code, beamflame.DONE, said)
        self.check_outputs()

    def test_end_of_the_target_ends_the_recording(self):
        """The end of the target ends the recording, and all outputs are written. A warning says
        so."""
        with nodes.Node(25, "request") as node:
            profiler = self.start("-p", node.pid, "-F", 199, *self.outputs())
            time.sleep(2.5)
        code, said = self.ended(profiler)
        self.assertEqual(code, beamflame.DONE, said)
        self.assertEqual(said.count(f"warning: process {node.pid} ended while it was recorded"), 1)
        self.check_outputs()

    def test_end_of_one_of_two_targets_is_said(self):
        """The same warning when others run on."""
        with nodes.Node(25, "request") as node:
            with nodes.Node(25, "request") as other:
                profiler = self.start("-p", node.pid, "-p", other.pid, "-F", 199, *self.outputs())
                time.sleep(2.5)
            time.sleep(2)
            profiler.send_signal(signal.SIGINT)
            code, said = self.ended(profiler)
        self.assertEqual(code, beamflame.DONE, said)
        self.assertEqual(said.count(f"warning: process {other.pid} ended while it was recorded"), 1)
        self.assertNotIn(f"process {node.pid} ended", said)

    def test_end_of_a_target_in_namespaces_ends_the_recording(self):
        """The target is the first process of its pid namespace. All outputs are written."""
        nodes.require(27)
        with nodes.Node(27, "request") as node:
            profiler = self.start("-p", node.pid, "-F", 199, *self.outputs())
            time.sleep(2.5)
        code, said = self.ended(profiler)
        self.assertEqual(code, beamflame.DONE, said)
        self.check_outputs()

    def test_recording_is_readable_after_kill_9(self):
        """After kill -9 the recording is readable, and the profiler's BPF programs are gone."""
        with nodes.Node(25, "request") as node:
            profiler = self.start("-p", node.pid, "-F", 199, "-o", self.out / "x.bfr")
            time.sleep(4)
            loaded = self.programs_of(profiler.pid)
            self.assertGreater(len(loaded), 0)
            profiler.kill()
            self.ended(profiler)
            deadline = time.monotonic() + 5
            while loaded & self.all_programs() and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertEqual(loaded & self.all_programs(), set())
            before = node.report()["requests"]
            time.sleep(0.3)
            self.assertGreater(node.report()["requests"], before)
        self.assertGreater(sum(beamflame.folded(self.out / "x.bfr").values()), 50)

    def programs_of(self, pid):
        """Return the ids of the BPF programs that the process has file descriptors of."""
        texts = [info.read_text() for info in Path(f"/proc/{pid}/fdinfo").iterdir()]
        return {int(m[1]) for m in (re.search(r"^prog_id:\s+(\d+)", t, re.M) for t in texts) if m}

    def all_programs(self):
        return {p["id"] for p in beamflame.bpftool("prog", "show")}

    def test_command_is_profiled_until_its_vm_ends(self):
        """`-- COMMAND` profiles the VM that the command becomes, until the VM ends."""
        code = nodes.compiled_loads(25)
        stats = self.out / "s.json"
        keyboard, silent = os.pipe()  # the load ends at the end of its input
        self.addCleanup(os.close, keyboard)
        self.addCleanup(os.close, silent)
        done = beamflame.run(
            *self.outputs(), "--stats", stats, "--", "erl", "-noshell", "-pa", code,
            "-s", "request", "start", "-extra", "seconds=4", stdin=keyboard)
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        self.check_outputs()
        pid = json.loads(stats.read_text())["target"]["pid"]
        self.assertFalse(os.path.exists(f"/proc/{pid}"))

    def test_default_outputs_are_perf_and_svg(self):
        """Without -o there are a perf-script file and a flame graph in the current folder."""
        with nodes.Node(25, "request") as node:
            done = beamflame.run("-p", node.pid, "-d", 2, cwd=self.out)
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        suffixes = sorted(p.suffix for p in self.out.glob(f"beamflame-{node.pid}-*"))
        self.assertEqual(suffixes, [".perf", ".svg"])

    def test_standard_output_has_the_profile_alone(self):
        """`-o -` writes the profile, and nothing else, to standard output."""
        with nodes.Node(25, "request") as node:
            done = beamflame.record("-p", node.pid, "-d", 2, "--format", "folded", "-o", "-")
        lines = done.stdout.splitlines()
        self.assertGreater(len(lines), 10)
        for line in lines:
            self.assertRegex(line, r"^\S.* \d+$")
