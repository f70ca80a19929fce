# SPDX-License-Identifier: Apache-2.0
"""Ctrl-Z (SIGTSTP) and `fg` (SIGCONT) while beamflame attaches, records, reads, renders or writes
segments: what was recorded is kept, SIGTERM ends it within 2 s of `fg`, and nothing stays in the
node."""
import json
import os
import signal
import time
import unittest
from pathlib import Path

import beamflame
import nodes
from beamflame import DONE
from hostile_test import patience
from kills import left_of_one, objects

NEEDS = "own nodes"
STOPPED = 0.6  # seconds
END = 2
LINES = 80000  # of an input that takes half a second or more


def state(pid):
    """Return the letter of the state of a process (proc_pid_stat(5))."""
    return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]


class Suspended:
    """Mixin for unittest.TestCase."""

    def start(self, *arguments, **options):
        """Start beamflame as a shell starts a job: in a process group of its own."""
        process = beamflame.start(*arguments, process_group=0, **options)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def wait_for_state(self, process, letter):
        end = time.monotonic() + 2 * patience()
        while state(process.pid) != letter and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(state(process.pid), letter)

    def suspend(self, process):
        """Stop all processes of the job, as Ctrl-Z does, and let them continue."""
        os.killpg(process.pid, signal.SIGTSTP)
        self.wait_for_state(process, "T")
        time.sleep(STOPPED)
        self.assertEqual(state(process.pid), "T")
        os.killpg(process.pid, signal.SIGCONT)

    def terminate(self, process):
        """Send SIGTERM; return what was printed. The process is gone in time."""
        process.terminate()
        _, said = process.communicate(timeout=END * patience())
        return said


class Recording(Suspended, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.node = nodes.Node(25, "storm")
        cls.addClassCleanup(cls.node.kill)

    def setUp(self):
        self.out = beamflame.folder(self.addCleanup)
        self.before = objects()

    def record(self, *options):
        return self.start("-v", "-p", self.node.pid, "-F", 199, "-e", "cpu,wall,gc", "--budget", 100,
                          *options)

    def check_clean(self):
        """No probe and no BPF object stays."""
        self.assertEqual(left_of_one(self.node.pid, self.before), [])

    def check_samples(self, path, least=50):
        self.assertGreater(sum(beamflame.folded(path, "-e", "cpu").values()), least)

    def test_while_it_attaches(self):
        """The recording is made after all."""
        process = self.record("-d", 1.5, "-o", self.out / "x.bfr")
        beamflame.read_until(process, "] hooks: ")
        self.suspend(process)
        _, said = process.communicate(timeout=30 * patience())
        self.assertEqual(process.returncode, DONE, said)
        self.check_samples(self.out / "x.bfr")
        self.check_clean()

    def test_signal_ends_it_after_it_was_stopped_while_attaching(self):
        process = self.record("-o", self.out / "x.bfr")
        beamflame.read_until(process, "] hooks: ")
        self.suspend(process)
        self.terminate(process)
        self.check_clean()

    def test_while_it_records(self):
        """Samples from before and after are there; sweeps that were missed are counted."""
        process = self.record("-o", self.out / "x.bfr", "--stats", self.out / "s.json")
        beamflame.read_until(process, "sampling")
        time.sleep(1)
        self.suspend(process)
        time.sleep(1)
        said = self.terminate(process)
        self.assertEqual(process.returncode, DONE, said)
        for part in (("--to", "0.8"), ("--from", "1.8")):
            stacks = beamflame.folded(self.out / "x.bfr", "-e", "cpu", *part)
            self.assertGreater(sum(stacks.values()), 20, part)
        losses = json.loads((self.out / "s.json").read_text())["losses"]
        self.assertGreaterEqual(losses["sweeps"], 20 * STOPPED * 0.8)  # 20 sweeps a second
        self.check_clean()

    def test_signal_while_it_is_stopped(self):
        """SIGTERM takes effect when it continues."""
        process = self.record("-o", self.out / "x.bfr")
        beamflame.read_until(process, "sampling")
        time.sleep(1.5)
        os.killpg(process.pid, signal.SIGTSTP)
        self.wait_for_state(process, "T")
        process.terminate()
        time.sleep(0.3)
        self.assertEqual(state(process.pid), "T")
        os.killpg(process.pid, signal.SIGCONT)
        _, said = process.communicate(timeout=END * patience())
        self.assertEqual(process.returncode, DONE, said)
        self.check_samples(self.out / "x.bfr")
        self.check_clean()

    def wait_for_segments(self, count):
        end = time.monotonic() + 20 * patience()
        while len(list(self.out.glob("x-*.bfr"))) < count and time.monotonic() < end:
            time.sleep(0.001)

    def test_while_it_writes_segments(self):
        """All segments can be read, those from before and after, and each output is complete."""
        process = self.record("--loop", 1, "-o", self.out / "x.bfr", "-o", self.out / "x.svg")
        self.wait_for_segments(1)  # the process that writes the outputs has just begun
        self.suspend(process)
        self.wait_for_segments(3)
        time.sleep(0.5)  # else the last one could have no sample
        process.terminate()
        _, said = process.communicate(timeout=(END + 3) * patience())
        self.assertEqual(process.returncode, DONE, said)
        recordings = sorted(self.out.glob("x-*.bfr"))
        self.assertGreaterEqual(len(recordings), 3)
        for path in recordings:
            self.assertTrue(path.with_suffix(".cpu.svg").exists(), path)
            self.assertGreaterEqual(sum(beamflame.folded(path, "-e", "cpu").values()), 0)
        self.assertEqual([path for path in self.out.iterdir() if path.suffix in (".part", ".tmp")],
                         [])
        self.check_clean()


class Files(Suspended, unittest.TestCase):
    """`report`, which reads and renders."""

    def setUp(self):
        self.out = beamflame.folder(self.addCleanup)
        self.input = self.out / "in.folded"
        self.input.write_text("".join(f"a;b{i};c{i % 99} {i % 5 + 1}\n" for i in range(LINES)))
        self.target = self.out / "x.html"

    def temporary(self):
        return list(self.out.glob(".x.html.*.tmp"))

    def wait_for_output(self):
        """Wait until the output is being written."""
        end = time.monotonic() + 30 * patience()
        while not self.temporary() and time.monotonic() < end:
            time.sleep(0.001)

    def check_done(self, process):
        _, said = process.communicate(timeout=60 * patience())
        self.assertEqual(process.returncode, DONE, said)
        self.assertIn("</html>", self.target.read_text("utf-8")[-20:])
        self.assertEqual(self.temporary(), [])

    def test_while_it_reads(self):
        process = self.start("report", self.input, "-o", self.target)
        time.sleep(0.1)
        self.suspend(process)
        self.check_done(process)

    def test_while_it_renders(self):
        process = self.start("report", self.input, "-o", self.target)
        self.wait_for_output()
        self.suspend(process)
        self.check_done(process)

    def test_signal_ends_it(self):
        """No half output is left."""
        for wait in (lambda: time.sleep(0.1), self.wait_for_output):
            process = self.start("report", self.input, "-o", self.target)
            wait()
            self.suspend(process)
            self.terminate(process)
            self.assertEqual(process.returncode, -signal.SIGTERM)
            self.assertEqual(self.temporary(), [])
            self.assertFalse(self.target.exists())


if __name__ == "__main__":
    unittest.main()
