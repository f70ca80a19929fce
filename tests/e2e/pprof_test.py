# SPDX-License-Identifier: Apache-2.0
"""pprof's format as `go tool pprof` reads it: sums, labels, files, lines and build ids."""
import os
import re
import shutil
import subprocess
import unittest
from collections import Counter

import beamflame
import nodes

NEEDS = "own nodes"
PERIOD = 1000000000 // 499  # ns
SAMPLE = re.compile(r"^ +(\d+) +(\d+): ((?:\d+ )*)$")
LABEL = re.compile(r"(\w+):\[(.*?)\](?= \w+:\[|$)")
LOCATION = re.compile(r"^ +(\d+): 0x[0-9a-f]+ (?:M=(\d+) )?(.*) (\S*):(\d+) s=\d+$")
MAPPING = re.compile(r"^(\d+): 0x0/0x0/0x0 (\S+) ([0-9a-f]*) \[FN\]$")


def pprof(*arguments):
    """Return the output of `go tool pprof`; skip the test if it is missing."""
    if not shutil.which("go"):
        raise unittest.SkipTest("go is not installed (tools/install-deps test)")
    environment = dict(os.environ, PPROF_TMPDIR="/nonexistent", PPROF_BINARY_PATH="/nonexistent")
    done = subprocess.run(["go", "tool", "pprof", *map(str, arguments)], capture_output=True,
                          text=True, timeout=60, env=environment)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


class Raw:
    """The output of `pprof -raw`, as samples, locations and mappings."""

    def __init__(self, path):
        self.text = pprof("-raw", path)
        self.samples, self.locations, self.mappings = [], {}, {}
        for line in self.text.splitlines():
            sample, location = SAMPLE.match(line), LOCATION.match(line)
            mapping = MAPPING.match(line)
            if sample:
                ids = tuple(map(int, sample[3].split()))
                self.samples.append([int(sample[1]), int(sample[2]), ids, {}])
            elif location:
                self.locations[int(location[1])] = location.groups()[1:]
            elif mapping:
                self.mappings[int(mapping[1])] = mapping.groups()[1:]
            elif line.startswith(" " * 8) and self.samples:
                self.samples[-1][3] = dict(LABEL.findall(line.strip()))

    def stack(self, ids):
        """Return the stack root first, as in the folded form."""
        return tuple(self.locations[i][1] for i in reversed(ids))

    def folded(self, value):
        """Return {stack: sum of a value}; value 0 is samples, 1 is time."""
        sums = {}
        for sample in self.samples:
            stack = self.stack(sample[2])
            sums[stack] = sums.get(stack, 0) + sample[value]
        return sums


class Pprof(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.folder = beamflame.folder(cls.addClassCleanup)
        cls.recording = cls.folder / "x.bfr"
        with nodes.Node(27, "families") as node:
            beamflame.record("-p", node.pid, "-d", 4, "-F", 499, "-e", "cpu,gc",
                             "-o", cls.recording, "-o", cls.folder / "direct.pb.gz")
            notes = subprocess.run(["readelf", "-n", f"/proc/{node.pid}/exe"], text=True,
                                   capture_output=True, check=True).stdout
            cls.build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
        beamflame.record("report", cls.recording, "-o", cls.folder / "x.pb.gz",
                         "-o", cls.folder / "y.pb")
        cls.raw = Raw(cls.folder / "x.cpu.pb.gz")

    def test_stacks_have_the_sums_of_the_folded_form(self):
        """Each stack has the time of the folded form, and a number of samples that is this time in
        periods, also where a late tick counts several. Numbers are rounded in the order of samples,
        so that of a stack may differ by less than 1 for each of its samples; their sum is exact."""
        folded = beamflame.folded(self.recording, "--event", "cpu", "--weight", "cpu")
        self.assertEqual(self.raw.folded(1), folded)
        self.assertGreater(sum(folded.values()), 100 * PERIOD)
        parts = Counter(self.raw.stack(sample[2]) for sample in self.raw.samples)
        for stack, count in self.raw.folded(0).items():
            self.assertAlmostEqual(count, folded[stack] / PERIOD, delta=parts[stack])
        self.assertEqual(sum(self.raw.folded(0).values()),
                         sum(beamflame.folded(self.recording, "--event", "cpu").values()))

    def test_total_is_shown_and_time_is_the_default(self):
        total = sum(self.raw.folded(1).values())
        said = pprof("-top", self.folder / "x.cpu.pb.gz")
        self.assertIn("Type: cpu\n", said)
        number, unit = re.search(r"Total samples = ?([\d.]+)(m?s)", said).groups()
        seconds = float(number) / (1000 if unit == "ms" else 1)
        self.assertAlmostEqual(seconds, total / 1e9, delta=0.01)
        self.assertRegex(said, r"% +families:burn/1\n")
        self.assertIn(f"Build ID: {self.build_id}\n", said)
        peek = pprof("-peek", "^families:burn/1$", self.folder / "x.cpu.pb.gz")
        self.assertRegex(peek, r"\| +families:burn/0\n")

    def test_labels_are_those_of_root_frames(self):
        by_pid = {}
        for _, time, _, labels in self.raw.samples:
            if "pid" in labels:
                by_pid[labels["pid"]] = by_pid.get(labels["pid"], 0) + time
        shown = beamflame.folded(self.recording, "--event", "cpu", "--weight", "cpu",
                                 "--group-by", "pid")
        expected = {}
        for stack, count in shown.items():
            if stack[0].endswith(">"):
                pid = stack[0].split()[-1]
                expected[pid] = expected.get(pid, 0) + count
        self.assertEqual(by_pid, expected)
        for _, _, ids, labels in self.raw.samples:
            if "name" in labels:
                self.assertEqual(labels["name"], self.raw.stack(ids)[0])
                self.assertIn(labels["status"], ("running", "garbage_collecting", "runnable",
                                                 "exiting", *beamflame.WAITING))
            self.assertRegex(labels["scheduler"], r"^\[(scheduler|thread|dirty)")

    def test_code_has_lines_and_files_have_build_ids(self):
        """Erlang code has lines; the executable and other files have their build ids."""
        path, build_id = self.raw.mappings[1]
        self.assertEqual((os.path.basename(path), build_id), ("beam.smp", self.build_id))
        self.assertIn("1", {mapping for mapping, _, _, _ in self.raw.locations.values()})
        places = {(mapping, os.path.basename(path), int(line))
                  for mapping, symbol, path, line in self.raw.locations.values()
                  if symbol == "families:burn/1" and path}
        self.assertTrue(places)
        source = (nodes.LOADS / "families.erl").read_text().splitlines()
        for mapping, path, line in places:
            self.assertEqual((mapping, path), (None, "families.erl"))
            if line:  # the first instructions of a function have none
                self.assertIn("burn(", "".join(source[line - 3:line]))
        self.assertTrue(any(line for _, _, line in places))

    def test_recording_and_report_write_the_same(self):
        """The outputs of a recording and of report, compressed and uncompressed, have the same
        content."""
        first = (self.folder / "x.cpu.pb.gz").read_bytes()
        self.assertEqual(first[:2], b"\x1f\x8b")
        self.assertNotEqual((self.folder / "y.cpu.pb").read_bytes()[:2], b"\x1f\x8b")
        for name in ("direct.cpu.pb.gz", "y.cpu.pb"):
            self.assertEqual(Raw(self.folder / name).text, self.raw.text)
        gc = pprof("-raw", self.folder / "x.gc.pb.gz")
        self.assertIn("samples/count time/nanoseconds[dflt] count/count reclaimed/bytes "
                      "binaries/bytes\n", gc)

    def test_several_events_are_refused_for_one_file(self):
        """Several events do not fit into one file; a pipe takes one event."""
        done = beamflame.run("report", self.recording, "--format", "pprof", "-o", "-")
        self.assertEqual(done.returncode, beamflame.USAGE)
        self.assertIn("several events", done.stderr)
