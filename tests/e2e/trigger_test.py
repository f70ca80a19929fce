# SPDX-License-Identifier: Apache-2.0
"""Triggers: which conditions fire, and that the recording covers the time before and after."""
import json
import re
import signal
import threading
import time
import unittest

import beamflame
import nodes

NEEDS = "own nodes"
NODE = "nonode@nohost"
# The load sends its 5000 messages one by one: a look at the queue may see fewer.
QUEUED = r"(?:4\d\d\d|5000), <0\.\d+\.0> patient"
PERF_TIME = re.compile(r"^\S.* (\d+\.\d{6}): ", re.M)


class Triggered(beamflame.Profilers):
    """Helpers that watch a node of load `alarms`."""

    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)

    def watch(self, node, *options):
        """Start a profiler that waits for its triggers."""
        profiler = self.start("-p", node.pid, "-F", 499, *options)
        self.assertIn("sampling", profiler.stderr.readline())
        return profiler

    def stop(self, profiler):
        """End the profiler; return its exit code and its stderr."""
        profiler.send_signal(signal.SIGINT)
        return self.ended(profiler)

    def said(self, profiler, what):
        """Wait for a line that contains `what`, and return it."""
        late = threading.Timer(60, profiler.kill)
        late.start()
        try:
            while line := profiler.stderr.readline():
                if what in line:
                    return line
        finally:
            late.cancel()
        self.fail(f"it did not say '{what}'")

    def files(self, suffix):
        return sorted(p for p in self.out.iterdir() if p.name.endswith(suffix))

    def samples(self, recording):
        """Return the times of a recording's samples."""
        text = beamflame.record("report", recording, "--format", "perf", "-o", "-", "-q").stdout
        return [float(t) for t in PERF_TIME.findall(text)]


    def marks(self, recording):
        """Return the marks of a recording."""
        text = beamflame.record("report", recording, "--format", "json", "-o", "-", "-q").stdout
        return [line for line in map(json.loads, text.splitlines()) if line["type"] == "mark"]


@nodes.each_release
class Trigger(Triggered):
    release = None

    def test_each_condition_fires_when_it_becomes_true(self):
        """Each condition fires when it becomes true, not before; the message has the value
        found."""
        cases = (("cpu>5%", "burn", r"cpu>5%: ([5-9]|\d\d|1\d\d) %; "),
                 ("msgq>4000", "queue", rf"msgq>4000: {QUEUED}; "),
                 ("process patient msgq > 4000", "queue", rf"4000: {QUEUED}; "),
                 ("runq>10", "crowd", r"runq>10: \d\d+; "),
                 ("gc>50%", "collect", r"gc>50%: (5\d|[6-9]\d|100) %; "),
                 ("memory>250M", "hold", r"memory>250M: \d{3}\.\d MB; "))
        with nodes.Node(self.release, "alarms", flags=nodes.NO_BUSY_WAIT) as node:
            for condition, told, says in cases:
                with self.subTest(condition):
                    self.out = beamflame.folder(self.addCleanup)
                    profiler = self.watch(node, "--trigger", condition, "--before", 1,
                                          "--after", 1, "-o", self.out / "x.bfr")
                    time.sleep(2.5)
                    self.assertEqual(self.files("bfr"), [])
                    node.tell(told)
                    self.assertRegex(self.said(profiler, "trigger"), says)
                    self.said(profiler, "wrote")
                    node.tell("drain" if told == "queue" else "quiet")
                    if told == "burn":  # so that there is something to sample
                        node.tell("tick")
                    code, said = self.stop(profiler)
                    self.assertEqual(code, beamflame.DONE, said)
                    recording, = self.files("bfr")
                    self.assertGreater(len(self.samples(recording)), 5)
                    self.assertIn(f"trigger   {condition}: ",
                                  beamflame.record("report", recording).stdout)

    def test_condition_that_is_nearly_met_does_not_fire(self):
        """Conditions that are nearly met, or met by another process, do not fire; nothing is
        written, and a message says so."""
        with nodes.Node(self.release, "alarms", flags=nodes.NO_BUSY_WAIT) as node:
            node.tell("queue")
            profiler = self.watch(
                node, "--trigger", "msgq>5000", "--trigger", "process ticker msgq>0",
                "--trigger", "memory>64G", "--trigger", "runq>1000", "-o", self.out / "x.bfr")
            time.sleep(4)
            code, said = self.stop(profiler)
        self.assertEqual(code, beamflame.NO_SAMPLES, said)
        self.assertIn("no trigger fired", said)
        self.assertEqual(list(self.out.iterdir()), [])


class Recording(Triggered, unittest.TestCase):
    """The content of triggered recordings."""

    def setUp(self):
        super().setUp()
        nodes.require(25)

    def test_recording_covers_the_time_before_and_after(self):
        """The recording covers `before` seconds (plus the length of a segment at most) to `after`
        seconds without a gap, with the samples of a recording made at the same time."""
        with nodes.Node(25, "alarms", flags=nodes.NO_BUSY_WAIT) as node:
            node.tell("burn")
            whole = self.start("-p", node.pid, "-F", 499, "-o", self.out / "whole.bfr")
            self.assertIn("sampling", whole.stderr.readline())
            profiler = self.watch(node, "--trigger", "msgq>10", "--before", 4, "--after", 3,
                                  "-o", self.out / "x.bfr", "-o", self.out / "x.svg",
                                  "--stats", self.out / "x.json")
            time.sleep(8)
            node.tell("queue")
            self.said(profiler, "trigger")
            fired = time.clock_gettime(time.CLOCK_MONOTONIC)
            self.said(profiler, "wrote")
            self.assertEqual(self.stop(profiler)[0], beamflame.DONE)
            self.assertEqual(self.stop(whole)[0], beamflame.DONE)
        recording, = (p for p in self.files(".bfr") if NODE in p.name)
        times = self.samples(recording)
        stats = json.loads(self.files(".json")[0].read_text())
        self.assertEqual(stats["samples"], len(times))
        self.assertRegex(stats["trigger"], r"^msgq>10: \d{2,4}, <0\.\d+\.0> patient$")
        mark, = self.marks(recording)
        self.assertEqual(mark["label"], f"trigger {stats['trigger']}")
        self.assertAlmostEqual(times[0] + mark["time_ns"] / 1e9, fired, delta=0.5)
        begin, end = times[0] - fired, times[-1] - fired
        self.assertTrue(-8 < begin < -3, begin)
        self.assertTrue(2 < end < 6, end)
        self.assertAlmostEqual(stats["duration_ms"] / 1000, times[-1] - times[0], delta=1.5)
        beside = [t for t in self.samples(self.out / "whole.bfr") if times[0] <= t <= times[-1]]
        self.assertAlmostEqual(len(times) / len(beside), 1, delta=0.3)
        self.assertLess(max(b - a for a, b in zip(times, times[1:])), 1)
        self.assertGreater(stats["complete_stacks"] / stats["erlang_samples"], 0.98)
        spans = [row["span_ms"] for row in stats["microstates"]]
        for span in spans:
            self.assertAlmostEqual(span, stats["duration_ms"], delta=2000)

    def test_counts_of_events_are_sums_over_the_segments(self):
        with nodes.Node(25, "alarms", flags=nodes.NO_BUSY_WAIT) as node:
            node.tell("collect")
            profiler = self.watch(node, "-e", "gc", "--budget", 100, "--trigger", "msgq>10",
                                  "--before", 3, "--after", 2, "-o", self.out / "x.bfr",
                                  "--stats", self.out / "x.json")
            time.sleep(5)
            node.tell("queue")
            self.said(profiler, "wrote")
            self.stop(profiler)
        stats = json.loads(self.files(".json")[0].read_text())
        gc = stats["events"]["gc"]
        self.assertAlmostEqual(gc["span_ms"] / stats["duration_ms"], 1, delta=0.2)
        self.assertAlmostEqual(gc["covered_ms"], gc["span_ms"], delta=1)
        counted = sum(h["count"] for name, h in gc["histograms"].items() if "pause" in name)
        self.assertAlmostEqual(counted / gc["values"]["count"]["sum"], 1, delta=0.02)
        recording, = self.files(".bfr")
        sampled = sum(beamflame.folded(recording, "--weight", "time").values())
        self.assertAlmostEqual(sampled / gc["values"]["time"]["sum"], 1, delta=0.2)
        self.assertGreater(stats["samples"], 5)

    def test_condition_fires_again_only_after_it_was_false(self):
        """A condition that stays true does not fire again. After it was false it does, but not
        before the holdoff has passed."""
        with nodes.Node(25, "alarms", flags=nodes.NO_BUSY_WAIT) as node:
            profiler = self.watch(node, "--trigger", "msgq>10", "--before", 1, "--after", 1,
                                  "--holdoff", 6, "-o", self.out / "x.folded")
            node.tell("tick")
            node.tell("queue")
            self.said(profiler, "trigger")
            first = time.monotonic()
            self.said(profiler, "wrote")
            node.tell("drain")
            time.sleep(1.5)
            node.tell("queue")
            self.said(profiler, "trigger")
            self.assertGreater(time.monotonic() - first, 4.5)
            self.said(profiler, "wrote")
            time.sleep(7)
            code, said = self.stop(profiler)
        self.assertEqual(code, beamflame.DONE, said)
        self.assertNotIn("trigger", said)
        self.assertEqual(len(self.files("folded")), 2)

    def test_end_of_the_node_is_a_trigger(self):
        """The end of the node is a trigger; the recording has the time before it, and a mark at its
        end."""
        with nodes.Node(25, "alarms", flags=nodes.NO_BUSY_WAIT) as node:
            node.tell("tick")
            profiler = self.watch(node, "--trigger", "exit", "--before", 2,
                                  "-o", self.out / "x.folded", "-o", self.out / "x.bfr")
            time.sleep(4)
        code, said = self.ended(profiler)
        self.assertEqual(code, beamflame.DONE, said)
        self.assertRegex(said, "trigger exit: the node has ended; .* to 0 s after")
        stacks = beamflame.read_folded(self.files("folded")[0])
        self.assertGreater(beamflame.weight_of(stacks, "ticker"), 0)
        mark, = self.marks(self.files("bfr")[0])
        self.assertEqual(mark["label"], "trigger exit: the node has ended")
        self.assertGreater(mark["time_ns"], 1.5e9)

    def test_triggered_recording_is_written_if_the_run_ends(self):
        """Ctrl-C and the end of the duration write the recording so far."""
        for options in ((), ("-d", 5)):
            with self.subTest(options), \
                    nodes.Node(25, "alarms", flags=nodes.NO_BUSY_WAIT) as node:
                node.tell("tick")
                profiler = self.watch(node, "--trigger", "msgq>10", "--before", 1,
                                      "--after", 3600, *options, "-o", self.out / "x.folded")
                node.tell("queue")
                self.said(profiler, "trigger")
                code, said = self.ended(profiler) if options else self.stop(profiler)
                self.assertEqual(code, beamflame.DONE, said)
                path, = self.files("folded")
                self.assertGreater(sum(beamflame.read_folded(path).values()), 0)
                path.unlink()

    def test_max_size_ends_the_recording(self):
        """--max-size limits the data kept before the trigger, and ends the recording."""
        with nodes.Node(25, "alarms", flags=nodes.NO_BUSY_WAIT) as node:
            node.tell("burn")
            profiler = self.watch(node, "--trigger", "msgq>10", "--before", 60, "--after", 600,
                                  "--max-size", "20k", "-o", self.out / "x.bfr")
            time.sleep(3)
            node.tell("queue")
            self.said(profiler, "wrote")
            self.stop(profiler)
        recording, = self.files(".bfr")
        self.assertLess(recording.stat().st_size, 200e3)
        self.assertGreater(len(self.samples(recording)), 100)

    def test_message_names_the_node_that_fired(self):
        """Each node is watched, and the message says which one fired."""
        with nodes.Node(25, "alarms") as one, nodes.Node(25, "alarms") as other:
            other.tell("tick")
            profiler = self.watch(one, "-p", other.pid, "--trigger", "msgq>10", "--before", 1,
                                  "--after", 1, "-o", self.out / "x.bfr")
            other.tell("queue")
            self.assertIn(f"in process {other.pid}", self.said(profiler, "trigger"))
            self.said(profiler, "wrote")
            self.assertEqual(self.stop(profiler)[0], beamflame.DONE)


class Errors(beamflame.BadOptions, unittest.TestCase):
    cases = ((("--trigger", "load>5"), "cpu>PERCENT%"),
             (("--trigger", "msgq"), "there is no trigger"),
             (("--trigger", "msgq>"), "is not a number"),
             (("--trigger", "msgq>many"), "is not a number"),
             (("--trigger", "cpu>-1%"), "is not a number"),
             (("--trigger", "cpu>80M"), "of percent"),
             (("--trigger", "memory>80%"), "k, M or G"),
             (("--trigger", "process cart>5"), "there is no trigger"),
             (("--trigger", "process cart memory>5"), "METRIC: reductions, msgq"),
             (("--trigger", "size>5"), "METRIC: reductions, msgq"),
             (("--before", 5), "need --trigger"),
             (("--trigger", "cpu>1%", "--before", 1e6), "3600"),
             (("--trigger", "cpu>1%", "--loop", 5), "can't be combined"),
             (("--trigger", "cpu>1%", "--format", "folded", "-o", "-"), "name a file"))


if __name__ == "__main__":
    unittest.main()
