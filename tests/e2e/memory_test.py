# SPDX-License-Identifier: Apache-2.0
"""Garbage collections and allocation as counted by probes, compared with what the node says."""
import json
import unittest

import beamflame
import nodes
import rounds

NEEDS = "own nodes"


@nodes.each_release
class Memory:
    """The tests for each release. Probes are attached all of the time, so counts must be exact."""

    release = None

    def record(self, events, work):
        """Record while a node does `work`. Return the sums of the events' values, the node's
        reports just before and after, and the recording."""
        beamflame.require()
        out = beamflame.folder(self.addCleanup)
        with nodes.Node(self.release, "memory") as node:
            with beamflame.recording("-p", node.pid, "-e", events, "--budget", 100,
                                     "-o", out / "x.bfr", "--stats", out / "s.json"):
                before = node.report()
                after = node.tell(work)
        stats = json.loads((out / "s.json").read_text())
        for name in events.split(","):
            self.assertEqual(stats["events"][name]["covered_ms"],
                             stats["events"][name]["span_ms"], f"{name}: attached all the time")
        sums = {name: {value: of["sum"] for value, of in event["values"].items()}
                for name, event in stats["events"].items()}
        return sums, before, after, out / "x.bfr"

    def test_collections_and_words_are_as_many_as_the_node_says(self):
        """Collections and reclaimed words are as many as statistics(garbage_collection) says."""
        events, before, after, _ = self.record("gc", "allocate")
        truth = nodes.difference(after, before, "gc")
        self.assertGreater(truth["count"], 50)
        self.assertAlmostEqual(events["gc"]["count"] / truth["count"], 1, delta=0.01)
        self.assertAlmostEqual(events["gc"]["reclaimed"] / truth["reclaimed"], 1, delta=0.01)

    def test_collection_time_is_that_of_the_nodes_accounting(self):
        """The time of long collections is that of the node's microstate accounting; the
        microseconds of the probes matter little there. The node's trace says about 50 us less for
        each collection (0.2 % here), because the first of its two messages is sent before the clock
        is read and the last after it."""
        def ratio():
            events, before, after, _ = self.record("gc", "collect")
            truth = nodes.difference(after, before, "gc")
            self.assertGreater(truth["ns"], 100e6)
            return events["gc"]["time"] / truth["ns"]
        # If a thread waits for a CPU between the readings of the two clocks, only one of them
        # counts that time.
        self.assertAlmostEqual(rounds.median(ratio, lambda found: abs(found - 1) < 0.01), 1,
                               delta=0.03)

    def test_allocation_is_divided_by_function(self):
        """Allocated words are those that the load allocates, and belong to the functions that
        allocate them. The functions come from samples, 2,000 a second. The load takes half a second
        or more on any machine, and a share of 0.6 of 1,000 samples has a standard error of
        0.015."""
        events, _, _, recording = self.record("alloc", "allocate")
        self.assertAlmostEqual(events["alloc"]["words"] / 100e6, 1, delta=0.02)
        stacks = beamflame.folded(recording)
        total = sum(stacks.values())
        for function, share in (("list/1", 0.6), ("make_tuple/1", 0.3), ("next/1", 0.1)):
            own = beamflame.weight_where(stacks, lambda s, f=function: f"memory:{f}" in s)
            self.assertAlmostEqual(own / total, share, delta=0.06, msg=function)

    def test_binaries_are_counted_at_allocation_and_release(self):
        """Off-heap binaries are counted when they are allocated and when they are released."""
        events, _, _, _ = self.record("gc,alloc", "binaries")
        for event in ("gc", "alloc"):
            self.assertAlmostEqual(events[event]["binaries"] / 40e6, 1, delta=0.05,
                                   msg=event)


class MemoryUsdt(Memory, unittest.TestCase):
    """USDT probes change the VM's structs, and how the compiler translates functions."""
    release = "27-usdt"


class MemoryMusl25(Memory, unittest.TestCase):
    release = "25-musl"


class MemoryMusl27(Memory, unittest.TestCase):
    release = "27-musl"


class MemoryMusl29(Memory, unittest.TestCase):
    release = "29-musl"


if __name__ == "__main__":
    unittest.main()
