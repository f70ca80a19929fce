# SPDX-License-Identifier: Apache-2.0
"""Probes in the VM's code: they count calls, and none outlasts the profiler."""
import json
import time
import subprocess
import unittest

import beamflame
import nodes
from kills import changed_code

NEEDS = "own nodes"


@nodes.each_release
class Events:
    """The tests for each release."""

    release = None

    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)

    def record(self, events, work):
        """Record all of the time while a node does `work`. Return the count of each event, and the
        node's report. The recording is x.bfr."""
        with nodes.Node(self.release, "calls") as node:
            with beamflame.recording("-p", node.pid, "-e", events, "--budget", 100,
                                     "-o", self.out / "x.bfr", "--stats", self.out / "s.json"):
                said = node.tell(work)
        figures = json.loads((self.out / "s.json").read_text())["events"]
        return {name: of["values"]["count"]["sum"] for name, of in figures.items()}, said

    def test_calls_of_a_bif_are_counted_by_caller(self):
        """Every call is counted, and divided among the callers."""
        counts, _ = self.record("bif:erlang:md5/1", "bifs")
        self.assertEqual(counts, {"bif:erlang:md5/1": 10000})
        stacks = beamflame.folded(self.out / "x.bfr", "--weight", "count")
        for function in ("calls:first/1", "calls:second/1"):
            calls = beamflame.weight_where(stacks, lambda s, f=function: f in s)
            self.assertAlmostEqual(calls / sum(stacks.values()), 0.5, delta=0.25)

    def test_bif_calls_are_as_many_as_the_node_counts(self):
        """The truth is the VM's call_count, which tprof uses too. Call_count puts a breakpoint of
        the VM into the Erlang code that calls the C function."""
        counts, said = self.record("bif:erlang:md5/1,bif:binary:copy/2", "traced_bifs")
        self.assertEqual(counts, {f"bif:{name}": count for name, count in said["traced"].items()})
        self.assertEqual(said["traced"], {"erlang:md5/1": 10000, "binary:copy/2": 5000})

    def test_calls_of_a_nif_are_counted(self):
        counts, _ = self.record("nif:spin_nif:spin/1", "nifs")
        self.assertEqual(counts, {"nif:spin_nif:spin/1": 1000})

    def test_no_breakpoint_outlasts_the_profiler(self):
        """The VM's code is unchanged after the profiler, however the profiler ends."""
        with nodes.Node(self.release, "request") as node:
            self.assertEqual(changed_code(node.pid), [])
            for how in ("terminate", "kill"):
                process = beamflame.start("-p", node.pid, "-e", "gc,alloc,msg", "--budget", 100,
                                          "-o", self.out / f"{how}.bfr")
                process.stderr.readline()
                time.sleep(0.5)
                attached = changed_code(node.pid)
                getattr(process, how)()
                process.communicate(timeout=60)
                self.assertNotEqual(attached, [])
                deadline = time.monotonic() + 10
                while changed_code(node.pid) and time.monotonic() < deadline:
                    time.sleep(0.1)
                self.assertEqual(changed_code(node.pid), [], how)
            before = node.report()
            time.sleep(0.5)
            self.assertGreater(node.report()["requests"], before["requests"])

    def test_samples_are_kept_when_the_target_ends(self):
        """The outputs have the samples up to the end of the target."""
        with nodes.Node(self.release, "request") as node:
            process = beamflame.start("-p", node.pid, "-e", "gc,alloc,msg",
                                      "-o", self.out / "x.bfr", "--stats", self.out / "s.json")
            process.stderr.readline()
            time.sleep(1)
            node.kill()
            _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, beamflame.DONE, said)
        self.assertEqual(set(json.loads((self.out / "s.json").read_text())["events"]),
                         {"gc", "alloc", "msg"})

    def test_scaled_counts_of_windows_agree(self):
        """The scaled counts of windows agree, whether as one sum or divided by kind."""
        with nodes.Node(self.release, "request") as node:
            beamflame.record("-p", node.pid, "-d", 3, "-e", "sched,gc", "-o", self.out / "x.bfr",
                             "--stats", self.out / "s.json")
        events = json.loads((self.out / "s.json").read_text())["events"]
        kinds = sum(count for name, count in events["sched"]["tallies"].items()
                    if name == "new" or name.startswith("left: "))
        self.assertAlmostEqual(kinds / events["sched"]["values"]["count"]["sum"], 1, delta=0.001)
        collections = sum(histogram["count"] for histogram in events["gc"]["histograms"].values())
        self.assertAlmostEqual(collections / events["gc"]["values"]["count"]["sum"], 1, delta=0.1)

    def test_refused_event_does_not_stop_the_others(self):
        """An event whose place does not exist is refused by name; the others are recorded."""
        with nodes.Node(self.release, "request") as node:
            done = beamflame.run("-p", node.pid, "-d", 1, "-e", "gc,bif:erlang:no_such/7",
                                 "-o", self.out / "x.bfr")
            self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
            self.assertIn("erlang:no_such/7", done.stderr)
            self.assertIn("no_such/7: 0 samples, were lost\n", done.stdout)
            done = beamflame.run("-p", node.pid, "-d", 1, "-e", "probe:no_such_function",
                                 "-o", self.out / "y.bfr")
            self.assertEqual(done.returncode, beamflame.UNSUPPORTED, done.stderr)
            self.assertIn("no_such_function", done.stderr)

    def test_probes_are_listed(self):
        """The list has the places of each event with the cost of a hit; none is refused."""
        with nodes.Node(self.release, "request") as node:
            done = beamflame.run("probes", "-p", node.pid)
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        self.assertNotIn("refused", done.stdout)
        for event, function in (("gc", "garbage_collect"), ("sched", "erts_schedule"),
                                ("msg", "beam_jit_remove_message")):
            self.assertRegex(done.stdout, rf"(?m)^{event} +entry .* ns .* {function}$")

    def test_list_that_cannot_be_written_is_an_error(self):
        with nodes.Node(self.release, "request") as node, \
                open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([beamflame.BINARY, "probes", "-p", str(node.pid), "-e", "gc"],
                                  stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (
            beamflame.FAILED, "beamflame: can't write the events: No space left on device\n"))

    def test_probes_of_an_event_are_listed(self):
        """The list for named events has the places of those events only."""
        with nodes.Node(self.release, "request") as node:
            done = beamflame.run("probes", "-p", node.pid, "-e", "bif:lists:member/2",
                                 "-e", "bif:no:such/7")
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        self.assertRegex(done.stdout, r"bif:lists:member/2 +entry +call_begin .* ns")
        self.assertRegex(done.stdout, r"bif:lists:member/2 +return +call_end .* ns")
        self.assertRegex(done.stdout, r"bif:no:such/7 +refused")
        self.assertNotIn("garbage_collect", done.stdout)


class EventsUsdt(Events, unittest.TestCase):
    """USDT probes change the VM's structs, and can be events themselves."""
    release = "27-usdt"

    def test_usdt_probes_are_counted(self):
        """These probes have semaphores; the VM skips a probe while its semaphore is 0."""
        counts, _ = self.record("usdt:process-spawn,usdt:process-exit", "spawns")
        self.assertEqual(counts, {"usdt:process-spawn": 300, "usdt:process-exit": 300})
        graph = self.out / "x.folded"
        beamflame.record("report", self.out / "x.bfr", "--event", "usdt:process-spawn", "-o", graph)
        self.assertTrue(graph.read_text(), "hits are counted without --weight")


class EventsMusl25(Events, unittest.TestCase):
    release = "25-musl"


class EventsMusl27(Events, unittest.TestCase):
    release = "27-musl"


class EventsMusl29(Events, unittest.TestCase):
    release = "29-musl"


class BadOptions(unittest.TestCase):
    """Each bad option is refused with the valid choices, before anything is attached."""

    def test_bad_options_are_refused_with_the_valid_ones(self):
        for options, says in ((["-e", "gcc"], "no event 'gcc'; the events are: cpu, wall, gc, alloc"),
                              (["-e", "bif:md5"], "needs a function"),
                              (["-e", "probe:"], "needs a function"),
                              (["-e", ","], "needs an event"),
                              (["-o", "x.dot"], "who sends to whom"),
                              (["-e", "gc,alloc", "-o", "x.dot"], "who sends to whom"),
                              (["--budget", "0"], "budget"),
                              (["--budget", "101"], "budget")):
            done = beamflame.run("-p", 1, *options)
            self.assertEqual(done.returncode, beamflame.USAGE, done.stderr)
            self.assertIn(says, done.stderr)

    def test_help_of_report_lists_the_values_of_events(self):
        done = beamflame.run("report", "--help")
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        self.assertIn("  sched               wait, delay, count, long\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
