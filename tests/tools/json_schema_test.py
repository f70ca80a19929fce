# SPDX-License-Identifier: Apache-2.0
"""The JSON outputs of recordings in which something is absent or extreme fit the schemas of
docs/schemas, and the schemas have the keys of docs/json.md."""
import json
import re
import subprocess
import unittest

from json_keys_test import documented
from schemas import Lines, ValidationError, schema, validator
from seeds import BINARY, ROOT, SeedCase


class Schemas(SeedCase):
    def test_lines_and_statistics_fit_their_schemas(self):
        lines, statistics = Lines(), validator(schema("stats"))
        types = set()
        for path in self.paths:
            subprocess.run([BINARY, "report", "-q", path, "-o", self.folder / "x.json", "--stats",
                            self.folder / "s.json"], check=True, stdout=subprocess.DEVNULL)
            for text in (self.folder / "x.json").read_text("utf-8").splitlines():
                line = json.loads(text)
                types.add(line["type"])
                with self.subTest(path.name, type=line["type"]):
                    lines.validate(line)
            with self.subTest(path.name, type="statistics"):
                statistics.validate(json.loads((self.folder / "s.json").read_text("utf-8")))
        self.assertEqual(types, set(lines.of))

    def test_schemas_have_the_documented_keys(self):
        keys = documented()
        for name, of in Lines().of.items():
            self.assertEqual(set(of.schema["properties"]) - {"type"}, keys[name] - {"type"}, name)
        stats = schema("stats")
        self.assertEqual(set(stats["properties"]), keys["--stats"])
        docs = (ROOT / "docs" / "json.md").read_text("utf-8")
        losses = docs.partition("### Losses")[2].partition("\n## ")[0]
        self.assertEqual(set(stats["properties"]["losses"]["properties"]),
                         set(re.findall(r"^\| `(\w+)`", losses, re.M)))
        self.assertEqual(set(schema("ps")["items"]["properties"]), keys["ps --json"])
        calls = schema("calls")["properties"]
        self.assertEqual(set(calls), keys["calls --json"])
        self.assertEqual(set(calls["functions"]["items"]["properties"]), keys["functions"])
        self.assertEqual(set(schema("status")["properties"]), keys["ctl status --json"])
        prof = schema("prof")["properties"]
        self.assertEqual(set(prof), keys["prof --format json"])
        table = prof["tables"]["items"]["properties"]
        self.assertEqual(set(table), keys["tables"])
        self.assertEqual(set(table["functions"]["items"]["properties"]), keys["tables[].functions"])

    def test_what_does_not_fit_is_found(self):
        """A key that no document has, a missing one and a wrong type do not fit."""
        line = {"type": "stack", "id": 1, "frame": 2}
        Lines().validate(line)
        for change in ({"more": 1}, {"id": 0}, {"id": "1"}, {"parent": None}):
            with self.assertRaises(ValidationError):
                Lines().validate({**line, **change})
        del line["frame"]
        with self.assertRaises(ValidationError):
            Lines().validate(line)


if __name__ == "__main__":
    unittest.main()
