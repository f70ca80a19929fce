# SPDX-License-Identifier: Apache-2.0
"""Services accept the profiles of real nodes, and show each event by the name that they know: all
events, weights and labels, by the rules of tests/tools/profile_rules.py."""
import json
import sys
import unittest
from collections import Counter

import beamflame
import nodes
from pprof_test import pprof

sys.path.insert(0, str(nodes.ROOT / "tests" / "tools"))
import profile_rules as rules  # noqa: E402
import protoc  # noqa: E402

NEEDS = "own nodes"
BIF = "bif:erlang:phash2/1"
EVENTS = ("cpu", "wall", "gc", "alloc", "sched", "msg", BIF)
WEIGHTS = {
    "cpu": ("cpu", "samples", "memory", "msgq", "reductions"),
    "wall": ("wall", "samples", "heap"),
    "gc": ("time", "count", "reclaimed", "binaries", "heap-before", "heap-after", "stack"),
    "alloc": ("words", "count", "binaries", "old"),
    "sched": ("wait", "delay", "count", "long", "bin_vheap"),
    "msg": ("count", "words", "delay", "received", "signals", "mbuf"),
    BIF: ("time", "count", "young"),
}
# The names of docs/backends.md: {event: (__name__ where it is pushed, {"type:unit"}, period)}.
TYPES = {
    "cpu": ("process_cpu", {"samples:count", "cpu:nanoseconds"}, "cpu:nanoseconds"),
    "wall": ("wall", {"samples:count", "wall:nanoseconds", "count:count"}, "wall:nanoseconds"),
    "gc": ("gc", {"samples:count", "time:nanoseconds", "count:count", "reclaimed:bytes",
                  "binaries:bytes"}, "gc:count"),
    "alloc": ("memory", {"samples:count", "alloc_space:bytes", "count:count", "binaries:bytes"},
              "space:bytes"),
    "sched": ("block", {"samples:count", "delay:nanoseconds", "run_queue:nanoseconds",
                        "count:count", "long:nanoseconds"}, "contentions:count"),
    "msg": ("msg", {"samples:count", "count:count", "copied:bytes", "delay:nanoseconds",
                    "received:count", "signals:count"}, "msg:count"),
    BIF: ("bif_erlang_phash2_1", {"samples:count", "time:nanoseconds", "count:count"},
          "bif_erlang_phash2_1:count"),
}
# What the pages of Pyroscope and Parca have a name of their own for.
KNOWN = {"process_cpu:cpu:nanoseconds:cpu:nanoseconds",
         "process_cpu:samples:count:cpu:nanoseconds", "wall:wall:nanoseconds:wall:nanoseconds",
         "memory:alloc_space:bytes:space:bytes", "block:delay:nanoseconds:contentions:count"}


@nodes.each_release
class Backends:
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        try:
            protoc.run("encode", protoc.PPROF, b"")
        except FileNotFoundError as error:
            raise unittest.SkipTest(str(error)) from error
        cls.folder = beamflame.folder(cls.addClassCleanup)
        cls.recording = cls.folder / "x.bfr"
        with nodes.Node(cls.release, "request") as node:
            beamflame.record("-p", node.pid, "-d", 5, "--budget", "20", "-e", ",".join(EVENTS),
                             "-o", cls.recording)
        cls.present = [event for event in EVENTS if cls.report(event)]

    @classmethod
    def report(cls, event, *options):
        """Return the profiles of an event as (pprof, otlp); None if it has no samples."""
        made = [cls.folder / "y.pb", cls.folder / "y.otlp"]
        done = beamflame.run("report", cls.recording, "-q", "-e", event, *options,
                             *(part for path in made for part in ("-o", path)))
        if done.returncode == beamflame.NO_SAMPLES:
            return None
        if done.returncode:
            raise AssertionError(done.stderr)
        return [path.read_bytes() for path in made]

    def check(self, event, *options, kind=None, pushed=False):
        made = self.report(event, *options)
        if not made:
            return
        with self.subTest(event=event, options=options):
            self.assertEqual(rules.pprof_findings(made[0], pushed), [])
            self.assertEqual(rules.otlp_findings(made[1], kind, pushed), [])

    def test_recording_has_samples_of_the_events(self):
        self.assertLessEqual({"cpu", "wall", "gc", "alloc", "sched", "msg"}, set(self.present))

    def test_files_and_pushed_profiles_are_accepted(self):
        """With labels, without (as they are pushed), with times, and with other root frames."""
        for event in self.present:
            self.check(event, kind=event)
            self.check(event, "--labels", "none", kind=event, pushed=True)
            self.check(event, "--timestamps", "--labels", "none", kind=event)
            self.check(event, "--timestamps", "--group-by", "scheduler,application,pid")

    def test_each_weight_is_accepted(self):
        """Also a level, a metric, and the change of a metric."""
        for event in self.present:
            for weight in WEIGHTS[event]:
                self.check(event, "--weight", weight)
            self.check(event, "--weight", "memory", "--delta")

    def test_types_are_those_of_the_document(self):
        """Both formats have them; the pages of services know five of them."""
        seen = set()
        for event in self.present:
            name, types, period = TYPES[event]
            pprof_data, otlp_data = self.report(event)
            message = protoc.decode(protoc.PPROF, pprof_data)
            texts = message["string_table"]

            def of_pprof(part):
                return f"{texts[part['type'][0]]}:{texts[part['unit'][0]]}"

            self.assertEqual({of_pprof(part) for part in message["sample_type"]}, types)
            self.assertEqual(of_pprof(message["period_type"][0]), period)
            seen |= {f"{name}:{kind}:{period}" for kind in types}
            message = protoc.decode(protoc.OTLP, otlp_data)
            strings = message["dictionary"][0]["string_table"]
            for profile in message["resource_profiles"][0]["scope_profiles"][0]["profiles"]:
                kind, of = ([strings[part[f"{field}_strindex"][0]] for field in ("type", "unit")]
                            for part in (profile["sample_type"][0], profile["period_type"][0]))
                self.assertIn(":".join(kind), types)
                self.assertEqual(":".join(of), period)
        self.assertLessEqual(KNOWN, seen)

    def test_words_are_written_as_bytes(self):
        words = sum(beamflame.folded(self.recording, "-e", "alloc").values())
        message = protoc.decode(protoc.PPROF, self.report("alloc")[0])
        texts = message["string_table"]
        index = [texts[part["type"][0]] for part in message["sample_type"]].index("alloc_space")
        self.assertGreater(words, 1000)
        self.assertEqual(sum(sample["value"][index] for sample in message["sample"]), 8 * words)

    def test_profiles_without_labels_have_the_same_sums(self):
        """Each stack has the sum of all processes that have it."""
        sums = []
        for options in ((), ("--labels", "none")):
            message = protoc.decode(protoc.PPROF, self.report("cpu", *options)[0])
            texts, by_stack = message["string_table"], Counter()
            for sample in message["sample"]:
                names = tuple(texts[message["function"][message["location"][number - 1]["line"][0]
                                                        ["function_id"][0] - 1]["name"][0]]
                              for number in sample["location_id"])
                by_stack[names] += sample["value"][1]
            sums.append((by_stack, len(message["sample"])))
        self.assertEqual(sums[0][0], sums[1][0])
        self.assertLess(sums[1][1], sums[0][1])

    def cpu_samples(self, *options):
        """Return the samples of the profile of CPU time."""
        message = protoc.decode(protoc.OTLP, self.report("cpu", *options)[1])
        return message["resource_profiles"][0]["scope_profiles"][0]["profiles"][0]["samples"]

    def test_times_are_those_of_the_samples(self):
        """Each sample has its own time, in order of time within a stack. Numbers of samples are
        rounded, so that they add up: a sample that stands for little time can have none."""
        timed, plain = self.cpu_samples("--timestamps"), self.cpu_samples()
        lines = beamflame.record("report", self.recording, "-q", "-e", "cpu", "--format", "json",
                                 "-o", "-").stdout.splitlines()
        samples = sum(json.loads(line)["type"] == "sample" for line in lines)
        self.assertLessEqual(len(timed), samples)
        self.assertGreater(len(timed), samples * 0.8)
        self.assertAlmostEqual(sum(sample["values"][0] for sample in timed),
                               sum(sample["values"][0] for sample in plain), delta=1)
        times = [sample["timestamps_unix_nano"][0] for sample in timed]
        self.assertGreater(len(set(times)), len(timed) * 0.9)

    def test_go_reads_each_event(self):
        for event in self.present:
            (self.folder / "go.pb").write_bytes(self.report(event, "--labels", "none")[0])
            said = pprof("-top", self.folder / "go.pb")
            self.assertIn("flat%", said)


if __name__ == "__main__":
    unittest.main()
