# SPDX-License-Identifier: Apache-2.0
"""A long run of --loop on nodes in which nothing stays: the profiler does not grow, and each segment
can be read. BEAMFLAME_LONG_MINUTES is its length, 60 by default: as many segments of one second as
a day has of 24 seconds. build/long/endurance.txt gets the figures."""
import json
import os
import signal
import statistics
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
# pylint: disable=wrong-import-position
import beamflame  # noqa: E402
import nodes  # noqa: E402
from footprint import EARLY, LATE, Footprint  # noqa: E402

MINUTES = float(os.environ.get("BEAMFLAME_LONG_MINUTES", "60"))
RELEASE = 27
# The most threads that these options allow: 1024 schedulers of each of three types, and 1024 async
# threads. Two normal and two dirty CPU schedulers are in use.
MANY_THREADS = ("+S", "1024:2", "+SDcpu", "1024:2", "+SDio", "1024", "+A", "1024",
                *nodes.NO_BUSY_WAIT)
THREADS = 4096
MODULES = 10000
LOADS_A_MINUTE = 100000 / 60
FIGURES = nodes.BUILD / "long" / "endurance.txt"


class Endurance(unittest.TestCase):
    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)
        self.checked = self.samples = 0
        self.spans = []  # seconds of each segment
        self.lost = 0
        self.footprint = None  # of the profiler

    def node(self, load, *options, flags):
        made = nodes.Node(RELEASE, load, *options, ns=False, flags=flags)
        self.addCleanup(made.kill)
        return made

    def check_segments(self):
        """Read each segment that is complete, and remove it."""
        for path in sorted(self.out.glob("x-*.bfr")):
            stats = path.with_suffix(".json")
            if not stats.exists():  # written last
                return
            done = beamflame.run("report", path, "-q", "--format", "json", "-o", "/dev/null")
            self.assertIn(done.returncode, (beamflame.DONE, beamflame.NO_SAMPLES), done.stderr)
            said = json.loads(stats.read_text(encoding="utf-8"))
            self.assertFalse(said["cut"])
            self.samples += said["samples"]
            self.lost += said["losses"]["ring_full"]
            self.spans.append(said["duration_ms"] / 1000)
            self.checked += 1
            path.unlink()
            stats.unlink()

    def follow(self, profiler, seconds):
        """Check segments and note the profiler's size until the time has passed."""
        self.footprint = Footprint(profiler.pid)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.assertIsNone(profiler.poll(), "the profiler ended")
            self.footprint.note()
            self.check_segments()
            time.sleep(1)

    def test_profiler_is_flat_while_all_churns(self):
        """4,000 threads in one node; 10,000 modules and endless loads, purges, processes and native
        threads in another: the profiler's memory and descriptors stay the same, all segments are
        there and can be read, and nothing of the profiler is left."""
        still = self.node("waiting", flags=MANY_THREADS)
        churning = self.node("churn", f"modules={MODULES}", "versions=5", flags=nodes.NO_BUSY_WAIT)
        threads = len(os.listdir(f"/proc/{still.pid}/task"))
        self.assertGreater(threads, THREADS)
        before = churning.report()
        said = self.out / "said"
        with open(said, "w", encoding="utf-8") as messages:
            profiler = subprocess.Popen(
                [beamflame.BINARY, "-p", str(still.pid), "-p", str(churning.pid), "-F", "199",
                 "-e", "cpu,gc,alloc,sched,msg", "--loop", "1", "-q",
                 "-o", self.out / "x.bfr", "--stats", self.out / "x.json"],
                stdout=subprocess.DEVNULL, stderr=messages)
        self.addCleanup(profiler.kill)
        self.follow(profiler, MINUTES * 60)
        profiler.send_signal(signal.SIGINT)
        self.assertEqual(profiler.wait(timeout=60), beamflame.DONE,
                         said.read_text(encoding="utf-8"))
        self.check_segments()
        after = churning.report()
        self.assertEqual([path.name for path in self.out.iterdir()], ["said"])
        done = {what: after[what] - before[what] for what in ("loads", "processes", "threads")}
        self.write_figures(threads, done, said.read_text(encoding="utf-8"))
        self.check_sizes()
        self.assertGreater(done["loads"], LOADS_A_MINUTE * MINUTES)
        self.assertGreater(self.samples, 0)
        # Segments adjoin: together they are as long as the run, except for its start.
        self.assertGreater(sum(self.spans), 0.95 * MINUTES * 60 - 5)

    def write_figures(self, threads, done, said):
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_text(
            f"{MINUTES:g} minutes, {threads} threads, {MODULES} modules\n"
            f"churned: {done}\n"
            f"{self.checked} segments of {statistics.median(self.spans):.2f} s, the longest of "
            f"{max(self.spans):.2f} s; {self.samples} samples, {self.lost} lost\n"
            f"{self.footprint.text()}load {os.getloadavg()[2]:.0f}\n{said}", encoding="utf-8")

    def check_sizes(self):
        self.footprint.check_memory(self)
        # Windows of probes come and go, with a descriptor for each probe.
        early, late = (max(self.footprint.between("descriptors", shares)) for shares in (EARLY, LATE))
        self.assertLessEqual(late, early + 2)


if __name__ == "__main__":
    unittest.main()
