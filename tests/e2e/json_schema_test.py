# SPDX-License-Identifier: Apache-2.0
"""The JSON that commands print of live nodes, of a core file and of recordings of them fits the
schemas of docs/schemas (tests/tools/json_schema_test.py has recordings in which something is
absent)."""
import json
import os
import signal
import sys
import unittest
from pathlib import Path

import beamflame
import cores
import nodes

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
from schemas import Lines, schema, validator  # pylint: disable=wrong-import-position

NEEDS = "own nodes"


class Live(unittest.TestCase):
    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)

    def check(self, name, text):
        value = json.loads(text)
        validator(schema(name)).validate(value)
        return value

    def test_dump_and_ps(self):
        """A dump of each release has each section; `ps` has a VM that runs and one that is
        stopped."""
        for release in nodes.RELEASES:
            with self.subTest(release), nodes.Node(release, "sockets") as node:
                dump = self.check("dump", beamflame.record("dump", "--json", "-p", node.pid).stdout)
                for key in ("stacks", "processes", "tables", "memory", "ports", "sockets"):
                    self.assertIn(key, dump)
                grown = beamflame.record("dump", "--json", "-p", node.pid, "--top", "5:+reductions")
                self.check("dump", grown.stdout)
                os.kill(node.pid, signal.SIGSTOP)
                listed = self.check("ps", beamflame.record("ps", "--json").stdout)
                os.kill(node.pid, signal.SIGCONT)
                self.assertIn(node.pid, [vm["pid"] for vm in listed])

    def test_dump_of_a_core(self):
        core = self.out / "core"
        with cores.Node(25, "identity") as node:
            node.core(lambda: os.kill(node.pid, signal.SIGABRT), core)
        dump = self.check("dump", beamflame.record("dump", "--json", "--core", core, "--exe",
                                                   nodes.emulator(25)).stdout)
        self.assertEqual(dump["signal"], signal.SIGABRT)

    def test_recordings(self):
        """A recording of every kind of event and metric."""
        with nodes.Node(27, "storm") as node:
            beamflame.record("-p", node.pid, "-d", 2, "-e", "cpu,wall,gc,alloc,sched,msg",
                             "--node-metrics", "memory,tables,ports", "-o", self.out / "x.json",
                             "--stats", self.out / "s.json")
        self.check("stats", (self.out / "s.json").read_text("utf-8"))
        lines = Lines()
        types = set()
        for number, text in enumerate((self.out / "x.json").read_text("utf-8").splitlines()):
            line = json.loads(text)
            if line["type"] == "sample" and number % 20:
                continue  # thousands are alike
            lines.validate(line)
            types.add(line["type"])
        self.assertEqual(set(lines.of) - types, {"target_life", "mark", "recorded"})


if __name__ == "__main__":
    unittest.main()
