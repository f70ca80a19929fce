# SPDX-License-Identifier: Apache-2.0
"""Rotated recordings whose folder is missing, removed or replaced, or whose disk is full."""
import os
import shutil
import subprocess
import unittest
from unittest import mock

import beamflame
import nodes
from segments import NODE, Segments

NEEDS = "own nodes"


class RotationFolders(Segments, unittest.TestCase):
    def test_run_ends_if_its_folder_is_removed(self):
        """If the folder of the recording is removed, the profiler reports that and ends. Segments
        in other folders are complete."""
        gone = self.out / "gone"
        gone.mkdir()
        with nodes.Node(25, "request") as node, \
                mock.patch.dict(os.environ, TMPDIR=str(self.out)):
            profiler = self.start("-p", node.pid, "-F", 199, "--loop", 1,
                                  "-o", gone / "x.bfr", *self.outputs("folded"))
            self.wait_for(lambda: self.parts("folded") and self.parts("bfr.part", gone))
            shutil.rmtree(gone)
            code, said = self.ended(profiler)
        self.assertEqual(code, beamflame.FAILED)
        self.assertIn(str(gone), said)
        self.assertIn("its folder was removed or replaced meanwhile", said)
        self.assertIn("1 of 2 segments could not be written completely", said)
        self.assertEqual(len(self.parts("folded")), 2, said)
        kept, = self.out.glob("beamflame-*.bfr")
        self.assertIn(f"the recording of that segment is kept in {kept}", said)
        for path in self.parts("folded"):
            self.assertGreater(sum(beamflame.read_folded(path).values()), 20)

    def test_run_ends_if_its_folder_is_replaced(self):
        """If another folder, or a link, takes the place of the recording's folder, nothing is
        written or removed there. The profiler reports that, keeps the segment elsewhere, and
        ends."""
        folder, other, kept = (self.out / name for name in ("folder", "other", "kept"))
        for path in (folder, other, kept):
            path.mkdir()
        bait = other / f"x-{NODE}-20200101-000000.bfr"
        bait.touch()
        with nodes.Node(25, "request") as node, \
                mock.patch.dict(os.environ, TMPDIR=str(kept)):
            profiler = self.start("-p", node.pid, "-F", 199, "--loop", 1, "--keep", 1,
                                  "-o", folder / "x.bfr")
            self.wait_for(lambda: self.parts("bfr", folder) and self.parts("bfr.part", folder))
            folder.rename(self.out / "moved")
            folder.symlink_to(other)
            code, said = self.ended(profiler)
        self.assertEqual(code, beamflame.FAILED)
        self.assertIn("its folder was removed or replaced meanwhile", said)
        self.assertEqual(list(other.iterdir()), [bait])
        found, = kept.glob("beamflame-*.bfr")
        self.assertIn(f"the recording of that segment is kept in {found}", said)
        self.assertGreater(self.samples(found), 20)

    def test_run_continues_if_the_folder_of_an_output_is_removed(self):
        """If the folder of another output is removed, the run continues and counts the failures."""
        gone = self.out / "gone"
        gone.mkdir()
        with nodes.Node(25, "request") as node:
            profiler = self.start("-p", node.pid, "-F", 199, "--loop", 1, "-d", 4.5,
                                  "-o", self.out / "x.bfr", "-o", gone / "x.folded")
            self.wait_for(lambda: len(self.parts("folded", gone)) >= 1)
            shutil.rmtree(gone)
            code, said = self.ended(profiler)
        self.assertEqual(code, beamflame.FAILED)
        self.assertIn("could not be written completely", said)
        self.assertGreater(len(self.parts("bfr")), 2)
        self.assertEqual(self.others("bfr"), set())

    def on_small_disk(self, *options):
        """Run with segments of one second on a disk of 100 kB; copy the disk's files at the end."""
        script = ('mount -t tmpfs -o size=100k tmpfs "$1" || exit 99; disk=$1; copy=$2; shift 2; '
                  '"$@" -o "$disk/x.bfr"; code=$?; cp "$disk"/* "$copy"; exit $code')
        disk = self.out / "disk"
        disk.mkdir()
        with nodes.Node(25, "request") as node:
            done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", disk, self.out,
                                   beamflame.BINARY, "-p", str(node.pid), "--loop", "1", *options],
                                  capture_output=True, text=True, timeout=90)
        disk.rmdir()
        return done

    def test_segments_before_a_full_disk_stay(self):
        """On a full disk the run ends with a message; complete segments stay, and the last one
        keeps its data."""
        done = self.on_small_disk("-d", "60", "-F", "999")
        self.assertEqual(done.returncode, beamflame.FAILED, done.stderr)
        self.assertIn("No space left", done.stderr)
        self.assertEqual(self.others("bfr"), set(), done.stderr)
        self.assertGreater(len(self.parts("bfr")), 1)
        # The last segments have what there was room for, which may be nothing.
        samples = [self.samples(path) for path in self.parts("bfr")]
        self.assertGreater(samples[0], 20)

    def test_run_continues_if_old_segments_free_the_disk(self):
        """With --keep, space is freed and the run continues."""
        done = self.on_small_disk("-d", "9", "-F", "499", "--keep", "2")
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        self.assertEqual(len(self.parts("bfr")), 2)

    def test_bad_options_are_refused_before_any_output(self):
        """Invalid options are refused before any output is touched."""
        mine = ("-p", os.getpid())
        for arguments in (("--loop", "0"), ("--loop", "-5"), ("--loop", "often"), ("--loop", "0.5"),
                          ("--loop", "10", "--keep", "0"), ("--loop", "10", "--keep", "-1"),
                          ("--loop", "10", "--keep", "all"), ("--keep", "3"),
                          ("--flush", "0"), ("--flush", "-1"), ("--flush", "soon"),
                          ("--max-size", "0"), ("--max-size", "-1"), ("--max-size", "big"),
                          ("--max-size", "10x"), ("--max-size", "k"), ("--max-size", "1kk"),
                          ("--max-size", "9999999999G"),
                          ("--loop", "10", "--format", "perf", "-o", "-"),
                          ("--loop", "10", "--format", "perf", "-o", "/dev/null"),
                          ("--loop", "10", "--stats", "-")):
            with self.subTest(arguments):
                done = beamflame.run(*mine, *arguments, cwd=self.out)
                self.assertEqual(done.returncode, beamflame.USAGE, done.stderr)
                self.assertRegex(done.stderr, r"^(\S*/)?beamflame: \S")
        self.assertEqual(list(self.out.iterdir()), [])

    def test_missing_folder_is_reported_at_once(self):
        with nodes.Node(25, "identity") as node:
            done = beamflame.run("-p", node.pid, "--loop", 10, "-o", self.out / "none" / "x.svg")
        self.assertEqual(done.returncode, beamflame.FAILED)
        self.assertIn("none/x.svg", done.stderr)
        self.assertEqual(list(self.out.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
