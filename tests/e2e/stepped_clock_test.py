# SPDX-License-Identifier: Apache-2.0
"""The host's real time is set forward and back while nodes are recorded. Only beamflame sees it
here."""
import json
import os
import re
import struct
import subprocess
import time
import unittest

import beamflame
import nodes

DAY = 86400
LONG_AGO = 1000000000
SECONDS = 6


class SteppedClock(beamflame.Profilers, unittest.TestCase):
    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)
        library = self.out / "stepped_clock.so"
        subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror",
                        "-shared", "-fPIC", "-o", library,
                        nodes.ROOT / "tests" / "tools" / "stepped_clock.c"], check=True)
        self.clock = self.out / "clock"
        self.step(0)
        self.environment = dict(os.environ, LD_PRELOAD=str(library),
                                STEPPED_CLOCK=str(self.clock))

    def step(self, seconds):
        with open(self.clock, "r+b" if self.clock.exists() else "wb") as clock:
            clock.write(struct.pack("<q", seconds))

    def start(self, *arguments):
        profiler = beamflame.start(*arguments, env=self.environment)
        self.addCleanup(profiler.communicate)
        self.addCleanup(profiler.kill)
        return profiler

    def test_recordings_last_as_long_as_requested(self):
        """A recording and segments of --loop have the lengths that they have without steps; each
        segment is there, and all can be joined."""
        with nodes.Node(25, "request") as node:
            # The names for these segments are taken by those of a day.
            begin = int(time.time()) - DAY
            for second in range(begin - 600, begin + 2 * 3600):
                moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime(second))
                (self.out / f"x-nonode@nohost-{moment}.bfr").touch()
            taken = set(self.out.iterdir())
            common = ("-p", node.pid, "-d", SECONDS, "-F", 199)
            whole = self.start(*common, "-o", self.out / "whole.bfr", "--stats",
                               self.out / "whole.json")
            loop = self.start(*common, "--loop", 1, "-o", self.out / "x.bfr",
                              "--stats", self.out / "s.json")
            for seconds in (2 * DAY, -DAY, -LONG_AGO):
                time.sleep(SECONDS / 4)
                self.step(seconds)
            for profiler in whole, loop:
                code, said = self.ended(profiler)
                self.assertEqual(code, beamflame.DONE, said)
                self.assertNotIn("could not be written", said)
        segments = set(self.out.glob("x-*.bfr")) - taken
        seconds = [json.loads(path.read_text())["duration_ms"] / 1000
                   for path in [self.out / "whole.json", *self.out.glob("s-*.json")]]
        self.assertAlmostEqual(seconds[0], SECONDS, delta=2)
        self.assertAlmostEqual(sum(seconds[1:]), SECONDS, delta=2)
        self.assertEqual(len(segments), len(seconds) - 1)
        # Neither more than time allows, nor far fewer; segments end late on a busy machine.
        self.assertIn(len(segments), range(3, SECONDS + 2))
        self.assertGreater(min(seconds), 0)
        self.assertEqual(min(re.search(r"-(\d{4})\d{4}-", path.name)[1] for path in segments),
                         time.strftime("%Y", time.gmtime(time.time() - LONG_AGO)), segments)
        done = beamflame.run("report", *segments, "-o", self.out / "joined.perf")
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)


if __name__ == "__main__":
    unittest.main()
