# SPDX-License-Identifier: Apache-2.0
"""Files of rotated recordings, for tests."""
import re
import time

import beamflame
import nodes

NODE = "nonode@nohost"
TIME = re.compile(r"\d{8}-\d{6}")
PERF_TIME = re.compile(r"^\S.* (\d+\.\d{6}): ", re.M)


class Segments(beamflame.Profilers):
    """A folder for each test, and the files `x-NODE-TIME.SUFFIX` in it."""

    def setUp(self):
        beamflame.require()
        nodes.require(25)
        self.out = beamflame.folder(self.addCleanup)

    def outputs(self, *suffixes):
        return [a for s in suffixes for a in ("-o", self.out / f"x.{s}")]

    def parts(self, suffix, folder=None):
        """Return the files of one output, oldest first."""
        return sorted(p for p in (folder or self.out).iterdir()
                      if re.fullmatch(rf"x-{NODE}-{TIME.pattern}\.{re.escape(suffix)}", p.name))

    def others(self, *suffixes):
        """Return the names of all other files in the folder."""
        return {p.name for p in self.out.iterdir()} \
            - {p.name for s in suffixes for p in self.parts(s)}

    @staticmethod
    def samples(recording, *options):
        """Return the sum of a recording's counts."""
        done = beamflame.run("report", recording, *options, "--format", "folded", "-o", "-", "-q")
        if done.returncode not in (beamflame.DONE, beamflame.NO_SAMPLES):
            raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
        return sum(int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines())

    @staticmethod
    def times(*perf_files):
        """Return the times of samples, in the order of the files."""
        return [float(t) for path in perf_files for t in PERF_TIME.findall(path.read_text())]

    def wait_for(self, what, seconds=20):
        deadline = time.monotonic() + seconds
        while not (result := what()):
            self.assertLess(time.monotonic(), deadline, "not in time")
            time.sleep(0.002)
        return result
