# SPDX-License-Identifier: Apache-2.0
"""A node with 200,000 processes: all of them are in a dump, selected ones are found, and a random
sample of them represents all."""
import json
from collections import Counter
from itertools import groupby

import beamflame
import nodes

NEEDS = "own nodes"
CROWD = 200000
DEPTH = 5
# Initial calls in the crowd, with the number of processes (tests/loads/crowd.erl). `queued` and
# `filling` sleep, too.
SPAWNED = {"crowd:init/1": CROWD // 2, "crowd:wait/1": 7 * CROWD // 20,
           "crowd:sleep/0": CROWD // 10 + 2, "crowd:hibernate/0": CROWD // 20}


def without_runs(functions):
    """Return the stack as the VM's own stack traces have it: a recursive function appears once."""
    return [function for function, _ in groupby(functions)]


@nodes.each_release
class LargeNode:
    """One idle node of each release."""

    release = None

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.node = nodes.Node(cls.release, "crowd", f"processes={CROWD}", f"depth={DEPTH}",
                              flags=("+P", "500000", "+S", "1:1"))
        cls.addClassCleanup(cls.node.kill)

    def dump(self, *options):
        return json.loads(beamflame.record("dump", "--json", "-p", self.node.pid, *options).stdout)

    def test_dump_has_each_of_200000_processes_once(self):
        """Each process is there once, with its status, name and whole stack; none is missed or
        torn."""
        says = self.node.report()
        got = self.dump()
        processes = {process["pid"]: process for process in got["processes"]}
        self.assertEqual(len(processes), len(got["processes"]))
        self.assertEqual((got["left_out"], got["torn"]), (0, 0))
        self.assertAlmostEqual(len(processes), self.node.ready["processes"], delta=10)
        self.assertAlmostEqual(got["gone"], 0, delta=10)
        crowd = [p for p in got["processes"] if p["initial_call"] in SPAWNED]
        self.assertEqual(Counter(p["initial_call"] for p in crowd), SPAWNED)
        self.assertEqual(Counter(beamflame.vm_status(p["status"]) for p in crowd),
                         {"suspended": CROWD // 20, "waiting": CROWD - CROWD // 20 + 2})
        self.assertEqual(says["statuses"]["suspended"], CROWD // 20)
        self.assertEqual({p["name"] for p in crowd} - {None}, {"queued", "filling"})
        self.assertGreater(sum(p["complete"] for p in crowd) / len(crowd), 0.999)
        stacks = [[frame["function"] for frame in stack] for stack in got["stacks"]]
        self.assertGreater(len(says["described"]), 100)
        for said in says["described"]:
            process = processes[said["pid"]]
            self.assertEqual(beamflame.vm_status(process["status"]), said["status"], said)
            self.assertEqual(without_runs(stacks[process["stack"]]), without_runs(said["stack"]))
            self.assertEqual(process["metrics"]["heap"], said["heap"], said)
        deep = [p for p in crowd if p["initial_call"] == "crowd:wait/1"]
        self.assertEqual({stacks[p["stack"]].count("crowd:wait/1") for p in deep}, {DEPTH + 1})

    def test_top_finds_one_process_among_200000(self):
        """--top finds one process among so many, by value and by growth; the others are counted."""
        for option, name in (("1:msgq", "queued"), ("1:+msgq:2", "filling")):
            with self.subTest(option):
                got = self.dump("--top", option)
                self.assertEqual([p["name"] for p in got["processes"]], [name])
                self.assertAlmostEqual(got["left_out"], self.node.ready["processes"], delta=10)

    def test_random_samples_give_each_status_its_share(self):
        """Sweeps take a hundred random processes at a time: each status has its share of the time,
        within the error of so many samples."""
        out = beamflame.folder(self.addCleanup)
        beamflame.record("-p", self.node.pid, "-e", "wall", "-d", 4, "-o", out / "x.bfr",
                         "--stats", out / "s.json")
        stats = json.loads((out / "s.json").read_text(encoding="utf-8"))
        seconds = stats["events"]["wall"]["span_ms"] / 1000
        times = Counter()
        for stack, ns in beamflame.folded(out / "x.bfr", "--weight", "wall", "--group-by",
                                          "status", "--idle").items():
            times[stack[0]] += ns
        self.assertTrue(500 < stats["samples"] < 1.3 * seconds * 20 * 100)
        self.assertGreater(stats["complete_stacks"] / stats["erlang_samples"], 0.995)
        self.assertAlmostEqual(sum(times.values()) / 1e9 / seconds / self.node.ready["processes"], 1,
                               delta=0.1)
        self.assertAlmostEqual(times["[suspended]"] / sum(times.values()), 0.05,
                               delta=max(0.02, 6 * (0.05 * 0.95 / stats["samples"]) ** 0.5))

    def test_wall_of_top_1_is_the_process_with_most_messages(self):
        """--top finds the process with the most messages among all."""
        out = beamflame.folder(self.addCleanup) / "x.bfr"
        beamflame.record("-p", self.node.pid, "-e", "wall", "-d", 3, "--top", "1:msgq:1", "-o", out)
        self.assertEqual({stack[0] for stack in beamflame.folded(out)}, {"queued"})
