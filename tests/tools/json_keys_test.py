# SPDX-License-Identifier: Apache-2.0
"""The JSON outputs of recordings in which something is absent or extreme have the keys of
docs/json.md, with values of the right types, and no others."""
import json
import re
import subprocess
import unittest

from seeds import BINARY, ROOT, SeedCase

OBJECTS = {"values", "units", "metrics", "sums", "standard_errors", "sure", "losses"}
LISTS = {"ancestors", "histograms", "tallies", "spans_ns", "readings"}
FLAGS = {"erlang", "complete", "truncated", "no_leaf", "named", "same_hit", "unresolved",
         "cut"}
TEXTS = {"type", "beamflame", "sampled_by", "hostname", "kernel", "command", "trigger", "node",
         "otp_release", "erts", "flavor", "executable", "container", "layout", "label",
         "initial_call", "application", "parent", "path", "build_id", "symbol", "kind", "file",
         "address", "event", "metric", "unit", "of", "status", "activity", "detail", "microstate",
         "scheduler", "name", "trace_id", "span_id"}
# Keys with a number or a text in one type of object, and another value elsewhere.
NUMBERS = {("stack", "parent")}
TEXTS_THERE = {("node_metric", "id")}


def documented():
    """Return the keys by type of object: of a line, and "--stats"."""
    keys, types = {}, []
    for line in (ROOT / "docs" / "json.md").read_text("utf-8").splitlines():
        if line.startswith("#"):
            types = re.findall(r"`([^`]+)`", line)
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| `"):
            continue
        of_types = types
        if len(types) > 1:  # the first column has the type
            of_types, cells = re.findall(r"`(\w+)`", cells[0]), cells[1:]
        for name in of_types:
            keys.setdefault(name, set()).update(re.findall(r"`(\w+)`", cells[0]))
    return keys


def type_of(kind, key):
    if (kind, key) in NUMBERS:
        return int
    if (kind, key) in TEXTS_THERE:
        return str
    for keys, expected in ((OBJECTS, dict), (LISTS, list), (FLAGS, bool), (TEXTS, str)):
        if key in keys:
            return expected
    return (int, str) if key == "pid" else int


class Keys(SeedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = cls.folder
        cls.lines, cls.statistics = [], []
        for path in cls.paths:
            subprocess.run([BINARY, "report", "-q", path, "-o", folder / "x.json",
                            "--stats", folder / "s.json"], check=True, stdout=subprocess.DEVNULL)
            cls.lines += [json.loads(line) for line in
                          (folder / "x.json").read_text("utf-8").splitlines()]
            cls.statistics.append(json.loads((folder / "s.json").read_text("utf-8")))
        cls.keys = documented()

    def test_lines_have_the_documented_keys(self):
        for line in self.lines:
            extra = set(line) - self.keys.get(line["type"], set()) - {"type"}
            self.assertFalse(extra, line)

    def test_documented_keys_of_lines_are_written(self):
        """A flag that is false in all of these recordings is not."""
        for kind in sorted({line["type"] for line in self.lines}):
            written = set().union(*(line for line in self.lines if line["type"] == kind))
            self.assertFalse(self.keys[kind] - written - FLAGS, kind)

    def test_values_have_their_types(self):
        for line in self.lines:
            for key, value in line.items():
                self.assertIsInstance(value, type_of(line["type"], key), (key, line))
                self.assertTrue(value is not True or key in FLAGS, (key, line))

    def test_references_are_to_entries(self):
        """Ids are from 1; 0, which means none, is not written."""
        for line in self.lines:
            for key in ("id", "target", "process", "peer", "thread", "module", "frame", "stack"):
                self.assertNotEqual(line.get(key), 0, line)

    def test_statistics_have_the_documented_keys(self):
        for statistics in self.statistics:
            self.assertFalse(set(statistics) - self.keys["--stats"])
            for name, kind in (("targets", "targets"), ("microstates", "microstates")):
                for entry in statistics.get(name, []):
                    self.assertFalse(set(entry) - self.keys[kind], entry)
            for event in statistics.get("events", {}).values():
                self.assertFalse(set(event) - self.keys["events"], event)


if __name__ == "__main__":
    unittest.main()
