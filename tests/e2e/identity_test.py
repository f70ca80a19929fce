# SPDX-License-Identifier: Apache-2.0
"""The identity of each process in the profile is what the node itself says."""
import time
import unittest

import beamflame
import nodes

NEEDS = "own nodes"


@beamflame.each_release_and_clock
class Identity:
    release = None

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        recording = beamflame.folder(cls.addClassCleanup) / "x.bfr"
        with nodes.Node(cls.release, "identity") as node:
            time.sleep(0.5)
            beamflame.record("-p", node.pid, "-d", 5, "-F", 999, "-o", recording)
            report = node.report()
        cls.workers, cls.schedulers = report["workers"], report["schedulers"]
        cls.views = {view: beamflame.folded(recording, "--group-by", view)
                     for view in ("none", "name", "pid", "status", "scheduler",
                                  "initial_call,label,pid")}

    def test_each_pid_runs_its_own_function(self):
        """Grouped by pid, each process was seen in its own function and in no other."""
        for worker in self.workers:
            with self.subTest(worker["kind"]):
                own = {s: n for s, n in self.views["pid"].items()
                       if s[0].endswith(worker["pid"])}
                total = sum(own.values())
                self.assertGreater(total, 50)
                self.assertGreater(beamflame.weight_of(own, worker["function"]) / total, 0.98)

    def test_each_process_has_its_name_label_or_initial_call(self):
        """Grouped by name: the registered name, else the label, else the initial call, else the
        root function."""
        for worker in self.workers:
            with self.subTest(worker["kind"]):
                name = worker["name"] or worker["label"] or worker["initial_call"]
                if name == "erlang:apply/2":  # the same for all funs: its root function says more
                    name = worker["function"]
                named = beamflame.weight_where(
                    self.views["name"], lambda stack: stack[0].strip("'") == name
                    and worker["function"] in stack)
                self.assertGreater(named, 50)

    def test_groupings_differ_in_the_root_only(self):
        """Every grouping shows all samples; without grouping no process is named."""
        totals = {view: sum(stacks.values()) for view, stacks in self.views.items()}
        self.assertEqual(len(set(totals.values())), 1, totals)
        self.assertEqual(beamflame.weight_of(self.views["none"], "identity_registered"), 0)

    def test_each_grouping_key_has_its_frame(self):
        """Each key has its frame, in the given order, with the value that the node says."""
        for worker in self.workers:
            with self.subTest(worker["kind"]):
                own = [s for s in self.views["initial_call,label,pid"]
                       if len(s) > 2 and s[2].endswith(worker["pid"]) and worker["function"] in s]
                self.assertTrue(own)
                labels = {"[no label]", worker["label"]} if worker["label"] else {"[no label]"}
                self.assertIn((worker["initial_call"], worker["label"] or "[no label]"),
                              {stack[:2] for stack in own})
                self.assertLessEqual({stack[1] for stack in own}, labels)

    def test_busy_processes_run_on_every_scheduler(self):
        """Busy processes are running or collect garbage, on every normal scheduler."""
        burning = {view: {s: n for s, n in self.views[view].items() if "identity:burn/1" in s}
                   for view in ("status", "scheduler")}
        running = beamflame.weight_where(
            burning["status"], lambda s: s[0] in ("[running]", "[garbage_collecting]"))
        self.assertGreater(running / sum(burning["status"].values()), 0.98)
        roots = {stack[0] for stack in burning["scheduler"]}
        self.assertEqual(roots, {f"[scheduler {n + 1}]" for n in range(self.schedulers)})


class IdentityUsdt(Identity, unittest.TestCase):
    release = "27-usdt"


class IdentityDwarf(Identity, unittest.TestCase):
    release = "27-usdt-dwarf"


class IdentityMusl25(Identity, unittest.TestCase):
    release = "25-musl"


class IdentityMusl27(Identity, unittest.TestCase):
    release = "27-musl"


class IdentityMusl29(Identity, unittest.TestCase):
    release = "29-musl"
