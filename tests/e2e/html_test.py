# SPDX-License-Identifier: Apache-2.0
"""The page holds what the recording does, to the last digit."""
import json
import shutil
import subprocess
import unittest

import beamflame
import nodes

READER = nodes.ROOT / "tests" / "web" / "sums.js"
METRICS = ("reductions", "msgq", "mbuf", "heap", "stack", "young", "old", "bin_vheap", "minor_gcs",
           "memory", "binaries", "bin_old_vheap")
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
        beamflame.record("report", "-q", cls.recording, "-o", folder / "x.html")
        cls.sums = json.loads(subprocess.run(["node", READER, folder / "x.html"], check=True,
                                             capture_output=True, text=True).stdout)

    def reported(self, event, weight):
        try:
            return sum(beamflame.folded(self.recording, "--event", event, "--weight",
                                        weight).values())
        except AssertionError as error:
            self.assertIn("no sample counts", str(error))
            return 0

    def test_sums(self):
        """Of each event, all values and metrics."""
        for event, values in VALUES.items():
            for weight in {*values, *METRICS}:
                with self.subTest(event=event, weight=weight):
                    of = self.sums[event]["time" if weight == "cpu" else weight]
                    self.assertEqual(of, self.reported(event, weight))
        self.assertGreater(self.sums["cpu"]["reductions"], 0)
        self.assertGreater(self.sums["gc"]["reclaimed"], 0)


if __name__ == "__main__":
    unittest.main()
