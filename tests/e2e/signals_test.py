# SPDX-License-Identifier: Apache-2.0
"""A signal ends every command within 2 s, whatever the command does: what was recorded is kept and
named, and nothing stays in the node or as a process. Signals while outputs are written are in
outputs_process_test.py (of a recording) and temporary_files_test.py (of report and diff)."""
import os
import re
import signal
import subprocess
import time
import unittest
from contextlib import contextmanager

import beamflame
import breakpoints
import nodes
from beamflame import DONE
from hostile_test import patience
from kills import children, left_of_one, objects
from outputs_process_test import ENDS, is_gone
from segments import Segments

NEEDS = "own nodes"
SECONDS = 2
WROTE = re.compile(r"^beamflame: wrote (.*)$", re.M)
INTERRUPTED = 130  # the exit code before there is anything to keep


class Signals(Segments, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.node = nodes.Node(25, "storm")
        cls.addClassCleanup(cls.node.kill)

    @contextmanager
    def each(self, **parameters):
        """A subtest, after which nothing is left."""
        with self.subTest(**parameters):
            before = objects()
            yield
            self.assertEqual(left_of_one(self.node.pid, before), [])

    def end(self, process, *numbers):
        """Send the signals; return the exit code, and what was printed and said. The process is
        gone in time, and its children with it."""
        with_it = children(process.pid)
        for number in numbers:
            process.send_signal(number)
        printed, said = process.communicate(timeout=SECONDS * patience())
        self.wait_for(lambda: all(map(is_gone, with_it)), SECONDS * patience())
        return process.returncode, printed, said

    # ---- recordings: SIGPIPE is sent first, because it ends none ----

    def record(self, *options):
        """Start a recording with outputs in a new folder."""
        self.out = beamflame.folder(self.addCleanup)
        return self.start("-p", self.node.pid, "-F", 199, "-e", "cpu,wall,gc", "--budget", 100,
                          *self.outputs("bfr", "folded", "svg"), *options)

    def check_kept(self, *recordings):
        self.assertGreater(sum(self.samples(path, "-e", "cpu") for path in recordings), 20)

    def test_while_it_attaches(self):
        """There is nothing to keep yet."""
        for number in ENDS:
            with self.each(number=number):
                process = self.record("-v")
                beamflame.read_until(process, "] hooks: ")
                code, _, said = self.end(process, signal.SIGPIPE, number)
                self.assertEqual(code, INTERRUPTED, said)
                self.assertIn("a signal ended beamflame before the recording began", said)
                self.assertEqual(os.listdir(self.out), [])

    def test_while_it_records(self):
        """The recording and its outputs are there, nothing else is, and all are named."""
        for number in ENDS:
            with self.each(number=number):
                process = self.record()
                beamflame.read_until(process, "sampling")
                time.sleep(1)
                code, _, said = self.end(process, signal.SIGPIPE, number)
                self.assertEqual(code, DONE, said)
                self.assertEqual(set(WROTE.findall(said)), set(map(str, self.out.iterdir())))
                self.assertTrue((self.out / "x.cpu.svg").exists())
                self.check_kept(self.out / "x.bfr")

    def test_while_it_rotates(self):
        """All segments are there, the last one too, and each of their outputs is complete."""
        for number in ENDS:
            with self.each(number=number):
                process = self.record("--loop", 1)
                self.wait_for(lambda: self.parts("bfr"), 10 * patience())
                time.sleep(0.7)
                code, _, said = self.end(process, signal.SIGPIPE, number)
                self.assertEqual(code, DONE, said)
                segments = self.parts("bfr")
                self.assertGreater(len(segments), 1)
                self.check_kept(*segments)
                for path in segments:
                    self.assertEqual(path.with_suffix(".cpu.svg").exists(),
                                     self.samples(path, "-e", "cpu") > 0)
                self.assertEqual({path.suffix for path in self.out.iterdir()},
                                 {".bfr", ".folded", ".svg"})

    def test_while_it_counts_calls(self):
        """What was counted is printed."""
        breakpoints.require()
        for number in ENDS:
            with self.each(number=number):
                process = self.start("calls", "-p", self.node.pid, "lists:seq/2")
                beamflame.read_until(process, "counting")
                code, printed, said = self.end(process, signal.SIGPIPE, number)
                self.assertEqual(code, DONE, said)
                self.assertIn("lists:seq/2", printed)

    # ---- other commands end by the signal, as if they did not handle it ----

    def test_while_it_reads_a_vm(self):
        """Commands that read a VM, at the moment when they begin to."""
        before = objects()
        for command in (("ps",), ("dump", "-p", self.node.pid), ("probes", "-p", self.node.pid),
                        ("doctor", "-p", self.node.pid), ("calls", "-p", self.node.pid, "a:b/1")):
            for number in (*ENDS, signal.SIGPIPE):
                with self.subTest(command=command, number=number):
                    process = self.start(*command)
                    self.wait_for(lambda process=process: children(process.pid), 10 * patience())
                    self.assertEqual(self.end(process, number)[0], -number)
        self.assertEqual(left_of_one(self.node.pid, before), [])

    def test_while_it_reads_an_input(self):
        temporary = self.out / "temporary"
        temporary.mkdir()
        for number in (*ENDS, signal.SIGPIPE):
            with self.subTest(number=number):
                process = self.start("report", "-", stdin=subprocess.PIPE,
                                     env=dict(os.environ, TMPDIR=str(temporary)))
                for _ in range(10):
                    process.stdin.write("a;b 1\n" * 10000)
                    process.stdin.flush()
                    time.sleep(0.02)
                self.assertEqual(self.end(process, number)[0], -number)
                self.assertEqual(os.listdir(temporary), [])


if __name__ == "__main__":
    unittest.main()
