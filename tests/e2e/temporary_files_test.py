# SPDX-License-Identifier: Apache-2.0
"""An output that is not complete leaves nothing behind, whatever ends the program that writes it."""
import os
import signal
import subprocess
import time
import unittest

import beamflame
from hostile_test import patience

NEEDS = "own nodes"
STACKS = "a;b 3\na;c 4\n"


class Ended(unittest.TestCase):
    def setUp(self):
        folder = beamflame.folder(self.addCleanup)
        self.input = folder / "input.folded"
        self.input.write_text(STACKS)
        self.pipe = folder / "pipe"
        os.mkfifo(self.pipe)
        self.out = folder / "out"
        self.out.mkdir()

    def names(self):
        return sorted(path.name for path in self.out.iterdir())

    def stalled(self, command=("report",), **options):
        """Start a report that has begun x.folded, and waits for the reader of a pipe."""
        inputs = [self.input] * (2 if command == ("diff",) else 1)
        report = beamflame.start(*command, *inputs, "-q", "-o", self.out / "x.folded",
                                 "--format", "folded", "-o", self.pipe, **options)
        self.addCleanup(report.communicate)
        self.addCleanup(report.kill)
        deadline = time.monotonic() + 20
        while not any(f".{report.pid}-" in name for name in self.names()):
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(report.poll())
            time.sleep(0.01)
        return report

    def test_signals_leave_no_temporary_file(self):
        """The program ends by the signal within 2 s, as if it did not handle it."""
        for command in ("report",), ("diff",):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT,
                           signal.SIGPIPE):
                with self.subTest(command=command, number=number):
                    report = self.stalled(command)
                    report.send_signal(number)
                    self.assertEqual(report.wait(timeout=2 * patience()), -number)
                    self.assertEqual(self.names(), [])

    def test_ignored_signal_stays_ignored(self):
        """SIGHUP does not end a report that runs under nohup."""
        report = self.stalled(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        report.send_signal(signal.SIGHUP)
        self.finish(report)
        self.assertEqual(self.names(), ["x.folded"])

    def finish(self, report):
        with open(self.pipe, encoding="utf-8") as pipe:
            pipe.read()
        self.assertEqual(report.wait(timeout=10), beamflame.DONE)

    def test_closed_pipe_leaves_no_temporary_file(self):
        """The reader of standard output is gone."""
        reader, writer = os.pipe()
        os.close(reader)
        with subprocess.Popen([beamflame.BINARY, "report", self.input, "-q", "-o",
                               self.out / "x.folded", "--format", "folded", "-o", "-"],
                              stdout=writer) as report:
            os.close(writer)
            self.assertEqual(report.wait(timeout=10), -signal.SIGPIPE)
        self.assertEqual(self.names(), [])

    def test_limit_of_file_sizes_is_an_error(self):
        """A limit of file sizes is an error of writing, and does not end the program."""
        done = subprocess.run(["prlimit", "--fsize=0", beamflame.BINARY, "report", self.input,
                               "-o", self.out / "x.folded"], capture_output=True, text=True,
                              timeout=10)
        self.assertEqual(done.returncode, beamflame.FAILED, done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(self.names(), [])

    def test_next_run_removes_what_a_kill_has_left(self):
        """SIGKILL leaves a file. The next run that writes the same output removes it, but neither
        that of a program that runs, nor files that only look similar."""
        killed = self.stalled()
        killed.kill()
        killed.wait()
        left, = self.names()
        self.assertRegex(left, rf"^\.x\.folded\.{killed.pid}-[0-9a-f]{{16}}\.tmp$")
        pid = killed.pid
        others = [".x.folded.-0.tmp", f".x.folded.{pid}-0.tmp2", f".x.folded.{pid}-0g.tmp", f".xx.folded.{pid}-0.tmp",
                  f".y.folded.{pid}-0.tmp", ".x.folded.tmp", f"x.folded.{pid}-0.tmp"]
        for name in others:
            (self.out / name).touch()
        running = self.stalled()
        own, = set(self.names()) - set(others)
        self.assertTrue(own.startswith(f".x.folded.{running.pid}-"), own)
        beamflame.record("report", self.input, "-q", "-o", self.out / "x.folded")
        self.assertEqual(self.names(), sorted([*others, own, "x.folded"]))
        self.finish(running)
        self.assertEqual(self.names(), sorted([*others, "x.folded"]))


if __name__ == "__main__":
    unittest.main()
