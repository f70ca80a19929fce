# SPDX-License-Identifier: Apache-2.0
"""Events are added to recordings that run, and removed: `beamflame ctl add`, `ctl remove`."""
import json
import re
import sys
import time
import unittest
from pathlib import Path

import beamflame
import breakpoints
import nodes
from segments import Segments

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
from schemas import Lines  # pylint: disable=wrong-import-position

NEEDS = "own nodes"
WORDS = 100e6  # that load memory allocates for one task
EACH = 25000   # calls of load counted for one task
FUNCTION = "call:counted:local/1"


class Changes(Segments):
    """Recordings of nodes with some load, which are changed."""

    def recorder(self, *options):
        """Start a recording; wait until it has begun."""
        process = self.start(*options)
        beamflame.read_until(process, "sampling")
        return process

    def ctl(self, process, *words, code=beamflame.DONE):
        """Steer a recording; return what is printed or, if it fails, said."""
        done = beamflame.run("ctl", "-p", process.pid, *words, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr if code else done.stdout

    def done(self, process):
        self.ctl(process, "stop")
        code, said = self.ended(process)
        self.assertEqual(code, beamflame.DONE, said)
        return said

    def events(self, recording):
        """What --stats has of each event."""
        path = self.out / "s.json"
        done = beamflame.run("report", "-q", recording, "--stats", path)
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        return json.loads(path.read_text("utf-8"))["events"]

    def lines(self, recording):
        path = self.out / "lines.json"
        beamflame.record("report", "-q", recording, "-o", path)
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]

    def around(self, event, work, release):
        """Do the work before the event is added, while it is recorded, and after it is removed. Return
        what --stats has of it."""
        with nodes.Node(release, "calls") as node:
            process = self.recorder("-p", node.pid, "--budget", 100, *self.outputs("bfr"))
            node.tell(work)
            self.ctl(process, "add", event)
            node.tell(work)
            self.ctl(process, "remove", event)
            node.tell(work)
            self.done(process)
        return self.events(self.out / "x.bfr")[event]

    def times(self, recording):  # pylint: disable=arguments-differ
        """The times of the samples of each event, and of marks, in seconds."""
        times = {}
        for line in self.lines(recording):
            if line["type"] in ("sample", "mark"):
                times.setdefault(line.get("event", line.get("label")), []).append(
                    line["time_ns"] / 1e9)
        return times


@nodes.each_release
class InTheMiddle(Changes):
    release = None

    def test_an_added_event_has_what_came_after(self):
        """Words that are allocated before event alloc is added and after it is removed do not
        count, and nothing is scaled to that time. Event cpu continues."""
        with nodes.Node(self.release, "memory") as node:
            process = self.recorder("-p", node.pid, "-e", "cpu", "--budget", 100,
                                    *self.outputs("bfr"))
            node.tell("allocate")
            time.sleep(1)
            most = -time.monotonic()
            self.assertEqual(self.ctl(process, "add", "alloc"),
                             "recorded from now on: cpu, alloc\n")
            began = time.monotonic()
            node.tell("allocate")
            time.sleep(1)
            least = time.monotonic() - began
            self.assertEqual(self.ctl(process, "remove", "alloc"), "recorded from now on: cpu\n")
            most += time.monotonic()
            node.tell("allocate")
            time.sleep(1)
            self.done(process)
        alloc = self.events(self.out / "x.bfr")["alloc"]
        self.assertAlmostEqual(alloc["values"]["words"]["sum"] / WORDS, 1, delta=0.02)
        for key in "span_ms", "recorded_ms":
            self.assertTrue(0.98 * least < alloc[key] / 1000 < most, (key, least, most))
        times = self.times(self.out / "x.bfr")
        (added,), (removed,) = times["event alloc added"], times["event alloc removed"]
        self.assertTrue(least < removed - added < most)
        self.assertGreater(min(times["alloc"]), added - 0.2)
        self.assertLess(max(times["alloc"]), removed)
        self.assertLess(min(times["cpu"]), added)
        self.assertGreater(max(times["cpu"]), removed)

    def test_calls_are_counted_from_then_on(self):
        """Exactly those made while event call is recorded, in pieces that are joined."""
        breakpoints.require()
        with nodes.Node(self.release, "counted", f"each={EACH}") as node:
            process = self.recorder("-p", node.pid, "--budget", 100, *self.outputs("bfr"))
            node.tell("calls")
            self.ctl(process, "add", FUNCTION)
            truth = node.tell("calls")["calls"]["counted:local/1"]
            self.ctl(process, "add", "gc")
            node.tell("calls")
            self.ctl(process, "remove", FUNCTION)
            node.tell("calls")
            self.done(process)
        count = self.events(self.out / "x.bfr")[FUNCTION]["values"]["count"]
        self.assertEqual((count["sum"], count["standard_error"]), (2 * truth, 0))

    def test_probes_count_from_then_on(self):
        """Calls of BIFs and NIFs are exact, and so are those of a function of the VM."""
        for event, work, calls in (("bif:erlang:md5/1", "bifs", 10000),
                                   ("nif:spin_nif:spin/1", "nifs", 1000),
                                   ("probe:erts_do_exit_process", "spawns", 300)):
            with self.subTest(event):
                figures = self.around(event, work, self.release)
                self.assertEqual(figures["values"]["count"]["sum"], calls)
                self.assertEqual(figures["covered_ms"], figures["span_ms"])

    def test_cpu_is_removed_and_added(self):
        """What is seen of event cpu leaves out the time without it, and gc has all of the time."""
        with nodes.Node(self.release, "request") as node:
            process = self.recorder("-p", node.pid, "-e", "cpu,gc", *self.outputs("bfr"))
            time.sleep(2)
            most = -time.monotonic()
            self.ctl(process, "remove", "cpu")
            time.sleep(3)
            self.ctl(process, "add", "cpu")
            most += time.monotonic()
            time.sleep(2)
            self.done(process)
        seen = {line["event"]: line["spans_ns"] for line in self.lines(self.out / "x.bfr")
                if line["type"] == "seen" and "event" in line}
        first, second = seen["cpu"]
        recorded, = (line for line in self.lines(self.out / "x.bfr")
                     if line["type"] == "recorded")
        self.assertEqual((recorded["event"], recorded["spans_ns"]), ("cpu", [first, second]))
        Lines().validate(recorded)
        summary = beamflame.record("report", self.out / "x.bfr").stdout
        seconds = (first[1] - first[0] + second[1] - second[0]) / 1e9
        said = float(re.search(r" cpu \([^)]*\) in ([\d.]+) s", summary)[1])
        self.assertAlmostEqual(said, seconds, delta=0.5)
        self.assertTrue(3 < (second[0] - first[1]) / 1e9 < most)
        times = self.times(self.out / "x.bfr")
        self.assertFalse([t for t in times["cpu"] if first[1] < t * 1e9 < second[0]])
        self.assertTrue([t for t in times["gc"] if first[1] < t * 1e9 < second[0]])

    def test_scheduling_counts_from_then_on(self):
        """As often as the node says that it switched processes in that time."""
        with nodes.Node(self.release, "scheduling") as node:
            process = self.recorder("-p", node.pid, "--budget", 100, *self.outputs("bfr"))
            self.ctl(process, "add", "sched")
            before = node.report()["switches"]
            switches = node.tell("switch")["switches"] - before
            self.ctl(process, "remove", "sched")
            node.tell("compete")
            self.done(process)
        sched = self.events(self.out / "x.bfr")["sched"]
        self.assertAlmostEqual(sched["values"]["count"]["sum"] / switches, 1, delta=0.01)


class Usdt(Changes, unittest.TestCase):
    def test_usdt_probes_count_from_then_on(self):
        """The VM skips a probe while its semaphore is 0: it is raised and lowered meanwhile."""
        figures = self.around("usdt:process-spawn", "spawns", "27-usdt")
        self.assertEqual(figures["values"]["count"]["sum"], 300)


class Recordings(Changes, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.node = nodes.Node(27, "request")
        cls.addClassCleanup(cls.node.kill)

    def test_segments(self):
        """A change ends a segment. Each has the events that it was begun with."""
        process = self.recorder("-p", self.node.pid, "--loop", 60, *self.outputs("bfr"))
        time.sleep(1.5)
        self.ctl(process, "add", "gc")
        time.sleep(1.5)
        self.ctl(process, "remove", "cpu")
        time.sleep(1.5)
        self.done(process)
        self.assertEqual([set(self.times(part)) - {"event gc added", "event cpu removed"}
                          for part in self.parts("bfr")], [{"cpu"}, {"cpu", "gc"}, {"gc"}])

    def test_a_trigger(self):
        """What is kept from before the change belongs to its recording."""
        process = self.recorder("-p", self.node.pid, "--trigger", "memory>1", "--before", 10,
                                "--after", 1, "--holdoff", 0, *self.outputs("bfr"))
        self.ctl(process, "add", "gc")
        self.wait_for(lambda: self.parts("bfr"))
        time.sleep(2)
        self.ctl(process, "stop")
        self.ended(process)
        self.assertIn("gc", {event for part in self.parts("bfr") for event in self.times(part)})

    def test_several_vms(self):
        """The event is recorded of each, also in a snapshot."""
        with nodes.Node(25, "request") as other:
            process = self.recorder("-p", self.node.pid, "-p", other.pid, *self.outputs("bfr"))
            time.sleep(1)
            self.ctl(process, "add", "gc")
            self.assertIn("counts calls in one VM",
                          self.ctl(process, "add", "call:lists:map/2", code=beamflame.FAILED))
            time.sleep(2)
            self.ctl(process, "snapshot")
            snapshot, = self.wait_for(lambda: list(self.out.glob("x-*.bfr")))
            self.done(process)
        for recording in self.out / "x.bfr", snapshot:
            pids, targets, processes = set(), {}, {}
            for line in self.lines(recording):
                if line["type"] == "target":
                    targets[line["id"]] = line["pid"]
                elif line["type"] == "process":
                    processes[line["id"]] = line.get("target")
                elif line["type"] == "sample" and line["event"] == "gc":
                    pids.add(targets.get(processes.get(line.get("process"))))
            self.assertLessEqual({self.node.pid, other.pid}, pids)

    def test_what_is_refused(self):
        """With one sentence. The recording continues with the events that it had."""
        process = self.recorder("-p", self.node.pid, *self.outputs("bfr"))
        for word, name, reason in (
                ("add", "nonsense", "there is no event 'nonsense'; the events are: cpu, wall, gc,"),
                ("add", "", "'' is not one event"),
                ("add", "gc,alloc", "'gc,alloc' is not one event: add one at a time"),
                ("add", "cpu", "event cpu is recorded already"),
                ("add", "nif:no:such/1", "no:such/1 is not loaded"),
                ("add", "call:no:such/1", "module 'no' is not loaded in this VM"),
                ("add", "call:lists", "'lists' is no function"),
                ("add", "probe:no_such_function", "no_such_function"),
                ("remove", "gc", "event 'gc' is not recorded"),
                ("remove", "cpu", "cpu is the only event: 'beamflame ctl stop' ends the")):
            with self.subTest(name):
                self.assertIn(reason, self.ctl(process, word, name, code=beamflame.FAILED))
                self.assertIn("events: cpu\n", self.ctl(process, "status"))
        self.ctl(process, "pause")
        self.assertIn("the recording is paused: resume it first",
                      self.ctl(process, "add", "gc", code=beamflame.FAILED))
        self.ctl(process, "resume")
        self.ctl(process, "mark", "after")
        time.sleep(1)
        self.done(process)
        times = self.times(self.out / "x.bfr")
        self.assertEqual(set(times), {"cpu", "after"})
        self.assertGreater(max(times["cpu"]), times["after"][0] + 0.5)

    def test_outputs_that_can_not_have_it(self):
        """A format with one event in a pipe, and files that --keep would not find."""
        for options, reason in ((("-o", "-", "--format", "folded"), "folded holds one"),
                                (("--loop", 60, "--keep", 2, *self.outputs("svg")),
                                 "--keep removes files by their names")):
            with self.subTest(reason):
                process = self.recorder("-p", self.node.pid, *options)
                self.assertIn(reason, self.ctl(process, "add", "gc", code=beamflame.FAILED))
                self.assertIn("events: cpu\n", self.ctl(process, "status"))
                self.ctl(process, "stop")
                self.ended(process)

    def test_the_vm_may_end(self):
        """Before a change, or in it: the recording ends, and is kept."""
        with nodes.Node(27, "request") as node:
            process = self.recorder("-p", node.pid, *self.outputs("bfr"))
            time.sleep(1)
            node.kill()
            beamflame.run("ctl", "-p", process.pid, "add", "gc")
            self.ended(process)
        self.assertGreater(self.samples(self.out / "x.bfr", "--event", "cpu"), 10)


if __name__ == "__main__":
    unittest.main()
