# SPDX-License-Identifier: Apache-2.0
"""What the samples of a value of an event add up to, in each format that has numbers."""
import json
import re
import subprocess
import sys

import beamflame
import nodes

sys.path.insert(0, str(nodes.ROOT / "tests" / "tools"))
import protoc  # noqa: E402

WORD, WORDS = 8, ("words", "reclaimed")
PAGE_SUMS = nodes.ROOT / "tests" / "web" / "sums.js"


def folded(path, _event, _value):
    return sum(beamflame.read_folded(path).values())


def json_lines(path, event, value):
    entries = map(json.loads, path.read_text("utf-8").splitlines())
    return sum(entry["values"][value] for entry in entries
               if entry["type"] == "sample" and entry["event"] == event)


def speedscope(path, _event, _value):
    """A stack without frames is a time without samples."""
    profiles = json.loads(path.read_text("utf-8"))["profiles"]
    return sum(weight for profile in profiles
               for stack, weight in zip(profile["samples"], profile["weights"]) if stack)


def callgrind(path, _event, _value):
    return int(re.search(r"^summary: (\d+)$", path.read_text("utf-8"), re.M)[1])


def pprof(path, _event, value):
    """A profile has all values of its event; the asked one is the default, words are bytes."""
    profile = protoc.decode(protoc.PPROF, path.read_bytes())
    types, strings = [of["type"][0] for of in profile["sample_type"]], profile["string_table"]
    at = types.index(profile["default_sample_type"][0])
    unit = strings[profile["sample_type"][at]["unit"][0]]
    return in_unit(value, unit, sum(sample["value"][at] for sample in profile["sample"]))


def otlp(path, _event, value):
    """Each VM has a profile for each value; the asked one is the first."""
    data, total = protoc.decode(protoc.OTLP, path.read_bytes()), 0
    strings = data["dictionary"][0]["string_table"]
    for resource in data["resource_profiles"]:
        profile = resource["scope_profiles"][0]["profiles"][0]
        unit = strings[profile["sample_type"][0]["unit_strindex"][0]]
        total += in_unit(value, unit, sum(sum(sample.get("values", ()))
                                          for sample in profile["samples"]))
    return total


def in_unit(value, unit, total):
    """Return a total in the unit of its value: these formats have no words."""
    return total // WORD if value in WORDS and unit == "bytes" else total


def page(path, event, value):
    done = subprocess.run(["node", PAGE_SUMS, path], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)[event][value]


READERS = {"folded": folded, "json": json_lines, "speedscope": speedscope, "callgrind": callgrind,
           "pprof": pprof, "otlp": otlp, "html": page}


def sums(recording, event, value, *options):
    """Return {format: sum}. Outputs are made beside the recording."""
    found = {}
    for name, read in READERS.items():
        out = recording.with_suffix(f".{name}")
        beamflame.record("report", recording, "-q", "-e", event, "--weight", value, "--idle", *options,
                         "--format", name, "-o", out)
        found[name] = read(out, event, value)
    return found
