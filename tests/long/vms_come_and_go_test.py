# SPDX-License-Identifier: Apache-2.0
"""VMs start and end in turn for a long time, with modules that are replaced and threads that come and
go in each, while `-a --loop` and `agent` record: neither grows, and each segment can be read.
BEAMFLAME_LONG_MINUTES is its length, 60 by default. A VM lives for 36 s, which stands for the hours
between two releases of a service. build/long/vms_come_and_go.txt gets the figures."""
import os
import signal
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
# pylint: disable=wrong-import-position
import beamflame  # noqa: E402
import kills  # noqa: E402
import nodes  # noqa: E402
from recorder import Recorder  # noqa: E402

MINUTES = float(os.environ.get("BEAMFLAME_LONG_MINUTES", "60"))
RELEASES = (27, 25, 29)  # in turn
LIFE = 36  # seconds; on a busy machine a VM is noticed after some
AT_ONCE = 3
FIGURES = nodes.BUILD / "long" / "vms_come_and_go.txt"


class VmsComeAndGo(unittest.TestCase):
    def setUp(self):
        beamflame.require()
        for release in RELEASES:
            nodes.require(release)
        self.out = beamflame.folder(self.addCleanup)
        self.running = []
        self.addCleanup(self.end_all)
        self.pids = set()

    def end_all(self):
        for node in self.running:
            node.kill()

    def next_vm(self):
        """Start a VM, and end the oldest of several; every third by its own decision."""
        number = len(self.pids)
        node = nodes.Node(RELEASES[number % len(RELEASES)], "churn", "modules=300", "versions=3",
                          "pause=20", flags=("+S", "2", *nodes.NO_BUSY_WAIT))
        self.running.append(node)
        self.pids.add(node.pid)
        if len(self.running) > AT_ONCE:
            oldest = self.running.pop(0)
            if number % 3 == 0:
                os.kill(oldest.pid, signal.SIGTERM)
                time.sleep(0.5)
            oldest.kill()

    def config(self):
        path = self.out / "agent.yaml"
        path.write_text("record:\n  interval: 2s\n  cpu: 49\nspool:\n"
                        f"  directory: {self.out / 'agent'}\n")
        return path

    def test_recorders_are_flat_while_vms_come_and_go(self):
        """Memory, descriptors, mappings, threads, children, BPF objects and perf events stay the
        same; each segment is there and can be read; nothing is left at the end."""
        before = kills.objects()
        self.next_vm()
        recorders = [
            Recorder(self, "loop", "x-*.bfr", "-a", "-F", 99, "-e", "cpu,wall,gc,alloc,sched",
                     "--loop", 1, "-q", "-o", "x.bfr"),
            Recorder(self, "agent", "agent-*.bfr", "agent", "--config", self.config())]
        end, next_start = time.monotonic() + MINUTES * 60, 0.0
        while time.monotonic() < end:
            if time.monotonic() >= next_start:
                self.next_vm()
                next_start = time.monotonic() + LIFE / AT_ONCE
            for recorder in recorders:
                recorder.look()
            time.sleep(0.5)
        for recorder in recorders:
            recorder.end()
        self.write_figures(recorders)
        for recorder in recorders:
            recorder.check(self.pids, MINUTES * 60)
        self.check_nothing_left(before)

    def check_nothing_left(self, before):
        kills.check_no_orphans(self, before)
        for node in self.running:
            self.assertEqual(kills.changed_code(node.pid), [])

    def write_figures(self, recorders):
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_text(f"{MINUTES:g} minutes, {len(self.pids)} VMs, load {os.getloadavg()[2]:.0f}\n"
                           + "".join(recorder.text() + recorder.said() for recorder in recorders),
                           encoding="utf-8")


if __name__ == "__main__":
    unittest.main()
