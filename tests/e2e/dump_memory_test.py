# SPDX-License-Identifier: Apache-2.0
"""`beamflame dump --list memory`, compared with what the nodes say of their memory."""
import json

import beamflame
import nodes

NEEDS = "own nodes"
SIZES = {"multi": "multi_block_carriers", "single": "single_block_carriers",
         "pooled": "pooled_carriers", "blocks": "blocks"}
MEGABYTES = 20  # of each kind

# The report of the node and its text may need memory of these. A carrier of the report is at most 2 MB.
# ets_alloc and literal_alloc do not change while the node is at rest.
REPORTING = {"binary_alloc", "eheap_alloc", "fix_alloc", "ll_alloc", "sl_alloc", "std_alloc",
             "temp_alloc", "driver_alloc"}
REPORT_BYTES = 2 << 20


@nodes.each_release
class DumpMemory:
    """The tests for each release."""

    release = None

    def setUp(self):
        beamflame.require()

    def dump(self, node, *options):
        return beamflame.record("dump", "--list", "memory", "-p", node.pid, *options).stdout

    def compare_allocator(self, name, got, before, after):
        """Compare the sizes of an allocator with those that the node had before and after."""
        self.assertEqual(got["instances"], before["instances"], name)
        slack = REPORT_BYTES if name in REPORTING else 0
        for of_node, key in SIZES.items():
            low, high = sorted((before[of_node], after[of_node]))
            self.assertGreaterEqual(got[key], low - slack, (name, key))
            self.assertLessEqual(got[key], high + slack, (name, key))
        self.assertEqual(got["allocated"], got["blocks"], name)

    def test_memory_is_as_the_node_says(self):
        """Carriers and blocks of each allocator, and the entries of the tables, are what the node
        says of them, also where carriers are in the pool."""
        with nodes.Node(self.release, "holds", f"megabytes={MEGABYTES}") as node:
            before = node.report()
            memory = json.loads(self.dump(node, "--json"))["memory"]
            text = self.dump(node)
            after = node.report()
        by_name = {allocator["name"]: allocator for allocator in memory["allocators"]}
        self.assertEqual(by_name.keys(), before["allocators"].keys())
        for name, got in by_name.items():
            self.compare_allocator(name, got, before["allocators"][name],
                                   after["allocators"][name])
        held = MEGABYTES * 1000_000
        self.assertGreater(by_name["binary_alloc"]["multi_block_carriers"], held)
        self.assertGreater(by_name["binary_alloc"]["single_block_carriers"], held)
        self.assertGreater(by_name["eheap_alloc"]["blocks"], held)
        self.assertGreater(by_name["ets_alloc"]["pooled_carriers"], held / 2)
        self.compare_memory(memory, before["memory"])
        self.compare_tables(memory, before["tables"])
        self.assertRegex(text, r"(?m)^  eheap_alloc +2\d\.\d MB .* heaps and messages of processes$")

    def compare_memory(self, memory, said):
        """Compare the sums with erlang:memory()."""
        by_name = {allocator["name"]: allocator["allocated"] for allocator in memory["allocators"]}
        self.assertAlmostEqual(by_name["binary_alloc"], said["binary"], delta=REPORT_BYTES)
        self.assertAlmostEqual(by_name["ets_alloc"], said["ets"], delta=0.2 * said["ets"])
        # temp_alloc is not in erlang:memory(total); machine code is in no allocator.
        total = sum(by_name.values()) - by_name["temp_alloc"]
        self.assertLess(total, said["total"] + REPORT_BYTES)
        self.assertGreater(total, said["total"] - said["code"] - REPORT_BYTES)
        self.assertGreater(memory["total"]["carriers"], total)
        self.assertGreater(memory["resident"], total)

    def compare_tables(self, memory, said):
        """Compare with counts and limits of erlang:system_info(). Processes come and go."""
        for name, (count, limit) in said.items():
            self.assertEqual(memory[name]["limit"], limit, name)
            self.assertAlmostEqual(memory[name]["count"], count, delta=3 if name != "atoms" else 0)
