# SPDX-License-Identifier: Apache-2.0
"""Several VMs of different releases in one recording: each has its own samples and names."""
import json
import os
import time
import unittest

import beamflame
import msg_test
import nodes
import privileges_test
from hostile_test import NOBODY

NEEDS = "all nodes"


def named(name):
    """Return the flags of a node with a name and without network."""
    return ("-sname", name, "-dist_listen", "false", "-start_epmd", "false")


class Targets(unittest.TestCase):
    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)

    def outputs(self):
        return ("-o", self.out / "x.bfr", "--stats", self.out / "s.json")

    def stats(self):
        return json.loads((self.out / "s.json").read_text())

    def check(self, root, load, others):
        """Check that below this root frame there is the load of that node, and none of the other
        loads."""
        stacks = beamflame.folded(self.out / "x.bfr", "-e", "cpu")
        own = {stack: n for stack, n in stacks.items() if stack[0] == root}
        runs = {name: beamflame.weight_where(
            own, lambda stack, name=name: any(f.startswith(name + ":") for f in stack))
            for name in (load, *others)}
        self.assertGreater(runs[load], 50)
        self.assertEqual([runs[other] for other in others], [0] * len(others))

    def test_all_nodes_of_the_machine_are_recorded(self):
        """-a records two nodes of different releases in their own namespaces, and any others on the
        machine."""
        with nodes.Node(25, "identity", flags=named("one")) as one, \
                nodes.Node(29, "request", flags=named("other")) as other:
            beamflame.record("-a", "-d", 3, "-F", 499, *self.outputs())
        stats = self.stats()
        found = {target["pid"]: target for target in stats["targets"]}
        for node in (one, other):
            target = found[node.pid]
            self.assertEqual(target["otp_release"], nodes.otp(node.release))
            self.assertEqual(target["node"], node.ready["node"])
            self.assertEqual(target["erts"], node.ready["erts"])
        self.assertGreaterEqual(stats["complete_stacks"] / stats["erlang_samples"], 0.98)
        self.check(one.ready["node"], "identity", ["request"])
        self.check(other.ready["node"], "request", ["identity"])

    def test_commands_for_one_node_list_those_that_run(self):
        """Without -p, commands that have no -a list the nodes, and offer -p only. With a single node
        on the host they take that one."""
        with nodes.Node(25, "identity") as one:
            running = json.loads(beamflame.run("ps", "--json").stdout)
            for command in ("probes", "dump") if len(running) == 1 else ():
                with self.subTest(command):
                    self.assertEqual(beamflame.run(command).returncode, beamflame.DONE)
            with nodes.Node(29, "request") as other:
                for command in ("probes", "dump"):
                    with self.subTest(command):
                        done = beamflame.run(command)
                        self.assertEqual(done.returncode, beamflame.USAGE)
                        self.assertRegex(done.stderr, r"Erlang VMs are running:( \d+)+; choose with "
                                                      r"-p PID \('beamflame ps' lists them\)\n")
                        for node in (one, other):
                            self.assertIn(f" {node.pid}", done.stderr)

    def test_node_that_starts_later_is_recorded(self):
        """With -a, a node that starts later is recorded from then on: its CPU time, its events and
        its sweeps."""
        with nodes.Node(25, "identity", flags=named("one")) as one:
            profiler = beamflame.start("-a", "-d", 8, "-F", 499, "-e", "cpu,gc,wall",
                                       *self.outputs())
            self.addCleanup(profiler.kill)
            time.sleep(2)
            with nodes.Node(29, "request", flags=named("other")) as other:
                _, said = profiler.communicate(timeout=60)
        self.assertEqual(profiler.returncode, beamflame.DONE, said)
        targets = {target["pid"]: target for target in self.stats()["targets"]}
        self.assertEqual(targets[other.pid]["otp_release"], nodes.otp(29))
        self.assertGreater(targets[other.pid]["cpu_ms"], 500)
        self.assertAlmostEqual(targets[other.pid]["sampled_ratio"], 1, delta=0.2)
        self.check(one.ready["node"], "identity", ["request"])
        self.check(other.ready["node"], "request", ["identity"])
        for event in ("gc", "wall"):
            with self.subTest(event=event):
                stacks = beamflame.folded(self.out / "x.bfr", "-e", event)
                self.assertGreater(
                    beamflame.weight_where(stacks, lambda s: s[0] == other.ready["node"]), 0)

    def test_probes_of_a_node_that_starts_later_miss_nothing(self):
        """With -a, all messages are counted of another user's node that starts later. Each thread
        that attaches probes has precedence over the nodes."""
        for _ in range(5):  # if the machine is too busy, samples are lost, or stand for more than a hit
            later, truth, priorities = self.record_later_messages()
            sent = truth["plain_from -> plain_to"]
            node = f"beam {later.pid} / "
            seen = msg_test.edges(self.out / "x.dot")[f"{node}plain_from -> {node}plain_to"]
            lost = self.stats()["events"]["msg"]["lost"]
            if not lost and (seen["samples"], seen["words"]) == (sent["count"], sent["words"]):
                break
        self.assertEqual((seen["count"], seen["received"], seen["words"]),
                         (sent["count"], sent["count"], sent["words"]))
        self.assertGreater(len(priorities), 1)
        self.assertEqual(set(priorities), {-20})

    def record_later_messages(self):
        """Record a node that starts later and sends messages. Return the node, its report of them,
        and the priorities of the threads that attach probes."""
        with nodes.Node(25, "identity"):
            profiler = beamflame.start("-a", "-v", "-e", "msg", "--budget", 100, "-o",
                                       self.out / "x.dot", "--stats", self.out / "s.json")
            self.addCleanup(profiler.kill)
            self.wait_for(profiler, "sampling")
            with nodes.Node(27, "messages", f"user={NOBODY}") as later:
                self.wait_for(profiler, f"process {later.pid} has started and is profiled")
                # While it starts, its messages cost more than a VM without CPU time may be charged.
                time.sleep(3)
                truth = later.tell("plain")["results"]["plain"]
                priorities = self.priorities_of_attachers(profiler.pid)
                profiler.terminate()
                _, said = profiler.communicate(timeout=60)
        self.assertEqual(profiler.returncode, beamflame.DONE, said)
        return later, truth, priorities

    def wait_for(self, profiler, text):
        while text not in (line := profiler.stderr.readline()):
            self.assertTrue(line, f"the profiler ended before it said '{text}'")

    def priorities_of_attachers(self, pid):
        """Return the nice values of the threads that attach probes."""
        return [os.getpriority(os.PRIO_PROCESS, tid) for tid in self.attachers(pid)]

    @staticmethod
    def attachers(pid):
        return [tid for tid, found in privileges_test.threads(pid).items()
                if tid != pid and "bpf" in privileges_test.names(found["CapEff"])]

    def test_attaching_does_not_wait_for_an_idle_cpu(self):
        """With the scheduling policy of idle priority, the threads that attach probes have the normal
        one: else the lock of a memory map could be taken between the look at it and the change."""
        with nodes.Node(25, "identity") as node:
            profiler = beamflame.start(
                "-v", "-p", node.pid, "-e", "gc", "-o", self.out / "x.bfr",
                preexec_fn=lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)))
            self.addCleanup(profiler.kill)
            self.wait_for(profiler, "sampling")
            policies = {os.sched_getscheduler(tid) for tid in self.attachers(profiler.pid)}
            own = os.sched_getscheduler(profiler.pid)
            profiler.terminate()
            _, said = profiler.communicate(timeout=60)
        self.assertEqual(profiler.returncode, beamflame.DONE, said)
        self.assertEqual((own, policies), (os.SCHED_IDLE, {os.SCHED_OTHER}))

    def test_node_is_only_in_the_segments_of_its_lifetime(self):
        """With -a and --loop, also with the shortest segments, a node is in the segments of its
        lifetime only, and a later one gets its place. The recording continues when a node ends."""
        with nodes.Node(29, "identity", flags=named("stays")):
            with nodes.Node(25, "identity", flags=named("first")) as first:
                profiler = beamflame.start("-a", "-d", 14, "-F", 199, "-e", "cpu,gc", "--loop", 1,
                                           "-o", self.out / "x.bfr")
                self.addCleanup(profiler.kill)
                time.sleep(3)
            with nodes.Node(27, "request", flags=named("second")) as second:
                _, said = profiler.communicate(timeout=60)
        self.assertEqual(profiler.returncode, beamflame.DONE, said)
        segments = []
        for path in sorted(self.out.glob("x-*.bfr")):
            beamflame.record("report", path, "--stats", self.out / "s.json")
            segments.append({target["node"] for target in self.stats()["targets"]})
        self.assertGreaterEqual(len(segments), 12)
        self.assertIn(first.ready["node"], segments[0])
        self.assertNotIn(first.ready["node"], segments[-1])
        self.assertNotIn(second.ready["node"], segments[0])
        self.assertIn(second.ready["node"], segments[-1])
        last = beamflame.folded(sorted(self.out.glob("x-*.bfr"))[-1], "-e", "cpu")
        self.assertGreater(
            beamflame.weight_where(last, lambda s: s[0] == second.ready["node"]), 0)

    def test_end_of_one_node_fires_the_trigger_exit(self):
        """With -a, the trigger exit fires when one node ends, although the run continues."""
        with nodes.Node(25, "identity", flags=named("stays")):
            with nodes.Node(27, "request", flags=named("goes")) as goes:
                profiler = beamflame.start("-a", "-d", 12, "--trigger", "exit", "--before", 3,
                                           "--after", 2, "-o", self.out / "x.bfr")
                self.addCleanup(profiler.kill)
                time.sleep(4)
            _, said = profiler.communicate(timeout=60)
        self.assertEqual(profiler.returncode, beamflame.DONE, said)
        self.assertIn(f"exit: process {goes.pid} has ended", said)
        recording = next(self.out.glob("x-*.bfr"))
        stacks = beamflame.folded(recording)
        self.assertGreater(
            beamflame.weight_where(stacks, lambda s: s[0] == goes.ready["node"]), 50)

    def test_several_pids_are_recorded(self):
        """Three nodes are named by -p, one of them twice. Nodes without a name are identified by
        their pid."""
        loads = {25: "phases", 27: "identity", 29: "request"}
        with nodes.Node(25, loads[25]) as first, nodes.Node(27, loads[27]) as second, \
                nodes.Node(29, loads[29]) as third:
            all_three = (first, second, third)
            pids = [a for node in (*all_three, first) for a in ("-p", node.pid)]
            beamflame.record(*pids, "-d", 5, "-F", 499, *self.outputs())
        stats = self.stats()
        self.assertEqual([(t["pid"], t["otp_release"]) for t in stats["targets"]],
                         [(node.pid, nodes.otp(node.release)) for node in all_three])
        self.assertGreaterEqual(stats["complete_stacks"] / stats["erlang_samples"], 0.98)
        roots = {stack[0] for stack in beamflame.folded(self.out / "x.bfr")}
        self.assertEqual(roots, {f"beam {node.pid}" for node in all_three})
        for node in all_three:
            with self.subTest(release=node.release):
                load = loads[node.release]
                self.check(f"beam {node.pid}", load, set(loads.values()) - {load})

    def test_recording_continues_when_one_target_ends(self):
        with nodes.Node(25, "identity") as stays:
            with nodes.Node(27, "request") as goes:
                profiler = beamflame.start("-p", stays.pid, "-p", goes.pid, "-d", 4, "-F", 499,
                                           *self.outputs())
                self.addCleanup(profiler.kill)
                time.sleep(2)
            _, said = profiler.communicate(timeout=60)
        self.assertEqual(profiler.returncode, beamflame.DONE, said)
        self.assertGreater(self.stats()["duration_ms"], 3900)
        self.check(f"beam {stays.pid}", "identity", ["request"])
        self.check(f"beam {goes.pid}", "request", ["identity"])
