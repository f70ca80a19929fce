# SPDX-License-Identifier: Apache-2.0
"""With each clock, CPU samples add up to the CPU time that the kernel accounts. A clock that
interrupts too often is stopped."""
import json
import os
import subprocess
import sys
import time
import unittest
from collections import Counter
from contextlib import ExitStack

import beamflame
import nodes

SECONDS = 3
HZ = 499
ACCOUNTED = 0.02  # largest difference between the sum of samples and the account
FEW = 4  # samples
LOADS = {  # options of load halfidle
    "busy": ("sleep=0",),
    "sleeps of 1 ms": ("sleep=1",),
    "sleeps of 3 ms": ("sleep=3",),
    "sleeps of 10 ms": ("sleep=10",),
    "bursts": ("sleep=150", "rounds=100"),
}
FAULTS = 4096  # pages that one round touches


def cpu_seconds(pid):
    """Return the CPU time of a process so far, from its own clock (clock_getcpuclockid)."""
    return time.clock_gettime((~pid << 3) | 2)


def sampled_seconds(recording, *options):
    """Return the time of all samples of a recording together, in seconds."""
    return sum(beamflame.folded(recording, "--weight", "cpu", *options).values()) / 1e9


def seconds_of_targets(recording):
    """Return {pid: seconds of its samples} of a recording."""
    path, pids, threads = recording.with_suffix(".json"), {}, {}
    sums = Counter()
    beamflame.record("report", recording, "-o", path)
    for entry in map(json.loads, path.read_text().splitlines()):
        if entry["type"] == "target":
            pids[entry["id"]] = entry["pid"]
        elif entry["type"] == "thread":
            threads[entry["id"]] = pids[entry["target"]]
        elif entry["type"] == "sample":
            sums[threads[entry["thread"]]] += entry["values"]["time"] / 1e9
    return sums


@beamflame.each_release_and_clock
class Account:
    release = None

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.out = beamflame.folder(cls.addClassCleanup)

    def test_samples_add_up_to_the_cpu_time_of_the_node(self):
        """The samples add up to the node's CPU time, read around the recording, whether the node is
        busy, sleeps between ticks or works in bursts. The statistics contain the part that the
        clock itself saw."""
        for name, options in LOADS.items():
            with self.subTest(name), nodes.Node(self.release, "halfidle", *options) as node:
                time.sleep(0.5)
                self.check_sum(node)

    def check_sum(self, node):
        path, stats = self.out / "x.bfr", self.out / "s.json"
        before = cpu_seconds(node.pid)
        with beamflame.recording("-p", node.pid, "-F", HZ, "-o", path, "--stats", stats):
            inner = cpu_seconds(node.pid)
            time.sleep(SECONDS)
            inner = cpu_seconds(node.pid) - inner
        outer = cpu_seconds(node.pid) - before
        sampled, told = sampled_seconds(path), json.loads(stats.read_text())
        self.assertGreaterEqual(sampled, inner * (1 - ACCOUNTED))
        self.assertLessEqual(sampled, outer * (1 + ACCOUNTED))
        self.assertAlmostEqual(told["cpu_accounted_ms"] / 1000, sampled, delta=0.001 + sampled / 1e4)
        # At both ends, the kernel counts threads up to their last tick only, 10 ms ago at most.
        self.assertAlmostEqual(told["target"]["cpu_ms"] / 1000, sampled,
                               delta=ACCOUNTED * sampled + 0.01 * 2 * os.cpu_count())
        # The time that the clock saw before scaling has the same order. Otherwise the clock does
        # not measure CPU time: a clock that ticks at the asked frequency on half-idle CPUs has 2.6
        # to 6.3.
        self.assertGreater(told["cpu_sampled_ratio"], 0.2)
        self.assertLess(told["cpu_sampled_ratio"], 2)
        self.assertEqual(told["losses"]["clock_stopped"], 0)

    def test_each_of_four_nodes_has_its_own_account(self):
        """Each of several nodes has its own account, whatever its share of the CPUs. A node with
        few samples may lack its time after the last one: a few samples' worth."""
        path, stats = self.out / "four.bfr", self.out / "four.stats"
        with ExitStack() as stack:
            pids = [stack.enter_context(nodes.Node(self.release, "halfidle", f"sleep={ms}")).pid
                    for ms in (0, 1, 3, 10)]
            before = [cpu_seconds(pid) for pid in pids]
            with beamflame.recording(*(word for pid in pids for word in ("-p", pid)), "-F", HZ,
                                     "-o", path, "--stats", stats):
                inner = [cpu_seconds(pid) for pid in pids]
                time.sleep(SECONDS)
                inner = [cpu_seconds(pid) - first for pid, first in zip(pids, inner)]
            outer = [cpu_seconds(pid) - first for pid, first in zip(pids, before)]
        sums = seconds_of_targets(path)
        self.assertEqual(set(sums), set(pids))
        for pid, least, most in zip(pids, inner, outer):
            with self.subTest(pid):
                self.assertGreaterEqual(sums[pid], least * (1 - ACCOUNTED) - FEW / HZ)
                self.assertLessEqual(sums[pid], most * (1 + ACCOUNTED) + FEW / HZ)


class RefusedClocks(unittest.TestCase):
    """Clocks that are unknown, absent or too rare, and frequencies that are too high."""

    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)

    def test_unknown_clock_is_refused_with_the_list_of_clocks(self):
        """An unknown clock is a usage error that lists the clocks."""
        done = beamflame.run("-p", 1, "--clock", "sundial")
        self.assertEqual(done.returncode, beamflame.USAGE)
        self.assertIn("there is no clock 'sundial'; the clocks are: cpu-clock", done.stderr)

    def test_frequency_above_the_kernels_limit_is_refused(self):
        """A frequency above the limit of the machine is refused; the message names the sysctl."""
        most = int(open("/proc/sys/kernel/perf_event_max_sample_rate", encoding="utf-8").read())
        if most >= 50000:
            raise unittest.SkipTest(f"perf_event_max_sample_rate is {most}: -F ends at 50000")
        with nodes.Node(25, "halfidle") as node:
            done = beamflame.run("-p", node.pid, "-F", most + 1, "-d", 1, "-o", self.out / "x.svg")
        self.assertEqual(done.returncode, beamflame.USAGE)
        self.assertIn("perf_event_max_sample_rate", done.stderr)

    def test_cycles_are_refused_without_a_pmu(self):
        """Without a PMU `cycles` is refused, and the message names the clock to use."""
        if beamflame.has_pmu():
            raise unittest.SkipTest("this machine has a PMU")
        with nodes.Node(25, "halfidle") as node:
            done = beamflame.run("-p", node.pid, "--clock", "cycles", "-d", 1,
                                 "-o", self.out / "x.svg")
        self.assertEqual(done.returncode, beamflame.UNSUPPORTED)
        self.assertIn("no event 'cycles'", done.stderr)
        self.assertIn("use --clock cpu-clock", done.stderr)

    def test_rare_event_is_refused_as_a_clock(self):
        """An event that hardly ever happens cannot be a clock."""
        with nodes.Node(25, "halfidle", "sleep=1000") as node:
            done = beamflame.run("-p", node.pid, "--clock", "branch-misses" if beamflame.has_pmu()
                                 else "page-faults", "-F", 50000, "-d", 1, "-o", self.out / "x.svg")
        if done.returncode in (beamflame.DONE, beamflame.FAILED, beamflame.NO_SAMPLES):
            raise unittest.SkipTest("the machine is not calm enough")
        self.assertEqual(done.returncode, beamflame.UNSUPPORTED)
        self.assertIn("too rarely", done.stderr)


# Touches pages of its own: with pauses until a line arrives on stdin, then without pauses.
FAULTER = f"""
import mmap, select, sys, time
size = {FAULTS} * mmap.PAGESIZE
calm = True
print("ready", flush=True)
while True:
    with mmap.mmap(-1, size) as pages:
        for at in range(0, size, mmap.PAGESIZE):
            pages[at] = 1
            if calm and at % (64 * mmap.PAGESIZE) == 0:
                time.sleep(0.004)
                calm = not select.select([sys.stdin], [], [], 0)[0]
"""


class Guard(unittest.TestCase):
    """The guard against interrupts that are too frequent or too slow."""

    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)
        self.path, self.stats = self.out / "x.bfr", self.out / "s.json"

    def start_faulter(self):
        faulter = subprocess.Popen([sys.executable, "-c", FAULTER], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        self.addCleanup(faulter.wait)
        self.addCleanup(faulter.kill)
        self.addCleanup(faulter.stdout.close)
        self.addCleanup(faulter.stdin.close)
        faulter.stdout.readline()
        return faulter

    def check_recording(self, path):
        """The recording up to the stop is complete, and says that it ends early. Its samples stand
        for the time until the stop, and not for that until the profiler saw it."""
        beamflame.record("report", path, "-o", self.out / "x.txt", "-o", self.out / "x.json")
        self.assertIn("stop of CPU sampling", (self.out / "x.txt").read_text())
        lines = list(map(json.loads, (self.out / "x.json").read_text().splitlines()))
        totals, = [line for line in lines if line["type"] == "totals"]
        samples = [line for line in lines if line["type"] == "sample"]
        self.assertEqual(totals["losses"]["clock_stopped"], 1)
        self.assertFalse(totals["cut"])
        self.assertGreater(len(samples), 20)
        self.assertEqual(totals["cpu_samples"], len(samples))
        self.assertEqual(sum(line["values"]["time"] for line in samples),
                         totals["cpu_accounted_ns"])
        times = [line["time_ns"] for line in samples]
        self.assertLess(totals["cpu_accounted_ns"],
                        2 * os.cpu_count() * (max(times) - min(times)) + 1e9)

    def test_clock_with_slow_ticks_is_stopped(self):
        """The clock is stopped if handling its ticks takes more than 5 % of a CPU."""
        with nodes.Node(25, "halfidle", "sleep=0") as node:
            node.take_precedence()
            done = beamflame.run("-p", node.pid, "-F", 50000, "-d", 5, "-o", self.path,
                                 "--stats", self.stats, timeout=400)
        self.assertEqual(done.returncode, beamflame.FAILED)
        self.assertIn("handling the interrupts of 'cpu-clock' took more than 5 % of CPU",
                      done.stderr)
        self.assertIn(f"what {self.path} has of it is kept", done.stderr)
        self.assertEqual(json.loads(self.stats.read_text())["losses"]["clock_stopped"], 1)
        self.check_recording(self.path)

    def test_segments_end_with_the_clock(self):
        """With --loop the segment until the stop is kept, and no other one begins."""
        with nodes.Node(25, "halfidle", "sleep=0") as node:
            done = beamflame.run("-p", node.pid, "-F", 50000, "-d", 9, "--loop", 4, "-o", self.path)
        self.assertEqual(done.returncode, beamflame.FAILED, done.stderr)
        self.assertEqual(done.stderr.count("stopped to protect the machine"), 1, done.stderr)
        self.assertIn("ended early; what they have is kept", done.stderr)
        path, = self.out.glob("*.bfr")
        self.assertIn(f"wrote {path}\n", done.stderr)
        self.check_recording(path)

    def test_clock_with_a_storm_of_ticks_is_stopped_at_once(self):
        """A clock that starts to interrupt far too often is stopped at once."""
        faulter = self.start_faulter()
        with nodes.Node(25, "halfidle") as node:
            profiler = beamflame.start("-p", node.pid, "--clock", "page-faults", "-F", 99,
                                       "-o", self.path)
            self.addCleanup(profiler.communicate)
            self.addCleanup(profiler.kill)
            self.assertIn("sampling", profiler.stderr.readline())
            time.sleep(1)
            if profiler.poll() is not None:
                raise unittest.SkipTest("other programs make too many page faults")
            began = time.monotonic()
            faulter.stdin.write(b"go\n")
            faulter.stdin.flush()
            _, said = profiler.communicate(timeout=30)
        self.assertEqual(profiler.returncode, beamflame.FAILED)
        self.assertIn("stopped to protect the machine: 'page-faults' interrupted CPU", said)
        self.assertLess(time.monotonic() - began, 10)
        self.assertTrue(self.path.exists())


if __name__ == "__main__":
    unittest.main()
