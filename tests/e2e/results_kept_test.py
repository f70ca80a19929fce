# SPDX-License-Identifier: Apache-2.0
"""What was recorded is kept somewhere, and a message names it, when its place goes or is full."""
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import time
import unittest

import beamflame
import nodes
from beamflame import DONE, FAILED

NEEDS = "own nodes"


class Kept(beamflame.OneNode, beamflame.Profilers, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.temporary = self.out / "temporary"
        self.temporary.mkdir()
        self.folder = self.out / "folder"
        self.folder.mkdir()
        self.environment = dict(os.environ, TMPDIR=str(self.temporary))

    def begin(self, *arguments, **options):
        profiler = beamflame.start("-p", self.node.pid, "-F", 199, *arguments,
                                   env=self.environment, **options)
        self.addCleanup(profiler.communicate)
        self.addCleanup(profiler.kill)
        return profiler

    def check_kept(self, said, least=50):
        """The message names a private file of the temporary folder that has the samples."""
        named = re.findall(r"kept in (\S+?);?(?:\s|$)", said)
        self.assertEqual(len(named), 1, said)
        self.assertEqual(os.path.dirname(named[0]), str(self.temporary))
        self.assertEqual(os.stat(named[0]).st_mode & 0o7777, 0o600)
        self.assertGreater(sum(beamflame.folded(named[0]).values()), least)
        return named[0]

    def lose_folder(self, *arguments):
        """Record, and remove the folder meanwhile; return what was said."""
        profiler = self.begin(*arguments)
        time.sleep(2.5)
        shutil.rmtree(self.folder)
        time.sleep(1)
        profiler.send_signal(signal.SIGINT)
        code, said = self.ended(profiler)
        self.assertEqual(code, FAILED, said)
        return said

    def test_recording_survives_the_removal_of_its_folder(self):
        said = self.lose_folder("-o", self.folder / "x.bfr")
        self.assertIn(f"{self.folder / 'x.bfr'} was removed", said)
        self.check_kept(said)
        self.assertNotIn("wrote", said)

    def test_recording_survives_the_removal_of_an_outputs_folder(self):
        """Without a requested recording, that of the outputs is kept."""
        said = self.lose_folder("-o", self.folder / "x.svg", "-o", self.out / "x.folded")
        self.assertIn(str(self.folder / "x.svg"), said)
        self.check_kept(said)

    def test_segment_survives_the_removal_of_its_folder(self):
        """The same for the segment of --loop that is being recorded."""
        said = self.lose_folder("--loop", 60, "-o", self.folder / "x.bfr")
        self.check_kept(said)

    def test_triggered_recording_survives_the_removal_of_its_folder(self):
        """The same for what a trigger recorded in memory."""
        said = self.lose_folder("--trigger", "memory>1", "--after", 60, "-o", self.folder / "x.bfr")
        self.check_kept(said)

    def test_renamed_recording_is_not_called_written(self):
        """A recording that has another name now is not called written under the old one."""
        profiler = self.begin("-o", self.folder / "x.bfr")
        time.sleep(2)
        os.rename(self.folder, self.out / "renamed")
        profiler.send_signal(signal.SIGINT)
        code, said = self.ended(profiler)
        self.assertEqual(code, FAILED)
        self.assertIn("kept in", said)
        self.assertGreater(sum(beamflame.folded(self.out / "renamed" / "x.bfr").values()), 50)

    def test_recording_is_kept_if_an_output_is_full(self):
        """/dev/full, as a full disk: the error names the output, the recording is kept."""
        profiler = self.begin("-d", 2, "--format", "folded", "-o", "/dev/full", "-o",
                              self.out / "x.svg")
        code, said = self.ended(profiler)
        self.assertEqual(code, FAILED)
        self.assertIn("can't write /dev/full: No space left on device", said)
        self.check_kept(said)
        self.assertFalse((self.out / "x.svg").exists())

    def fail_on_own_disk(self, script):
        """Run a script that mounts a disk at "$1" and records process "$3" by the program "$2".
        The recording must fail."""
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", self.folder,
                               beamflame.BINARY, str(self.node.pid)], env=self.environment,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        return done

    def test_full_disk_leaves_no_half_outputs(self):
        """A disk that is full when outputs are written: nothing half is left there."""
        script = ('mount -t tmpfs -o size=64k tmpfs "$1" || exit 99; '
                  'head -c 60k /dev/zero >"$1/filler"; '
                  '"$2" -p "$3" -d 2 -F 499 -q -o "$1/x.html"; code=$?; ls -A "$1"; exit $code')
        done = self.fail_on_own_disk(script)
        self.assertIn(f"can't write {self.folder / 'x.html'}: No space left on device", done.stderr)
        self.assertEqual(done.stdout.split(), ["filler"])
        self.check_kept(done.stderr)

    def test_full_disk_keeps_what_fits(self):
        """Without room in TMPDIR the recording is what fits in it, and that is kept without any
        more room."""
        script = ('mount -t tmpfs -o size=64k tmpfs "$1" || exit 99; '
                  'TMPDIR="$1" "$2" -p "$3" -d 20 -F 999 -q --format folded -o /dev/full; code=$?; '
                  'set -- "$1"/*.bfr; mv "$1" "$TMPDIR/" && exit $code')
        done = self.fail_on_own_disk(script)
        self.assertIn("the recording ended early", done.stderr)
        self.assertIn(f"kept in {self.folder}/beamflame-", done.stderr)
        kept, = self.temporary.glob("*.bfr")
        self.assertGreater(sum(beamflame.folded(kept).values()), 20)

    def test_limit_of_file_sizes_is_an_error_of_writing(self):
        """A limit of file sizes (ulimit -f) is an error of writing, not the end of beamflame."""
        done = subprocess.run(["prlimit", "--fsize=65536", beamflame.BINARY, "-p",
                               str(self.node.pid), "-d", "20", "-F", "999", "-o",
                               self.out / "x.bfr"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertGreater(sum(beamflame.folded(self.out / "x.bfr").values()), 20)

    def test_lost_summary_does_not_lose_the_outputs(self):
        """A summary whose reader is gone does not lose the outputs."""
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([beamflame.BINARY, "-p", str(self.node.pid), "-d", "2", "-o",
                                   self.out / "x.folded"], stdout=full, stderr=subprocess.PIPE,
                                  text=True, timeout=60, env=self.environment)
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("No space left on device", done.stderr)
        self.assertEqual(os.listdir(self.temporary), [])
        self.assertGreater(sum(beamflame.read_folded(self.out / "x.folded").values()), 20)

    def test_closed_terminal_does_not_lose_the_outputs(self):
        """The terminal hangs up, as when a connection breaks: all outputs are there."""
        master, slave = pty.openpty()
        profiler = subprocess.Popen(["setsid", "--ctty", beamflame.BINARY, "-p",
                                     str(self.node.pid), "-F", "199", "-o", self.out / "x.folded",
                                     "-o", self.out / "x.bfr"],
                                    stdin=slave, stdout=slave, stderr=slave)
        self.addCleanup(profiler.kill)
        os.close(slave)
        time.sleep(3)
        os.close(master)
        profiler.wait(timeout=20)
        for stacks in (beamflame.read_folded(self.out / "x.folded"),
                       beamflame.folded(self.out / "x.bfr")):
            self.assertGreater(sum(stacks.values()), 50)


class Stopped(unittest.TestCase):
    @staticmethod
    def is_stopped(node):
        """True if ps says so; other nodes of this host may be stopped too."""
        rows = json.loads(beamflame.run("ps", "--json").stdout)
        return next(row["stopped"] for row in rows if row["pid"] == node.pid)

    def test_stopped_node_is_reported(self):
        """ps, record and dump say that a node is stopped, where its numbers look as if it slept."""
        beamflame.require()
        out = beamflame.folder(self.addCleanup)
        with nodes.Node(25, "request") as node:
            says = f"warning: process {node.pid} is stopped"
            self.assertNotIn(says, beamflame.run("ps").stderr)
            os.kill(node.pid, signal.SIGSTOP)
            time.sleep(0.2)
            for arguments in (("ps",), ("dump", "-p", node.pid),
                              ("-p", node.pid, "-d", 1, "-e", "wall", "-o", out / "x.folded")):
                with self.subTest(arguments):
                    done = beamflame.run(*arguments, timeout=60)
                    self.assertEqual(done.returncode, DONE, done.stderr)
                    self.assertEqual(done.stderr.count(says), 1, done.stderr)
            self.assertTrue(self.is_stopped(node))
            os.kill(node.pid, signal.SIGCONT)
            self.assertFalse(self.is_stopped(node))

    def recorded(self, *disturb, seconds):
        """Record while `disturb` calls are made, 1.5 s apart; return the summary, what was
        said, and the target of --stats."""
        out = beamflame.folder(self.addCleanup)
        profiler = beamflame.start("-p", self.node.pid, "-d", seconds, "-o", out / "x.bfr",
                                   "--stats", out / "x.json")
        self.addCleanup(profiler.kill)
        self.assertIn("sampling", profiler.stderr.readline())
        for call in disturb:
            time.sleep(1.5)
            call()
        summary, said = profiler.communicate(timeout=60)
        self.assertEqual(profiler.returncode, DONE, said)
        again = beamflame.record("report", out / "x.bfr").stdout
        target = re.search(r"^target .*", summary, re.M)[0]
        self.assertIn(f"\n{target}\n", again)
        return target, said, json.loads((out / "x.json").read_text())["target"]

    def test_node_that_stops_or_ends_meanwhile_is_reported(self):
        """A node that is stopped for some time in the middle of a recording, and one that ends, are
        in the summary and the statistics, and are warned of."""
        beamflame.require()
        with nodes.Node(25, "request") as self.node:
            target, said, stats = self.recorded(
                lambda: os.kill(self.node.pid, signal.SIGSTOP),
                lambda: os.kill(self.node.pid, signal.SIGCONT), seconds=4)
            self.assertEqual(said.count(f"process {self.node.pid} is stopped (state T)"), 1, said)
            self.assertAlmostEqual(stats["stopped_ms"], 1500, delta=1100)
            self.assertIsNone(stats["ended_ms"])
            self.assertRegex(target, rf", stopped for {stats['stopped_ms'] / 1000:.1f} s$")
            target, said, stats = self.recorded(self.node.kill, seconds=20)
        self.assertIn(f"process {self.node.pid} ended while it was recorded", said)
        self.assertAlmostEqual(stats["ended_ms"], 1500, delta=1000)
        self.assertEqual(stats["stopped_ms"], 0)
        self.assertRegex(target, rf", ended after {stats['ended_ms'] / 1000:.1f} s$")


if __name__ == "__main__":
    unittest.main()
