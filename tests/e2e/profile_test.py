# SPDX-License-Identifier: Apache-2.0
"""A node under a server's load, profiled into every format, for each release."""
import json
import re
import sys
import time
import unittest
import xml.etree.ElementTree as xml
from collections import Counter, defaultdict

import beamflame
import nodes

sys.path.insert(0, str(nodes.ROOT / "tests" / "tools"))
from perf_script_lint import lint  # noqa: E402

NEEDS = "own nodes"


# The expressions of FlameScope (app/perf/regexp.py), and of flame_prof's fork of it.
FLAMESCOPE_EVENT = re.compile(r" +([0-9.]+): .+?:")
FLAMESCOPE_FRAME = re.compile(r"^[\t ]*[0-9a-fA-F]+ (.+) \((.*?)\)$")
FLAMESCOPE_COMM = re.compile(r"^ *([^0-9]+)")
FLAMESCOPE_METRIC = re.compile(r"\bmetric_([^:]+):[\t ](-?[0-9.]+)[\t ]*,[\t ]*(-?[0-9.]+)\b")

SECONDS = 5
HZ = 999


@beamflame.each_release_and_clock
class Profile:
    """The tests for each release; the node is recorded once, and all tests check that recording."""

    release = None
    layout = "table"  # source of the layouts of the VM's structs

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.out = beamflame.folder(cls.addClassCleanup)
        with nodes.Node(cls.release, "request") as node:
            time.sleep(1)
            before = node.report()
            cls.recorded = beamflame.record(
                "-p", node.pid, "-d", SECONDS, "-F", HZ, "--stats", cls.out / "s.json",
                *(a for suffix in ("bfr", "perf", "folded", "svg")
                  for a in ("-o", cls.out / f"x.{suffix}")))
            after = node.report()
            cls.pid = node.pid
        cpu_ns, time_ns = (after[key] - before[key] for key in ("cpu_ns", "time_ns"))
        cls.cpus_used = cpu_ns / time_ns
        cls.stats = json.loads((cls.out / "s.json").read_text())
        cls.stacks = beamflame.read_folded(cls.out / "x.folded")

    def test_stacks_are_complete(self):
        """Nearly every Erlang stack was walked to the root frame of its process."""
        self.assertGreater(self.stats["erlang_samples"], 500)
        complete = self.stats["complete_stacks"] / self.stats["erlang_samples"]
        self.assertGreaterEqual(complete, 0.99)

    def test_erlang_frames_have_names(self):
        """Hardly any Erlang frame lacks a name."""
        unknown = self.stats["unknown_erlang_frames"] / self.stats["erlang_frames"]
        self.assertLessEqual(unknown, 0.005)

    def test_samples_are_as_many_as_cpu_time_and_rate_predict(self):
        """There are as many samples as the node's CPU time and the rate predict, and none is lost.
        If a host takes the CPU from the whole virtual machine, the timers that expire in that time
        fire once only."""
        expected = self.cpus_used * HZ * self.stats["duration_ms"] / 1000
        self.assertLess(self.stats["samples"] / expected, 1.15)
        self.assertGreater(self.stats["samples"] / expected, 0.65)
        self.assertLessEqual(self.stats["lost_events"], self.stats["samples"] / 1000)

    def test_statistics_describe_the_target(self):
        target = self.stats["target"]
        self.assertEqual(target["pid"], self.pid)
        self.assertEqual(target["otp_release"], nodes.otp(self.release))
        self.assertEqual(target["flavor"], "jit")
        self.assertEqual(target["layout"], self.layout)
        self.assertGreater(target["processes"], 10)

    def test_perf_script_has_no_defects_and_every_sample(self):
        """The linter finds no errors, and the file has every sample."""
        linted = lint(self.out / "x.perf")
        self.assertEqual(linted.findings[:5], [])
        self.assertEqual(linted.samples, self.stats["samples"])

    def test_flamescope_reads_flame_prof_samples_and_metrics(self):
        """FlameScope's expressions find every sample, with the status as its command. Those of
        flame_prof's fork find the metrics: their changes add up to the difference of each process'
        values."""
        path = self.out / "x.log"
        beamflame.record("report", self.out / "x.bfr", "--format", "flame_prof", "-o", path)
        statuses, values, changes = Counter(), defaultdict(list), Counter()
        for line in path.read_text("utf-8").splitlines():
            if line.startswith(("#", "\t")) or not line:
                self.assertTrue(not line.startswith("\t") or FLAMESCOPE_FRAME.search(line), line)
                continue
            self.assertTrue(FLAMESCOPE_EVENT.search(line), line)
            statuses[FLAMESCOPE_COMM.search(line)[1].rstrip()] += 1
            pid = line.split("\t")[1].split(" ")[0]
            for name, value, change in FLAMESCOPE_METRIC.findall(line):
                values[pid, name].append(int(value))
                changes[pid, name] += int(change)
        self.assertEqual(sum(statuses.values()), self.stats["samples"])
        self.assertLessEqual(set(statuses), {"running", "garbage_collecting", "exiting", "runnable",
                                             *beamflame.WAITING, "suspended", "no process"})
        self.assertGreater(len({name for _, name in values}), 9)
        for key, seen in values.items():
            self.assertEqual(changes[key], seen[-1] - seen[0], key)

    def test_folded_has_every_sample(self):
        """The counts add up to the time of all samples in periods of the clock, rounded once."""
        lines, period = self.out / "samples.json", 1000000000 // HZ
        beamflame.record("report", self.out / "x.bfr", "-o", lines)
        entries = map(json.loads, lines.read_text().splitlines())
        times = [entry["values"]["time"] for entry in entries if entry["type"] == "sample"]
        self.assertEqual(len(times), self.stats["samples"])
        self.assertAlmostEqual(sum(self.stacks.values()), sum(times) / period, delta=1)

    def test_flame_graph_is_well_formed(self):
        """The SVG parses, and its titles have functions with counts and percentages."""
        svg = xml.parse(self.out / "x.svg").getroot()
        self.assertTrue(svg.tag.endswith("svg"))
        titles = [e.text for e in svg.iter() if e.tag.endswith("title") and e.text]
        named = [t for t in titles if "request:" in t and "%" in t]
        self.assertGreater(len(named), 5)

    def test_report_makes_the_same_outputs_again(self):
        """The report command makes every output again from the recording, byte for byte."""
        for suffix in ("folded", "perf", "svg"):
            with self.subTest(suffix):
                again = self.out / f"again.{suffix}"
                beamflame.record("report", self.out / "x.bfr", "-o", again)
                self.assertEqual(again.read_bytes(), (self.out / f"x.{suffix}").read_bytes())

    def test_stacks_are_those_of_the_program(self):
        """Callers stand above callees, down to the BIFs, as in the source of the load."""
        for caller, callee in (("request:serve/3", "request:parse/1"),
                               ("request:serve/3", "request:encode/1"),
                               ("request:answer/3", "gen_server:call/2"),
                               ("gen_server:try_handle_call/", "request:handle_call/3")):
            with self.subTest(callee):
                below = beamflame.weight_where(self.stacks, lambda stack: callee in stack)
                right = beamflame.weight_where(
                    self.stacks, lambda stack: callee in stack
                    and any(f.startswith(caller) for f in stack[:stack.index(callee)]))
                self.assertGreater(below, 0)
                self.assertGreater(right / below, 0.98)

    def test_registered_process_is_named(self):
        """The store, a registered process, is a root frame."""
        self.assertGreater(beamflame.weight_of(self.stacks, "request_store"), 0)

    def test_root_frame_without_a_process_is_an_activity(self):
        """Without a process, the root frame says what the thread did."""
        for stack in self.stacks:
            if stack[0].startswith("["):
                self.assertRegex(stack[0], r"^\[(scheduler|port|aux|thread|process)\]")

    def test_profiler_is_small_and_attaches_quickly(self):
        """Attaching is quick and the profiler small. The exact claims are checked by benchmarks."""
        self.assertLess(self.stats["attach_ms"], 1000)
        self.assertLess(self.stats["peak_rss_kb"], 96 * 1024)
        self.assertLess(self.stats["profiler_cpu_ms"], self.stats["duration_ms"] / 2)

    def test_summary_has_samples_and_functions(self):
        """The summary has the number of samples and functions of the load."""
        said = self.recorded.stdout + self.recorded.stderr
        self.assertIn(str(self.stats["samples"]), said.replace(",", "").replace(" ", ""))
        self.assertIn("request:", said)


class ProfileUsdt(Profile, unittest.TestCase):
    """USDT probes change the VM's structs; only the table has those layouts."""
    release = "27-usdt"


class ProfileMusl(Profile):
    def test_c_library_is_unwound_without_call_frame_information(self):
        """musl has no call-frame information, and memcpy() no size: nearly all native stacks are
        unwound to their end all the same, and memcpy() has a name and Erlang callers."""
        self.assertLessEqual(self.stats["losses"]["native_unwind"], self.stats["samples"] / 100)
        copies = {s: n for s, n in self.stacks.items() if "memcpy" in s}
        self.assertGreater(sum(copies.values()), 10)
        called = beamflame.weight_where(copies, lambda s: any(f.startswith("request:") for f in s))
        self.assertGreater(called / sum(copies.values()), 0.9)


class ProfileMusl25(ProfileMusl, unittest.TestCase):
    release = "25-musl"


class ProfileMusl27(ProfileMusl, unittest.TestCase):
    release = "27-musl"


class ProfileMusl29(ProfileMusl, unittest.TestCase):
    release = "29-musl"


class ProfileDwarf(Profile, unittest.TestCase):
    release = "27-usdt-dwarf"
    layout = "dwarf"

    def test_each_function_of_the_emulator_has_a_name(self):
        """The symbol table names functions that a stripped emulator does not export."""
        nameless = beamflame.weight_where(
            self.stacks, lambda stack: any(f.startswith("beam.smp+0x") for f in stack))
        self.assertEqual(nameless, 0)
