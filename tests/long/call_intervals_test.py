# SPDX-License-Identifier: Apache-2.0
"""The intervals of calls that are counted in turn hold the truth in many recordings, on each release.
Takes half an hour. build/long/call_intervals.txt gets the figures."""
import sys
import time
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
# pylint: disable=wrong-import-position
import beamflame  # noqa: E402
import nodes  # noqa: E402
from call_counts import counting  # noqa: E402
import calls_test  # noqa: E402

RECORDINGS = 100  # of all releases together
SECONDS = 10
HOLDS = 0.9  # of the intervals at least; they are 95 % intervals
FIGURES = nodes.BUILD / "long" / "call_intervals.txt"


class CallIntervals(unittest.TestCase):
    def test_intervals_of_forty_functions_hold_the_truth(self):
        """40 functions share 4 breakpoints. At least 90 % of all intervals that are known hold the
        node's own count, and most are known."""
        beamflame.require()
        known, held = Counter(), Counter()
        for i in range(RECORDINGS):
            release = nodes.RELEASES[i % len(nodes.RELEASES)]
            with nodes.Node(release, "callrate", "all=1", "work=20000") as node:
                with counting(node, "--budget", 5, "callrate_all:f*/1") as counted:
                    before = node.report()
                    time.sleep(SECONDS)
                    after = node.report()
            for function in counted["functions"]:
                known[release] += function["half"] is not None
                held[release] += (function["half"] is not None and
                                  calls_test.Limits.holds(function, before, after,
                                                         counted["seconds"] / SECONDS))
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_text("".join(f"{release}: {held[release]} of {count} intervals\n"
                                   for release, count in known.items()), encoding="utf-8")
        self.assertGreater(sum(known.values()), RECORDINGS * 40 / 2)
        for release, count in known.items():
            self.assertGreaterEqual(held[release] / count, HOLDS, FIGURES.read_text("utf-8"))


if __name__ == "__main__":
    unittest.main()
