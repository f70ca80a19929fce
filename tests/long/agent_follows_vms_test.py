# SPDX-License-Identifier: Apache-2.0
"""3,600 VMs start and end while the agent records, eight at a time: as many as in a day on a host where
one starts every 24 seconds. The agent has seen them, and does not grow. BEAMFLAME_LONG_VMS is another
number of VMs. build/long/agent_follows_vms.txt gets the figures."""
import os
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
# pylint: disable=wrong-import-position
import beamflame  # noqa: E402
import kills  # noqa: E402
import nodes  # noqa: E402
from recorder import Recorder  # noqa: E402

VMS = int(os.environ.get("BEAMFLAME_LONG_VMS", "3600"))
RELEASES = (25, 27, 29)  # in turn
AT_ONCE = 8
LIFE = 5  # seconds, at least
FIGURES = nodes.BUILD / "long" / "agent_follows_vms.txt"


class AgentFollowsVms(unittest.TestCase):
    def setUp(self):
        beamflame.require()
        for release in RELEASES:
            nodes.compiled_loads(release)
        self.out = beamflame.folder(self.addCleanup)
        self.pids = set()
        self.started = 0
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.failed = []

    def next_number(self):
        """Return the number of the next VM; None after the last one."""
        with self.lock:
            if self.started == VMS or self.ended.is_set():
                return None
            self.started += 1
            return self.started

    def one_after_the_other(self):
        """Start VMs and end them, until all have been started."""
        while (number := self.next_number()) is not None:
            try:
                with nodes.Node(RELEASES[number % len(RELEASES)], "drowsy",
                                flags=("+S", "1", *nodes.NO_BUSY_WAIT)) as node:
                    self.pids.add(node.pid)
                    self.ended.wait(LIFE)
            except AssertionError as error:
                self.failed.append(error)

    def config(self):
        path = self.out / "agent.yaml"
        path.write_text("record:\n  interval: 5s\n  cpu: 49\nspool:\n"
                        f"  directory: {self.out / 'agent'}\n")
        return path

    def test_agent_is_flat_while_vms_come_and_go(self):
        """Memory, descriptors, mappings, threads, children, BPF objects and perf events stay the
        same; each segment is there and can be read; nothing is left at the end."""
        before = kills.objects()
        agent = Recorder(self, "agent", "agent-*.bfr", "agent", "--config", self.config())
        starters = [threading.Thread(target=self.one_after_the_other) for _ in range(AT_ONCE)]
        self.addCleanup(self.ended.set)
        began = time.monotonic()
        for starter in starters:
            starter.start()
        while any(starter.is_alive() for starter in starters):
            agent.look()
            time.sleep(1)
        seconds = time.monotonic() - began
        agent.end()
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_text(f"{VMS} VMs in {seconds / 60:.0f} minutes, load {os.getloadavg()[2]:.0f}\n"
                           + agent.text() + agent.said(), encoding="utf-8")
        agent.check(self.pids, seconds)
        kills.check_no_orphans(self, before)
        self.assertEqual(self.failed, [])


if __name__ == "__main__":
    unittest.main()
