# SPDX-License-Identifier: Apache-2.0
"""Scheduling as counted by probes, compared with what the node says."""
import json
import unittest

import beamflame
import nodes

NEEDS = "own nodes"


def has(*frames):
    """Return a predicate: a stack contains these frames, the first as a prefix of its root."""
    return lambda stack: stack[0].startswith(frames[0]) and all(f in stack for f in frames[1:])


def waiting_of(stacks, name):
    """Return the time that a process waits, whatever for."""
    return sum(beamflame.weight_where(stacks, has(name, f"[{status}]"))
               for status in beamflame.WAITING)


class Scheduling:
    """The tests for each release. Probes are attached all of the time, so counts must be exact."""

    release = None

    def record(self, work):
        """Record while a node does `work`. Return the event's figures, the number of context
        switches, the node's report, and the recording."""
        beamflame.require()
        out = beamflame.folder(self.addCleanup)
        with nodes.Node(self.release, "scheduling") as node:
            with beamflame.recording("-p", node.pid, "-e", "sched", "--budget", 100,
                                     "-o", out / "x.bfr", "--stats", out / "s.json"):
                before = node.report()
                after = node.tell(work)
        event = json.loads((out / "s.json").read_text())["events"]["sched"]
        self.assertEqual(event["covered_ms"], event["span_ms"], "attached all the time")
        return event, after["switches"] - before["switches"], after["said"], out / "x.bfr"

    def stacks(self, recording, value):
        return beamflame.folded(recording, "--weight", value)

    def test_context_switches_are_as_many_as_the_node_says(self):
        """Processes were scheduled in as often as statistics(context_switches) says."""
        event, switches, _, _ = self.record("switch")
        self.assertGreater(switches, 50000)
        self.assertAlmostEqual(event["values"]["count"]["sum"] / switches, 1, delta=0.002)
        self.assertLess(event["tallies"]["delay not known"] / switches, 0.001)

    def test_wait_and_delay_are_those_of_the_nodes_trace(self):
        """Wait and delay are the times between the node's own trace messages. The node reads its
        clock 10 to 50 us before or after the probe's hit, longer if the scheduler has slept; on a
        busy machine its thread sometimes waits for a CPU in between. Hence the load makes long
        delays, of 3 ms and more, and the test tolerates some such waits of milliseconds in 150 of
        them."""
        _, _, said, recording = self.record("wake")
        self.assertGreater(said["count"], 75)
        self.assertGreater(said["delay_ns"] / said["count"], 1e6)
        sums = {value: beamflame.weight_where(self.stacks(recording, value), has("woken"))
                for value in ("count", "delay", "wait")}
        self.assertAlmostEqual(sums["count"] / said["count"], 1, delta=0.1)
        self.assertAlmostEqual(sums["wait"] / sums["count"] / (said["wait_ns"] / said["count"]), 1,
                               delta=0.1)
        self.assertAlmostEqual(sums["delay"] / sums["count"] / (said["delay_ns"] / said["count"]), 1,
                               delta=0.25)

    def test_processes_that_compete_are_runnable(self):
        """Of the competing processes, all but one per scheduler are runnable at any time. They are
        scheduled out whenever they have used up their reductions."""
        event, _, said, recording = self.record("compete")
        stacks = self.stacks(recording, "wait")
        runnable = beamflame.weight_where(stacks, has("hog_", "[runnable]"))
        self.assertAlmostEqual(runnable / said["runnable_ns"], 1, delta=0.1)
        self.assertAlmostEqual(event["tallies"]["left: reductions used up"]
                               / (said["reductions"] / 4000), 1, delta=0.05)

    def test_suspended_time_is_that_of_the_node(self):
        _, _, said, recording = self.record("suspend")
        stacks = self.stacks(recording, "wait")
        suspended = beamflame.weight_where(stacks, has("suspended", "[suspended]"))
        self.assertAlmostEqual(suspended / said["suspended_ns"], 1, delta=0.1)
        waiting = waiting_of(stacks, "suspended")
        self.assertLess(waiting, 0.1 * suspended)

    def test_slices_and_delays_of_dirty_schedulers_are_counted(self):
        event, _, said, recording = self.record("dirty")
        slices = event["histograms"]["slice, dirty"]["buckets"]
        long = sum(count for low, count in slices if low >= 8e6)
        self.assertGreaterEqual(long, said["calls"], event)
        self.assertLess(long, 1.5 * said["calls"], "others that wait for a CPU are few")
        self.assertGreaterEqual(event["histograms"]["run-queue delay, dirty"]["count"],
                                said["calls"])
        runnable = beamflame.weight_where(self.stacks(recording, "wait"),
                                          has("dirty_", "[runnable]"))
        self.assertAlmostEqual(runnable / said["runnable_ns"], 1, delta=0.25)

    def test_collection_on_a_dirty_scheduler_counts_as_waiting(self):
        """A process that a dirty scheduler runs only to collect its garbage still counts as
        waiting."""
        event, _, said, recording = self.record("garbage")
        waiting = waiting_of(self.stacks(recording, "wait"), "waster")
        self.assertAlmostEqual(waiting / said["waited_ns"], 1, delta=0.1)
        self.assertLess(event["tallies"]["not seen to leave"], 5)

    def test_long_schedules_are_those_that_the_node_monitors(self):
        """Long schedules have the duration that the node's monitor reports, and stacks in the NIF
        that takes so long."""
        _, _, said, recording = self.record("occupy")
        self.assertGreaterEqual(said["count"], 3)  # of 5, and the node may miss one
        stacks = self.stacks(recording, "long")
        total = beamflame.weight_where(stacks, has("occupant"))
        self.assertAlmostEqual(total / said["ns"], 1, delta=0.3)
        nif = beamflame.weight_where(stacks, has("occupant", "spin_nif:spin/1"))
        self.assertGreater(nif / total, 0.2, "a busy machine runs it some of the time only")
        summary = beamflame.record("report", "--summary", "full", recording).stdout
        self.assertRegex(summary, r"\d+\.\d ms  until +\S+ s  <\S+>  occupant  in spin_nif:spin/1\n"
                                  r" +called by scheduling:occupy/0")


class Otp25(Scheduling, unittest.TestCase):
    release = 25


class Otp27(Scheduling, unittest.TestCase):
    release = 27


class Otp29(Scheduling, unittest.TestCase):
    release = 29


class Usdt(Scheduling, unittest.TestCase):
    """USDT probes change the VM's structs, and how the compiler translates functions: this build
    has no hook for a process that is taken out of a run queue or resumed."""
    release = "27-usdt"
    test_suspended_time_is_that_of_the_node = None


class Musl25(Usdt):
    """This build has no hook for a process that is taken out of a run queue or resumed either."""
    release = "25-musl"


class Musl27(Usdt):
    """This build has none either."""
    release = "27-musl"


if __name__ == "__main__":
    unittest.main()
