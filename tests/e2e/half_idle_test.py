# SPDX-License-Identifier: Apache-2.0
"""On a node that is half idle, samples stand for other times than a period of the clock. In each output
they add up to the CPU time of the node all the same."""
import contextlib
import json
import math
import re
import shutil
import subprocess
import unittest

import beamflame
import nodes
import otlp_test
import output_sums
import pprof_test

HZ = 999
ALLOWED = 0.02  # part of the CPU time that an output may lack, or have too much
LOADS = ("sleep=1", "sleep=10")  # options of load halfidle
PERIOD = 1000000000 // HZ  # ns
STACKS = nodes.ROOT / "tests" / "web" / "stacks.js"


def ns_of_svg(path):
    root = re.search(r"<title>all \(([\d,]+) samples, 100.00%\)", path.read_text("utf-8"))
    return int(root[1].replace(",", "")) * PERIOD


def ns_of_page(path):
    shown = subprocess.run(["node", STACKS, path], check=True, capture_output=True, text=True,
                           input="[{}]").stdout
    lines = json.loads(shown)[0].splitlines()
    return sum(int(line.rpartition(" ")[2]) for line in lines) * PERIOD


def ns_of_otlp(path):
    """Receivers multiply the samples by the period."""
    resource, = otlp_test.decoded(path.read_bytes())["resource_profiles"]
    profile, = resource["scope_profiles"][0]["profiles"]
    return sum(sample["values"][0] for sample in profile["samples"]) * profile["period"][0]


def ns_of_speedscope(path):
    return output_sums.speedscope(path, "cpu", "time")


def times_of_json(path):
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    return [line["values"]["time"] for line in lines if line["type"] == "sample"]


def ns_of_json(path):
    return sum(times_of_json(path))


def ns_of_callgrind(path):
    return int(re.search(r"^summary: (\d+)$", path.read_text("utf-8"), re.M)[1])


def ns_of_folded(path):
    return sum(beamflame.read_folded(path).values()) * PERIOD


OUTPUTS = {"folded": ns_of_folded, "svg": ns_of_svg, "html": ns_of_page, "otlp": ns_of_otlp,
           "speedscope.json": ns_of_speedscope, "json": ns_of_json, "callgrind": ns_of_callgrind}


@nodes.each_release
class HalfIdle:
    release = None

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        for program in ("node", "go", "protoc"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"{program} is not installed (tools/install-deps test)")
        folder = beamflame.folder(cls.addClassCleanup)
        cls.folders, cls.cpu_ns = {}, {}
        with contextlib.ExitStack() as running:
            recorders = [cls.record(running, folder, load) for load in LOADS]
            for recorder in recorders:
                _, said = recorder.communicate(timeout=60)
                assert recorder.returncode == beamflame.DONE, said
        for load in LOADS:
            told = json.loads((folder / load / "stats").read_text("utf-8"))
            cls.cpu_ns[load] = told["cpu_accounted_ms"] * 1e6

    @classmethod
    def record(cls, running, folder, load):
        """Start a node with the load, and a recording of it."""
        cls.folders[load] = folder / load
        (folder / load).mkdir()
        paths = [folder / load / f"x.{suffix}" for suffix in (*OUTPUTS, "pb")]
        node = running.enter_context(nodes.Node(cls.release, "halfidle", load))
        return beamflame.start("-q", "-p", node.pid, "-F", HZ, "-d", 4, "--stats",
                               folder / load / "stats",
                               *(word for path in paths for word in ("-o", path)))

    def test_samples_have_parts_of_a_period(self):
        """Rounded to whole periods, they change by more of the CPU time than the other tests allow,
        else the loads prove nothing. Such changes can cancel by chance, so they are summed without
        their signs."""
        for load in LOADS:
            times = times_of_json(self.folders[load] / "x.json")
            changes = sum(abs(max(1, math.floor(time / PERIOD + 0.5)) * PERIOD - time)
                          for time in times)
            self.assertGreater(changes / self.cpu_ns[load], 1.5 * ALLOWED, load)

    def test_each_output_adds_up_to_the_cpu_time(self):
        for load in LOADS:
            for suffix, ns_of in OUTPUTS.items():
                with self.subTest(suffix, load=load):
                    ns = ns_of(self.folders[load] / f"x.{suffix}")
                    self.assertAlmostEqual(ns / self.cpu_ns[load], 1, delta=ALLOWED)

    def test_both_values_of_pprof_add_up_to_the_cpu_time(self):
        for load in LOADS:
            raw = pprof_test.Raw(self.folders[load] / "x.pb")
            for value, unit in enumerate((PERIOD, 1)):
                total = sum(raw.folded(value).values()) * unit
                self.assertAlmostEqual(total / self.cpu_ns[load], 1, delta=ALLOWED)


if __name__ == "__main__":
    unittest.main()
