# SPDX-License-Identifier: Apache-2.0
"""Event `wall` finds the troubles of a node as docs/cookbook.md describes."""
import json
import unittest

import beamflame
import nodes

NEEDS = "own nodes"


@nodes.each_release
class Troubles:
    """The tests for each release."""

    release = None

    def setUp(self):
        beamflame.require()
        self.recording = beamflame.folder(self.addCleanup) / "x.bfr"

    def stacks(self, what, *options, duration=4):
        """Record a node in that trouble for `duration` seconds or more; return the stacks."""
        stats = self.recording.with_suffix(".json")
        with nodes.Node(self.release, "troubles", f"what={what}") as node:
            beamflame.record("-p", node.pid, "-e", "wall", "-d", duration, "-o", self.recording,
                             "--stats", stats)
        self.ns = json.loads(stats.read_text())["events"]["wall"]["span_ms"] * 1e6
        return beamflame.folded(self.recording, *options)

    def test_messages_wait_for_the_slow_process(self):
        """Most of the node's queued messages wait for one process."""
        stacks = self.stacks("buildup", "--weight", "msgq")
        slow = beamflame.weight_where(stacks, lambda stack: stack[0] == "slow")
        self.assertGreater(slow / sum(stacks.values()), 0.95)

    def test_binaries_grow_in_the_leaking_process(self):
        """The binaries of one process grow more than they are released; those of other processes do
        not."""
        for duration in (4, 8, 16):  # the machine's speed limits the leak
            stacks = self.stacks("leak", "--weight", "bin_vheap", "--delta", duration=duration)
            leaked = self.change(stacks, "hoarder")
            if leaked > 1e6:
                break
        self.assertGreater(leaked, 1e6)
        self.assertLess(abs(self.change(stacks, "copier")), 0.3 * leaked)

    @staticmethod
    def change(stacks, who):
        growth, release = (beamflame.weight_where(
            stacks, lambda s, sign=sign: s[0] == sign and who in s[1])
            for sign in ("[growth]", "[release]"))
        return growth - release

    def test_callers_wait_for_the_busy_server(self):
        """The callers of a server are blocked nearly all of their time, and the server runs nearly
        all of its time."""
        stacks = self.stacks("bottleneck", "--group-by", "status,name", "-I", "gen:do_call|work")
        blocked = beamflame.weight_where(stacks, lambda s: s[0] == "[blocked]" and
                                         s[1].startswith("caller_"))
        running = beamflame.weight_where(stacks, lambda s: s[:2] == ("[running]", "busy_server"))
        self.assertGreater(blocked / (40 * self.ns), 0.8)
        self.assertGreater(running / self.ns, 0.8)


if __name__ == "__main__":
    unittest.main()
