# SPDX-License-Identifier: Apache-2.0
"""Families of processes: parents, ancestors and applications are those that the node says."""
import json
import re
import time

import beamflame
import nodes

NEEDS = "own nodes"
PERF_TIME = re.compile(r"^\S.* (\d+\.\d{6}): ", re.M)


@beamflame.each_release_and_clock
class Families:
    release = None

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.recording = beamflame.folder(cls.addClassCleanup) / "x.bfr"
        with nodes.Node(cls.release, "families") as node:
            time.sleep(0.5)
            beamflame.record("-p", node.pid, "-d", 5, "-F", 999, "-o", cls.recording)
            dump = beamflame.record("dump", "--json", "-p", node.pid)
            report = node.report()
        cls.dumped = {process["pid"]: process for process in json.loads(dump.stdout)["processes"]}
        cls.workers = {worker["pid"]: worker for worker in report["workers"]}
        cls.processes = {process["pid"]: process for process in report["processes"]}

    def seen(self, *options):
        """Return the workers in a report with these options."""
        stacks = beamflame.folded(self.recording, "--group-by", "pid", *options)
        return {stack[0].split()[-1] for stack in stacks} & self.workers.keys()

    def test_each_process_has_its_parent_ancestors_and_application(self):
        """Every process of the node has the right parent, ancestors and application."""
        both = self.dumped.keys() & self.processes.keys()
        self.assertGreater(len(both), 0.9 * len(self.processes))
        for key in ("parent", "ancestors", "application"):
            self.assertEqual({pid: self.dumped[pid][key] for pid in both},
                             {pid: self.processes[pid][key] for pid in both})
        applications = {process["application"] for process in self.processes.values()}
        self.assertEqual(applications, {None, "kernel", "shop"})

    def test_application_and_ancestors_are_root_frames(self):
        """Each worker has its application and its ancestors, oldest first, as root frames."""
        stacks = beamflame.folded(self.recording, "--group-by", "application,ancestors,pid")
        for pid, worker in self.workers.items():
            with self.subTest(worker["kind"]):
                roots = {stack[:at] for stack in stacks for at, frame in enumerate(stack)
                         if frame.split()[-1] == pid and not stack[at - 1].startswith(pid)
                         and at == len(self.roots_of(worker))}
                self.assertEqual(roots, {self.roots_of(worker)})
                total = beamflame.weight_where(
                    stacks, lambda stack, w=worker, p=pid:
                    stack[:len(self.roots_of(w))] == self.roots_of(w)
                    and stack[len(self.roots_of(w))].split()[-1] == p)
                self.assertGreater(total, 50)

    def roots_of(self, worker):
        return (worker["application"] or "[no application]",
                *(reversed(worker["ancestors"]) if worker["ancestors"] else ["[no ancestors]"]))

    def is_child(self, pid, who):
        """True if `who`, a pid or a name, spawned the process or is the first of its ancestors."""
        parent = self.parent_of(pid)
        ancestors = self.workers[pid]["ancestors"] if pid in self.workers else []
        return who in (parent, self.name_of(parent), *ancestors[:1])

    def is_descendant(self, pid, who):
        ancestors = self.workers[pid]["ancestors"] if pid in self.workers else []
        parent = self.parent_of(pid)
        return bool(parent) and (who in (parent, self.name_of(parent), *ancestors)
                                 or self.is_descendant(parent, who))

    def parent_of(self, pid):
        return self.processes[pid]["parent"] if pid in self.processes else None

    def name_of(self, pid):
        return self.processes[pid]["name"] if pid in self.processes else None

    def test_options_select_children_and_descendants(self):
        """--children-of selects the processes with that parent, even if the parent has ended;
        --descendants-of selects those at any depth below."""
        parents = {self.parent_of(pid) for pid in self.workers}
        self.assertGreater(len(parents), 3)
        self.assertNotIn(None, parents)
        for who in (*parents, "shop_sup", "families_main"):
            with self.subTest(who):
                self.assertEqual(self.seen("--children-of", who),
                                 {pid for pid in self.workers if self.is_child(pid, who)})
                self.assertEqual(self.seen("--descendants-of", who),
                                 {pid for pid in self.workers if self.is_descendant(pid, who)})

    def test_processes_are_selected_by_pid_and_initial_call(self):
        """A process can also be selected by its pid or its initial call."""
        direct = next(pid for pid, w in self.workers.items() if w["kind"] == "direct")
        self.assertEqual(self.seen("--process", direct), {direct})
        servers = {pid for pid, w in self.workers.items() if w["kind"] in ("direct", "nested")}
        self.assertEqual(self.seen("--process", "families:init/1"), servers)
        own = {pid for pid, w in self.workers.items() if w["kind"] == "proc_lib"}  # funs
        self.assertEqual(self.seen("--process", "families:_"), servers | own)
        self.assertEqual(
            self.seen("--children-of", "families:_"),
            {pid for pid, w in self.workers.items()
             if w["kind"] in ("spawned", "spawned_below", "moved")})

    def test_samples_that_are_left_out_are_reported(self):
        """The number of samples left out is reported; if no sample is left, the exit code says
        so."""
        count = ("--weight", "samples")
        everything = sum(beamflame.folded(self.recording, *count).values())
        shop = ("-I", "^shop$", "--group-by", "application,name")
        wanted = sum(beamflame.folded(self.recording, *shop, *count).values())
        others = sum(beamflame.folded(self.recording, "-X", *shop[1:], *count).values())
        self.assertEqual(wanted + others, everything)
        self.assertGreater(wanted, 100)
        said = beamflame.run("report", self.recording, *shop)
        self.assertIn(f"left out  {everything - wanted:,} samples", said.stdout)
        done = beamflame.run("report", self.recording, "--process", "no_such_process")
        self.assertEqual(done.returncode, beamflame.NO_SAMPLES)
        self.assertIn("none of the", done.stderr)

    def test_from_and_to_divide_the_samples(self):
        """--from and --to divide the samples: each sample is in exactly one part."""
        everything, first, rest = (self.times(*options) for options in
                                   ((), ("--to", "2"), ("--from", "2")))
        self.assertEqual(sorted(first + rest), everything)
        self.assertLessEqual(max(first), min(rest))
        self.assertLess(max(first) - everything[0], 2)
        self.assertGreater(min(rest) - everything[0], 1)  # the first sample may come late

    def times(self, *options):
        """Return the times of the samples, sorted."""
        done = beamflame.record("report", self.recording, *options, "--format", "perf", "-o", "-", "-q")
        return sorted(float(time) for time in PERF_TIME.findall(done.stdout))
