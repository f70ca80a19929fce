# SPDX-License-Identifier: Apache-2.0
"""Programs whose split of CPU time is known, profiled: each part gets its share."""
import tempfile
import time
import unittest
from pathlib import Path

import beamflame
import nodes

SECONDS = 10
POINTS = 0.02  # how far a part may be off, as a share of the whole
NOBODY = 0.03  # how much of the time may be charged to no part


class Accuracy:
    release = None

    def record(self, load, *options):
        """The truth over the recording, in CPU time, and the recording by process."""
        beamflame.require()
        with tempfile.TemporaryDirectory(prefix="beamflame-test-") as folder, \
                nodes.Node(self.release, load, *options, flags=nodes.NO_BUSY_WAIT) as node:
            recording = Path(folder, "x.bfr")
            time.sleep(1)
            first = node.report()
            beamflame.record("-p", node.pid, "-d", SECONDS, "-F", 999, "-o", recording)
            last = node.report()
            truth = nodes.shares(nodes.difference(last, first, "cpu_ns"))
            return truth, last, beamflame.folded(recording, "--group-by", "pid")

    def compare(self, truth, found):
        for part, share in truth.items():
            with self.subTest(part):
                self.assertAlmostEqual(found[part], share, delta=POINTS)
        self.assertLessEqual(1 - sum(found.values()), NOBODY, "time charged to nobody")

    def test_phases_of_one_process(self):
        """Each phase of one process, over all samples of that process."""
        truth, report, stacks = self.record("phases", "slice=20")
        own = {stack: n for stack, n in stacks.items()
               if stack[0] == report["pid"]}
        total = sum(own.values())
        self.assertGreater(total, SECONDS * 300)
        self.compare(truth, {
            phase: beamflame.weight_of(own, f"phases:phase_{phase}/1") / total for phase in truth})

    def test_parts_in_processes_of_their_own(self):
        """Each part of the known split, over all samples of the node; a, b, c in one of them."""
        truth, report, stacks = self.record("split")
        marks = {
            "pure": ("split:pure_turn/1",),
            "bifs": ("phases:phase_bifs/1",),
            "gc": ("phases:phase_garbage/1",),
            "nif": ("phases:phase_nif/1",),
            "dirty_nif": ("phases:phase_dirty_nif/1",),
            "deep": ("phases:phase_deep_recursion/1",),
            "short_lived": ("split:spawner_turn/1", "split:short_lived/1"),
        }
        total = sum(stacks.values())
        self.compare(truth, {
            part: beamflame.weight_where(stacks, lambda s, m=marks[part]: any(f in s for f in m))
            / total for part in truth})
        functions = {f: beamflame.weight_of(stacks, f"split:{f}/2") for f in report["pure"]}
        for function, share in nodes.shares(functions).items():
            self.assertAlmostEqual(share, report["pure"][function], delta=2 * POINTS, msg=function)


class Accuracy25(Accuracy, unittest.TestCase):
    release = 25


class Accuracy27(Accuracy, unittest.TestCase):
    release = 27


class Accuracy29(Accuracy, unittest.TestCase):
    release = 29
