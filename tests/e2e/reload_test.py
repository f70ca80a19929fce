# SPDX-License-Identifier: Apache-2.0
"""Code that is reloaded during the profile is named by the version at the time of the sample."""
import re
import signal
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

import beamflame
import nodes
from agent_test import WithFolder, alone, named

NEEDS = "own nodes"
VERSION = re.compile(r"reloaded:(?:burn|repeat|spin)_(\d+)/")


def by_version(stacks, pid):
    """Return the samples of a process, those whose stack mixes versions, and those of each
    version."""
    own = {stack: count for stack, count in stacks.items() if stack[0] == pid}
    mixed, found = 0, Counter()
    for stack, count in own.items():
        versions = {m[1] for m in map(VERSION.match, stack) if m}
        mixed += count * (len(versions) > 1)
        for version in versions:
            found[version] += count
    return sum(own.values()), mixed, found


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
        total, mixed, found = by_version(stacks, last["pid"])
        self.assertLessEqual(mixed / total, 0.005)
        truth = nodes.shares(nodes.difference(last, first, "cpu_ns"))
        for name, share in truth.items():
            with self.subTest(name):
                self.assertAlmostEqual(found[name[5:]] / total, share,
                                       delta=max(0.025, 4 * (share / total) ** 0.5))  # chance
        self.assertGreater(sum(found.values()) / total, 0.9)


class ReloadMusl25(Reload, unittest.TestCase):
    release = "25-musl"


class OfAgent(WithFolder, unittest.TestCase):
    def test_code_that_is_replaced_between_steps_of_the_agent_has_names(self):
        """The agent takes samples from the kernel less often, but not while code changes."""
        self.config.write_text(f"record:\n  interval: 5s\n  cpu: 499\n{alone('reload')}"
                               f"spool:\n  directory: {self.spool}\n")
        with nodes.Node(27, "reload", flags=(*nodes.NO_BUSY_WAIT, *named("reload"))) as node:
            agent = self.start("agent", "--config", self.config)
            self.result_of(lambda: len(list(self.spool.glob("agent-*.bfr"))) >= 2, agent, 60)
            agent.send_signal(signal.SIGTERM)
            code, said = self.ended(agent)
            self.assertEqual(code, 0, said)
            pid = node.report()["pid"]
        recording = sorted(self.spool.glob("agent-*.bfr"))[1]  # the first one begins without changes
        stacks = beamflame.folded(recording, "--event", "cpu", "--group-by", "pid")
        total, mixed, found = by_version(stacks, pid)
        self.assertLessEqual(mixed / total, 0.005)
        self.assertGreater(sum(found.values()) / total, 0.9)
