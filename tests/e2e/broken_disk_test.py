# SPDX-License-Identifier: Apache-2.0
"""Whatever call fails while beamflame writes: a sentence says so, the exit code is that of a failure,
and no half file is left."""
import errno
import os
import subprocess
import unittest

import beamflame
import nodes
from beamflame import FAILED

NEEDS = "own nodes"
CODES = {errno.EIO: "Input/output error", errno.EDQUOT: "Disk quota exceeded",
         errno.ENOSPC: "No space left on device"}
PACKED = ("perf.gz", "pb.gz", "json.gz")


class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        folder = beamflame.folder(cls.addClassCleanup)
        cls.tool = folder / "failing_calls"
        subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror",
                        "-o", cls.tool, nodes.ROOT / "tests" / "tools" / "failing_calls.c"],
                       check=True)
        cls.node = nodes.Node(25, "request")
        cls.addClassCleanup(cls.node.kill)
        # Without messages there is no graph of these; with another event, names have the event.
        cls.input = folder / "input.bfr"
        beamflame.record("-p", cls.node.pid, "-d", 1, "-e", "msg", "-q", "-o", cls.input)

    def setUp(self):
        folder = beamflame.folder(self.addCleanup)
        self.temporary, self.out = folder / "temporary", folder / "out"
        self.temporary.mkdir()
        self.out.mkdir()

    def run_with(self, call, code, after, *arguments):
        """Run beamflame with failing calls on the files of self.out."""
        return subprocess.run([self.tool, call, str(code), str(after), self.out, beamflame.BINARY,
                               *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, TMPDIR=str(self.temporary)))

    def check_failed(self, done, code, path):
        """The error of one line names the file and the reason."""
        self.assertEqual(done.returncode, FAILED, done.stderr)
        first = done.stderr.splitlines()[0]
        self.assertIn(str(path), first)
        self.assertTrue(first.endswith(CODES[code]), first)
        self.assertNotIn("wrote", done.stderr)

    def test_each_output_fails_cleanly(self):
        """The disk fails or is full, or the quota is used up, when a file is created, written,
        closed or renamed: there is no file."""
        outputs = [("--format", form, "-o", self.out / "x") for form in beamflame.formats()]
        outputs += [("-o", self.out / f"x.{suffix}") for suffix in PACKED]
        for *options, path in outputs:
            for call, code in (("create", errno.EDQUOT), ("write", errno.EIO),
                               ("write", errno.EDQUOT), ("write", errno.ENOSPC),
                               ("close", errno.EIO), ("rename", errno.EIO)):
                with self.subTest(path=path, options=options, call=call, code=code):
                    done = self.run_with(call, code, 0, "report", self.input, *options, path)
                    self.check_failed(done, code, path)
                    self.assertEqual(os.listdir(self.out), [])

    def test_statistics_fail_cleanly_and_so_does_what_is_there(self):
        """The same for --stats; an output that existed before stays as it was."""
        old = self.out / "x.svg"
        old.write_text("old")
        stats = self.out / "s.json"
        done = self.run_with("write", errno.EIO, 0, "report", self.input, "-o", old, "--stats",
                             stats)
        self.check_failed(done, errno.EIO, self.out)
        self.assertEqual(os.listdir(self.out), ["x.svg"])
        self.assertEqual(old.read_text(), "old")

    # ---- while a node is recorded ----

    def record(self, call, code, after, *arguments):
        return self.run_with(call, code, after, "-p", self.node.pid, "-F", 499, "--flush", 0.3, "-q",
                             *arguments)

    def test_recording_that_can_not_begin_leaves_no_file(self):
        path = self.out / "x.bfr"
        for call in ("create", "write"):
            with self.subTest(call):
                done = self.record(call, errno.EDQUOT, 0, "-d", 1, "-o", path)
                self.check_failed(done, errno.EDQUOT, path)
                self.assertEqual(os.listdir(self.out), [])

    def test_recording_has_what_was_written_before(self):
        path = self.out / "x.bfr"
        done = self.record("write", errno.EIO, 15000, "-d", 20, "-o", path)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertIn("can't write the recording: Input/output error", done.stderr)
        self.assertIn(f"what {path} has of it is kept", done.stderr)
        self.assertEqual(os.listdir(self.out), ["x.bfr"])
        self.assertGreater(sum(beamflame.folded(path).values()), 5)

    def test_error_of_closing_a_recording_is_one(self):
        """Network file systems report errors of writing when a file is closed."""
        path = self.out / "x.bfr"
        done = self.record("close", errno.EIO, 0, "-d", 1, "-o", path)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertIn("can't write the recording: Input/output error", done.stderr)
        self.assertIn(f"what {path} has of it is kept", done.stderr)

    def test_outputs_fail_and_the_recording_is_kept(self):
        for call, code in (("write", errno.EDQUOT), ("rename", errno.EIO)):
            with self.subTest(call):
                path = self.out / "x.svg"
                done = self.record(call, code, 0, "-d", 1, "-o", path)
                self.check_failed(done, code, path)
                kept, = self.temporary.iterdir()
                self.assertIn(f"the recording is kept in {kept}", done.stderr)
                self.assertEqual(os.listdir(self.out), [])
                self.assertGreater(sum(beamflame.folded(kept).values()), 5)
                for left in self.temporary.iterdir():
                    left.unlink()

    def test_outputs_of_a_segment_fail_and_its_recording_is_kept(self):
        done = self.record("close", errno.EDQUOT, 2, "--loop", 1, "-d", 1.5,
                           "-o", self.out / "x.svg")
        self.assertEqual(done.returncode, FAILED, done.stderr)
        kept = sorted(self.out.iterdir())
        self.assertTrue(kept)
        for path in kept:
            self.assertEqual(path.suffix, ".part", kept)
            self.assertIn(f"the recording of that segment is kept in {path}", done.stderr)
            beamflame.record("report", path)


if __name__ == "__main__":
    unittest.main()
