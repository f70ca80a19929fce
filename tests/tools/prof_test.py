# SPDX-License-Identifier: Apache-2.0
"""Tables of `beamflame prof`: of recordings in which something is absent or extreme, and of a text
with known samples."""
import csv
import io
import json
import re
import subprocess
import unittest
from itertools import product
from pathlib import Path

from names_test import FOREIGN, UNSAFE, fprof
from schemas import schema, validator
from seeds import BINARY, SeedCase

TYPES, PERS = ("time", "memory", "count"), ("total", "process")
NO_SAMPLES, USAGE = 6, 2
SAMPLES = {"lists:map/2": 150, "shop:get, all/1": 60, "Shop.Cart.add/2": 20, "shop:rare/0": 2}


def prof(*arguments):
    return subprocess.run([BINARY, "prof", *map(str, arguments)], capture_output=True, check=False,
                          timeout=20)


def fields(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def text_of(samples):
    """What perf script prints of samples of 10 ms, which a:root/0 calls."""
    names = [name for name, count in samples.items() for _ in range(count)]
    return "".join(f"beam.smp 100/102 [000] {i / 100:.6f}: 10000000 cpu-clock:\n"
                   f"\t7f00 {name} (/tmp/perf-100.map)\n\t7f10 a:root/0 (/tmp/perf-100.map)\n\n"
                   for i, name in enumerate(names))


class Extremes(SeedCase):
    def each(self, form):
        """Yield the text of each table that a recording has; the others are refused in a line."""
        made = 0
        for path, of, per in product(self.paths, TYPES, PERS):
            done = prof(path, "--type", of, "--per", per, "--format", form)
            if done.returncode:
                self.assertEqual((done.returncode, done.stdout), (NO_SAMPLES, b""), done.stderr)
                self.assertRegex(done.stderr.decode("utf-8"), r"\Abeamflame: [^\n]+\n\Z")
                continue
            self.assertEqual(done.stderr, b"")
            made += 1
            with self.subTest(path.name, type=of, per=per):
                yield done.stdout.decode("utf-8")
        self.assertGreater(made, 80)

    def test_text_cannot_change_a_terminal(self):
        for form in ("text", "tprof"):
            for text in self.each(form):
                self.assertIsNone(UNSAFE.search(text), text)

    def test_terms_of_fprof(self):
        """In total there are functions, per process there are processes too."""
        made = 0
        for path, of, per in product(self.paths, ("time", "memory"), PERS):
            done = prof(path, "--type", of, "--per", per, "--format", "fprof")
            if done.returncode:
                self.assertIn(done.returncode, (USAGE, NO_SAMPLES), done.stderr)
                continue
            with self.subTest(path.name, type=of, per=per):
                text = done.stdout.decode("utf-8")
                fprof(text)
                in_total = "true" if per == "total" else "false"
                self.assertIn(f"{{totals, {in_total}}}", text)
                if per == "total":
                    self.assertEqual(text.count("[{ "), 1)
            made += 1
        self.assertGreater(made, 20)

    def test_csv_has_as_many_fields_in_each_row(self):
        for text in self.each("csv"):
            self.assertEqual(text.count("\n"), text.count("\r\n"))
            for row in csv.reader(io.StringIO(text, newline=""), strict=True):
                self.assertEqual(len(row), text.partition("\r\n")[0].count(",") + 1)

    def test_json_fits_its_schema_and_adds_up(self):
        of = validator(schema("prof"))
        for text in self.each("json"):
            found = json.loads(text)
            of.validate(found)
            for table in found["tables"]:
                key = "calls" if found["type"] == "count" else "own"
                rows = sum(row[key] for row in table["functions"])
                if table["sum"] < 2**63:  # larger sums are cut to 64 bits
                    self.assertEqual(rows + table["other"]["sum"], table["sum"])
            if found["sum"] < 2**63:
                self.assertEqual(sum(table["sum"] for table in found["tables"]), found["sum"])

    def test_csv_keeps_a_name_with_quotes_and_commas(self):
        path = self.folder / "files" / FOREIGN
        rows = fields(prof(path, "--type", "count", "--format", "csv").stdout.decode("utf-8"))
        found = json.loads(prof(path, "--type", "count", "--format", "json").stdout)
        names = [row["function"] for row in found["tables"][0]["functions"]]
        self.assertEqual([row["function"] for row in rows if row["function"] != "other"], names)
        self.assertTrue(any('"' in name and "," in name for name in names), names)


class Known(SeedCase):
    """A text with 232 samples of 10 ms."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = cls.folder / "known.perf"
        cls.path.write_text(text_of(SAMPLES), encoding="utf-8")

    def done(self, *arguments):
        done = prof(self.path, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode("utf-8")

    def rows(self, *arguments):
        return fields(self.done("--format", "csv", *arguments))

    def names(self, *arguments):
        return [row["function"] for row in self.rows(*arguments)]

    def test_own_time_is_that_of_the_leaf(self):
        rows = {row["function"]: row for row in self.rows()}
        other = rows.pop("other")
        self.assertEqual({name: int(row["samples"]) for name, row in rows.items()},
                         {name: count for name, count in SAMPLES.items() if count > 2})
        self.assertEqual((other["samples"], other["time_us"]), ("2", "20000.000"))
        self.assertEqual(rows["lists:map/2"]["time_us"], "1500000.000")
        self.assertEqual(sum(float(row["percent"]) for row in (*rows.values(), other)), 100)
        for row in rows.values():
            self.assertGreater(float(row["time_half_us"]), 1.9 * 10000 * int(row["samples"])**0.5)
            self.assertEqual((row["calls"], row["us_per_call"]), ("", ""))

    def test_options_sort_and_cut(self):
        first, second, third = [name for name, count in SAMPLES.items() if count > 2]
        self.assertEqual(self.names(), [first, second, third, "other"])
        self.assertEqual(self.names("--sort", "function"), [third, first, second, "other"])
        self.assertEqual(self.names("--top", 1), [first, "other"])
        self.assertEqual(self.rows("--top", 1)[1]["samples"], "82")

    def test_patterns_select_functions(self):
        for pattern, expected in (("lists:_/_", ["lists:map/2"]), ("Shop.Cart._", ["Shop.Cart.add/2"]),
                                  ("shop:get*/1", ["shop:get, all/1"]),
                                  ("_:_/2", ["lists:map/2", "Shop.Cart.add/2"])):
            self.assertEqual(self.names("--pattern", pattern), [*expected, "other"])

    def test_time_is_selected(self):
        self.assertEqual(self.names("--to", "1"), ["lists:map/2"])

    def test_tables_say_what_is_exact_and_what_is_not(self):
        text = self.done()
        self.assertTrue(text.startswith(
            "TIME of event cpu-clock: from samples, +- is half of the 95 % interval\n"
            "CALLS: not counted for the functions below\n\n"), text)
        self.assertRegex(text, r"(?m)^lists:map/2 +- +1500000 +\+- \d+ +- +64\.66 +150$")
        tprof = self.done("--format", "tprof")
        self.assertTrue(tprof.startswith("TIME of event cpu-clock: from samples\n"
                                         "CALLS: not counted for the functions below\n\n"), tprof)
        self.assertRegex(tprof, r"(?m)^FUNCTION +  CALLS  TIME \(μs\)  PER CALL  \[    %\]$")
        self.assertRegex(tprof, r"(?m)^lists:map/2 +-    1500000         -  \[64\.66\]$")
        self.assertRegex(tprof, r"\n +2320000            \[100\.0\]\n\Z")

    def test_tables_are_written_without_rights(self):
        """By the process that writes outputs: no capability, and a filter of system calls."""
        path = self.folder / "many.perf"
        path.write_text(text_of({f"a_module_with_a_name:function_{i}/1": 10 for i in range(2000)}),
                        encoding="utf-8")
        with subprocess.Popen([BINARY, "prof", path, "--format", "csv"],
                              stdout=subprocess.PIPE) as program:
            self.assertTrue(program.stdout.read(1))  # the rest is more than the pipe holds
            child, = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
            status = dict(re.findall(r"(\w+):\t(.*)", Path(f"/proc/{child}/status").read_text()))
            self.assertEqual(len(program.stdout.readlines()), 2001)
        self.assertEqual((status["Name"], int(status["CapEff"], 16)), ("beamflame-out", 0))
        if "san" not in BINARY.parts:
            self.assertEqual(status["Seccomp"], "2")

    def test_file_is_written_and_packed(self):
        path = self.folder / "x.csv.gz"
        done = prof(self.path, "--format", "csv", "-o", path)
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        unpacked = subprocess.run(["gzip", "-dc", path], capture_output=True, check=True).stdout
        self.assertEqual(unpacked.decode("utf-8"), self.done("--format", "csv"))

    def test_what_a_recording_does_not_have_is_refused(self):
        for arguments, code, message in (
                (("--type", "memory"), NO_SAMPLES, r"the recording has no event 'alloc'; it has: cpu-clock"),
                (("--type", "count"), NO_SAMPLES,
                 r"the recording has no counts of calls: record them with -e call:M:F/A, .*"),
                (("--pattern", "maps:_"), NO_SAMPLES, r"no function of the samples fits --pattern"),
                (("--children", "shop_sup"), NO_SAMPLES,
                 r"the recording does not have the parents of processes: .*"),
                (("--descendants", "shop_sup"), NO_SAMPLES,
                 r"the recording does not have the parents of processes: .*"),
                (("--type", "words"), USAGE, r"--type must be one of time, memory, count, not 'words'"),
                (("--format", "fprof"), USAGE, r"the recording has no event 'cpu'; it has: cpu-clock"),
                (("--format", "fprof", "--type", "count"), USAGE,
                 r"--format fprof has samples, not calls: give --type time or memory"),
                *((("--format", "fprof", *option), USAGE, r"--format fprof has all functions, .*")
                  for option in (("--top", "3"), ("--sort", "calls"), ("--pattern", "maps:_"))),
                (("--top", "0"), USAGE, r"the number of functions must be .*")):
            done = prof(self.path, *arguments)
            self.assertEqual((done.returncode, done.stdout), (code, b""), arguments)
            self.assertTrue(re.match(rf"beamflame: {message}\n", done.stderr.decode()), done.stderr)


if __name__ == "__main__":
    unittest.main()
