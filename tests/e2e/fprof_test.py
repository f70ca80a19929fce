# SPDX-License-Identifier: Apache-2.0
"""Files in fprof's form: Erlang reads them, their sums are right, and their times are those of the
samples."""
import json
import re
import shutil
import subprocess
import unittest
from collections import Counter

import beamflame
import nodes

NEEDS = "own nodes"
READER = nodes.ROOT / "tests" / "tools" / "fprof_read.escript"
OFF = {"waiting", "idle", "blocked", "runnable", "suspended"}
NS_PER_MS = 1000000


def bare(name):
    """Return the name of a function without quotes, and with the prefix of Elixir's modules."""
    if not re.search(r"/\d+$", name):
        return f":{name}/0"  # code of the JIT that is no function
    name = re.sub(r"'((?:[^'\\]|\\.)*)'", r"\1", name)
    return "Elixir." + name if name[:1].isupper() else name


class Analysis:
    """What Erlang reads: {(process, function): time} with callees and own."""

    def __init__(self, path):
        done = subprocess.run(["escript", READER, path], capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stdout[-2000:] + done.stderr)
        self.acc, self.own = Counter(), Counter()
        for line in done.stdout.splitlines():
            process, function, _, acc, own = line.split("\t")
            self.acc[process, function] = round(float(acc) * NS_PER_MS)
            self.own[process, function] = round(float(own) * NS_PER_MS)


class Samples:
    """The same, added up from a JSON file."""

    def __init__(self, path, event):
        tables = {}
        self.acc, self.own = Counter(), Counter()
        with open(path, encoding="utf-8") as lines:
            for entry in map(json.loads, lines):
                if "id" in entry:
                    tables[entry["type"], entry["id"]] = entry
                elif entry["type"] == "sample" and entry["event"] == event and "process" in entry:
                    self.add(entry, tables)

    def add(self, sample, tables):
        functions, at = [], sample.get("stack")
        while at:
            frame = tables["frame", tables["stack", at]["frame"]]
            if frame["kind"] in ("erlang", "bif"):
                functions.insert(0, bare(frame["symbol"]))
            at = tables["stack", at].get("parent")
        if not functions:
            return
        process = tables["process", sample["process"]]["pid"]
        time = sample["values"]["time"]
        is_gc = (sample.get("microstate", "").startswith("gc")
                 or sample.get("status") == "garbage_collecting")
        is_off = sample["event"] == "wall" and not is_gc and sample.get("status") in OFF
        pseudo = ["garbage_collect"] if is_gc else ["suspend"] if is_off else []
        for function in reached(functions) | set(pseudo):
            self.acc[process, function] += time
        if not is_off:
            self.own[process, (functions + pseudo)[-1]] += time


def reached(functions):
    """Return the functions that have not returned: a recursive call is the return to the first."""
    path = []
    for function in functions:
        path = path[:path.index(function) + 1] if function in path else path + [function]
    return set(path)


@nodes.each_release
class Fprof:
    release = None

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        if not shutil.which("escript"):
            raise unittest.SkipTest("escript is not installed (Debian's erlang-base)")
        cls.folder = beamflame.folder(cls.addClassCleanup)
        with nodes.Node(cls.release, "request") as node:
            beamflame.record("-p", node.pid, "-d", 4, "-F", 499, "-e", "cpu,wall,alloc", "--idle",
                             "-o", cls.folder / "x.json", "-o", cls.folder / "x.fprof",
                             "-o", cls.folder / "x.bfr")

    def check(self, event):
        analysis = Analysis(self.folder / f"x.{event}.fprof")
        samples = Samples(self.folder / "x.json", event)
        self.assertGreater(len(samples.acc), 50)
        for found, expected in ((analysis.acc, samples.acc), (analysis.own, samples.own)):
            self.assertEqual({key: (found[key], expected[key]) for key in found | expected
                              if found[key] != expected[key]}, {})
        return {function for _, function in analysis.acc}

    def test_cpu_time_is_that_of_the_samples(self):
        functions = self.check("cpu")
        self.assertIn("garbage_collect", functions)
        self.assertNotIn("suspend", functions)

    def prof(self, *arguments):
        path = self.folder / "prof.fprof"
        done = beamflame.run("prof", self.folder / "x.bfr", "--format", "fprof", "-o", path, *arguments)
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        return Analysis(path)

    def test_functions_of_all_processes_together(self):
        """Each has the sum of what it has in the processes."""
        for of, event in (("time", "cpu"), ("memory", "alloc")):
            total, each = self.prof("--type", of), Analysis(self.folder / f"x.{event}.fprof")
            self.assertGreater(len(total.acc), 10)
            for found, parts in ((total.acc, each.acc), (total.own, each.own)):
                sums = Counter()
                for (_, function), value in parts.items():
                    sums["totals", function] += value
                self.assertEqual(found, sums)

    def test_prof_of_each_process_is_the_output_of_that_event(self):
        found, each = self.prof("--per", "process"), Analysis(self.folder / "x.cpu.fprof")
        self.assertEqual((found.acc, found.own), (each.acc, each.own))

    def test_time_of_sweeps_shows_when_processes_do_not_run(self):
        self.assertIn("suspend", self.check("wall"))

    def test_other_values_are_read_too(self):
        self.assertGreater(len(Analysis(self.folder / "x.alloc.fprof").acc), 10)


if __name__ == "__main__":
    unittest.main()
