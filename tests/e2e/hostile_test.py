# SPDX-License-Identifier: Apache-2.0
"""A VM of another user that lies in what is read of it. Each lie is written into the memory of a
node that is stopped (tests/tools/hostile.c). Every command ends in time, with little memory, and
without a crash; it writes its output and nothing else, and prints text."""
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

import beamflame
import nodes

NEEDS = "all nodes"
HOSTILE = nodes.BUILD / "tests" / "hostile"
RECORDED = 1  # seconds
SECONDS = 8
KILLED_AFTER = 60
KILOBYTES = 256 << 10
NOBODY = 65534
# What a terminal takes for more than text (tests/e2e/hostile_names_test.py).
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
                    "\ufffe\uffff]")
HELD = "held_"  # lies about pages that are held back: reading them would never end
# These lies differ from another in nothing but the place; tests/long has them.
LONG = ("held_table", "held_stacks", "held_atoms", "held_processes")
DUMPED = ("ets", "allocators")  # lies about what only dumps and metrics of the VM read


def lies():
    return subprocess.run([HOSTILE], stdout=subprocess.PIPE, text=True, check=True).stdout.split()


def patience():
    """Return how much longer a program takes that waits for a CPU: other programs may run here."""
    return max(1, os.getloadavg()[0] / os.cpu_count())


class Run:
    """beamflame while it runs in a folder."""

    def __init__(self, folder, arguments):
        self.said = tempfile.TemporaryFile()
        self.began = time.monotonic()
        self.process = subprocess.Popen([beamflame.BINARY, *map(str, arguments)], cwd=folder,
                                        env={**os.environ, "TMPDIR": str(folder)},
                                        stdout=self.said, stderr=self.said)
        self.seconds = self.kilobytes = None

    def has_ended(self):
        """See if it has ended. It is killed if it takes too long."""
        if self.seconds is None:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self.seconds = time.monotonic() - self.began
                self.kilobytes = usage.ru_maxrss
            elif time.monotonic() > self.began + KILLED_AFTER:
                self.process.kill()
        return self.seconds is not None

    def text(self):
        with self.said:
            self.said.seek(0)
            return self.said.read().decode("utf-8")


class Liar:
    """Mixin for unittest.TestCase: runs all commands over a node that lies."""

    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)
        self.cwd = beamflame.folder(self.addCleanup)

    def check(self, *arguments):
        """Run a command; return what it prints."""
        return self.check_at_once(arguments)[0]

    def check_at_once(self, *commands):
        """Run some commands at the same time; return what each prints."""
        runs = [Run(self.cwd, command) for command in commands]
        while not all([run.has_ended() for run in runs]):
            time.sleep(0.01)
        texts = [run.text() for run in runs]
        for command, run, text in zip(commands, runs, texts):
            with self.subTest(command=" ".join(map(str, command))):
                recorded = command[command.index("-d") + 1] if "-d" in command else 0
                self.assertIn(run.process.returncode, range(7), text)
                self.assertLess(run.seconds, (recorded + SECONDS) * patience())
                self.assertLess(run.kilobytes, KILOBYTES)
                self.assertIsNone(UNSAFE.search(text), ascii(text)[:2000])
        self.assertEqual(os.listdir(self.cwd), [])
        self.assertLessEqual({path.name for path in self.out.iterdir()}, {"a.bfr", "x.bfr"})
        return texts

    def check_all(self, pid):
        """Run all commands; return what each prints."""
        return self.check_at_once(
            ("ps",),
            ("dump", "-p", pid),
            ("dump", "-p", pid, "--top", "10"),
            ("-a", "-d", RECORDED, "-q", "-o", self.out / "a.bfr"),
            ("-p", pid, "-d", RECORDED, "-e", "wall", "-q", "-o", self.out / "x.bfr"))

    def check_read_on_request(self, pid):
        self.check_at_once(
            ("dump", "-p", pid),
            ("-p", pid, "-d", RECORDED, "-e", "wall", "--node-metrics", "memory,tables,ports", "-q",
             "-o", self.out / "x.bfr"))

    def check_lie(self, release, lie):
        pages = ("pages=64",) if lie.startswith(HELD) else ()
        with nodes.Node(release, "hostile", f"user={NOBODY}", *pages) as node:
            os.kill(node.pid, signal.SIGSTOP)
            liar = subprocess.Popen([HOSTILE, str(node.pid), lie], stdout=subprocess.PIPE)
            try:
                if lie == "changing":
                    self.assertEqual(liar.stdout.readline(), b"changing\n")
                else:
                    self.assertEqual(liar.wait(), 0)
                if lie in DUMPED:
                    self.check_read_on_request(node.pid)
                else:
                    self.check_all(node.pid)
            finally:
                liar.kill()
                liar.communicate()


class Hostile(Liar, unittest.TestCase):
    """Each lie on one release, in turn; tests/long has all lies on all releases."""


def test_of(release, lie):
    return lambda self: self.check_lie(release, lie)


def add_tests(case, all_lies, releases):
    """Add a test of each lie on each of the releases that the function returns for its number."""
    for number, lie in enumerate(all_lies):
        for release in releases(number):
            setattr(case, f"test_{lie}_on_{release}", test_of(release, lie))


if HOSTILE.exists():
    add_tests(Hostile, [lie for lie in lies() if lie not in LONG],
              lambda number: [(25, 27, 29)[number % 3]])


class BesideOthers(Liar, unittest.TestCase):
    """All VMs of the host are recorded, one of which holds back memory."""

    def record_beside(self, lie, *options, when=None):
        """Record a liar and a good VM; return what is printed, and the folded stacks."""
        with nodes.Node(25, "hostile", f"user={NOBODY}", "pages=64") as liar, \
                nodes.Node(25, "request"):
            def tell():
                os.kill(liar.pid, signal.SIGSTOP)
                subprocess.run([HOSTILE, str(liar.pid), lie], check=True)

            if not when:
                tell()
            recorder = beamflame.start("-a", "-d", RECORDED + 3, *options, "-o",
                                       self.out / "x.bfr")
            self.addCleanup(recorder.kill)
            if when:
                while when not in recorder.stderr.readline():
                    pass
                tell()
            _, said = recorder.communicate(timeout=60)
            self.assertEqual(recorder.returncode, beamflame.DONE, said)
        return liar.pid, said, beamflame.folded(self.out / "x.bfr", *(
            ("--event", "wall") if options else ()))

    def check_good(self, stacks):
        found = beamflame.weight_where(stacks, lambda stack: any("request:" in f for f in stack))
        self.assertGreater(found, 20)

    def test_vm_that_holds_back_memory_is_left_out(self):
        """The others are recorded, and a message names the one."""
        pid, said, stacks = self.record_beside("held_code")
        self.assertIn(f"process {pid} is skipped: process {pid} holds back its memory", said)
        self.check_good(stacks)

    def test_vm_that_holds_back_memory_later_is_recorded_no_more(self):
        """It begins to hold back memory while it is recorded."""
        pid, said, stacks = self.record_beside("held_dictionaries", "-e", "wall",
                                               when="sampling")
        self.assertIn(f"process {pid} holds back its memory: it is not recorded any more",
                      said)
        self.check_good(stacks)
