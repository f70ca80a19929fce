# SPDX-License-Identifier: Apache-2.0
"""A VM that lies in what is read of it. Each lie is written into the memory of a node that is stopped
(tests/tools/hostile.c). Every command ends in time, with little memory, and without a crash."""
import os
import signal
import subprocess
import tempfile
import time
import unittest

import beamflame
import nodes

HOSTILE = nodes.BUILD / "tests" / "hostile"
RECORDED = 1  # seconds
SECONDS = 5
KILOBYTES = 256 << 10


def lies():
    return subprocess.run([HOSTILE], stdout=subprocess.PIPE, text=True, check=True).stdout.split()


def measure(*arguments):
    """Run beamflame; return its exit code, its seconds, its maximal memory in KB, and what it
    says."""
    with tempfile.TemporaryFile("w+") as said:
        began = time.monotonic()
        process = subprocess.Popen([beamflame.BINARY, *map(str, arguments)],
                                   stdout=subprocess.DEVNULL, stderr=said)
        killer = subprocess.Popen(["sleep", "60"])
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if killer.poll() is not None:
                process.kill()
            time.sleep(0.01)
        killer.kill()
        killer.wait()
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return process.returncode, time.monotonic() - began, usage.ru_maxrss, said.read()


class Hostile(unittest.TestCase):
    release = 25

    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)

    def check(self, *arguments, seconds=SECONDS):
        with self.subTest(command=" ".join(map(str, arguments))):
            code, took, kilobytes, said = measure(*arguments)
            self.assertIn(code, range(7), said)
            self.assertLess(took, seconds)
            self.assertLess(kilobytes, KILOBYTES)

    def check_all(self, pid):
        recorded = RECORDED + SECONDS
        output = ("-q", "-o", self.out / "x.bfr")
        self.check("ps")
        self.check("dump", "-p", pid)
        self.check("dump", "-p", pid, "--top", "10")
        self.check("-p", pid, "-d", RECORDED, *output, seconds=recorded)
        self.check("-a", "-d", RECORDED, *output, seconds=recorded)
        self.check("-p", pid, "-d", RECORDED, "-e", "wall", *output, seconds=recorded)


def test_of(lie):
    def test(self):
        with nodes.Node(self.release, "hostile") as node:
            os.kill(node.pid, signal.SIGSTOP)
            subprocess.run([HOSTILE, str(node.pid), lie], check=True)
            self.check_all(node.pid)
    return test


if HOSTILE.exists():
    for name in lies():
        setattr(Hostile, f"test_{name}", test_of(name))
