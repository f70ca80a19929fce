# SPDX-License-Identifier: Apache-2.0
"""Triggers of the agent: a condition at a real VM keeps the recordings of the time before and after
it, within limits."""
import json
import re
import signal
import time
import unittest
import urllib.request

import beamflame
import nodes
from applications import free_port
from agent_test import WithFolder, alone, named

NEEDS = "own nodes"
INTERVAL = 2  # seconds of a recording
PERF_TIME = re.compile(r"^\S.* (\d+\.\d{6}): ", re.M)
CONFIG = """record:
  interval: {interval}
  cpu: 99
{rules}spool:
  directory: {spool}
  max_age: 9s
http:
  listen: '127.0.0.1:{port}'
{triggers}"""
TRIGGERS = """triggers:
  - {{name: long-queue, when: msgq>4000, before: 4s, after: 3s, {limits}}}
  - {{name: other, when: msgq>4000, node: 'other@*'}}
"""


class AgentTriggers(WithFolder, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.node = nodes.Node(27, "alarms", flags=named("till"))
        self.addCleanup(self.node.__exit__, None, None, None)
        self.node.__enter__()
        self.node.tell("burn")

    def configure(self, triggers=""):
        self.config.write_text(CONFIG.format(interval=INTERVAL, rules=alone("till"), spool=self.spool,
                                             port=self.port, triggers=triggers))

    def agent(self):
        self.process = self.start("agent", "--config", self.config)
        self.wait_for(lambda: len(list(self.spool.glob("agent-*.bfr"))) >= 3)
        return self.process

    def wait_for(self, what, seconds=90):
        return self.result_of(what, self.process, seconds)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        code, said = self.ended(self.process)
        self.assertEqual(code, 0, said)
        return said

    def kept(self):
        """Return the folders that are kept, oldest first."""
        return sorted((self.spool / "kept").glob("*"))

    def marks(self, folder):
        """Return the labels of the marks in the recordings of a folder."""
        done = beamflame.record("report", *sorted(folder.iterdir()), "--format", "json", "-o", "-",
                                "-q")
        lines = map(json.loads, done.stdout.splitlines())
        return [line["label"] for line in lines if line["type"] == "mark"]

    def metrics(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
            text = answer.read().decode()
        return {name: float(value) for name, value in re.findall(
            r'^beamflame_trigger_(\w+)_total\{trigger="long-queue",node="till@[^"]*"\} (\S+)$',
            text, re.M)}

    def test_recordings_before_and_after_are_kept(self):
        """The folder of a firing has samples of before and after it, which the spool has dropped by
        then. Within the hold-off the trigger does not fire again."""
        self.configure(TRIGGERS.format(limits="holdoff: 1h"))
        self.agent()
        self.assertEqual(self.kept(), [])
        self.node.tell("queue")
        folder, = self.wait_for(self.kept)
        fired = time.clock_gettime(time.CLOCK_MONOTONIC)
        self.node.tell("drain")
        self.wait_for(lambda: list(folder.iterdir()) and not any(
            (self.spool / r.name).exists() for r in folder.iterdir()))
        self.node.tell("queue")
        time.sleep(4)
        self.assertEqual(self.kept(), [folder])
        self.assertEqual(self.metrics(), {"fired": 1, "dropped": 0, "left_out": 0})
        said = self.end()
        self.assertRegex(folder.name, r"^long-queue\.till@[^/]*\.\d{8}-\d{6}$")
        self.assertEqual(said.count("trigger long-queue fired at till@"), 1, said)
        self.assertNotIn("trigger other", said)
        self.assertIn(f"kept in {folder}", said)
        result = beamflame.record("report", *sorted(folder.iterdir()), "-e", "cpu", "--format", "perf",
                                  "-o", "-", "-q")
        marks = self.marks(folder)
        self.assertEqual(len(marks), 1, marks)
        self.assertRegex(marks[0], r"^trigger long-queue at till@[^:]*: msgq>\d+: \d+")
        times = [float(t) - fired for t in PERF_TIME.findall(result.stdout)]
        self.assertLess(min(times), -2)
        self.assertGreater(max(times), 2)
        self.assertLess(max(times) - min(times), 4 + 3 + 4 * INTERVAL)

    def test_oldest_is_dropped_and_a_reload_applies(self):
        """The triggers come by a reload. Of two firings with max_kept 1 the newest is kept. The
        trigger fires again once it has seen a short queue, which on a busy machine takes a while."""
        self.configure()
        agent = self.agent()
        self.configure(TRIGGERS.format(limits="holdoff: 1s, max_kept: 1"))
        agent.send_signal(signal.SIGHUP)
        self.node.tell("queue")
        first, = self.wait_for(self.kept)
        for _ in range(5):
            self.node.tell("drain")
            time.sleep(4)
            self.node.tell("queue")
            deadline = time.monotonic() + 15
            self.wait_for(lambda: first not in self.kept() or time.monotonic() > deadline)
            if first not in self.kept():
                break
        self.wait_for(lambda: self.kept() and first not in self.kept())
        second, = self.kept()
        self.wait_for(lambda: list(second.iterdir()))
        self.assertEqual(self.metrics(), {"fired": 2, "dropped": 1, "left_out": 0})
        said = self.end()
        self.assertGreater(second.name, first.name)
        self.assertIn(f"kept/{first.name} was removed", said)
