# SPDX-License-Identifier: Apache-2.0
"""A VM under other conditions: flags that change its frames, other namespaces."""
import json
import tempfile
import time
import unittest
from pathlib import Path

import beamflame
import nodes

NEEDS = "own nodes"


class Variants(unittest.TestCase):
    def check(self, release, **options):
        beamflame.require()
        with tempfile.TemporaryDirectory(prefix="beamflame-test-") as folder, \
                nodes.Node(release, "request", **options) as node:
            stats, out = Path(folder, "s.json"), Path(folder, "x.folded")
            time.sleep(0.5)
            try:
                beamflame.record("-p", node.pid, "-d", 2, "-F", 999, "-o", out, "--stats", stats)
            finally:
                # +JPperf writes these files; a node with its own root also has its own /tmp.
                for left in (f"/tmp/perf-{node.pid}.map", f"/tmp/jit-{node.pid}.dump"):
                    Path(left).unlink(missing_ok=True)
            numbers = json.loads(stats.read_text())
            self.assertGreater(numbers["erlang_samples"], 80)
            self.assertGreaterEqual(numbers["complete_stacks"] / numbers["erlang_samples"], 0.98)
            stacks = beamflame.read_folded(out)
            self.assertGreater(beamflame.weight_of(stacks, "request:serve/3"), 0)

    def test_node_that_writes_a_perf_map_is_profiled(self):
        """A node that writes a perf map is profiled like any other."""
        for release in nodes.RELEASES:
            with self.subTest(release=release):
                self.check(release, flags=("+JPperf", "true"))

    def test_frames_with_frame_pointers_are_walked(self):
        """Erlang frames with frame pointers (pairs of frame pointer and return address) are
        walked."""
        for release in (r for r in nodes.RELEASES if r > 25):  # 25 has no `fp`
            with self.subTest(release=release):
                self.check(release, flags=("+JPperf", "fp"))

    def test_node_in_its_own_namespaces_is_profiled(self):
        """The host's release runs in its own pid and mount namespaces."""
        self.check(25, ns=True)

    def test_node_in_another_root_is_profiled(self):
        """The node has another root, and is in the host's pid namespace: the paths in
        /proc/PID/maps are those of neither."""
        for release in (27, 29):
            with self.subTest(release=release):
                self.check(release, ns=False)

    def test_node_with_one_scheduler_is_profiled(self):
        """The VM has one scheduler and no dirty work."""
        self.check(25, flags=("+S", "1"))
