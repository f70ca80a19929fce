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
TICKS_PER_SECOND = 500  # on each CPU; a long schedule lasts at least five ticks


@nodes.each_release
class Budget:
    """The tests for each release. All figures are per second of the node's CPU time, so that other
    programs on the machine do not matter."""

    release = None

    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)

    def recording(self, node, budget):
        return beamflame.recording("-p", node.pid, "-e", ",".join(EVENTS), "--budget", budget,
                                   "-o", self.out / "x.bfr", "--stats", self.out / "s.json")

    @staticmethod
    def grown(node, seconds):
        """Return how much the numbers of the node's report grow in that time."""
        before = node.report()
        time.sleep(seconds)
        after = node.report()
        return {name: after[name] - before[name]
                for name in ("requests", "cpu_ns", "context_switches")}

    def work(self, node):
        """Return the rounds of the load per second of CPU time."""
        grown = self.grown(node, 0.8)
        return grown["requests"] / grown["cpu_ns"] * 1e9

    def ratio(self, node, budget, bound):
        """Return the work with the profiler, divided by the work in the windows just before and
        after. The result is the median of 5 to 15 rounds (15 take a minute), as many as show on
        which side of `bound` it is: by two standard errors of their mean."""
        ratios = []
        before = self.work(node)
        while len(ratios) < 5 or (len(ratios) < 15 and abs(statistics.mean(ratios) - bound)
                                  < 2 * statistics.stdev(ratios) / len(ratios) ** 0.5):
            with self.recording(node, budget):
                own = self.work(node)
            after = self.work(node)
            ratios.append(2 * own / (before + after))
            before = after
        return statistics.median(ratios)

    def costs(self, node, budget, seconds):
        """Return the share of the node's CPU time that probes took, by beamflame's own account and
        by the kernel's (with the trap of each hit added), and the share of one window of each
        event."""
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
        """Return the used part of the budget, by the account with the higher cost. One window of
        each event is subtracted, because the time that pays for the last window is still to come,
        and on a busy machine some windows close late and cost more."""
        own, kernel, window = self.costs(node, budget, seconds)
        return (max(own, kernel) - window) / (budget / 100)

    def test_probes_stay_within_the_budget_in_a_storm_of_messages(self):
        """The storm is more than 500,000 messages a second to and fro. Each message is a context
        switch."""
        with nodes.Node(self.release, "storm", "what=messages") as node:
            time.sleep(1)
            grown = self.grown(node, 1)
            self.assertGreater(grown["context_switches"] / grown["cpu_ns"] * 1e9, 500e3)
            for budget, seconds in ((1, 8), (5, 4)):
                used = rounds.median(lambda b=budget, s=seconds: self.used(node, b, s),
                                     lambda used: used < 1.25)
                self.assertLess(used, 1.25)
                self.assertGreater(used, 0.1, "and it is used")
            self.assertGreater(self.ratio(node, 1, 0.93), 0.93)
            self.assertLess(self.ratio(node, 100, 0.5), 0.5, "cost is seen where there is some")

    def test_ticks_interrupt_only_in_windows(self):
        """Ticks interrupt every CPU of the machine, so there are none between windows."""
        with nodes.Node(self.release, "storm", "what=messages") as node:
            with self.recording(node, 1) as process:
                time.sleep(4)
                ticks, _ = accounting.counted_of_type(process, "perf_event")["sched_tick"]
        covered_ms = json.loads((self.out / "s.json").read_text())["events"]["sched"]["covered_ms"]
        each_ms = TICKS_PER_SECOND * os.cpu_count() / 1000
        self.assertLess(covered_ms, 2000, "most of the time no window is open")
        # A busy machine closes some windows late.
        self.assertLess(ticks, 1.3 * each_ms * covered_ms + 0.1 * each_ms * 4000)
        self.assertGreater(ticks, 0.2 * each_ms * covered_ms, "a window can be shorter than a tick")


if __name__ == "__main__":
    unittest.main()
