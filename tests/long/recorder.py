# SPDX-License-Identifier: Apache-2.0
"""A profiler that records VMs which come and go for a long time, and what must be true of it."""
import json
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
# pylint: disable=wrong-import-position
import beamflame  # noqa: E402
from footprint import EARLY, LATE, Footprint  # noqa: E402

WINDOW = 20  # descriptors of the probes of a window, which come and go
OF_WINDOWS = ("descriptors", "links of probes")


class Recorder:
    """A profiler that records all VMs in segments. `test` has a folder `out`, and the `pids` of its
    VMs."""

    def __init__(self, test, name, pattern, *arguments):
        self.test, self.name, self.pattern = test, name, pattern
        self.out = test.out / name
        self.out.mkdir()
        self.messages = test.out / f"{name}.said"
        with open(self.messages, "w", encoding="utf-8") as said:
            self.process = subprocess.Popen([beamflame.BINARY, *map(str, arguments)],
                                            stdout=subprocess.DEVNULL, stderr=said, cwd=self.out)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)
        self.footprint = Footprint(self.process.pid)
        self.segments = self.samples = 0
        self.seconds = 0.0
        self.vms = set()  # pids in segments

    def said(self):
        """Return its messages."""
        return self.messages.read_text(encoding="utf-8")

    def look(self):
        """Note the footprint, and read segments."""
        self.test.assertIsNone(self.process.poll(), f"{self.name} ended: {self.said()}")
        self.footprint.note()
        self.read_segments()

    def read_segments(self):
        """Read the segments that are complete, and remove them."""
        stats = self.test.out / "stats.json"
        for path in sorted(self.out.glob(self.pattern)):
            done = beamflame.run("report", path, "-q", "--stats", stats)
            self.test.assertIn(done.returncode, (beamflame.DONE, beamflame.NO_SAMPLES),
                               f"{path}: {done.stderr}")
            self.segments += 1
            if done.returncode == beamflame.NO_SAMPLES:  # of the time before the first VM
                path.unlink()
                continue
            read = json.loads(stats.read_text(encoding="utf-8"))
            self.test.assertFalse(read["cut"], path)
            self.samples += read["samples"]
            self.seconds += read["duration_ms"] / 1000
            self.vms |= {target["pid"] for target in read["targets"]}
            path.unlink()

    def end(self):
        """End it, and read the last segments."""
        self.process.send_signal(signal.SIGTERM)
        self.test.assertEqual(self.process.wait(timeout=60), beamflame.DONE, self.said())
        self.read_segments()

    def check(self, vms, seconds):
        """All but the VMs of the first and the last seconds were seen, the segments adjoin, and the
        recorder is flat."""
        self.test.assertGreater(self.samples, 0, self.name)
        self.test.assertGreaterEqual(len(vms & self.vms), 0.95 * len(vms) - 3, self.name)
        self.test.assertGreater(self.seconds, 0.95 * seconds - 10, self.name)
        self.footprint.check_memory(self.test)
        # A VM's probes, parser and thread come and go with it.
        for what in ("descriptors", "BPF maps", "BPF programs", "links of probes", "perf events",
                     "mappings", "threads", "children"):
            early, late = (self.footprint.between(what, shares) for shares in (EARLY, LATE))
            self.test.assertLessEqual(sorted(late)[len(late) // 2],
                                      sorted(early)[len(early) // 2] * 1.1
                                      + (WINDOW if what in OF_WINDOWS else 2),
                                      f"{self.name}, {what}: {self.footprint.text()}")
            self.test.assertLessEqual(max(late), max(early) * 1.1 + WINDOW,
                                      f"{self.name}, {what}: {self.footprint.text()}")

    def text(self):
        """Return what was recorded, and the footprint."""
        return (f"{self.name}: {self.segments} segments, {self.seconds:.0f} s together, "
                f"{self.samples} samples, {len(self.vms & self.test.pids)} of the "
                f"{len(self.test.pids)} pids of VMs\n"
                f"{self.footprint.text()}")
