# SPDX-License-Identifier: Apache-2.0
"""--max-memory: a recording of a node that shows new stacks and processes all of the time becomes
coarser, says so, and counts everything all the same."""
import json
import unittest

import beamflame
import nodes
from beamflame import DONE, FAILED, USAGE

NEEDS = "own nodes"
LIMIT_MB = 32
LEFT_OUT = "[left out: --max-memory]"
HZ = 999
SECONDS = 5


class MaxMemory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.out = beamflame.folder(cls.addClassCleanup)
        cls.recordings = {}
        with nodes.Node(27, "tangle") as node:
            for limit in LIMIT_MB, 1024:
                path = cls.out / f"{limit}.bfr"
                done = beamflame.run("-p", node.pid, "-d", SECONDS, "-F", HZ, "--max-memory",
                                     f"{limit}M", "-o", path, "--stats", path.with_suffix(".json"))
                assert done.returncode == DONE, done.stderr
                stats = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
                cls.recordings[limit] = path, stats, done.stdout + done.stderr

    def test_memory_stays_below_the_limit(self):
        """The profiler takes no more than the limit, and much more without it. Where nothing is
        left out, nothing says so."""
        _, small, said = self.recordings[LIMIT_MB]
        _, large, said_of_large = self.recordings[1024]
        self.assertLess(small["peak_rss_kb"], LIMIT_MB << 10)
        self.assertGreater(large["peak_rss_kb"], 2 * small["peak_rss_kb"])
        self.assertGreater(small["losses"]["memory"], 0)
        self.assertEqual(large["losses"]["memory"], 0)
        self.assertIn("--max-memory", said)
        self.assertNotIn("--max-memory", said_of_large)

    def test_leaves_and_sums_are_as_without_a_limit(self):
        """Every sample counts, below its leaf function; only callers are missing."""
        shares = []
        for path, stats, _ in self.recordings.values():
            stacks = beamflame.folded(path, "--max-memory", "1G")
            total = sum(stacks.values())
            self.assertAlmostEqual(total / stats["cpu_accounted_ms"], 1, delta=0.03)
            at_leaf = beamflame.weight_where(stacks, lambda stack: stack[-1] == "tangle:bottom/2")
            shares.append(at_leaf / total)
        self.assertGreater(shares[1], 0.3)
        self.assertAlmostEqual(shares[0], shares[1], delta=0.05)

    def test_what_is_left_out_has_a_name(self):
        """Samples without callers stand below a frame that says why; so do processes that
        count as one. As many samples as `losses` counts have one or the other."""
        path, stats, _ = self.recordings[LIMIT_MB]
        stacks = beamflame.folded(path, "--group-by", "pid", "--weight", "samples")
        marked = beamflame.weight_where(stacks, lambda stack: LEFT_OUT in stack)
        self.assertGreater(sum(stacks.values()), 1000)
        self.assertEqual(marked, stats["losses"]["memory"])
        self.assertLess(marked, sum(stacks.values()))

    def test_each_format_stays_below_the_limit(self):
        """A recording that was made within a limit can be read and written in each format within
        it."""
        path, _, _ = self.recordings[LIMIT_MB]
        for suffix in ("svg", "html", "perf", "folded", "speedscope.json", "callgrind", "fprof", "pb.gz",
                       "otlp", "json", "txt"):
            with self.subTest(suffix):
                stats = self.out / "report.json"
                done = beamflame.run("report", path, "--max-memory", f"{LIMIT_MB}M", "-q",
                                     "-o", self.out / f"x.{suffix}", "--stats", stats)
                self.assertEqual(done.returncode, DONE, done.stderr)

    def test_recording_that_needs_more_is_refused(self):
        """A recording with larger tables is refused, and the message says what helps. It can be
        read with that."""
        path, _, _ = self.recordings[1024]
        refused = beamflame.run("report", path, "--max-memory", f"{LIMIT_MB}M")
        self.assertEqual(refused.returncode, FAILED)
        self.assertIn(f"more stacks and names than fit into {LIMIT_MB} MB",
                      refused.stderr)
        read = beamflame.run("report", path, "--max-memory", "1G")
        self.assertEqual(read.returncode, DONE, read.stderr)

    def test_absurd_limits_are_refused(self):
        for limit in "0", "-5", "1M", "lots", "1T":
            with self.subTest(limit):
                done = beamflame.run("report", "/dev/null", "--max-memory", limit)
                self.assertEqual(done.returncode, USAGE)
                self.assertIn("--max-memory", done.stderr)


if __name__ == "__main__":
    unittest.main()
