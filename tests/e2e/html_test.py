# SPDX-License-Identifier: Apache-2.0
"""The page has exactly the values of the recording."""
import json
import shutil
import subprocess
import unittest

import beamflame
import nodes

NEEDS = "own nodes"
SUMS = nodes.ROOT / "tests" / "web" / "sums.js"
STACKS = nodes.ROOT / "tests" / "web" / "stacks.js"
METRICS = ("reductions", "msgq", "mbuf", "heap", "stack", "young", "old", "bin_vheap", "minor_gcs",
           "memory", "binaries", "bin_old_vheap")
# Choices in a page, and the options that make the same choices.
CHOICES = [
    *(({"event": event, "groupBy": keys}, ["-e", event, "--group-by", ",".join(keys)])
      for event in ("cpu", "wall", "gc")
      for keys in (["name"], ["none"], ["pid"], ["status", "scheduler"], ["node", "label"],
                   ["initial_call", "application"], ["ancestors", "name"], ["memory", "msgq"])),
    *(({"event": event, "weight": weight}, ["-e", event, "--weight", weight])
      for event, weight in (("cpu", "samples"), ("cpu", "cpu"), ("cpu", "reductions"),
                            ("wall", "wall"), ("wall", "memory"), ("wall", "msgq"),
                            ("gc", "reclaimed"), ("gc", "count"), ("gc", "heap"))),
    *(({"event": event, "weight": weight, "change": True, "groupBy": keys},
       ["-e", event, "--weight", weight, "--delta", "--group-by", ",".join(keys)])
      for event, weight in (("cpu", "reductions"), ("wall", "heap"), ("wall", "msgq"),
                            ("gc", "minor_gcs"))
      for keys in (["name"], ["status", "pid"], ["msgq", "memory"])),
    *(({"event": "cpu", **choice}, ["-e", "cpu", *options])
      for choice, options in (
          ({"foldRecursion": True}, ["--fold-recursion"]),
          ({"include": "^lists:"}, ["-I", "^lists:"]),
          ({"exclude": "(gc|beam)[[:alpha:]_.]+"}, ["-X", "(gc|beam)[[:alpha:]_.]+"]),
          ({"include": "/[12]$", "exclude": "^proc_lib"}, ["-I", "/[12]$", "-X", "^proc_lib"]),
          ({"range": {"from": 500, "to": 1540}}, ["--from", "0.5", "--to", "1.54"]))),
    ({"event": "wall", "statuses": [1, 3]}, ["-e", "wall", "--status", "running,waiting"]),
    ({"event": "wall", "statuses": [8]}, ["-e", "wall", "--status", "idle"]),
    ({"event": "wall", "idle": True}, ["-e", "wall", "--idle"]),
]
VALUES = {"cpu": ("cpu",), "wall": ("time", "count"),
          "gc": ("time", "count", "reclaimed", "binaries", "heap-before", "heap-after")}


@nodes.each_release
class Page:
    release = None

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        if not shutil.which("node"):
            raise unittest.SkipTest("there is no Node.js here")
        folder = beamflame.folder(cls.addClassCleanup)
        cls.recording = folder / "x.bfr"
        with nodes.Node(cls.release, "request") as node:
            beamflame.record("-q", "-p", node.pid, "-d", 3, "-e", "cpu,wall,gc",
                             "-o", cls.recording)
        cls.folder = folder
        beamflame.record("report", "-q", cls.recording, "-o", folder / "x.html")
        cls.sums = json.loads(subprocess.run(["node", SUMS, folder / "x.html"], check=True,
                                             capture_output=True, text=True).stdout)

    def reported(self, event, weight):
        try:
            return sum(beamflame.folded(self.recording, "--event", event, "--weight", weight,
                                        "--idle").values())
        except AssertionError as error:
            self.assertIn("no sample counts", str(error))
            return 0

    def test_sums_of_the_page_are_exact(self):
        """The sums of each event are exact, for all values and metrics."""
        for event, values in VALUES.items():
            for weight in {*values, *METRICS}:
                with self.subTest(event=event, weight=weight):
                    of = self.sums[event]["time" if weight == "cpu" else weight]
                    self.assertEqual(of, self.reported(event, weight))
        self.assertGreater(self.sums["cpu"]["reductions"], 0)
        self.assertGreater(self.sums["gc"]["reclaimed"], 0)

    def report(self, options):
        """Return folded stacks, or an empty string if no sample counts."""
        path = self.folder / "y.folded"
        done = beamflame.run("report", "-q", self.recording, *options, "-o", path)
        if done.returncode == beamflame.NO_SAMPLES:
            return ""
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        return path.read_text(encoding="utf-8")

    def test_stacks_of_the_page_are_those_of_report(self):
        """For each choice, the page has the stacks and sums of report."""
        choices = json.dumps([choice for choice, _ in CHOICES])
        pages = json.loads(subprocess.run(["node", STACKS, self.folder / "x.html"], check=True,
                                          capture_output=True, text=True, input=choices).stdout)
        self.assertEqual(len(pages), len(CHOICES))
        for shown, (choice, options) in zip(pages, CHOICES):
            with self.subTest(json.dumps(choice)):
                self.assertEqual(shown, self.report(options))
        self.assertGreater(sum(1 for shown in pages if shown.count("\n") > 5), 20)

    def test_stacks_of_other_formats_keep_their_root_frames(self):
        """A profile from another format has its root frames in its stacks. A sample of perf-script
        has a whole weight of at least 1, so its sums are others."""
        def stacks(text):
            return {line.rpartition(" ")[0] for line in text.splitlines()}

        for suffix in (".perf", ".folded"):
            made, page = self.folder / f"z{suffix}", self.folder / f"z{suffix}.html"
            beamflame.record("report", "-q", self.recording, "-e", "cpu", "-o", made)
            beamflame.record("report", "-q", made, "-o", page)
            shown = subprocess.run(["node", STACKS, page], check=True, capture_output=True,
                                   text=True, input="[{}]").stdout
            with self.subTest(suffix):
                if suffix == ".folded":
                    self.assertEqual(json.loads(shown)[0], self.report(["-e", "cpu"]))
                else:
                    self.assertEqual(stacks(json.loads(shown)[0]),
                                     stacks(self.report(["-e", "cpu", "--weight", "samples"])))


if __name__ == "__main__":
    unittest.main()
