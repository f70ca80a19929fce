# SPDX-License-Identifier: Apache-2.0
"""Which functions allocate, compared with the node's own profiler (tprof, call_memory)."""
import json
import re
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import beamflame
import nodes
import traps

NEEDS = "own nodes"
FUNCTION = re.compile(r"[a-z'][^ ]*:.+/\d+")


def words_by_function(stacks):
    """Sum words by the function nearest to the leaf, which may be a BIF. The node's profiler also
    charges a BIF with what it allocates, because a BIF is called like any function. Frames of C
    code count for the function above them."""
    words = Counter()
    for stack, weight in stacks.items():
        words[next((f for f in reversed(stack) if FUNCTION.fullmatch(f)), None)] += weight
    return words


def rank_correlation(one, other):
    """Return Spearman's rank correlation of two dicts with the same keys."""
    def ranks(values):
        return {key: rank for rank, key in enumerate(sorted(values, key=values.get))}
    ranks_one, ranks_other = ranks(one), ranks(other)
    squares = sum((ranks_one[key] - ranks_other[key]) ** 2 for key in one)
    return 1 - 6 * squares / (len(one) * (len(one) ** 2 - 1))


class Allocation:
    """The tests for each release that has tprof."""

    release = None

    def test_functions_rank_as_the_node_ranks_them(self):
        beamflame.require()
        traps.require_fast()
        with tempfile.TemporaryDirectory(prefix="beamflame-test-") as folder, \
                nodes.Node(self.release, "allocators") as node:
            out = Path(folder)
            with beamflame.recording("-p", node.pid, "-e", "alloc", "--budget", 100, "-F", 999,
                                     "-o", out / "x.bfr", "--stats", out / "s.json"):
                for _ in range(3):
                    node.tell("allocate")
            truth = node.tell("profile")["words"]
            stats = json.loads((out / "s.json").read_text())
            found = words_by_function(beamflame.folded(out / "x.bfr"))
        alloc = stats["events"]["alloc"]
        self.assertLess(alloc["lost"], 0.05 * alloc["samples"])  # some are, on a loaded machine
        truth = {name: words for name, words in truth.items()
                 if words > 0.01 * sum(truth.values())}
        self.assertGreater(len(truth), 15)
        found = {name: found[name] for name in truth}
        self.assertGreaterEqual(rank_correlation(truth, found), 0.95, f"{truth} and {found}")


class Otp27(Allocation, unittest.TestCase):
    release = 27


class Otp29(Allocation, unittest.TestCase):
    release = 29


if __name__ == "__main__":
    unittest.main()
