# SPDX-License-Identifier: Apache-2.0
"""Rules of the agent say what is recorded of each VM."""
import json
import math
import signal
import time
import unittest
from collections import Counter, defaultdict

import beamflame
import nodes
from agent_test import WithFolder, named

NEEDS = "all nodes"
SECONDS = 8
FREQUENT, RARE = 199, 11  # CPU samples a second


class Samples:
    """What recordings have of each node: the number of samples of each event, their CPU time, and the
    CPU time that the kernel accounts to its threads."""

    def __init__(self, recordings, path):
        self.counts, self.cpu_seconds, self.accounted = defaultdict(Counter), Counter(), Counter()
        self.times = defaultdict(list)  # of each node and event, s
        stats = path.with_name("stats.json")
        beamflame.record("report", *recordings, "--idle", "-o", path, "--stats", stats)
        self.attributes = {target["node"].partition("@")[0]: target["attributes"]
                           for target in json.loads(stats.read_text())["targets"]}
        nodes_of = defaultdict(dict)  # "target", "process" and "thread": node by id
        with open(path, encoding="utf-8") as lines:
            for entry in map(json.loads, lines):
                kind = entry["type"]
                if kind == "target":
                    nodes_of[kind][entry["id"]] = entry["node"].partition("@")[0]
                elif kind in ("process", "thread"):
                    nodes_of[kind][entry["id"]] = nodes_of["target"][entry["target"]]
                elif kind == "thread_time":
                    self.accounted[nodes_of["thread"][entry["thread"]]] += entry["cpu_ns"] / 1e9
                elif kind == "sample":
                    by = "thread" if "thread" in entry else "process"
                    self.add(nodes_of[by][entry[by]], entry["event"], entry)

    def add(self, node, event, sample):
        self.counts[node][event] += 1
        self.times[node, event].append(sample["time_ns"] / 1e9)
        if event == "cpu":
            self.cpu_seconds[node] += sample["values"]["time"] / 1e9

    def events_of(self, node):
        return set(self.counts[node])


class Rules(WithFolder, unittest.TestCase):
    def configure(self, *rules):
        self.config.write_text(
            "record: {interval: 2, events: 'gc,alloc', budget: 10, host_budget: 100}\n"
            f"spool:\n  directory: {self.spool}\n"
            "rules:\n" + "".join(f"  - {{{rule}}}\n" for rule in rules))

    def node(self, name):
        node = nodes.Node(27, "request", flags=named(name))
        self.addCleanup(node.kill)
        return node

    def start_agent(self):
        agent = self.start("agent", "--config", self.config)
        while not self.recordings():
            self.assertIsNone(agent.poll())
            time.sleep(0.05)
        return agent

    def end(self, agent):
        agent.send_signal(signal.SIGTERM)
        code, said = self.ended(agent)
        self.assertEqual(code, 0, said)
        self.assertNotIn("warning", said)

    def recordings(self):
        return sorted(self.spool.glob("agent-*.bfr"))

    def samples(self, recordings):
        return Samples(recordings, self.out / "all.json")

    def check_frequency(self, samples, node, hertz):
        """Samples come as often as the rule says: within four standard deviations and a tenth, for
        ticks of an interrupt are not exact."""
        expected = hertz * samples.cpu_seconds[node]
        self.assertAlmostEqual(samples.counts[node]["cpu"], expected,
                               delta=4 * math.sqrt(expected) + 0.1 * expected)

    def test_rules_say_what_is_recorded_of_each_vm(self):
        """Four VMs of equal load. The samples of each stand for its CPU time, however rare they
        are."""
        self.configure(f"node: often@*, profile: true, cpu: {FREQUENT}, wall: 0, events: ''",
                       f"node: rare@*, profile: true, cpu: {RARE}, events: 'gc,sched', "
                       "service_name: till",
                       "node: numbers@*, profile: true, cpu: 0, wall: 0, events: ''",
                       "node: other@*, profile: true",
                       "profile: false")
        for name in ("often", "rare", "numbers", "other"):
            self.node(name)
        agent = self.start_agent()
        time.sleep(SECONDS)
        self.end(agent)
        samples = self.samples(self.recordings())
        self.assertEqual(samples.events_of("often"), {"cpu"})
        self.assertEqual(samples.events_of("rare"), {"cpu", "wall", "gc", "sched"})
        self.assertEqual((samples.attributes["rare"], samples.attributes["other"]),
                         ("service.name=till", None))
        self.assertEqual(samples.events_of("numbers"), set())
        self.assertEqual(samples.events_of("other"), {"cpu", "wall", "gc", "alloc"})
        for name, hertz in (("often", FREQUENT), ("rare", RARE), ("other", 19)):
            with self.subTest(name):
                self.check_frequency(samples, name, hertz)
                # The time of a thread that has no sample in a recording is in none.
                self.assertAlmostEqual(samples.cpu_seconds[name] / samples.accounted[name], 1,
                                       delta=0.05 + 1 / math.sqrt(samples.counts[name]["cpu"]))
        self.assertNotIn("numbers", samples.accounted)

    def test_reload_changes_what_is_recorded_of_a_vm(self):
        self.configure("node: shop@*, profile: true, cpu: 0, wall: 5, events: ''")
        self.node("shop")
        agent = self.start_agent()
        time.sleep(3)
        self.configure(f"node: shop@*, profile: true, cpu: {FREQUENT}, wall: 0, events: gc")
        count = len(self.recordings()) + 1  # with the one that ends now
        agent.send_signal(signal.SIGHUP)
        time.sleep(5)
        self.end(agent)
        before, after = self.recordings()[:count], self.samples(self.recordings()[count:])
        self.assertEqual(self.samples(before).events_of("shop"), {"wall"})
        self.assertEqual(after.events_of("shop"), {"cpu", "gc"})
        self.check_frequency(after, "shop", FREQUENT)
        self.assertEqual(self.samples(self.recordings()).events_of("shop"), {"wall", "cpu", "gc"})

    def test_reload_of_rules_leaves_other_vms_alone(self):
        """The recording continues. In it, a VM that is excluded from now on ends, one that was excluded
        before begins, one whose rule changed is recorded by the new one, and all others stay."""
        common = "record: {interval: 1h, events: '', cpu: 99}\n" f"spool:\n  directory: {self.spool}\n"
        before = "rules: [{node: hidden@*, profile: false}, {node: changed@*, profile: true, cpu: 49}]\n"
        after = "rules: [{node: gone@*, profile: false}, {node: changed@*, profile: true, wall: 0}]\n"
        self.config.write_text(common + before)
        for name in ("same", "changed", "gone", "hidden"):
            self.node(name)
        agent = self.start("agent", "--config", self.config)
        beamflame.read_until(agent, "recording all VMs")
        time.sleep(8)  # to attach can take two of these
        self.config.write_text(common + after)
        agent.send_signal(signal.SIGHUP)
        time.sleep(4)
        self.end(agent)
        [recording] = self.recordings()
        samples = self.samples([recording])
        reload = max(samples.times["gone", "cpu"])
        self.assertGreater(min(samples.times["hidden", "cpu"]), reload - 0.5)
        self.assertLess(max(samples.times["changed", "wall"]), reload + 0.5)
        for node, event in ("same", "cpu"), ("same", "wall"), ("changed", "cpu"), ("hidden", "wall"):
            self.assertGreater(max(samples.times[node, event]), reload + 2, (node, event))
        for node, event in ("same", "cpu"), ("same", "wall"), ("changed", "cpu"), ("changed", "wall"):
            self.assertLess(min(samples.times[node, event]), reload - 2, (node, event))
        self.check_frequency(samples, "same", 99)
        for name in ("same", "changed"):
            self.assertAlmostEqual(samples.cpu_seconds[name] / samples.accounted[name], 1,
                                   delta=0.05 + 1 / math.sqrt(samples.counts[name]["cpu"]))


if __name__ == "__main__":
    unittest.main()
