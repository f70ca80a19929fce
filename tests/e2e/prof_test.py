# SPDX-License-Identifier: Apache-2.0
"""Tables of `beamflame prof`, of real nodes: own times and words add up to those of the samples, and
are those of the load; calls are those that were counted."""
import csv
import io
import json
import re
import unittest
from collections import Counter

import beamflame
import nodes

BIF = "erlang:iolist_to_binary/1"
TPROF = re.compile(r"FUNCTION +CALLS +TIME \(μs\)  PER CALL  \[ *%\]")
ROW = re.compile(r"(\S.*?) +(\d+|-) +(\d+) +([\d.]+|-)  \[ *([\d.]+)\]")


def prof(path, *arguments):
    done = beamflame.run("prof", path, *arguments)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


def tables(path, *arguments):
    return json.loads(prof(path, "--format", "json", *arguments))


class Samples:
    """The CPU time of a recording by process, and the calls, added up from its samples."""

    def __init__(self, path):
        self.processes, self.time, self.calls = {}, Counter(), Counter()
        lines = beamflame.record("report", path, "-q", "--format", "json", "-o", "-").stdout
        for entry in map(json.loads, lines.splitlines()):
            if entry["type"] == "process":
                self.processes[entry["id"]] = entry
            elif entry["type"] == "sample":
                pid = self.processes.get(entry.get("process"), {}).get("pid")
                if entry["event"] == "cpu":
                    self.time[pid] += entry["values"]["time"]
                else:
                    self.calls[pid] += entry["values"]["count"]

    def children(self, parent):
        """The pids of the processes that one has spawned, or that name it first in $ancestors."""
        return {of["pid"] for of in self.processes.values()
                if of.get("parent") == parent or of.get("ancestors", [None])[0] == parent}


@nodes.each_release
class Time:
    """Of a load that answers requests: its CPU time, and each call of a BIF."""

    release = None

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.folder = beamflame.folder(cls.addClassCleanup)
        cls.path = cls.folder / "x.bfr"
        with nodes.Node(cls.release, "request") as node:
            beamflame.record("-p", node.pid, "-d", 4, "-F", 499, "-e", f"cpu,bif:{BIF}",
                             "--budget", 100, "-q", "-o", cls.path, "--stats", cls.folder / "s.json")
        cls.samples = Samples(cls.path)

    def test_own_times_add_up_to_those_of_the_samples(self):
        found = tables(self.path, "--per", "process")
        time = Counter()
        for table in found["tables"]:
            rows = sum(row["own"] for row in table["functions"]) + table["other"]["sum"]
            self.assertEqual(rows, table["sum"])
            if "processes" not in table:
                time[table["pid"]] += table["sum"]
        self.assertGreater(len(time), 3)
        self.assertEqual(time, {pid: self.samples.time[pid] for pid in time})
        self.assertEqual(found["sum"], sum(self.samples.time.values()))
        self.assertEqual(tables(self.path)["sum"], found["sum"])

    def test_costly_processes_come_first(self):
        sums = [table["sum"] for table in tables(self.path, "--per", "process")["tables"]
                if "processes" not in table]
        self.assertEqual(sums, sorted(sums, reverse=True))

    def test_calls_are_those_that_were_counted(self):
        stats = json.loads((self.folder / "s.json").read_text("utf-8"))
        count = stats["events"][f"bif:{BIF}"]["values"]["count"]
        self.assertEqual(count["standard_error"], 0)
        self.assertGreater(count["sum"], 1000)
        for arguments in (("--type", "count"), ("--pattern", BIF)):
            row = tables(self.path, *arguments)["tables"][0]["functions"][0]
            self.assertEqual((row["function"], row["calls_half"]), (BIF, 0))
            # Samples stand for whole numbers of calls.
            self.assertAlmostEqual(row["calls"], count["sum"], delta=1 + 1e-5 * count["sum"])
        for table in tables(self.path, "--type", "count", "--per", "process")["tables"]:
            if "processes" not in table:
                self.assertEqual(table["sum"], self.samples.calls[table["pid"]])

    def test_children_are_selected(self):
        parent = max((of["parent"] for of in self.samples.processes.values() if "parent" in of),
                     key=lambda pid: sum(self.samples.time[child]
                                         for child in self.samples.children(pid)))
        self.assertEqual(tables(self.path, "--children", parent)["sum"],
                         sum(self.samples.time[pid] for pid in self.samples.children(parent)))

    def test_tprof_has_tprofs_columns(self):
        text = prof(self.path, "--format", "tprof", "--per", "process")
        head, *parts = text.split("\n****** ")
        self.assertIn("TIME of event cpu: from samples\n", head)
        self.assertGreater(len(parts), 3)
        for part in parts:
            title, columns, *rows, last = part.strip("\n").split("\n")
            self.assertRegex(title, r"^(Process <[\d.]+>|no process|\d+ other processes)  --  "
                                    r"\d+\.\d\d% of total \*\*\* $")
            self.assertRegex(columns, TPROF)
            total = int(re.fullmatch(r" +(\d+) +\[ *100\.0\]", last)[1])
            found = [ROW.fullmatch(row) for row in rows]
            self.assertAlmostEqual(sum(int(row[3]) for row in found), total, delta=len(found))
            self.assertAlmostEqual(sum(float(row[5]) for row in found), 100, delta=0.01 * len(found))

    def test_csv_has_the_numbers_of_json(self):
        rows = csv.DictReader(io.StringIO(prof(self.path, "--format", "csv")))
        functions = tables(self.path)["tables"][0]["functions"]
        self.assertGreater(len(functions), 10)
        self.assertEqual(
            [(row["function"], round(float(row["time_us"]) * 1000), int(row["samples"]))
             for row in rows if row["function"] != "other"],
            [(row["function"], row["own"], row["samples"]) for row in functions])


ROUNDS = 4  # of the load: an interval follows from how quarters of a second differ


@nodes.each_release
class Memory:
    release = None

    def test_words_are_those_of_the_load(self):
        """The load says how many words each function allocates. Two of three 95 % intervals may miss
        the truth, by less than their own width: the total is exact, so what one function has too
        much, another lacks."""
        beamflame.require()
        path = beamflame.folder(self.addCleanup) / "x.bfr"
        with nodes.Node(self.release, "memory") as node:
            with beamflame.recording("-p", node.pid, "-e", "alloc", "--budget", 100, "-o", path):
                for _ in range(ROUNDS):
                    node.tell("allocate")
        rows = {row["function"]: row
                for row in tables(path, "--type", "memory")["tables"][0]["functions"]}
        held = 0
        for function, words in (("list/1", 60e6), ("make_tuple/1", 30e6), ("next/1", 10e6)):
            row = rows[f"memory:{function}"]
            self.assertGreater(row["own_half"], 0)
            self.assertLess(row["own_half"], 0.5 * row["own"])
            self.assertLess(abs(row["own"] - ROUNDS * words), 2 * row["own_half"], row)
            held += abs(row["own"] - ROUNDS * words) < row["own_half"]
        self.assertGreaterEqual(held, 1, rows)


if __name__ == "__main__":
    unittest.main()
