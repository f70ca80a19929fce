# SPDX-License-Identifier: Apache-2.0
"""What waiting processes wait for: any message in their main loop (idle), or the end of a call
(blocked). The names of the load's processes say which."""
import json
import unittest
from collections import Counter, defaultdict

import beamflame
import nodes
from dump_test import dump

NEEDS = "own nodes"


def kind_of(name):
    """Return what a process of the load waits for, None for others."""
    kind = (name or "").partition("_")[0]
    return kind if kind in beamflame.WAITING else None


def names_by_status(processes):
    names = defaultdict(set)
    for process in processes:
        if kind_of(process["name"]):
            names[process["status"]].add(process["name"])
    return names


@nodes.each_release
class Waits:
    """The tests for each release."""

    release = None

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.out = beamflame.folder(cls.addClassCleanup)
        with nodes.Node(cls.release, "rests") as node:
            cls.all = dump(node)["processes"]
            cls.selected = {status: dump(node, "--status", status)["processes"]
                            for status in beamflame.WAITING}
            beamflame.record("-p", node.pid, "-e", "wall", "-d", 2, "-o", cls.out / "x.bfr")

    def test_dump_tells_idle_from_blocked(self):
        names = names_by_status(self.all)
        for status, few in zip(beamflame.WAITING, (1, 8, 8)):
            self.assertEqual(len(names[status]), few, names)
            for name in names[status]:
                self.assertEqual(kind_of(name), status, name)

    def test_processes_of_otp_are_idle_at_rest(self):
        """No process of a plain node is unknown; those that are blocked sleep or read input."""
        own = [p for p in self.all if not kind_of(p["name"]) and p["status"] in beamflame.WAITING]
        self.assertGreater(len(own), 30)
        self.assertEqual([p for p in own if p["status"] == "waiting"], [])
        idle = sum(p["status"] == "idle" for p in own)
        self.assertGreater(idle / len(own), 0.9)

    def test_status_option_selects_each_kind_and_waiting_all(self):
        for status in "idle", "blocked":
            self.assertEqual({p["status"] for p in self.selected[status]}, {status})
            self.assertEqual(names_by_status(self.selected[status])[status],
                             names_by_status(self.all)[status])
        self.assertEqual(names_by_status(self.selected["waiting"]), names_by_status(self.all))

    def test_graphs_of_wall_leave_idle_out(self):
        """Graphs have blocked processes, and idle ones only on demand. The time of what is left out
        is reported."""
        times, whole = (self.times(*options) for options in ((), ("--idle",)))
        self.assertEqual({kind_of(name) for name in times} - {None}, {"blocked", "waiting"})
        self.assertEqual({kind_of(name) for name in whole} - {None}, set(beamflame.WAITING))
        for name, time in times.items():
            self.assertEqual(time, whole[name], name)
        self.assertEqual(whole, self.times("--status", "waiting,running,runnable"))
        share = 100 * (1 - sum(times.values()) / sum(whole.values()))
        report = beamflame.record("report", self.out / "x.bfr", "--stats", self.out / "x.json")
        self.assertIn(f"\nwall      {share:.1f} % of the time is idle: left out, --idle shows it\n",
                      report.stdout)
        stats = json.loads((self.out / "x.json").read_text(encoding="utf-8"))
        self.assertAlmostEqual(100 * stats["idle"] / stats["samples"], share, delta=2)

    def times(self, *options):
        """Return {name: ns} of event wall."""
        times = Counter()
        for stack, ns in beamflame.folded(self.out / "x.bfr", "--group-by", "name",
                                          *options).items():
            times[stack[0]] += ns
        return times

    def test_waits_of_event_sched_have_their_kind(self):
        """The mark at the leaf of a wait says what it was for."""
        out = self.out / "sched.bfr"
        with nodes.Node(self.release, "request") as node:
            beamflame.record("-p", node.pid, "-e", "sched", "--budget", 100, "-d", 2, "-o", out)
        kinds = defaultdict(set)
        for stack in beamflame.folded(out, "--weight", "wait"):
            kinds[stack[-2].partition("/")[0]].add(stack[-1])
        self.assertEqual(kinds["gen_server:loop"], {"[idle]", "[runnable]"})
        self.assertEqual(kinds["gen:do_call"], {"[blocked]", "[runnable]"})


class WaitsMusl25(Waits, unittest.TestCase):
    release = "25-musl"


if __name__ == "__main__":
    unittest.main()
