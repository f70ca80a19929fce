# SPDX-License-Identifier: Apache-2.0
"""/metrics of the agent has the numbers of each VM, as the node itself counts them."""
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest
import urllib.request

import beamflame
import nodes
from applications import free_port
from prometheus import Prometheus
from agent_test import alone, named

NEEDS = "own nodes"
INTERVAL = 2          # seconds of a recording
OPEN = "application/openmetrics-text"
SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
SERIES_MAX = 150      # of a node, without allocators and queues more than there can be


def fetch(port, accept="*/*"):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def parse(text):
    """Return [(name, labels, value)]."""
    found = [SAMPLE.match(line) for line in text.splitlines() if not line.startswith("#")]
    return [(m[1], dict(LABEL.findall(m[2] or "")), float(m[3])) for m in found]


class Metered(beamflame.Profilers):
    """An agent that records a node of a release."""

    release = None
    interval = INTERVAL

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        nodes.require(cls.release)
        folder = beamflame.folder(cls.addClassCleanup)
        cls.port = free_port()
        config = folder / "agent.yaml"
        config.write_text(f"record:\n  interval: {cls.interval}\n  cpu: 99\n  budget: 5\n"
                          f"  events: gc,alloc,sched,msg\n{alone('numbers')}"
                          f"spool:\n  directory: {folder / 'spool'}\n"
                          f"http:\n  listen: '127.0.0.1:{cls.port}'\n")
        cls.name = f"numbers{cls.release}"
        cls.node = nodes.Node(cls.release, "numbers", flags=named(cls.name))
        cls.enterClassContext(cls.node)
        cls.agent = beamflame.start("agent", "--config", config)
        cls.addClassCleanup(cls.agent.communicate)
        cls.addClassCleanup(cls.agent.send_signal, signal.SIGTERM)
        cls.folder = folder
        cls.wait(lambda: cls.values("node_atoms"))

    @classmethod
    def values(cls, name, **labels):
        """Return the values of the node's series."""
        try:
            samples = parse(fetch(cls.port)[1])
        except OSError:
            return []
        labels["service_name"] = cls.name
        return [value for found, have, value in samples
                if found == f"beamflame_{name}" and labels.items() <= have.items()]

    @classmethod
    def value(cls, name, **labels):
        values = cls.values(name, **labels)
        assert len(values) == 1, (name, labels, values)
        return values[0]

    @staticmethod
    def wait(what, seconds=60):
        deadline = time.monotonic() + seconds
        while not (result := what()):
            assert time.monotonic() < deadline, "not in time"
            time.sleep(0.2)
        return result

    @classmethod
    def await_reading(cls):
        """Wait until all numbers were read after now: some seconds."""
        now = time.time()
        cls.wait(lambda: cls.value("node_read_timestamp_seconds") > now + 1, 240)


class Numbers(Metered):
    """The tests for each release."""

    @classmethod
    def setUpClass(cls):
        """Let the node grow. All numbers are read every 30 seconds, so the tests share readings."""
        super().setUpClass()
        cls.before = cls.node.report()
        for what in ("spawn", "atoms", "fill", "queue"):
            cls.node.tell(what)
        cls.await_reading()
        cls.first = cls.counted()

    @classmethod
    def counted(cls):
        return (cls.value("node_gc_pause_seconds_count"), cls.value("node_cpu_seconds_total"),
                sum(cls.values("node_thread_seconds_total")), cls.value("node_collections_total"))

    # ---- what the node says ----

    def test_counts_and_limits_are_those_of_the_node(self):
        """The node grows, and so do the numbers; at rest they are equal, but for the few processes
        and atoms that the report itself makes."""
        before, said = self.before, self.node.report()
        self.assertGreaterEqual(said["process_count"], before["process_count"] + 500)
        for metric, fact, delta in (("processes", "process_count", 3), ("ports", "port_count", 0),
                                    ("atoms", "atom_count", 100), ("ets_tables", "ets_tables", 0)):
            self.assertAlmostEqual(self.value(f"node_{metric}"), said[fact], delta=delta,
                                   msg=metric)
        for metric, fact in (("processes_limit", "process_limit"), ("ports_limit", "port_limit"),
                             ("atoms_limit", "atom_limit")):
            self.assertEqual(self.value(f"node_{metric}"), said[fact], metric)
        self.assertAlmostEqual(self.value("node_ets_bytes"), said["ets_bytes"],
                               delta=0.01 * said["ets_bytes"])
        self.assertGreater(self.value("node_ets_bytes"), before["ets_bytes"] + 50000 * 40)
        self.assertEqual(self.value("node_schedulers", type="normal"), said["schedulers"])
        self.assertGreater(self.value("node_allocator_carriers_bytes", allocator="ets_alloc"),
                           50000 * 40)

    def test_counters_lie_between_two_reports_of_the_node(self):
        """What the VM counts itself is exact; it is at most some seconds old."""
        first = self.node.report()
        time.sleep(3)
        counted = {name: self.value(f"node_{name}_total")
                   for name in ("collections", "reclaimed_bytes", "reductions")}
        last = self.node.report()
        for name, fact in (("collections", "collections"), ("reclaimed_bytes", "reclaimed"),
                           ("reductions", "reductions")):
            self.assertGreaterEqual(counted[name], first[fact] * 0.99, name)
            self.assertLessEqual(counted[name], last[fact] * 1.01, name)

    # ---- queues ----

    def test_growing_queue_has_the_name_and_length_of_its_process(self):
        first = self.value("node_message_queue_length", process="backlog", by="name")
        self.assertEqual(first, self.node.report()["queue"])
        self.node.tell("queue")
        self.await_reading()
        self.assertEqual(self.value("node_message_queue_length", process="backlog"), first + 1000)
        self.assertGreaterEqual(self.value("node_queued_messages"), first + 1000 + 30 * 20)

    def test_series_are_few_and_name_no_pid(self):
        """30 processes with a queue and one initial call are one series."""
        samples = [(name, labels) for name, labels, _ in parse(fetch(self.port)[1])
                   if labels.get("service_name") == self.name]
        queues = [labels for name, labels in samples if name.endswith("_message_queue_length")]
        self.assertLessEqual(len(queues), 20)
        self.assertEqual([q["by"] for q in queues if q["process"] == "numbers:rest/0"],
                         ["initial_call"])
        self.assertLessEqual(len(samples), SERIES_MAX)
        self.assertEqual(len(samples), len({(n, *sorted(l.items())) for n, l in samples}))
        self.assertNotRegex(json.dumps(samples), r"<\d+\.\d+\.\d+>")

    # ---- estimates ----

    def test_pauses_and_thread_times_add_up(self):
        """The worker makes garbage: collections are counted, with pauses; the thread's times are
        those of the kernel. Pauses of few windows are off by chance, and come near with time."""
        grown = []

        def pauses_are_collections():
            self.await_reading()
            grown[:] = [now - then for now, then in zip(self.counted(), self.first)]
            pauses, _, _, collections = grown
            return collections > 100 and abs(pauses / collections - 1) < 0.5

        self.wait(pauses_are_collections, 120)
        _, cpu, threads, _ = grown
        self.assertAlmostEqual(threads / cpu, 1, delta=0.25)
        self.assertEqual(self.value("node_gc_pause_seconds_bucket", le="+Inf"),
                         self.value("node_gc_pause_seconds_count"))
        self.assertGreater(self.value("node_thread_seconds_total", type="normal", state="gc"), 0)
        self.assertGreater(self.value("node_run_queue_delay_seconds_count"), 0)
        self.assertGreater(self.value("node_messages_received_total"), 0)

    def test_counters_never_go_back(self):
        """Across segments, in which estimates begin anew."""
        before = {}
        for _ in range(3 * INTERVAL):
            now = {(name, *sorted(labels.items())): value
                   for name, labels, value in parse(fetch(self.port)[1])
                   if re.search("_(total|bucket|count|sum)$", name)
                   and labels.get("service_name", self.name) == self.name}
            for key in before.keys() & now.keys():
                self.assertGreaterEqual(now[key], before[key], key)
            before = now
            time.sleep(1)

    # ---- Prometheus ----

    def test_both_formats_are_valid(self):
        kind, text = fetch(self.port)
        self.assertEqual(kind, "text/plain; version=0.0.4; charset=utf-8")
        self.assertNotIn("# EOF", text)
        kind, opened = fetch(self.port, f"{OPEN};version=1.0.0;q=0.5,text/plain;q=0.1")
        self.assertEqual(kind, f"{OPEN}; version=1.0.0; charset=utf-8")
        self.assertTrue(opened.endswith("\n# EOF\n"))
        self.assertIn("# TYPE beamflame_samples counter\n", opened)
        self.assertIn("\nbeamflame_samples_total ", opened)
        recorder, everything = (float(re.search(rf"^beamflame_{name}cpu_seconds_total (\S+)$", opened,
                                                re.M)[1]) for name in ("recorder_", ""))
        self.assertGreater(everything, 0)
        self.assertGreater(everything, recorder - 0.1)  # counted in ticks of 10 ms
        families = re.findall(r"^# TYPE (\S+)", opened, re.M)
        self.assertEqual(len(families), len(set(families)))
        if not shutil.which("promtool"):
            self.skipTest("promtool is not installed")
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                                 capture_output=True, check=False)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def test_prometheus_scrapes_and_answers(self):
        """Prometheus reads OpenMetrics, and has the node's series with all labels."""
        prometheus = Prometheus(self, self.port)
        query = (f'beamflame_node_processes{{service_name="{self.name}"}}'
                 " / on (instance, service_name, node) beamflame_node_processes_limit")
        [result] = self.wait(lambda: prometheus.answer(query))
        self.assertGreater(float(result["value"][1]), 0)
        self.assertLess(float(result["value"][1]), 0.1)


class Numbers25(Numbers, unittest.TestCase):
    release = 25


class Numbers27(Numbers, unittest.TestCase):
    release = 27


class Stopped(Metered, unittest.TestCase):
    release = 27

    def test_numbers_of_a_stopped_vm_are_read(self):
        """Nobody answers inside the VM, and its numbers are those of before."""
        before = self.node.report()
        os.kill(self.node.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, self.node.pid, signal.SIGCONT)
        self.await_reading()
        self.assertAlmostEqual(self.value("node_atoms"), before["atom_count"], delta=100)
        self.assertAlmostEqual(self.value("node_processes"), before["process_count"], delta=3)
        cpu = self.value("node_cpu_seconds_total")
        self.await_reading()
        self.assertEqual(self.value("node_cpu_seconds_total"), cpu)


class Variances(Metered, unittest.TestCase):
    release = 27
    interval = 6

    def test_variance_is_that_of_complete_recordings(self):
        """That of a recording that has just begun is far too large, and a counter can't go back. So
        it grows once for each recording, and at most one that has no name yet."""
        seen = set()

        def recordings():
            seen.add(self.value("node_gc_pause_variance_total"))
            return len(list((self.folder / "spool").glob("*.bfr")))

        self.wait(lambda: recordings() >= 3, 120)
        self.assertGreater(len(seen - {0}), 0)
        self.assertLessEqual(len(seen - {0}), recordings() + 1)


if __name__ == "__main__":
    unittest.main()
