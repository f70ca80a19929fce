# SPDX-License-Identifier: Apache-2.0
"""Outputs on a file server that falls silent (FUSE) at any moment: commands end in time and say so,
and a recording is kept. Outputs on a server that answers are complete."""
import os
import re
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

import beamflame
import nodes
from beamflame import DONE, FAILED
from hostile_test import patience

NEEDS = "own nodes"
SERVER = nodes.ROOT / "tests" / "tools" / "silent_folder.py"
SILENT = "its file server does not answer"
SECONDS = 4  # that a command may take beyond its work
SEGMENT = 3  # seconds
KEPT = "the recording of that segment is kept in"
CALLS = ("create", "write", "flush", "rename")


class ServedFolder:
    """Mixin for unittest.TestCase: a folder on a file server."""

    def setUp(self):
        if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
            self.skipTest("needs root and FUSE")
        self.folder = beamflame.folder(self.addCleanup)
        self.temporary = self.folder / "temporary"
        self.temporary.mkdir()

    def serve(self, *stall):
        """Start a server; return its folder."""
        mount = beamflame.folder(self.addCleanup)
        self.server = subprocess.Popen([sys.executable, SERVER, mount, *map(str, stall)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(subprocess.run, ["umount", "-l", mount], check=True)
        self.addCleanup(self.server.communicate)
        self.assertEqual(self.server.stdout.readline(), b"ready\n")
        return mount

    def stall(self):
        self.server.stdin.write(b"stall\n")
        self.server.stdin.flush()
        self.assertEqual(self.server.stdout.readline(), b"stalls\n")

    def run_in_time(self, *arguments, seconds=0):
        """Run beamflame, which ends in time, and so do all who could print to its terminal."""
        began = time.monotonic()
        done = beamflame.run(*arguments, timeout=60,
                             env=dict(os.environ, TMPDIR=str(self.temporary)))
        self.assertLess(time.monotonic() - began, seconds + SECONDS * patience())
        return done

    def check_silent(self, done, path):
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertIn(f"can't write {path}: {SILENT}", done.stderr)


class Reports(ServedFolder, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.input = self.folder / "in.folded"
        self.input.write_text("".join(f"a;b{i};c{i % 7} {i}\n" for i in range(1, 20000)))

    def test_outputs_on_a_server_that_answers_are_complete(self):
        """Also one that replaces another, and one for each event."""
        served = self.serve()
        (served / "x.folded").write_text("old")
        for name in ("x.folded", "x.svg", "x.folded.gz"):
            with self.subTest(name):
                done = self.run_in_time("report", self.input, "-q", "-o", served / name,
                                        "-o", self.folder / name)
                self.assertEqual((done.returncode, done.stderr), (DONE, ""))
                self.assertEqual((served / name).read_bytes(), (self.folder / name).read_bytes())
        self.assertEqual((served / "x.svg").stat().st_mode & 0o777, 0o644)

    def test_server_that_is_silent_from_the_start(self):
        served = self.serve()
        self.stall()
        path = served / "x.svg"
        self.check_silent(self.run_in_time("report", self.input, "-o", path), path)

    def test_server_that_falls_silent_at_each_call(self):
        """When the folder is tried, and when the file is created, written, closed and renamed."""
        for call, count in ((call, count) for call in CALLS for count in (0, 1)):
            with self.subTest(call=call, count=count):
                served = self.serve(call, count)
                path, other = served / "x.svg", self.folder / f"{call}{count}.svg"
                done = self.run_in_time("report", self.input, "-o", other, "-o", path)
                if done.returncode != DONE:  # there may be fewer such calls
                    self.check_silent(done, path)
                self.assertEqual(done.returncode == DONE, call == "rename" and count == 1)


class Recordings(ServedFolder, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.node = nodes.Node(25, "request")
        cls.addClassCleanup(cls.node.kill)

    def record(self, *options, seconds=1):
        return self.run_in_time("-p", self.node.pid, "-F", 199, "-q", "-d", seconds, *options,
                                seconds=seconds + 1)

    def test_recording_on_a_server_that_answers(self):
        served = self.serve()
        done = self.record("-o", served / "x.bfr", "-o", served / "x.svg")
        self.assertEqual(done.returncode, DONE, done.stderr)
        local = self.folder / "x.bfr"
        local.write_bytes((served / "x.bfr").read_bytes())
        self.assertGreater(sum(beamflame.folded(local).values()), 20)
        self.assertEqual(os.listdir(self.temporary), [])

    def test_server_that_is_silent_from_the_start(self):
        """Nothing is recorded in vain."""
        served = self.serve()
        self.stall()
        self.check_silent(self.record("-o", served / "x.bfr", seconds=30), served / "x.bfr")

    def test_recording_is_kept_if_the_server_falls_silent(self):
        """While the outputs are written; the message says where the recording is, which is
        complete."""
        for suffix in ("bfr", "svg"):
            with self.subTest(suffix):
                served = self.serve("create", 1)
                done = self.record("-o", served / f"x.{suffix}")
                self.check_silent(done, served / f"x.{suffix}")
                kept, = re.findall(r"the recording is kept in (\S+?);", done.stderr)
                self.assertEqual(Path(kept).parent, self.temporary)
                self.assertGreater(sum(beamflame.folded(kept).values()), 20)

    def test_segments_on_a_server_that_is_silent_from_the_start(self):
        served = self.serve()
        self.stall()
        self.check_silent(self.record("--loop", 1, "-o", served / "x.bfr"), served / "x.bfr")

    def start_segments(self, served, *options):
        """Record segments there; return the process once it samples. It is killed if it hangs."""
        process = beamflame.start(
            "-p", self.node.pid, "-F", 199, "--loop", SEGMENT, *options, "-o", served / "x.bfr", "-o",
            served / "x.svg", env=dict(os.environ, TMPDIR=str(self.temporary)))
        guard = threading.Timer(60 * patience(), process.kill)
        guard.start()
        self.addCleanup(guard.cancel)
        self.addCleanup(process.kill)
        self.assertIn("sampling", process.stderr.readline())
        return process

    @staticmethod
    def await_kept(process, count):
        """Return what it says until it has kept so many recordings, or has ended."""
        said = ""
        while said.count(KEPT) < count and (line := process.stderr.readline()):
            said += line
        return said

    def check_ends(self, process, sent=signal.SIGINT):
        """A signal ends it in time; return what it says."""
        began = time.monotonic()
        process.send_signal(sent)
        said = process.stderr.read()
        process.wait()
        self.assertLess(time.monotonic() - began, SECONDS * patience())
        return said

    @staticmethod
    def hanging():
        """Return the processes that write to file servers."""
        return subprocess.run(["pgrep", "-x", "beamflame-put"], capture_output=True, text=True,
                              check=False).stdout.split()

    def check_kept(self, said, count, keep):
        """So many recordings were kept, at least, and the newest `keep` are there, complete."""
        kept = re.findall(KEPT + r" (\S+)", said)
        self.assertGreaterEqual(len(kept), count, said)
        self.assertEqual([path for path in kept if Path(path).exists()], kept[-keep:])
        for path in kept[-keep:]:
            self.assertEqual(Path(path).parent, self.temporary)
            self.assertGreater(sum(beamflame.folded(path).values()), 0)

    def test_segments_on_a_server_that_answers(self):
        """The newest are kept, and are complete; nothing else is there."""
        served = self.serve()
        done = self.record("--loop", SEGMENT, "--keep", 2, "-o", served / "x.bfr", "-o",
                           served / "x.svg", seconds=3.5 * SEGMENT)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(sorted(path.suffix for path in served.iterdir()), [".bfr"] * 2 + [".svg"] * 2)
        for path in served.glob("*.bfr"):
            local = self.folder / path.name
            local.write_bytes(path.read_bytes())
            self.assertGreater(sum(beamflame.folded(local).values()), 20)
        self.assertEqual(os.listdir(self.temporary), [])

    def test_segments_are_kept_if_the_server_falls_silent(self):
        """Sampling continues, and a signal ends it. At most two processes hang, that which looks for
        names and that which writes, however many segments there are."""
        served = self.serve()
        process = self.start_segments(served, "--keep", 2)
        while not list(served.glob("*.svg")):
            self.assertIsNone(process.poll())
            time.sleep(0.1)
        self.stall()
        said = self.await_kept(process, 3)
        self.assertIn(len(self.hanging()), (1, 2))
        said += self.check_ends(process)
        self.assertEqual(process.returncode, FAILED)
        self.assertIn(SILENT, said)
        self.check_kept(said, 4, 2)

    def test_server_that_falls_silent_at_each_call_of_a_segment(self):
        for call, count in (("lookup", 25), ("create", 5), ("write", 2), ("flush", 5), ("rename", 2)):
            with self.subTest(call):
                served = self.serve(call, count)
                process = self.start_segments(served, "--keep", 1)
                said = self.await_kept(process, 1)
                said += self.check_ends(process, signal.SIGTERM)
                self.assertIn(SILENT, said)
                self.check_kept(said, 2, 1)


if __name__ == "__main__":
    unittest.main()
