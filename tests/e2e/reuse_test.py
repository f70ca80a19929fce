# SPDX-License-Identifier: Apache-2.0
"""A target is a program in a process, and not a pid: neither a later process with its pid nor a later
program in its process is taken for it."""
import os
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

import beamflame
import nodes

NEEDS = "all nodes"
LAST_PID = Path("/proc/sys/kernel/ns_last_pid")
BUSY = ("sh", "-c", "while :; do :; done")


def has_ended(pid):
    return not Path(f"/proc/{pid}").exists()


def wait_until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("it takes too long")
        time.sleep(0.002)


def start_with_pid(pid, command):
    """Start a command that gets this pid. Others can take it first; then this skips the test."""
    for _ in range(50):
        LAST_PID.write_text(str(pid - 1))
        child = subprocess.Popen(command)
        if child.pid == pid:
            return child
        child.kill()
        child.wait()
        if not has_ended(pid):
            break
    raise unittest.SkipTest(f"pid {pid} can't be had again")


class Reuse(unittest.TestCase):
    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)

    def start(self, *arguments):
        profiler = beamflame.start(*arguments, "-F", 999, "-o", self.out / "x.bfr")
        self.addCleanup(profiler.kill)
        beamflame.read_until(profiler, "sampling")
        time.sleep(2)
        return profiler

    def become(self, node):
        """Make another program of the node's process; return a time after that."""
        node.send("tell become")
        name = Path(f"/proc/{node.pid}/comm")
        wait_until(lambda: name.read_text() == "sh\n")
        return time.clock_gettime(time.CLOCK_MONOTONIC)

    def check(self, profiler, goes, stays, since):
        """Check that the node that is gone has samples, but none since a time, and that the other
        has some until the end."""
        _, said = profiler.communicate(timeout=60)
        self.assertEqual(profiler.returncode, beamflame.DONE, said)
        beamflame.record("report", self.out / "x.bfr", "-e", "cpu", "-o", self.out / "x.perf")
        times = {goes.pid: [], stays.pid: []}
        for line in (self.out / "x.perf").read_text().splitlines():
            sample = re.match(r"\S.* (\d+)/\d+ \[\d+\] ([\d.]+):", line)
            if sample and int(sample[1]) in times:
                times[int(sample[1])].append(float(sample[2]))
        self.assertGreater(len(times[goes.pid]), 0)
        self.assertEqual([at for at in times[goes.pid] if at > since], [])
        self.assertGreater(max(times[stays.pid]), since + 2)

    def test_next_process_with_the_pid_has_no_sample(self):
        """The next process with the pid of a node that was killed has no sample, at no time."""
        with nodes.Node(25, "identity") as stays, nodes.Node(25, "become") as goes:
            profiler = self.start("-p", stays.pid, "-p", goes.pid, "-d", 7)
            os.kill(goes.pid, 9)
            goes.kill()
            wait_until(lambda: has_ended(goes.pid))
            since = time.clock_gettime(time.CLOCK_MONOTONIC)
            burner = start_with_pid(goes.pid, BUSY)
            self.addCleanup(burner.wait)
            self.addCleanup(burner.kill)
            self.check(profiler, goes, stays, since)

    def test_program_after_exec_has_no_sample(self):
        """The program that a node becomes by exec() has no sample."""
        with nodes.Node(25, "identity") as stays, nodes.Node(25, "become") as goes:
            profiler = self.start("-p", stays.pid, "-p", goes.pid, "-d", 7)
            self.check(profiler, goes, stays, self.become(goes))

    def test_samples_before_exec_keep_their_times(self):
        """A profiler that gets no CPU for a second reads samples late, and those of the node from
        before exec() stay before it."""
        with nodes.Node(25, "identity") as stays, nodes.Node(25, "become") as goes:
            profiler = self.start("-p", stays.pid, "-p", goes.pid, "-d", 7)
            os.kill(profiler.pid, signal.SIGSTOP)
            since = self.become(goes)
            time.sleep(1)
            os.kill(profiler.pid, signal.SIGCONT)
            self.check(profiler, goes, stays, since)

    def test_program_after_exec_has_no_sample_with_all_vms(self):
        """With -a, and also while events are recorded, a program that was a node has no sample."""
        with nodes.Node(25, "identity") as stays, nodes.Node(25, "become") as goes:
            profiler = self.start("-a", "-d", 7, "-e", "cpu,gc,sched")
            self.check(profiler, goes, stays, self.become(goes))

    def test_recording_ends_if_its_only_target_execs(self):
        """A recording ends when its only target becomes another program."""
        with nodes.Node(25, "become") as goes:
            profiler = self.start("-p", goes.pid, "-d", 40)
            self.become(goes)
            began = time.monotonic()
            profiler.communicate(timeout=60)
            self.assertLess(time.monotonic() - began, 10)
