# SPDX-License-Identifier: Apache-2.0
"""Code that is reloaded during the profile is named by the version at the time of the sample."""
import re
import tempfile
import time
from pathlib import Path

import beamflame
import nodes

NEEDS = "own nodes"
VERSION = re.compile(r"reloaded:(?:burn|repeat|spin)_(\d+)/")


@nodes.each_release
class Reload:
    release = None

    def test_each_version_of_a_module_gets_its_share(self):
        """Every version gets its share, and no stack mixes two versions."""
        beamflame.require()
        with tempfile.TemporaryDirectory(prefix="beamflame-test-") as folder, \
                nodes.Node(self.release, "reload", flags=nodes.NO_BUSY_WAIT) as node:
            recording = Path(folder, "x.bfr")
            time.sleep(1)
            first = node.report()
            beamflame.record("-p", node.pid, "-d", 8, "-F", 999, "-o", recording)
            last = node.report()
            stacks = beamflame.folded(recording, "--group-by", "pid")
        self.assertGreater(last["loads"] - first["loads"], 40)
        own = {s: n for s, n in stacks.items() if s[0] == last["pid"]}
        total, mixed, found = sum(own.values()), 0, {}
        for stack, count in own.items():
            versions = {m[1] for m in map(VERSION.match, stack) if m}
            if len(versions) > 1:
                mixed += count
            for version in versions:
                found[version] = found.get(version, 0) + count
        self.assertLessEqual(mixed / total, 0.005)
        truth = nodes.shares(nodes.difference(last, first, "cpu_ns"))
        for name, share in truth.items():
            with self.subTest(name):
                self.assertAlmostEqual(found.get(name[5:], 0) / total, share,
                                       delta=max(0.025, 4 * (share / total) ** 0.5))  # chance
        self.assertGreater(sum(found.values()) / total, 0.9)
