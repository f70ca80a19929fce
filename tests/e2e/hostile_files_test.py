# SPDX-License-Identifier: Apache-2.0
"""Files that try to harm the report command, its reader's terminal or the programs that read its
outputs."""
import json
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

import nodes
from beamflame import BINARY, DONE, NO_SAMPLES, folder

# Three samples of threads whose VM is not known, where there are two VMs.
TWO_TARGETS = """\
a 0/1 [000] 1.000000: 1 cycles:
\t 1 f (/x)

b 20/21 [000] 1.100000: 1 cycles:
\t 1 f (/x)

c 30/31 [000] 1.200000: 1 cycles:
\t 1 f (/x)

"""
# What a terminal or a reader takes for more than text: controls except line ends, bidirectional
# controls, characters that XML forbids.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
                    "\ufffe\uffff\ud800-\udfff]")
SUFFIXES = ("svg", "html", "perf", "folded", "speedscope.json", "callgrind", "pb.gz", "otlp",
            "json", "txt", "bfr")
READABLE = ("svg", "perf", "folded", "speedscope.json", "callgrind", "json", "txt")


def report(*arguments):
    """Return the finished process; it has 20 s."""
    return subprocess.run([BINARY, "report", *map(str, arguments)], capture_output=True, timeout=20,
                          check=False)


def not_a_number(text):
    raise ValueError(f"{text} is no JSON")


class HostileFilesTest(unittest.TestCase):
    def setUp(self):
        self.folder = folder(self.addCleanup)

    def recordings(self):
        """Return recordings in which something is absent or extreme (tests/fuzz/full_profile.h)."""
        seeds = self.folder / "seeds"
        subprocess.run([nodes.BUILD / "tests" / "seeds", seeds], check=True)
        paths = sorted((seeds / "files").glob("*.bfr"))
        self.assertGreater(len(paths), 15)
        return paths

    def check_text(self, data, what):
        """The bytes are UTF-8 without anything that is more than text."""
        found = UNSAFE.search(data.decode("utf-8"))
        self.assertIsNone(found, f"{what}: {found and ascii(found[0])}")

    def check_file(self, path):
        if path.name.endswith(READABLE):
            self.check_text(path.read_bytes(), path.name)
        if path.suffix == ".svg":
            xml.etree.ElementTree.parse(path)
            if shutil.which("xmllint"):
                subprocess.run(["xmllint", "--noout", path], check=True)
        elif path.name.endswith(".speedscope.json"):
            json.loads(path.read_text("utf-8"), parse_constant=not_a_number)
        elif path.suffix == ".json":
            for line in path.read_text("utf-8").splitlines():
                json.loads(line, parse_constant=not_a_number)

    def test_every_format(self):
        """All outputs of extreme recordings are written, and valid."""
        for path in self.recordings():
            for event in ("cpu", "sched"):
                with self.subTest(recording=path.name, event=event):
                    outputs = [self.folder / f"out.{suffix}" for suffix in SUFFIXES]
                    if event == "sched":
                        outputs.append(self.folder / "out.dot")
                    stats = self.folder / "stats.json"
                    arguments = [part for output in outputs for part in ("-o", output)]
                    done = report(path, "--event", event, "--stats", stats, *arguments)
                    if b"49 days" in done.stderr:  # the page shows no more
                        at = arguments.index(self.folder / "out.html")
                        del arguments[at - 1:at + 1]
                        outputs.remove(self.folder / "out.html")
                        done = report(path, "--event", event, "--stats", stats, *arguments)
                    self.assertEqual(done.returncode, DONE, done.stderr)
                    self.check_text(done.stdout + done.stderr, "terminal")
                    json.loads(stats.read_text("utf-8"), parse_constant=not_a_number)
                    for output in outputs:
                        if output.exists():
                            self.check_file(output)
                            output.unlink()

    def test_two_targets_and_none(self):
        """Three samples of perf-script text do not end the program."""
        path = self.folder / "x.perf"
        path.write_text(TWO_TARGETS, "utf-8")
        done = report(path, *(part for suffix in SUFFIXES
                              for part in ("-o", self.folder / f"out.{suffix}")))
        self.assertEqual(done.returncode, DONE, done.stderr)
        names = [profile["name"] for profile in
                 json.loads((self.folder / "out.speedscope.json").read_text("utf-8"))["profiles"]]
        self.assertEqual(names, ["thread a (1)", "thread b (21) of process 20",
                                 "thread c (31) of process 30"])

    def test_nothing(self):
        """A recording without samples is refused with one sentence."""
        path = self.folder / "empty.folded"
        path.write_text("\n", "utf-8")
        done = report(path, "-o", self.folder / "x.svg")
        self.assertNotIn(done.returncode, (DONE, NO_SAMPLES))
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
