# SPDX-License-Identifier: Apache-2.0
"""The text report: the cost of a function is that of the stacks that contain it."""
import re
import unittest
from collections import Counter

import beamflame
import nodes

NEEDS = "own nodes"
ROW = re.compile(r"^ +(\S+ \S+) +([\d.]+) % +(\S+ \S+) +([\d.]+) %  (.*)$")
SHARE = re.compile(r"^ +(\S+ \S+) +([\d.]+) %  (.*)$")
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def ns(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


class Text(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        folder = beamflame.folder(cls.addClassCleanup)
        cls.recording = folder / "x.bfr"
        with nodes.Node(27, "families") as node:
            done = beamflame.record("-p", node.pid, "-d", 4, "-F", 499, "-e", "cpu,gc",
                                    "-o", cls.recording, "-o", folder / "direct.txt")
        cls.said = done.stdout
        beamflame.record("report", cls.recording, "-o", folder / "x.txt", "--group-by", "none")
        cls.text = (folder / "x.txt").read_text()
        cls.direct = (folder / "direct.txt").read_text()
        cls.stacks = beamflame.folded(cls.recording, "--event", "cpu", "--weight", "cpu",
                                      "--group-by", "none")
        cls.total = sum(cls.stacks.values())
        cpu = cls.text[cls.text.index("\nfunctions of cpu by time, of "):]
        cls.blocks = cpu.partition("\nfunctions of gc by time, of ")[0].split("\n\n")

    def assert_cost(self, said, share, cost, whole):
        self.assertAlmostEqual(ns(said), cost, delta=max(0.06 * UNITS[said.split()[1]], 1))
        self.assertAlmostEqual(float(share), 100 * cost / whole, delta=0.06)

    def test_text_begins_with_the_summary(self):
        """The text contains the summary that is printed at the end of a recording."""
        self.assertTrue(self.direct.startswith(self.said.partition("beamflame: wrote")[0][:200]))
        for part in ("samples  ", "functions with most CPU time", "\nevent gc: ",
                     "\nfunctions of gc by time, of "):
            self.assertIn(part, self.text)

    def test_each_function_has_its_own_and_total_cost(self):
        """Each listed function has its own and total cost; no unlisted function costs as much."""
        own, total = Counter(), Counter()
        for stack, cost in self.stacks.items():
            own[stack[-1]] += cost
            for function in set(stack):
                total[function] += cost
        rows = [ROW.match(line) for line in self.blocks[0].splitlines()]
        rows = [row for row in rows if row]
        self.assertGreater(len(rows), 10)
        for cost, share, itself, own_share, name in (row.groups() for row in rows):
            self.assert_cost(cost, share, total[name], self.total)
            self.assert_cost(itself, own_share, own[name], self.total)
        listed = {row[5] for row in rows}
        for name, cost in total.items():
            self.assertEqual(name in listed, 100 * cost / self.total >= 0.5, name)

    def test_callers_and_callees_have_their_share(self):
        """Callers and callees of a function are listed with their share of its cost."""
        block, = (block for block in self.blocks if block.startswith("families:burn/1: "))
        of = {stack: cost for stack, cost in self.stacks.items() if "families:burn/1" in stack}
        whole = sum(of.values())
        called, seen = None, Counter()
        for line in block.splitlines()[1:]:
            share = SHARE.match(line)
            if share:
                pair = ("families:burn/1", share[3]) if called else (share[3], "families:burn/1")
                cost = sum(cost for stack, cost in of.items()
                           if pair in zip(stack, stack[1:]))
                self.assert_cost(share[1], share[2], cost, whole)
                seen[called] += 1
            else:
                called = {"  called by": False, "  calls": True}.get(line, called)
        self.assertGreaterEqual(seen[False], 1)
        self.assertGreaterEqual(seen[True], 2)

    def test_all_events_are_in_one_text(self):
        """All events are in one text, which can be written to a pipe; --delta is refused."""
        done = beamflame.record("report", self.recording, "--format", "text", "-o", "-", "-q",
                                "--group-by", "none")
        self.assertTrue(done.stdout.endswith(self.text), done.stdout[:500])
        done = beamflame.run("report", self.recording, "--weight", "heap", "--delta",
                             "--format", "text", "-o", "-")
        self.assertEqual(done.returncode, beamflame.USAGE)
        self.assertIn("--delta does not work with .txt", done.stderr)
