# SPDX-License-Identifier: Apache-2.0
"""Rotated recordings: no gap between segments, each file is complete, and no complete data is lost,
however the recording ends."""
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

import beamflame
import nodes
import rounds
from segments import NODE, PERF_TIME, TIME, Segments

sys.path.insert(0, str(nodes.ROOT / "tests" / "tools"))
from perf_script_lint import lint  # noqa: E402

NEEDS = "own nodes"


class Rotation(Segments, unittest.TestCase):
    # ---- what segments contain ----

    def test_segments_adjoin_without_a_gap(self):
        """The segments adjoin, and contain the samples of an unrotated recording made at the same
        time."""
        with nodes.Node(25, "request") as node:
            whole = self.start("-p", node.pid, "-F", 499, "-d", 11, "-o", self.out / "whole.perf")
            time.sleep(1)
            stats = ("--stats", self.out / "x.json")
            done = beamflame.record("-p", node.pid, "-F", 499, "-d", 7, "--loop", 2,
                                    *self.outputs("perf"), *stats)
            self.assertEqual(self.ended(whole)[0], beamflame.DONE)
        self.assertEqual(done.stdout, "")
        files = self.parts("perf")
        self.assertIn(len(files), (3, 4))  # fewer if segments end late
        self.assertEqual(self.others("perf", "json"), {"whole.perf"})
        for path in self.parts("json"):
            self.assertEqual(json.loads(path.read_text())["losses"]["ring_full"], 0)
        seconds = [json.loads(p.read_text())["duration_ms"] / 1000 for p in self.parts("json")]
        for part in seconds[:-1]:
            self.assertGreater(part, 1.5)
            self.assertLess(part, 3.5)
        times = self.times(*files)
        self.assertEqual(times, sorted(times))
        beside = [t for t in self.times(self.out / "whole.perf") if times[0] <= t <= times[-1]]
        for before, after in zip(files, files[1:]):
            last, first = self.times(before)[-1], self.times(after)[0]
            self.assertLess(sum(last < t < first for t in beside), 10)
        self.assertGreater(len(beside), 1000)
        # Two recordings made at the same time differ by 1 %, by more on a busy machine.
        self.assertAlmostEqual(len(times) / len(beside), 1, delta=0.3)
        self.assertGreater(sum(seconds), 6.8)
        self.assertLess(sum(seconds), 9)

    def test_every_output_of_a_segment_has_its_samples_alone(self):
        """Each output of each segment can be read by its reader, and has the samples of that
        segment alone."""
        with nodes.Node(25, "request") as node:
            beamflame.record("-p", node.pid, "-F", 199, "-d", 5, "--loop", 2,
                             *self.outputs("bfr", "perf.gz", "folded", "svg"),
                             "--stats", self.out / "x.json")
        self.assertEqual(self.others("bfr", "perf.gz", "folded", "svg", "json"), set())
        for suffix in ("perf.gz", "folded", "svg", "json"):
            self.assertEqual([TIME.search(p.name)[0] for p in self.parts(suffix)],
                             [TIME.search(p.name)[0] for p in self.parts("bfr")])
        for recording, folded in zip(self.parts("bfr"), self.parts("folded")):
            stats = json.loads(folded.with_suffix(".json").read_text())
            samples = stats["samples"]
            # A sample of a late tick counts more than 1.
            self.assertEqual(sum(beamflame.read_folded(folded).values()), self.samples(recording))
            self.assertGreater(samples, 50)
            perf = self.out / folded.name.replace(".folded", ".perf.gz")
            self.assertEqual(lint(perf).findings, [])
            self.assertEqual(lint(perf).samples, samples)
            xml.parse(folded.with_suffix(".svg"))

    def test_times_in_names_are_utc(self):
        """The time in a name is the start of the segment, in UTC."""
        with nodes.Node(25, "request") as node:
            begin = int(time.time())
            beamflame.run("-p", node.pid, "-d", 1.5, "--loop", 1, *self.outputs("folded"),
                          env=dict(os.environ, TZ="UTC-9"))
        self.assertEqual(len(self.parts("folded")), 2)
        for path in self.parts("folded"):
            at = time.strptime(TIME.search(path.name)[0] + " UTC", "%Y%m%d-%H%M%S %Z")
            self.assertLess(abs(time.mktime(at) - time.timezone - begin), 20)

    def test_default_outputs_of_a_segment_are_perf_and_svg(self):
        """Without -o each segment has a perf-script file and a flame graph."""
        with nodes.Node(25, "request") as node:
            done = beamflame.run("-p", node.pid, "-d", 3, "--loop", 1.5, cwd=self.out)
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        names = sorted(TIME.sub("TIME", p.name) for p in self.out.iterdir())
        self.assertEqual(names, [f"beamflame-{NODE}-TIME.perf"] * 2
                         + [f"beamflame-{NODE}-TIME.svg"] * 2)

    def test_segments_of_several_nodes_are_named_after_the_host(self):
        with nodes.Node(25, "request") as one, nodes.Node(25, "request") as other:
            beamflame.record("-p", one.pid, "-p", other.pid, "-d", 2.5, "--loop", 1, "--keep", 2,
                             *self.outputs("folded"))
        names = [TIME.sub("TIME", p.name) for p in self.out.iterdir()]
        self.assertEqual(names, [f"x-{os.uname().nodename}-TIME.folded"] * 2)

    # ---- events ----

    def gc_parts(self):
        """Return the counts of collections of each segment, and the sum of their samples."""
        stats = [json.loads(p.read_text())["events"]["gc"] for p in self.parts("json")]
        return stats, sum(self.samples(recording, "--event", "gc", "--weight", "count")
                          for recording in self.parts("bfr"))

    def test_events_of_each_segment_are_counted_exactly(self):
        """Probes stay attached all of the time, so the sums over the segments are exact."""
        with nodes.Node(25, "memory") as node:
            with beamflame.recording("-p", node.pid, "-e", "cpu,gc", "--budget", 100,
                                     "--loop", 1.2, *self.outputs("bfr"),
                                     "--stats", self.out / "x.json"):
                before = node.report()
                for _ in range(12):
                    after = node.tell("allocate")
        truth = nodes.difference(after, before, "gc")["count"]
        stats, samples = self.gc_parts()
        sums = [of["values"]["count"]["sum"] for of in stats]
        self.assertGreater(len(sums), 2)
        self.assertAlmostEqual(sum(sums) / truth, 1, delta=0.01)
        self.assertAlmostEqual(samples / truth, 1, delta=0.05)
        self.assertLess(max(sums), 0.9 * sum(sums))
        for of in stats:
            self.assertAlmostEqual(of["covered_ms"], of["span_ms"], delta=1)
            self.assertLess(of["span_ms"], 3000)
            for histogram in of["histograms"].values():
                self.assertLessEqual(histogram["count"], of["values"]["count"]["sum"] * 1.01 + 1)

    def part_of_samples(self):
        """Record segments of few windows; return the share of the counted collections that samples
        represent. Check the other properties of each segment on the way."""
        for path in self.out.iterdir():
            path.unlink()
        with nodes.Node(25, "request") as node:
            beamflame.record("-p", node.pid, "-d", 10, "-e", "gc", "--budget", 5, "--loop", 1,
                             *self.outputs("bfr"), "--stats", self.out / "x.json")
        stats, samples = self.gc_parts()
        self.assertIn(len(stats), range(7, 11))  # fewer if segments end late
        for of in stats:
            self.assertLess(of["covered_ms"], 0.9 * of["span_ms"])
        span = sum(of["span_ms"] for of in stats)
        self.assertGreater(span, 9500)
        self.assertLess(span, 13000)
        recordings = [path for path in self.parts("bfr") if self.samples(path)]
        self.assertGreater(len(recordings), len(stats) / 2)  # windows are few on a busy machine
        for recording in recordings:
            stacks = beamflame.folded(recording)
            mine = beamflame.weight_where(
                stacks, lambda s: any(f.startswith(("request:", "gen_server:")) for f in s))
            self.assertGreater(mine / sum(stacks.values()), 0.95)
        return samples / sum(of["values"]["count"]["sum"] for of in stats)

    def test_window_may_continue_in_the_next_segment(self):
        """A window may continue past the end of a segment: its samples go to the next segment, with
        correct names."""
        part = rounds.median(self.part_of_samples, lambda part: abs(part - 1) < 0.25)
        self.assertAlmostEqual(part, 1, delta=0.25)

    def test_wall_time_of_each_segment_is_complete(self):
        """In each segment, all processes have all of its time, and running processes have their
        stacks."""
        with nodes.Node(25, "request") as node:
            beamflame.record("-p", node.pid, "-d", 6, "-e", "wall", "--loop", 1.5,
                             *self.outputs("bfr"), "--stats", self.out / "x.json")
        processes = []
        for recording in self.parts("bfr"):
            stats = json.loads(recording.with_suffix(".json").read_text())
            wall = stats["events"]["wall"]
            processes.append(wall["values"]["time"]["sum"] / 1e6 / wall["span_ms"])
            self.assertAlmostEqual(self.samples(recording, "--event", "wall", "--idle"),
                                   wall["values"]["time"]["sum"], delta=1e6)
            self.assertAlmostEqual(wall["span_ms"] / stats["duration_ms"], 1, delta=0.3)
            self.assertGreater(stats["complete_stacks"] / stats["erlang_samples"], 0.98)
        self.assertIn(len(processes), (3, 4))
        self.assertLess(max(processes) / min(processes), 1.05)

    # ---- which segments are kept ----

    def test_newest_segments_of_each_output_are_kept(self):
        """--keep keeps the newest segments of each output, and counts those of earlier runs. Other
        files are not touched."""
        older = [self.out / f"x-{NODE}-20200101-00000{n}.{suffix}"
                 for n in range(3) for suffix in ("bfr", "folded")]
        foreign = [self.out / name for name in
                   (f"x-{NODE}-20200101-000000.perf", f"x-{NODE}2-20200101-000000.bfr",
                    f"y-{NODE}-20200101-000000.bfr", "x.bfr", f"x-{NODE}-20200101-000000.bfr.gz")]
        for path in older + foreign:
            path.touch()
        with nodes.Node(25, "request") as node:
            beamflame.record("-p", node.pid, "-d", 5.5, "--loop", 1, "--keep", 2,
                             *self.outputs("bfr", "folded"))
        self.assertEqual(self.others("bfr", "folded"), {p.name for p in foreign})
        for suffix in ("bfr", "folded"):
            self.assertEqual(len(self.parts(suffix)), 2)
            self.assertNotIn("2020", self.parts(suffix)[0].name.split("-")[2][:4])
        self.assertGreater(self.samples(self.parts("bfr")[0]), 5)

    def test_existing_file_is_not_overwritten(self):
        """If a file of that name exists, the segment takes a later time as its name."""
        with nodes.Node(25, "request") as node:
            now = time.time()
            taken = [self.out / f"x-{NODE}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now + n))}"
                                ".folded" for n in range(8)]
            for path in taken:
                path.write_text("mine 1\n")
            beamflame.record("-p", node.pid, "-d", 2.5, "--loop", 1, *self.outputs("folded"))
        self.assertEqual({p.read_text() for p in taken}, {"mine 1\n"})
        self.assertIn(len(self.parts("folded")) - len(taken), (2, 3))

    # ---- size ----

    def test_size_ends_the_recording(self):
        """Without --loop, the recording ends when it has its size, and a message says so."""
        with nodes.Node(25, "request") as node:
            done = beamflame.record("-p", node.pid, "-d", 60, "-F", 999, "--max-size", "20k",
                                    "-o", self.out / "x.bfr")
        self.assertIn("20480 bytes", done.stderr)
        self.assertGreaterEqual((self.out / "x.bfr").stat().st_size, 20480)
        self.assertLess((self.out / "x.bfr").stat().st_size, 200e3)
        self.assertGreater(self.samples(self.out / "x.bfr"), 100)

    def test_size_ends_a_segment(self):
        """With --loop, the next segment begins when one has its size."""
        with nodes.Node(25, "request") as node:
            beamflame.record("-p", node.pid, "-d", 6, "-F", 999, "--loop", 60,
                             "--max-size", "15k", *self.outputs("bfr", "perf"))
        parts = self.parts("bfr")
        self.assertGreater(len(parts), 2)
        for path in parts[:-1]:
            self.assertGreaterEqual(path.stat().st_size, 15 << 10)
            self.assertLess(path.stat().st_size, 200e3)
        times = self.times(*self.parts("perf"))
        self.assertLess(max(b - a for a, b in zip(times, times[1:])), 1)

    # ---- the end ----

    def test_complete_segments_survive_kill_9(self):
        """After kill -9 at any moment, files with their final name are complete. The rest is in one
        file, which is readable up to the last flush. Later runs are not disturbed."""
        chance = random.Random(int(time.time()))
        killed = 0
        with nodes.Node(25, "request") as node:
            for _ in range(10):
                profiler = self.start("-p", node.pid, "-F", 199, "--loop", 1, "--keep", 4,
                                      *self.outputs("bfr", "folded", "svg"))
                self.assertIn("sampling", profiler.stderr.readline())
                left = chance.uniform(0.3, 3.2)
                time.sleep(left)
                profiler.kill()
                _, said = self.ended(profiler)
                unfinished = self.parts("bfr.part")
                self.assertLessEqual(len(unfinished), killed + 1, said)
                self.assertEqual(self.others("bfr", "folded", "svg", "bfr.part"), set(), said)
                for path in self.parts("bfr"):
                    self.assertGreater(self.samples(path), 5)
                for path in self.parts("folded"):
                    self.assertGreater(sum(beamflame.read_folded(path).values()), 5)
                for path in self.parts("svg"):
                    xml.parse(path)
                if len(unfinished) > killed:
                    self.check_unfinished(unfinished[-1])
                killed = len(unfinished)
            self.assertGreater(killed, 0)
            beamflame.record("-p", node.pid, "-F", 199, "-d", 2, "--loop", 1, "--keep", 4,
                             *self.outputs("bfr", "folded", "svg"))
        self.assertLessEqual(len(self.parts("bfr.part")), 4)

    def check_unfinished(self, path):
        """Check the report of the segment that was being recorded. It has all but the newest
        samples: those since the last flush, which is a second and a step ago, and those of 0.5 s
        before it."""
        done = beamflame.run("report", path, "--format", "perf", "-o", "-", "-q")
        self.assertIn(done.returncode, (beamflame.DONE, beamflame.NO_SAMPLES), done.stderr)
        if done.returncode == beamflame.DONE:
            self.assertGreater(len(PERF_TIME.findall(done.stdout)), 0)

    def test_flush_limits_what_a_kill_loses(self):
        most = 0.5 + 0.2 + 0.4
        with nodes.Node(25, "request") as node:
            self.assertGreater(self.lost(node, 30), 2)
            self.assertLess(rounds.median(lambda: self.lost(node, 0.2), lambda s: s < most), most)

    def lost(self, node, flush):
        """Return the seconds before a kill that the recording lacks."""
        path = self.out / f"{flush}.bfr"
        profiler = self.start("-p", node.pid, "-F", 499, "--flush", flush, "-o", path)
        self.assertIn("sampling", profiler.stderr.readline())
        time.sleep(4)
        killed = time.clock_gettime(time.CLOCK_MONOTONIC)
        profiler.kill()
        self.ended(profiler)
        done = beamflame.run("report", path, "--format", "perf", "-o", "-", "-q")
        return killed - max((float(t) for t in PERF_TIME.findall(done.stdout)), default=0)

    def test_sigint_writes_the_last_segment(self):
        """Ctrl-C writes the last segment too: the child that writes it ignores the signal."""
        with nodes.Node(25, "request") as node:
            profiler = subprocess.Popen(
                [beamflame.BINARY, "-p", str(node.pid), "-F", "999", "--loop", "1",
                 *map(str, self.outputs("bfr", "folded", "perf", "svg"))],
                stderr=subprocess.PIPE, text=True, start_new_session=True)
            time.sleep(1.5)
            child = self.stopped_child(profiler.pid)
            time.sleep(0.7)
            os.killpg(profiler.pid, signal.SIGINT)
            os.kill(child, signal.SIGCONT)
            for _ in range(20):  # a second signal would end the profiler itself
                time.sleep(0.002)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGINT)
            code, said = self.ended(profiler)
        self.assertEqual(code, beamflame.DONE, said)
        self.assertEqual(self.others("bfr", "folded", "perf", "svg"), set())
        self.assertEqual(len(self.parts("folded")), len(self.parts("bfr")))
        self.assertGreater(len(self.parts("folded")), 1)

    def test_end_of_the_target_writes_the_last_segment(self):
        with nodes.Node(25, "request") as node:
            profiler = self.start("-p", node.pid, "-F", 199, "--loop", 1, *self.outputs("folded"))
            self.wait_for(lambda: self.parts("folded"))
            time.sleep(0.5)
        code, said = self.ended(profiler)
        self.assertEqual(code, beamflame.DONE, said)
        self.assertGreater(len(self.parts("folded")), 1)
        self.assertEqual(self.others("folded"), set())

    # ---- failures ----

    def stopped_child(self, pid):
        """Stop a child while it works; return its pid. Before the recording begins, a child is
        the parser, which has the name of a writer at first."""
        self.wait_for(lambda: self.parts("bfr.part"))

        def catch():
            try:
                for child in self.writers(pid):
                    os.kill(child, signal.SIGSTOP)
                    if "(stopped)" in Path(f"/proc/{child}/status").read_text("ascii"):
                        return child
            except (ProcessLookupError, FileNotFoundError):
                pass  # it has just ended
            return None
        return self.wait_for(catch)

    def test_sampling_continues_while_a_segment_is_written(self):
        """While a segment is still being written, sampling continues, and so does the next
        segment."""
        with nodes.Node(25, "request") as node:
            profiler = self.start("-p", node.pid, "-F", 199, "--loop", 1,
                                  *self.outputs("perf", "svg"))
            child = self.stopped_child(profiler.pid)
            time.sleep(3)
            self.assertEqual(self.writers(profiler.pid), [child])
            os.kill(child, signal.SIGCONT)
            time.sleep(2)
            profiler.send_signal(signal.SIGINT)
            code, said = self.ended(profiler)
        self.assertEqual(code, beamflame.DONE, said)
        self.assertIn("longer than requested", said)
        times = self.times(*self.parts("perf"))
        self.assertLess(max(b - a for a, b in zip(times, times[1:])), 1.5)
        self.assertGreater(max(t[-1] - t[0] for t in map(self.times, self.parts("perf"))), 2.5)

    def test_segment_of_a_killed_child_keeps_its_recording(self):
        """A killed child is reported and counted; its recording stays, and the other segments are
        written."""
        with nodes.Node(25, "request") as node:
            profiler = self.start("-p", node.pid, "-F", 199, "--loop", 1, *self.outputs("perf"))
            os.kill(self.stopped_child(profiler.pid), signal.SIGKILL)
            self.wait_for(lambda: self.parts("perf"))
            time.sleep(0.5)
            profiler.send_signal(signal.SIGINT)
            code, said = self.ended(profiler)
            self.assertEqual(code, beamflame.FAILED, said)
            self.assertIn("signal 9", said)
            self.assertIn("1 of ", said)
            kept = self.parts("bfr.part")
            self.assertEqual(len(kept), 1)
            self.assertGreater(self.samples(kept[0]), 20)
            self.assertGreater(len(self.parts("perf")), 1)
            # The next run removes leftover outputs, but not the recording.
            (self.out / f".x-{NODE}-20200101-000000.perf.99-0.tmp").touch()
            beamflame.record("-p", node.pid, "-d", 1, "--loop", 1, *self.outputs("perf"))
        self.assertEqual(self.others("perf"), {kept[0].name})

    # ---- memory ----

    def test_memory_does_not_grow(self):
        """Data about ended processes is not kept from segment to segment."""
        with nodes.Node(25, "shortlived") as node:
            profiler = self.start("-p", node.pid, "-F", 1999, "--loop", 1.5, "--keep", 1,
                                  *self.outputs("bfr"))
            time.sleep(9)
            early, processes = self.memory(profiler.pid), node.report()["done"]
            time.sleep(12)
            late, processes = self.memory(profiler.pid), node.report()["done"] - processes
            profiler.send_signal(signal.SIGINT)
            code, said = self.ended(profiler)
        self.assertEqual(code, beamflame.DONE, said)
        self.assertGreater(processes, 20000)
        self.assertLess(late - early, 1024, "kB")

    @staticmethod
    def memory(pid):
        """Return the peak memory of the process, in kB."""
        return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])


if __name__ == "__main__":
    unittest.main()
