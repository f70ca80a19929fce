# SPDX-License-Identifier: Apache-2.0
"""Probes stay within their budget while the node makes as many events as it can."""
import json
import os
import statistics
import time
import unittest

import accounting
import beamflame
import nodes
import rounds

EVENTS = ("gc", "alloc", "sched", "msg")
TICKS_PER_SECOND = 500  # on each CPU: five until a slice of time is a long one


@nodes.each_release
class Budget:
    """What holds for each release. All is told for a second of the node's CPU time, so that it does
    not matter what else the machine does."""

    release = None

    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)

    def recording(self, node, budget):
        return beamflame.recording("-p", node.pid, "-e", ",".join(EVENTS), "--budget", budget,
                                   "-o", self.out / "x.bfr", "--stats", self.out / "s.json")

    @staticmethod
    def grown(node, seconds):
        """How much the numbers of the node's report grow meanwhile."""
        before = node.report()
        time.sleep(seconds)
        after = node.report()
        return {name: after[name] - before[name]
                for name in ("requests", "cpu_ns", "context_switches")}

    def work(self, node):
        """Rounds for each second of CPU time."""
        grown = self.grown(node, 0.8)
        return grown["requests"] / grown["cpu_ns"] * 1e9

    def ratio(self, node, budget, error):
        """Work with the profiler to that in the windows just before and after: the median, of so many
        rounds that their mean has this standard error (15 at most, which take a minute)."""
        ratios = []
        before = self.work(node)
        while len(ratios) < 5 or (statistics.stdev(ratios) / len(ratios) ** 0.5 > error
                                  and len(ratios) < 15):
            with self.recording(node, budget):
                own = self.work(node)
            after = self.work(node)
            ratios.append(2 * own / (before + after))
            before = after
        return statistics.median(ratios)

    def costs(self, node, budget, seconds):
        """The part of the node's CPU time that probes took: by beamflame's own account, and by the
        kernel's with the trap of each hit; and that of one window of each event."""
        trap = accounting.traps(node.pid, *EVENTS)
        with self.recording(node, budget) as process:
            grown = self.grown(node, seconds)
            counted = accounting.counted(process)
        kernel = accounting.cost_ns(counted, trap) / grown["cpu_ns"]
        events = json.loads((self.out / "s.json").read_text())["events"]
        parts = {name: events[name]["cost_ms"] / events[name]["target_cpu_ms"] for name in EVENTS}
        window = sum(part / max(events[name]["windows"], 1) for name, part in parts.items())
        return sum(parts.values()), kernel, window

    def used(self, node, budget, seconds):
        """The part of the budget that was used, by the account that has more. But for a window of each
        event: the last is yet to be waited for, and where the machine is busy some are closed
        late and cost more than others."""
        own, kernel, window = self.costs(node, budget, seconds)
        return (max(own, kernel) - window) / (budget / 100)

    def test_a_storm(self):
        """Of messages to and fro, each a switch of processes, of more than 500,000 a second."""
        with nodes.Node(self.release, "storm", "what=messages") as node:
            time.sleep(1)
            grown = self.grown(node, 1)
            self.assertGreater(grown["context_switches"] / grown["cpu_ns"] * 1e9, 500e3)
            for budget, seconds in ((1, 8), (5, 4)):
                used = rounds.median(lambda b=budget, s=seconds: self.used(node, b, s),
                                     lambda used: used < 1.25)
                self.assertLess(used, 1.25)
                self.assertGreater(used, 0.1, "and it is used")
            self.assertGreater(self.ratio(node, 1, 0.01), 0.93)
            self.assertLess(self.ratio(node, 100, 0.1), 0.5, "cost is seen where there is some")

    def test_ticks_come_in_windows_only(self):
        """They interrupt every CPU of the machine, so between windows there are none."""
        with nodes.Node(self.release, "storm", "what=messages") as node:
            with self.recording(node, 1) as process:
                time.sleep(4)
                ticks, _ = accounting.counted_of_type(process, "perf_event")["sched_tick"]
        covered_ms = json.loads((self.out / "s.json").read_text())["events"]["sched"]["covered_ms"]
        expected = TICKS_PER_SECOND * os.cpu_count() * covered_ms / 1000
        self.assertLess(covered_ms, 2000, "most of the time no window is open")
        self.assertLess(ticks / expected, 1.3)
        self.assertGreater(ticks / expected, 0.2, "a window can be shorter than a tick")


if __name__ == "__main__":
    unittest.main()
