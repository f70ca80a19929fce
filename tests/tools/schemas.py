# SPDX-License-Identifier: Apache-2.0
"""Validates JSON by the schemas of docs/schemas."""
import json
import unittest

try:
    from jsonschema import Draft202012Validator, ValidationError
except ImportError:
    raise unittest.SkipTest("python3-jsonschema is not installed")

from seeds import ROOT

__all__ = ["Lines", "ValidationError", "schema", "validator"]
SCHEMAS = ROOT / "docs" / "schemas"


def schema(name):
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))


def validator(of):
    Draft202012Validator.check_schema(of)
    return Draft202012Validator(of)


class Lines:
    """Validates lines of .json files. Each type of line has its own validator, because one of
    all types is slow and its errors do not say which key is wrong."""

    def __init__(self):
        self.of = {one["properties"]["type"]["const"]: validator(one)
                   for one in schema("line")["oneOf"]}

    def validate(self, line):
        self.of[line["type"]].validate(line)
