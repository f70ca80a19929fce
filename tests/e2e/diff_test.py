# SPDX-License-Identifier: Apache-2.0
"""Comparisons of two recordings."""
import json
import re
import subprocess
import unittest
from collections import Counter

import beamflame
import nodes
from beamflame import DONE, FAILED, USAGE, folder, run

NEEDS = "own nodes"
OLD = "main;parse 100\nmain;send 400\n"
NEW = "main;parse 300\nmain;send 410\n"
FUNCTIONS = nodes.ROOT / "tests" / "web" / "functions.js"


def amount(text):
    return int(text.replace(",", ""))


NANOSECONDS = {"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def cell(text):
    """Return the number of a cell; of a time, in ns."""
    number, _, unit = text.partition(" ")
    return float(number.replace(",", "")) * NANOSECONDS[unit]


def changes(text):
    """Return the rows of the table: {function: (before, after, change, noise, self change)}."""
    cells = r"([+-]?[\d,.]+(?: [a-z]+)?)"
    percent = r"(?:[+-][\d.]+ %|new) "
    rows = re.findall(rf"^ *{'  +'.join([cells] * 3)}  +{percent} +{'  +'.join([cells] * 2)}  (\S.*)$",
                      text, re.MULTILINE)
    return {row[5]: tuple(map(cell, row[:5])) for row in rows}


def totals(stacks):
    """Return {function: total count}. A stack counts once for a recursive function."""
    counts = Counter()
    for stack, count in stacks.items():
        for name in set(stack):
            counts[name] += count
    return counts


class Diff(unittest.TestCase):
    def setUp(self):
        self.folder = folder(self.addCleanup)
        self.old, self.new = self.write("old", OLD), self.write("new", NEW)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def diff(self, *arguments):
        done = run("diff", *arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done.stdout

    def test_table_has_changes_beyond_chance_in_both_orders(self):
        """The table has the changes that exceed chance, with their sign, in both orders of the
        recordings."""
        there = self.diff(self.old, self.new, "--normalize", "none")
        self.assertIn(f"before    {self.old}: 500 in 500 samples", there)
        self.assertEqual(changes(there), {"main": (500, 710, 210, 71, 0),
                                          "parse": (100, 300, 200, 42, 200)})
        self.assertIn("1 function has not changed by more than chance explains", there)
        back = self.diff(self.new, self.old, "--normalize", "none")
        self.assertEqual(changes(back)["parse"], (300, 100, -200, 42, -200))

    def test_folded_line_has_a_weight_for_each_side(self):
        """The folded form has two weights per line; --normalize scales the first to the total of
        the second."""
        path = self.folder / "x.folded"
        self.diff("-q", self.old, self.new, "--normalize", "none", "-o", path)
        self.assertEqual(path.read_text(encoding="utf-8"),
                         "main;parse 100 300\nmain;send 400 410\n")
        self.diff("-q", self.old, self.new, "--normalize", "total", "-o", path)
        self.assertEqual(path.read_text(encoding="utf-8"),
                         "main;parse 142 300\nmain;send 568 410\n")

    def test_files_that_cannot_be_compared_are_refused(self):
        """One sentence says why the files cannot be compared, and nothing is written."""
        perf = self.write("perf", "a 1/1 [000] 1.000000: 1 cycles:\n\t 1 f (/x)\n\n")
        for arguments, code, says in (
                ((self.old,), USAGE, "diff compares two recordings, not 1"),
                ((self.old, self.new, "--to", "1"), USAGE, "unknown option '--to'"),
                ((self.old, self.new, "-o", self.folder / "x.svg"), USAGE, "can be written as"),
                ((self.old, self.new, "--event", "gc"), USAGE, f"{self.old}: the recording has no "),
                ((self.old, perf), FAILED, "no event in common"),
                ((self.old, self.folder / "none"), FAILED, "can't read"),
        ):
            with self.subTest(says):
                done = run("diff", *arguments)
                self.assertEqual((done.returncode, done.stdout), (code, ""))
                self.assertIn(says, done.stderr)
        self.assertEqual(len(list(self.folder.iterdir())), 3)


@nodes.each_release
class DiffOfNode:
    release = None

    @classmethod
    def setUpClass(cls):
        """Record two nodes; each does work that the other does not."""
        beamflame.require()
        cls.folder = folder(cls.addClassCleanup)
        cls.old, cls.new = cls.folder / "old.bfr", cls.folder / "new.bfr"
        with nodes.Node(cls.release, "phases") as node:
            beamflame.record("-q", "-p", node.pid, "-d", 2, "-F", 499, "-e", "cpu,gc,wall", "-o",
                             cls.old)
        with nodes.Node(cls.release, "growth") as node:
            with beamflame.recording("-p", node.pid, "-F", 499, "-e", "cpu,wall", "-o", cls.new):
                node.tell("work")

    def diff(self, *arguments):
        done = run("diff", *arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done.stdout

    def test_functions_of_one_side_grow_or_shrink(self):
        """Functions of the second node alone have grown; functions of the first node alone have
        shrunk."""
        rows = changes(self.diff(self.old, self.new, "-e", "cpu"))
        self.assertEqual(rows["growth:count/2"][0], 0)
        self.assertGreater(rows["growth:count/2"][2], rows["growth:count/2"][3])
        phases = {name: row for name, row in rows.items() if name.startswith("phases:phase_")}
        self.assertGreater(len(phases), 1)
        for name, (_, after, change, noise, _) in phases.items():
            self.assertEqual(after, 0, name)
            self.assertLess(change, -noise, name)

    def test_text_has_each_event_that_both_recordings_have(self):
        """Text compares all events that both recordings have, each as if it was the only one."""
        parts = [self.diff(self.old, self.new, "-e", event) for event in ("cpu", "wall")]
        self.assertEqual(self.diff(self.old, self.new), "\n".join(parts))
        self.assertIn("of the time is idle: left out", parts[1])
        path = self.folder / "x.txt"
        self.diff("-q", self.old, self.new, "-o", path)
        self.assertEqual(path.read_text("utf-8"), "\n".join(parts))

    def test_amounts_are_those_of_report(self):
        rows = changes(self.diff(self.old, self.new, "-e", "cpu", "--normalize", "none"))
        before, after = (totals(beamflame.folded(path, "-e", "cpu", "--group-by", "none", "--weight",
                                                  "cpu"))
                         for path in (self.old, self.new))
        self.assertGreater(len(rows), 2)
        for name, (first, second, change, _, _) in rows.items():
            rounding = 0.05 * max(first, second)  # one decimal
            self.assertAlmostEqual(first, before.get(name, 0), delta=rounding, msg=name)
            self.assertAlmostEqual(second, after.get(name, 0), delta=rounding, msg=name)
            self.assertAlmostEqual(change, second - first, delta=2 * rounding, msg=name)

    def test_table_has_the_order_that_is_asked_for(self):
        """--sort orders by change, by the change of the function alone, or by weight; another order
        is refused."""
        rows = {order: changes(self.diff(self.old, self.new, "-e", "cpu", "--sort", order))
                for order in ("change", "self", "total")}
        keys = {"change": lambda row: abs(row[2]), "self": lambda row: abs(row[2]),
                "total": lambda row: max(row[:2])}
        for order, key in keys.items():
            values = [key(row) for row in rows[order].values()]
            self.assertGreater(len(values), 2, order)
            for first, second in zip(values, values[1:]):
                self.assertGreaterEqual(first * 1.05, second, order)
        for name, row in rows["self"].items():
            if name in rows["change"]:
                self.assertAlmostEqual(row[2], rows["change"][name][4], delta=0.1 * max(row[:2]))
        done = run("diff", self.old, self.new, "--sort", "name")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("can't sort by 'name'; choose one of: change, self, total", done.stderr)

    def test_two_runs_of_a_node_have_the_same_stacks(self):
        """Two runs of a node count as one node: work that both do has the same stack."""
        path = self.folder / "x.folded"
        self.diff("-q", self.old, self.new, "--normalize", "none", "-o", path)
        lines = [line.rsplit(" ", 2) for line in path.read_text("utf-8").splitlines()]
        for side, recording in ((1, self.old), (2, self.new)):
            shown = {line[0]: int(line[side]) for line in lines if line[side] != "0"}
            beamflame.record("report", "-q", recording, "-e", "cpu", "-o", self.folder / "y.folded")
            alone = (line.rsplit(" ", 1) for line in
                     (self.folder / "y.folded").read_text("utf-8").splitlines())
            self.assertEqual(shown, {stack: int(count) for stack, count in alone})

    def test_noise_of_the_page_is_that_of_the_text(self):
        """Of event cpu it follows from the samples, of wall from the intervals of sweeps too."""
        path = self.folder / "noise.html"
        self.diff("-q", self.old, self.new, "-o", path)
        choices = [{"event": event, "weight": weight, "idle": idle, "per": per}
                   for event, weight in (("cpu", "cpu"), ("wall", "time"))
                   for per in ("time", "total") for idle in (False, True)]
        pages = json.loads(subprocess.run(["node", FUNCTIONS, path], check=True, text=True,
                                          capture_output=True, input=json.dumps(choices)).stdout)
        for choice, functions in zip(choices, pages):
            with self.subTest(choice=choice):
                shown = {name: noise for name, *_, noise in functions}
                idle = ["--idle"] if choice["idle"] else []
                rows = changes(self.diff(self.old, self.new, "-e", choice["event"], *idle,
                                         "--normalize", choice["per"]))
                self.assertGreater(len(rows), 2)
                for name, (_, _, _, noise, _) in rows.items():
                    self.assertAlmostEqual(noise, shown[name], delta=0.05 * noise, msg=name)

    def test_page_shows_both_recordings_and_the_comparison(self):
        """The page has both recordings one after the other on the time axis, and opens with the
        comparison."""
        path = self.folder / "x.html"
        self.diff("-q", self.old, self.new, "--normalize", "total", "-o", path)
        header = json.loads(re.search(r'id="header">([^<]*)<', path.read_text("utf-8"))[1])
        old, new = header["parts"]
        self.assertEqual((old["name"], new["name"]), (str(self.old), str(self.new)))
        self.assertTrue(header["compares"])
        self.assertEqual(header["choice"]["range"], {"from": new["from"], "to": new["to"]})
        self.assertEqual(header["choice"]["against"], {"from": old["from"], "to": old["to"]})
        self.assertEqual(header["choice"]["per"], "total")
        self.assertGreater(new["from"], old["to"])
        self.assertEqual(header["counts"]["samples"],
                         old["totals"]["samples"] + new["totals"]["samples"])


if __name__ == "__main__":
    unittest.main()
