# SPDX-License-Identifier: Apache-2.0
"""SIGHUP: what the agent changes without a gap in its samples, and how it counts the gap else."""
import re
import signal
import time
import unittest
import urllib.request
from pathlib import Path

import beamflame
import nodes
from agent_rules_test import Samples
from agent_test import WithFolder, named
from applications import free_port

NEEDS = "all nodes"
CONFIG = """record: {{interval: 1h, events: gc, cpu: 99, wall: {wall}, max_memory: {memory}, budget: {budget}}}
spool:
  directory: {spool}
triggers:
{triggers}
{rest}"""
QUEUE = "  - {name: long-queue, when: msgq>4000, holdoff: 1s}\n"
OTHER = "  - {name: large, when: memory>1M}\n"
ONLY_SHOP = "rules: [{node: shop@*, profile: true}, {profile: false}]\n"
TWO = "rules: [{node: shop@*, profile: true}, {node: other@*, profile: true}, {profile: false}]\n"
EXIT = "  - {name: ended, when: exit, holdoff: 1s}\n"


class AgentReload(WithFolder, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.port = free_port()

    def configure(self, triggers, rest="", wall=1, memory="64M", budget=5):
        self.config.write_text(CONFIG.format(spool=self.spool, triggers=triggers, rest=rest, wall=wall,
                                             memory=memory, budget=budget))

    def http(self):
        return f"http: {{listen: '127.0.0.1:{self.port}'}}\n"

    def node(self, name):
        node = nodes.Node(27, "alarms", flags=named(name))
        self.addCleanup(node.__exit__, None, None, None)
        node.__enter__()
        node.tell("burn")
        return node

    def agent(self):
        agent = self.start("agent", "--config", self.config)
        beamflame.read_until(agent, "recording all VMs")
        time.sleep(4)
        return agent

    @staticmethod
    def reload(agent):
        agent.send_signal(signal.SIGHUP)
        beamflame.read_until(agent, "the configuration was read again")

    def end(self, agent):
        agent.send_signal(signal.SIGTERM)
        code, said = self.ended(agent)
        self.assertEqual(code, 0, said)
        return said

    def metrics(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
            return answer.read().decode()

    def metric(self, name):
        return float(re.search(rf"^{name} (\S+)$", self.metrics(), re.M)[1])

    def recordings(self):
        return sorted(self.spool.glob("agent-*.bfr"))

    def kept(self, trigger):
        return list((self.spool / "kept").glob(f"{trigger}.*"))

    def longest_gap(self, recordings, event):
        times = sorted(Samples(recordings, self.out / "all.json").times["shop", event])
        return max(b - a for a, b in zip(times, times[1:]))

    def test_triggers_memory_and_metrics_change_without_a_gap(self):
        """The only recording of the test continues. The condition of the first trigger holds all the
        time, so the trigger does not fire again. The second one comes by the reload."""
        node = self.node("shop")
        self.configure(QUEUE, ONLY_SHOP)
        agent = self.agent()
        node.tell("queue")
        self.result_of(lambda: self.kept("long-queue"), agent, 30)
        self.configure(OTHER + QUEUE, ONLY_SHOP + self.http(), memory="128M")
        self.reload(agent)
        self.result_of(lambda: self.kept("large"), agent, 30)
        time.sleep(4)
        text = self.metrics()
        self.assertRegex(text, r'beamflame_node_processes_limit\{node="shop@')
        self.assertIn("beamflame_unrecorded_seconds_total 0\n", text)
        said = self.end(agent)
        self.assertEqual(len(self.kept("long-queue")), 1, said)
        self.assertEqual(len(self.recordings()), 1, said)
        self.assertLess(self.longest_gap(self.recordings(), "cpu"), 1)

    def test_vm_that_a_rule_excludes_has_not_ended(self):
        """Trigger exit fires when a VM ends, and not when the VM leaves the recording."""
        self.node("shop")
        ended = self.node("other")
        self.configure(EXIT, TWO)
        agent = self.agent()
        self.configure(EXIT, TWO.replace("true", "false", 1), wall=5)
        self.reload(agent)
        time.sleep(3)
        self.assertEqual(self.kept("ended"), [])
        ended.kill()
        self.result_of(lambda: self.kept("ended"), agent, 30)
        self.end(agent)
        self.assertEqual(len(self.recordings()), 1)
        folder, = self.kept("ended")
        self.assertTrue(folder.name.startswith("ended.other@"), folder)

    def test_vm_that_ends_just_before_a_reload_fires_exit(self):
        """The agent reads its configuration before it looks again which VMs run. With other sweeps the
        recording continues; with another budget the next one begins."""
        self.node("shop")
        changes = {"ending-1": {"wall": 5}, "ending-2": {"wall": 5, "budget": 6}}
        ending = {name: self.node(name) for name in changes}
        rules = TWO.replace("other@*", "'ending-?@*'")
        self.configure(EXIT, rules)
        agent = self.agent()
        for name, change in changes.items():
            self.configure(EXIT + QUEUE, rules, **change)
            ending[name].kill()
            self.result_of(lambda: not Path(f"/proc/{ending[name].pid}").exists(), agent, 10)
            self.reload(agent)
            kept = self.result_of(lambda: [folder for folder in self.kept("ended")
                                           if folder.name.startswith(f"ended.{name}@")], agent, 10)
            self.assertEqual(len(kept), 1)
            time.sleep(4)  # until VMs that have left are recorded again
        self.end(agent)
        self.assertEqual(len(self.recordings()), 2)

    def test_another_budget_counts_its_gap(self):
        """Message and metric say how long nothing was recorded, as the samples show it."""
        self.node("shop")
        self.configure(QUEUE, ONLY_SHOP + self.http())
        agent = self.agent()
        self.configure(QUEUE, ONLY_SHOP + self.http(), budget=6)
        self.reload(agent)
        line = beamflame.read_until(agent, "were not recorded")
        said = float(re.search(r"now; (\d+\.\d+) s", line)[1])
        time.sleep(4)
        self.assertAlmostEqual(self.metric("beamflame_unrecorded_seconds_total"), said, delta=0.01)
        self.end(agent)
        self.assertEqual(len(self.recordings()), 2)
        self.assertGreater(said, 0.01)
        self.assertAlmostEqual(self.longest_gap(self.recordings(), "cpu"), said, delta=0.15)


if __name__ == "__main__":
    unittest.main()
