# SPDX-License-Identifier: Apache-2.0
"""Event `wall`, compared with what the nodes say of their processes."""
import json
import unittest
from collections import Counter

import beamflame
import nodes

NEEDS = "own nodes"


def seconds(stats):
    """Return the seconds that sweeps represent. On a busy machine a recording ends late, and some
    sweeps are skipped."""
    return stats["events"]["wall"]["span_ms"] / 1000


@beamflame.each_release_and_clock
class Wall:
    """The tests for each release."""

    release = None

    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)

    def record(self, node, duration, *options):
        """Record event `wall`; return the statistics and the recording."""
        beamflame.record("-p", node.pid, "-e", "wall", "-d", duration, *options,
                         "-o", self.out / "x.bfr", "--stats", self.out / "s.json")
        return json.loads((self.out / "s.json").read_text()), self.out / "x.bfr"

    def statuses(self, recording):
        """Return {status: seconds}, with the statuses of the VM."""
        times = Counter()
        for stack, ns in beamflame.folded(recording, "--group-by", "status", "--idle").items():
            times[beamflame.vm_status(stack[0].strip("[]"))] += ns / 1e9
        return times

    def check_statuses(self, node, stats, recording):
        """Check that all processes have all of the time, and each status its share, within the
        error of so many samples."""
        says = node.report()["statuses"]
        own = node.ready["processes"] - sum(says.values())
        says["waiting"] += own
        times = self.statuses(recording)
        self.assertAlmostEqual(sum(times.values()) / (seconds(stats) * node.ready["processes"]), 1,
                               delta=0.1)
        self.assertGreater(stats["samples"], 500)
        got, said = nodes.shares(times), nodes.shares(says)
        for status, share in said.items():
            chance = 6 * (share * (1 - share) / stats["samples"]) ** 0.5
            self.assertAlmostEqual(got.get(status, 0), share, delta=max(0.02, chance), msg=status)

    def test_statuses_have_the_shares_that_the_node_says(self):
        """The shares of statuses are those of the node's processes; nearly all stacks of waiting
        processes are complete, with their true depth."""
        with nodes.Node(self.release, "crowd", "processes=500") as node:
            stats, recording = self.record(node, 4)
            self.check_statuses(node, stats, recording)
        self.assertGreater(stats["complete_stacks"] / stats["erlang_samples"], 0.995)
        deep = {stack.count("crowd:wait/1") for stack in beamflame.folded(
            recording, "--group-by", "none") if "crowd:wait/1" in stack}
        self.assertEqual(deep, {21})

    def test_random_sample_represents_many_processes(self):
        """Of many processes a random sample is visited, which represents all."""
        with nodes.Node(self.release, "crowd", "processes=20000") as node:
            stats, recording = self.record(node, 4)
            self.check_statuses(node, stats, recording)
        self.assertLess(stats["samples"], 1.3 * seconds(stats) * 20 * 100)

    def test_running_processes_have_the_schedulers_time(self):
        """Running processes have the schedulers' time, and the stacks that their CPU samples have.
        A sweep takes time: while it waits for a CPU, a process that it has visited may be replaced
        on its scheduler by one that it has yet to visit."""
        with nodes.Node(self.release, "identity") as node:
            workers = node.report()["workers"]
            schedulers = node.ready["schedulers"]
            stats, recording = self.record(node, 5, "-e", "cpu")
        running = Counter()
        for stack, ns in beamflame.folded(recording, "--event", "wall",
                                          "--group-by", "status,pid").items():
            if stack[0] == "[running]":
                running[stack[1].split()[-1], worker_function(workers, stack)] += ns / 1e9
        expected = min(schedulers, len(workers)) * seconds(stats)
        self.assertAlmostEqual(sum(running.values()) / expected, 1, delta=0.4)
        functions = {worker["pid"]: worker["function"] for worker in workers}
        wrong = sum(time for (pid, function), time in running.items()
                    if functions.get(pid) != function)
        self.assertLess(wrong / sum(running.values()), 0.1)

    def test_process_whose_thread_waits_is_running(self):
        """The process is running all of the time, with the stack where its thread waits."""
        with nodes.Node(self.release, "waiting") as node:
            stats, recording = self.record(node, 5)
        stacks = beamflame.folded(recording, "--group-by", "status,name")
        running = beamflame.weight_where(stacks, lambda s: s[:2] == ("[running]", "keeper"))
        known = beamflame.weight_where(stacks, lambda s: s[:2] == ("[running]", "keeper") and
                                       s[2:4] == ("waiting:keep/0", "spin_nif:wait/1"))
        self.assertAlmostEqual(running / 1e9 / seconds(stats), 0.97, delta=0.15)
        self.assertGreater(known / running, 0.95)

    def test_top_selects_the_process_with_most_messages(self):
        """--top selects the process with the most messages while recording."""
        with nodes.Node(self.release, "crowd", "processes=3000") as node:
            stats, recording = self.record(node, 3, "--top", "1:msgq:1")
        stacks = beamflame.folded(recording)
        self.assertEqual({stack[0] for stack in stacks}, {"queued"})
        self.assertAlmostEqual(sum(stacks.values()) / 1e9 / seconds(stats), 1, delta=0.15)

    def test_top_by_growth_selects_the_receiving_process(self):
        """--top by growth soon selects the process that receives messages, not the one with the
        most; the others are counted."""
        with nodes.Node(self.release, "crowd", "processes=3000") as node:
            stats, recording = self.record(node, 4, "--top", "1:+msgq:1")
        names = Counter()
        for stack, ns in beamflame.folded(recording).items():
            names[stack[0]] += ns / 4e9
        self.assertGreater(names["filling"], 0.5)
        self.assertNotIn("queued", names)
        others = stats["events"]["wall"]["tallies"]["processes left out of the top"]
        self.assertAlmostEqual(others, node.ready["processes"], delta=10)

    def test_node_that_rests_has_all_of_the_time(self):
        """While a node rests, sweeps need not read it: each of its processes has all of the time
        still, and one that wakes now and then is seen where it waits."""
        with nodes.Node(self.release, "drowsy") as node:
            stats, recording = self.record(node, 6)
        times, turns = Counter(), Counter()
        for stack, ns in beamflame.folded(recording, "--group-by", "pid", "--idle").items():
            times[stack[0]] += ns / 1e9
            turns.update({turn: ns / 1e9 for turn in ("drowsy:short/1", "drowsy:long/1")
                          if turn in stack})
        for process, time in times.items():
            self.assertAlmostEqual(time / seconds(stats), 1, delta=0.05, msg=process)
        self.assertAlmostEqual(turns["drowsy:short/1"] / seconds(stats), 0.3, delta=0.06)
        self.assertAlmostEqual(turns["drowsy:long/1"] / seconds(stats), 0.7, delta=0.06)
        self.assertEqual(stats["complete_stacks"], stats["erlang_samples"])
        # A sweep that finds no CPU in time is left out.
        self.assertAlmostEqual(stats["samples"] / (len(times) * 20 * seconds(stats)), 1, delta=0.25)

    def test_all_frames_have_names_in_a_storm_of_messages(self):
        """In a storm of messages all frames have names."""
        with nodes.Node(self.release, "storm", "what=messages") as node:
            _, recording = self.record(node, 3, "--wall-frequency", 100)
        for stack in beamflame.folded(recording, "--group-by", "none"):
            for frame in stack:
                self.assertNotRegex(frame, r"^0x")
        summary = beamflame.record("report", recording).stdout
        self.assertRegex(summary, r"status of wall by time\n(.*%  +[\d,]+ samples?  +\w+\n)+")


def worker_function(workers, stack):
    """Return the worker's function that is in the stack, or None."""
    return next((w["function"] for w in workers if w["function"] in stack), None)


class WallMusl25(Wall, unittest.TestCase):
    release = "25-musl"


class WallMusl27(Wall, unittest.TestCase):
    release = "27-musl"


class WallMusl29(Wall, unittest.TestCase):
    release = "29-musl"


class Errors(beamflame.BadOptions, unittest.TestCase):
    cases = ((("--top", "5"), "-e wall"),
             (("-e", "wall", "--top", "0"), "from 1 to"),
             (("-e", "wall", "--top", "5:size"), "reductions, msgq"),
             (("-e", "wall", "--top", "5:+size"), "+msgq"),
             (("-e", "wall", "--top", "5:msgq:x"), "seconds"),
             (("-e", "wall", "--wall-frequency", "0"), "from 1 to"))


if __name__ == "__main__":
    unittest.main()
