# SPDX-License-Identifier: Apache-2.0
"""Recordings that run are steered by `beamflame ctl`."""
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

import beamflame
import clock_test
import kills
import nodes
import traps
import viewer
from segments import Segments

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
from schemas import schema, validator  # pylint: disable=wrong-import-position

NEEDS = "own nodes"
FOLDER = Path("/run/beamflame")
NOBODY = 65534


class Steered(Segments, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.node = nodes.Node(27, "request")
        cls.addClassCleanup(cls.node.kill)

    def recorder(self, *options):
        """Start a recording; wait until it has begun."""
        process = self.start("-p", self.node.pid, *options)
        beamflame.read_until(process, "sampling")
        return process

    def ctl(self, process, *words, code=beamflame.DONE):
        """Steer a recording; return what is printed or, if it fails, said."""
        done = beamflame.run("ctl", "-p", process.pid, *words, timeout=30)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr if code else done.stdout

    @staticmethod
    def socket_of(process):
        return FOLDER / f"{process.pid}.sock"

    # ---- status, list, stop ----

    def test_status_says_what_is_recorded(self):
        process = self.recorder("-e", "cpu,gc", "-o", self.out / "x.bfr")
        self.wait_for(lambda: " 0 samples" not in self.ctl(process, "status"))
        status = self.ctl(process, "status")
        self.assertRegex(status, r"^recording, \d+ s since the start: [1-9]\d* samples, \d+ lost\n"
                                 r"since: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [-+]\d{4}\n"
                                 rf"VMs: {self.node.pid}\nevents: cpu, gc\ncommand: beamflame -p {self.node.pid} "
                                 r"-e cpu,gc -o .*/x\.bfr\n$")
        self.assertEqual(os.stat(self.socket_of(process)).st_mode & 0o777, 0o600)

    def test_status_as_json(self):
        process = self.recorder("-o", self.out / "x.bfr")
        self.wait_for(lambda: json.loads(self.ctl(process, "status", "--json"))["samples"])
        status = json.loads(self.ctl(process, "status", "--json"))
        validator(schema("status")).validate(status)
        self.assertEqual((status["state"], status["vms"], status["pids"]),
                         ("recording", 1, [self.node.pid]))
        self.assertEqual((status["events"], status["event_count"]), (["cpu"], 1))
        self.assertAlmostEqual(time.time() - status["since"], status["seconds"], delta=3)
        self.assertEqual(status["command"],
                         f"beamflame -p {self.node.pid} -o {self.out / 'x.bfr'}")
        self.ctl(process, "pause")
        self.assertEqual(json.loads(self.ctl(process, "status", "--json"))["state"], "paused")
        self.assertIn("--json is for status, not for stop",
                      self.ctl(process, "stop", "--json", code=beamflame.USAGE))

    def test_stop_ends_a_recording_as_ctrl_c_does(self):
        """Its outputs are there, and its socket is gone; also of one in segments."""
        for options in ((), ("--loop", 60)):
            with self.subTest(options):
                self.out = beamflame.folder(self.addCleanup)
                process = self.recorder(*self.outputs("bfr", "svg"), *options)
                time.sleep(1)
                self.assertEqual(self.ctl(process, "stop"), "the recording ends\n")
                code, said = self.ended(process)
                self.assertEqual(code, beamflame.DONE, said)
                self.assertEqual(sorted(p.suffix for p in self.out.iterdir()), [".bfr", ".svg"])
                self.assertGreater(self.samples(next(self.out.glob("*.bfr"))), 10)
                self.assertFalse(self.socket_of(process).exists())

    def test_a_recording_that_waits_for_a_trigger_can_be_stopped(self):
        process = self.recorder("--trigger", "msgq>1000000", *self.outputs("bfr"))
        self.assertIn("waiting for a trigger, ", self.ctl(process, "status"))
        self.ctl(process, "stop")
        self.assertEqual(self.ended(process)[0], beamflame.NO_SAMPLES)

    def test_recordings_are_listed_and_chosen_by_pid(self):
        one, other = self.recorder(*self.outputs("bfr")), self.recorder("-o", self.out / "y.bfr")
        listed = beamflame.run("ctl", "list").stdout
        for process in one, other:
            self.assertRegex(listed, rf"(?m)^{process.pid}  recording, ")
        done = beamflame.run("ctl", "status")
        self.assertEqual(done.returncode, beamflame.USAGE)
        self.assertRegex(done.stderr, r"\d+ recordings run on this host: choose one by -p PID, "
                                      rf"one of .*{one.pid}")
        self.ctl(other, "stop")
        self.assertEqual(self.ended(other)[0], beamflame.DONE)
        self.assertIn("recording, ", self.ctl(one, "status"))

    def test_a_killed_recording_is_listed_no_more(self):
        """What SIGKILL left is removed."""
        process = self.recorder(*self.outputs("bfr"))
        process.kill()
        process.wait()
        self.assertTrue(self.socket_of(process).exists())
        self.assertIn(f"process {process.pid} is no recording that can be steered",
                      self.ctl(process, "status", code=beamflame.NO_PROCESS))
        self.assertNotIn(str(process.pid), beamflame.run("ctl", "list").stdout)
        self.assertFalse(self.socket_of(process).exists())

    def test_a_recorder_that_is_stopped_does_not_hang_others(self):
        process = self.recorder(*self.outputs("bfr"))
        process.send_signal(signal.SIGSTOP)
        self.assertIn(f"recorder {process.pid} does not answer within 10 s",
                      self.ctl(process, "status", code=beamflame.FAILED))
        process.send_signal(signal.SIGCONT)
        self.assertIn("recording, ", self.ctl(process, "status"))

    # ---- pause, resume ----

    def stats_of(self, *options):
        beamflame.record("report", "-q", self.out / "x.bfr", "--stats", self.out / "s.json",
                         *options)
        return json.loads((self.out / "s.json").read_text(encoding="utf-8"))

    def test_what_happens_in_a_pause_counts_for_nothing(self):
        """The node allocates twice as much in a pause as after it. Counts, and the CPU time that
        samples stand for, are those of the time recorded."""
        traps.require_fast()
        with nodes.Node(27, "memory") as node:
            process = self.start("-p", node.pid, "-e", "cpu,wall,gc,alloc", "--budget", 100,
                                 *self.outputs("bfr"))
            beamflame.read_until(process, "sampling")
            time.sleep(1)
            self.assertEqual(self.ctl(process, "pause"), "paused\n")
            self.assertEqual(kills.changed_code(node.pid), [])
            before = clock_test.cpu_seconds(node.pid)
            node.tell("allocate")
            node.tell("allocate")
            used = clock_test.cpu_seconds(node.pid) - before
            self.assertIn("paused, ", self.ctl(process, "status"))
            self.assertEqual(self.ctl(process, "resume"), "resumed\n")
            before = node.report()
            after = node.tell("allocate")
            self.ctl(process, "stop")
            code, said = self.ended(process)
            self.assertEqual(code, beamflame.DONE, said)
        stats = self.stats_of()
        truth = nodes.difference(after, before, "gc")
        events = stats["events"]
        self.assertAlmostEqual(events["gc"]["values"]["count"]["sum"] / truth["count"], 1,
                               delta=0.02)
        self.assertAlmostEqual(events["alloc"]["values"]["words"]["sum"] / 100e6, 1, delta=0.02)
        recorded = stats["duration_ms"] - stats["gaps_ms"]
        for event in "gc", "alloc":
            self.assertEqual(events[event]["covered_ms"], events[event]["span_ms"], event)
            self.assertAlmostEqual(events[event]["span_ms"], recorded, delta=300)
        self.assertGreater(stats["gaps_ms"], 200)
        self.assertAlmostEqual(events["wall"]["span_ms"], recorded, delta=300)
        self.assertGreater(used, 0.2)
        self.assertLess(stats["cpu_accounted_ms"], 1000 * used * 0.9)
        self.assertAlmostEqual(clock_test.sampled_seconds(self.out / "x.bfr", "-e", "cpu"),
                               stats["cpu_accounted_ms"] / 1000, delta=0.002)
        for thread in stats["microstates"]:
            self.assertAlmostEqual(thread["span_ms"], recorded, delta=300)

    def test_pauses_are_gaps_of_one_recording(self):
        """By SIGUSR1, twice. The recording is whole, and so are its outputs."""
        process = self.recorder("-e", "cpu,wall", *self.outputs("bfr", "json"))
        for paused in (True, False, True, False):
            process.send_signal(signal.SIGUSR1)
            word = "paused, " if paused else "recording, "
            self.wait_for(lambda w=word: w in self.ctl(process, "status"))
            time.sleep(1)
        self.ctl(process, "stop")
        code, said = self.ended(process)
        self.assertEqual(code, beamflame.DONE, said)
        stats = self.stats_of()
        self.assertFalse(stats["cut"])
        self.assertAlmostEqual(stats["gaps_ms"], 2300, delta=900)
        lines = [json.loads(line) for line in (self.out / "x.json").read_text().splitlines()]
        recorded, = (line["spans_ns"] for line in lines
                     if line["type"] == "seen" and "event" not in line)
        self.assertEqual(len(recorded), 3)
        summary = beamflame.record("report", self.out / "x.bfr").stdout
        self.assertRegex(summary, r"samples +[\d,]+ in \d\.\d s: .*; nothing was recorded for "
                                  r"another \d\.\d s")

    def test_a_pause_ends_a_segment(self):
        process = self.recorder(*self.outputs("bfr"), "--loop", 60)
        time.sleep(1)
        self.ctl(process, "pause")
        self.wait_for(lambda: self.parts("bfr"))
        self.assertGreater(self.samples(self.parts("bfr")[0]), 10)
        time.sleep(1)
        self.ctl(process, "resume")
        time.sleep(1)
        self.ctl(process, "stop")
        code, said = self.ended(process)
        self.assertEqual(code, beamflame.DONE, said)
        self.assertEqual(len(self.parts("bfr")), 2)
        self.assertEqual(self.others("bfr"), set())

    def test_a_paused_recording_can_end(self):
        """By ctl, and because its VM ends."""
        with nodes.Node(27, "request") as node:
            process = self.start("-p", node.pid, *self.outputs("bfr"))
            beamflame.read_until(process, "sampling")
            time.sleep(1)
            self.assertIn("is not paused", self.ctl(process, "resume", code=beamflame.FAILED))
            self.ctl(process, "pause")
            self.assertIn("is paused already", self.ctl(process, "pause", code=beamflame.FAILED))
            node.kill()
            code, said = self.ended(process)
            self.assertEqual(code, beamflame.DONE, said)
            self.assertGreater(self.samples(self.out / "x.bfr"), 10)
        process = self.recorder(*self.outputs("bfr"))
        time.sleep(1)
        self.ctl(process, "pause")
        self.ctl(process, "stop")
        self.assertEqual(self.ended(process)[0], beamflame.DONE)
        self.assertGreater(self.samples(self.out / "x.bfr"), 10)

    # ---- marks ----

    def test_marks_are_in_every_place_that_shows_times(self):
        """Also those before a pause, and labels that try to be something else."""
        labels = ["deploy of 1.7", "</script><script>alert(1)</script>", '"\\n{"type": "x"}']
        process = self.recorder(*self.outputs("bfr", "json", "html"))
        time.sleep(1)
        self.assertEqual(self.ctl(process, "mark", labels[0]), "marked\n")
        self.ctl(process, "pause")
        self.assertIn("a mark is of the time recorded",
                      self.ctl(process, "mark", "no", code=beamflame.FAILED))
        time.sleep(1)
        self.ctl(process, "resume")
        for label in labels[1:]:
            self.ctl(process, "mark", label)
        for label in "", "a\x1b[2J", "x" * 201, "\u202eevil":
            with self.subTest(label):
                self.assertIn("a mark has a label: up to 200 bytes",
                              self.ctl(process, "mark", label, code=beamflame.FAILED))
        time.sleep(1)
        self.ctl(process, "stop")
        code, said = self.ended(process)
        self.assertEqual(code, beamflame.DONE, said)
        copy = self.out / "copy.bfr"
        beamflame.record("report", "-q", self.out / "x.bfr", "-e", "cpu", "-o", copy)
        for recording in self.out / "x.bfr", copy:
            with self.subTest(recording.name):
                beamflame.record("report", "-q", recording, "-o", self.out / "y.json")
                lines = [json.loads(line)
                         for line in (self.out / "y.json").read_text("utf-8").splitlines()]
                marks = [line for line in lines if line["type"] == "mark"]
                self.assertEqual([mark["label"] for mark in marks], labels)
                self.assertGreater(marks[1]["time_ns"] - marks[0]["time_ns"], 1e9)
        summary = beamflame.record("report", self.out / "x.bfr").stdout
        for label in labels:
            self.assertRegex(summary, rf"(?m)^ +\d\.\d s  {re.escape(label)}$")
        page = (self.out / "x.html").read_text("utf-8")
        self.assertNotIn(labels[1], page)
        header = json.loads(re.search(r'<script [^>]*id="header">([^<]*)</script>', page)[1])
        self.assertEqual([moment["label"] for moment in header["moments"]], labels)

    def test_the_page_says_the_mark_of_a_second(self):
        viewer.require()
        process = self.recorder(*self.outputs("html"))
        time.sleep(2.5)
        self.ctl(process, "mark", "deploy")
        time.sleep(2)
        self.ctl(process, "stop")
        self.assertEqual(self.ended(process)[0], beamflame.DONE)
        page = viewer.Viewer()
        self.addCleanup(page.close)
        page.open(self.out / "x.html", "event=cpu&panel=none")
        page.step("focus", "#heatmap canvas")
        page.press("Home")
        said = [page.said]
        for _ in range(4):
            page.press("ArrowRight")
            said.append(page.said)
        self.assertEqual([bool(re.search(r"; mark at [\d.]+ s: deploy(;|$)", text))
                          for text in said].count(True), 1, said)

    # ---- snapshots ----

    def snapshots(self, suffix, count):
        """Wait until there are as many snapshots in this format, and none is being written."""
        self.wait_for(lambda: len(self.parts(suffix)) == count)
        return self.parts(suffix)[-1]

    def words(self, recording):
        done = beamflame.record("report", "-q", recording, "--stats", self.out / "s.json")
        self.assertEqual(done.returncode, beamflame.DONE)
        return json.loads((self.out / "s.json").read_text("utf-8"))["events"]["alloc"]["values"][
            "words"]["sum"]

    def test_snapshots_have_what_there_is_and_the_recording_continues(self):
        """By ctl, and by SIGUSR2. Nothing is lost: the words that the node allocates before and
        after a snapshot are all in the recording."""
        with nodes.Node(27, "memory") as node:
            process = self.start("-p", node.pid, "-e", "cpu,alloc", "--budget", 100,
                                 *self.outputs("bfr", "json"))
            beamflame.read_until(process, "sampling")
            time.sleep(1)
            node.tell("allocate")
            self.assertEqual(self.ctl(process, "snapshot"), "a snapshot is being written\n")
            first = self.snapshots("bfr", 1)
            self.snapshots("json", 1)
            node.tell("allocate")
            process.send_signal(signal.SIGUSR2)
            second = self.snapshots("bfr", 2)
            self.snapshots("json", 2)
            node.tell("allocate")
            self.ctl(process, "stop")
            code, said = self.ended(process)
        self.assertEqual(code, beamflame.DONE, said)
        for recording, times in ((first, 1), (second, 2), (self.out / "x.bfr", 3)):
            self.assertAlmostEqual(self.words(recording) / 100e6, times, delta=0.02 * times)
        stats = self.stats_of()
        self.assertFalse(stats["cut"])
        self.assertLess(stats["gaps_ms"], 50)
        self.assertEqual(said.count("wrote "), 6)

    def test_a_snapshot_of_a_paused_recording(self):
        process = self.recorder(*self.outputs("bfr"))
        time.sleep(1)
        self.ctl(process, "pause")
        self.ctl(process, "snapshot")
        self.assertGreater(self.samples(self.snapshots("bfr", 1)), 10)
        self.ctl(process, "stop")
        code, said = self.ended(process)
        self.assertEqual(code, beamflame.DONE, said)
        self.assertEqual(self.samples(self.out / "x.bfr"), self.samples(self.parts("bfr")[0]))

    def test_a_snapshot_ends_a_segment(self):
        process = self.recorder(*self.outputs("bfr"), "--loop", 60)
        self.assertIn("the segment began less than a second ago",
                      self.ctl(process, "snapshot", code=beamflame.FAILED))
        time.sleep(1)
        self.ctl(process, "snapshot")
        self.assertGreater(self.samples(self.snapshots("bfr", 1)), 10)
        self.ctl(process, "stop")
        code, said = self.ended(process)
        self.assertEqual(code, beamflame.DONE, said)
        self.assertEqual(len(self.parts("bfr")), 2)

    def test_recordings_without_snapshots(self):
        """Of triggers, and where an output is no file. They continue."""
        for options, reason in ((("--trigger", "msgq>1000000", *self.outputs("bfr")),
                                 "a recording with --trigger is written when a trigger fires"),
                                (("-o", "/dev/null", "--format", "svg"),
                                 "an output is no regular file")):
            process = self.recorder(*options)
            self.assertIn(reason, self.ctl(process, "snapshot", code=beamflame.FAILED))
            process.send_signal(signal.SIGUSR2)
            beamflame.read_until(process, f"no snapshot is written: {reason}")
            self.assertIn("recording" if "-o" == options[0] else "waiting",
                          self.ctl(process, "status"))
            self.ctl(process, "stop")
            self.ended(process)

    # ---- who may, and where ----

    def test_another_user_may_not(self):
        process = self.recorder(*self.outputs("bfr"))
        done = subprocess.run(
            [beamflame.BINARY, "ctl", "-p", str(process.pid), "stop"], capture_output=True,
            text=True, check=False, user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertEqual(done.returncode, beamflame.PERMISSION)
        self.assertIn(f"not permitted to steer recorder {process.pid}: run as root", done.stderr)
        self.assertIn("recording, ", self.ctl(process, "status"))

    def test_a_host_whose_run_folder_is_read_only_records(self):
        """The recording says so once, and can't be steered."""
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c",
             'mount -t tmpfs -o ro none /run && exec "$@"', "sh", beamflame.BINARY, "-p",
             str(self.node.pid), "-d", "1", "-o", self.out / "x.bfr"],
            capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        self.assertEqual(re.findall("'beamflame ctl' can't steer this recording: (.*)", done.stderr),
                         ["can't make folder /run/beamflame: Read-only file system"])
        self.assertGreater(self.samples(self.out / "x.bfr"), 10)

    def test_wrong_words_are_explained(self):
        for words, message in (((), "write list, status, pause, resume, mark LABEL, snapshot, add "
                                    "NAME, remove NAME or stop"),
                               (("pause", "now"), "'now' is too much"),
                               (("mark", "a", "b"), "'b' is too much"),
                               (("mark",), "mark needs a LABEL"),
                               (("remove",), "remove needs a NAME"),
                               (("finish",), "'finish' is no command for a recording")):
            with self.subTest(words):
                done = beamflame.run("ctl", *words)
                self.assertEqual(done.returncode, beamflame.USAGE)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
