#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that services accept a profile, and show all of it: Pyroscope, Parca, Elastic, profcheck.

usage: profile_rules.py FILE...      (.pb, .pb.gz, .otlp, .otlp.gz; exit 0: nothing found;
                                      1: findings; 2: usage)

Each finding names who refuses or mangles the profile. The rules are those of these sources:

    pyroscope  pkg/validation/validate.go, limits.go (defaults), pkg/pprof/pprof.go,
               pkg/ingester/otlp/convert.go, v2.2.0
    parca      pkg/normalizer/validate.go, normalizer.go, otel.go, v0.28.0
    profcheck  profcheck/check.go of open-telemetry/sig-profiling at d2ab6d5
    elastic    exporter/elasticsearchexporter/.../serializeprofiles/transform.go of
               opentelemetry-collector-contrib at 01d8b1c1f4c7
    spec       proto/opentelemetry/.../profiles.proto; semantic conventions v1.44.0
    pprof      proto/pprof/profile.proto; CheckValid of github.com/google/pprof
"""
import gzip
import re
import sys
from collections import Counter
from pathlib import Path

from protoc import OTLP, PPROF, Refused, decode

DEPTH, SAMPLES, BYTES = 1000, 16000, 4 << 20
NAME_BYTES, VALUE_BYTES, SYMBOL_BYTES = 1024, 2048, 65535
LABELS_OF_SAMPLE, LABELS_OF_SERIES = 100, 30
# __name__, __delta__, __otel__ and service_name are added to those of the profile.
LABELS_ADDED = 4
LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*\Z")
TYPE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
UNITS = ("count", "nanoseconds", "bytes")
FRAME_TYPES = {"beam", "native", "kernel"}
RESOURCE_KEYS = {
    "service.name", "service.instance.id", "service.version", "deployment.environment.name",
    "k8s.namespace.name", "k8s.pod.name", "k8s.container.name", "host.name", "host.arch", "os.type", "process.pid",
    "process.executable.name", "process.executable.path", "process.runtime.name",
    "process.runtime.version", "process.runtime.description", "container.id",
    "telemetry.distro.name", "telemetry.distro.version"}


def one(message, field, default=0):
    """Return the value of a field that is not repeated."""
    return message.get(field, [default])[-1]


def is_utf8(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Rules:
    """Findings about one file. Each kind is found once."""

    def __init__(self, message, size):
        self.message = message
        self.size = size
        self.findings = []

    def check(self, who, condition, text):
        finding = f"{who}: {text}"
        if not condition and finding not in self.findings:
            self.findings.append(finding)
        return condition

    def text(self, index):
        inside = self.check("pyroscope parca profcheck", 0 <= index < len(self.strings),
                            "a text is not in the table")
        return self.strings[index] if inside else ""

    def check_strings(self, strings):
        self.strings = strings or [""]
        self.check("pyroscope parca profcheck", strings and strings[0] == "",
                   "the first text is not empty")
        self.check("pyroscope", all(map(is_utf8, strings)), "a text is not UTF-8")
        self.check("pyroscope", all(len(text.encode(errors="replace")) <= SYMBOL_BYTES
                                    for text in strings), "a text is cut at its beginning")
        self.check("profcheck", len(set(strings)) == len(strings), "a text is there twice")

    def check_type(self, who, message, field):
        """Check a type of values or of the period, and return "type/unit"."""
        if not self.check(who, field in message, f"no {field}"):
            return ""
        types = [self.type_of(part) for part in message[field]]
        for name, unit in types:
            self.check("pyroscope", "-" not in name, f"{field} contains -")
            self.check("pyroscope", TYPE.match(name), f"{field} is no name in its queries")
            self.check("spec", unit in UNITS, f"{field} has the unit {unit}")
        self.check("pyroscope", len(set(types)) == len(types), f"{field} is there twice")
        return "/".join(types[0])

    def check_label(self, key, value):
        self.check("pyroscope parca", LABEL.match(key), f"bad name of a label: {key}")
        self.check("pyroscope", len(key) <= NAME_BYTES, "the name of a label is too long")
        self.check("pyroscope", len(value.encode(errors="replace")) <= VALUE_BYTES,
                   "a label is too long")

    def check_labels(self, labels):
        """Check the text labels of a sample: [(key, value)]."""
        for key, value in labels:
            self.check_label(key, value)
        keys = [key.replace(".", "_") for key, _ in labels]
        self.check("pyroscope profcheck", len(set(keys)) == len(keys), "a label is there twice")
        self.check("pyroscope", len(labels) <= LABELS_OF_SAMPLE, "a sample has too many labels")

    def check_stack(self, locations):
        self.check("pyroscope", len(locations) <= DEPTH, "a stack is too deep: its leaf is cut")

    def check_size(self, samples):
        self.check("pyroscope", samples <= SAMPLES, "too many samples")
        self.check("pyroscope", self.size <= BYTES, "too many bytes")


class Pprof(Rules):
    def type_of(self, message):
        return self.text(one(message, "type")), self.text(one(message, "unit"))

    def run(self, pushed):
        message = self.message
        self.check_strings(message.get("string_table", []))
        self.check_type("pyroscope", message, "sample_type")
        self.check_type("parca", message, "period_type")
        names = {self.type_of(part)[0] for part in message.get("sample_type", [])}
        self.check("pprof", self.text(one(message, "default_sample_type")) in names,
                   "the default type is none of the types")
        self.check("pprof", one(message, "period") > 0, "no period")
        self.check("pyroscope", one(message, "time_nanos") > 0, "no time: it takes its own")
        self.check("parca", one(message, "duration_nanos") > 0, "no duration: it is no delta")
        for table in ("mapping", "function", "location"):
            ids = [one(entry, "id") for entry in message.get(table, [])]
            self.check("pyroscope", 0 not in ids, f"an id of a {table} is 0")
            self.check("parca", ids == list(range(1, len(ids) + 1)),
                       f"ids of the {table}s are not 1, 2, 3...")
        self.check_code()
        for sample in message.get("sample", []):
            self.check_sample(sample)
        if pushed:
            self.check_size(len(message.get("sample", [])))
            self.check("pyroscope", not self.series() - {()}, "labels of samples make series")

    def check_code(self):
        message = self.message
        for entry in message.get("mapping", []):
            self.text(one(entry, "filename"))
            self.text(one(entry, "build_id"))
            start, limit = one(entry, "memory_start"), one(entry, "memory_limit")
            self.check("pprof", start < limit or start == limit == 0, "a mapping has no size")
            self.check("pprof", one(entry, "has_functions", False) or limit,
                       "readers look for functions in a mapping without addresses")
        for entry in message.get("function", []):
            self.check("pprof", self.text(one(entry, "name")), "a function has no name")
            self.text(one(entry, "system_name"))
            self.text(one(entry, "filename"))
        for entry in message.get("location", []):
            self.check("parca", 0 <= one(entry, "mapping_id") <= len(message.get("mapping", [])),
                       "a mapping is not in the table")
            self.check("pyroscope", entry.get("line"), "a location has no function")
            for line in entry.get("line", []):
                self.check("pyroscope parca", 0 < one(line, "function_id") <=
                           len(message.get("function", [])), "a function is not in the table")

    def labels(self, sample):
        return [(self.text(one(label, "key")), self.text(one(label, "str")))
                for label in sample.get("label", []) if one(label, "str")]

    def check_sample(self, sample):
        values, locations = sample.get("value", []), sample.get("location_id", [])
        self.check("pyroscope parca", len(values) == len(self.message.get("sample_type", [])),
                   "a sample has not one value for each type")
        self.check("pyroscope", all(value >= 0 for value in values), "a value is negative")
        self.check("pyroscope", any(values), "a sample has no value")
        self.check("pyroscope parca", all(0 < location <= len(self.message.get("location", []))
                                          for location in locations),
                   "a location is not in the table")
        self.check("parca", all(one(label, "key") for label in sample.get("label", [])),
                   "a label has no name")
        self.check_labels(self.labels(sample))
        self.check_stack(locations)

    def series(self):
        """Return the sets of text labels: Pyroscope makes a series of each, without the ids of
        spans (docs/backends.md)."""
        return {tuple(sorted(label for label in self.labels(sample)
                             if label[0] not in ("trace_id", "span_id")))
                for sample in self.message.get("sample", [])}


class Otlp(Rules):
    TABLES = {"mapping_table": "mapping", "location_table": "location",
              "function_table": "function", "attribute_table": "attribute", "stack_table": "stack",
              "link_table": "link", "string_table": "text"}

    def type_of(self, message):
        return self.text(one(message, "type_strindex")), self.text(one(message, "unit_strindex"))

    def run(self, event, pushed):
        self.table = one(self.message, "dictionary", {})
        self.check("pyroscope parca", self.table, "no dictionary")
        self.used = {table: {0} for table in self.TABLES}
        self.check_strings(self.table.get("string_table", []))
        self.check_dictionary()
        resources = self.message.get("resource_profiles", [])
        self.check("parca profcheck", resources, "no resource")
        for resource in resources:
            self.check_resource(resource, event, pushed)
        for table, kind in self.TABLES.items():
            self.check("profcheck", self.used[table] >= set(range(len(self.table.get(table, [])))),
                       f"nothing refers to a {kind}")

    def text(self, index):
        self.used["string_table"].add(index)
        return super().text(index)

    def refer(self, table, index):
        self.used[table].add(index)
        known = self.table.get(table, [])
        inside = self.check("pyroscope parca profcheck", 0 <= index < len(known),
                            f"a {self.TABLES[table]} is not in the table")
        return known[index] if inside else {}

    def attributes(self, message):
        pairs = []
        for index in message.get("attribute_indices", []):
            attribute = self.refer("attribute_table", index)
            value = one(attribute, "value", {})
            pairs.append((self.text(one(attribute, "key_strindex")),
                          next(iter(value.values()), [None])[0]))
        keys = [key for key, _ in pairs]
        self.check("profcheck", len(set(keys)) == len(keys), "an attribute is there twice")
        return dict(pairs)

    def check_dictionary(self):
        for table, kind in self.TABLES.items():
            entries = self.table.get(table, [])
            self.check("parca profcheck", entries and entries[0] in ({}, ""),
                       f"the first {kind} is not empty")
        for attribute in self.table.get("attribute_table", [])[1:]:
            value = one(attribute, "value", {})
            self.check("parca", value, "an attribute has no value")
            self.check("spec", self.text(one(attribute, "key_strindex")),
                       "an attribute has no name")
            self.text(one(attribute, "unit_strindex"))
            texts = value.get("string_value", [])
            self.check("spec", all(map(is_utf8, texts)), "an attribute is not UTF-8")
        mappings = [repr(sorted(entry.items())) for entry in self.table.get("mapping_table", [])]
        self.check("profcheck", len(set(mappings)) == len(mappings), "a mapping is there twice")
        for mapping in self.table.get("mapping_table", []):
            self.text(one(mapping, "filename_strindex"))
            self.attributes(mapping)
            start, limit = one(mapping, "memory_start"), one(mapping, "memory_limit")
            self.check("profcheck", start < limit or start == limit == 0, "a mapping has no size")
        for function in self.table.get("function_table", []):
            for field in ("name_strindex", "system_name_strindex", "filename_strindex"):
                self.text(one(function, field))
        for location in self.table.get("location_table", [])[1:]:
            self.check_location(location)
        for stack in self.table.get("stack_table", []):
            self.check_stack(stack.get("location_indices", []))
            for index in stack.get("location_indices", []):
                self.refer("location_table", index)
        for link in self.table.get("link_table", [])[1:]:
            sizes = [len(one(link, key, "").encode(errors="surrogateescape"))
                     for key in ("trace_id", "span_id")]
            self.check("parca profcheck", sizes == [16, 8], "a link has ids of a wrong size")

    def check_location(self, location):
        self.refer("mapping_table", one(location, "mapping_index"))
        kind = self.attributes(location).get("profile.frame.type")
        self.check("elastic", kind, "a location has no profile.frame.type")
        self.check("spec", not kind or kind in FRAME_TYPES, f"no type of frames: {kind}")
        self.check("pyroscope", location.get("lines"), "a location has no function")
        for line in location.get("lines", []):
            self.check("pyroscope", one(line, "function_index"), "a location has no function")
            self.refer("function_table", one(line, "function_index"))
            self.check("profcheck", one(line, "line") >= 0, "a line is negative")

    def check_resource(self, resource, event, pushed):
        pairs = [(one(pair, "key", ""), next(iter(one(pair, "value", {}).values()), [None])[0])
                 for pair in one(resource, "resource", {}).get("attributes", [])]
        labels = {key: str(value) for key, value in pairs}
        self.check("parca", len(labels) == len(pairs), "a resource has an attribute twice")
        self.check("parca", all(key and value is not None for key, value in pairs),
                   "an attribute of a resource has no name or value")
        self.check("pyroscope", labels.get("service.name"), "no service.name")
        self.check("spec", set(labels) <= RESOURCE_KEYS,
                   f"not in the semantic conventions: {set(labels) - RESOURCE_KEYS}")
        for key, value in labels.items():
            self.check_label(key, value)
        self.check("parca profcheck", resource.get("scope_profiles"), "a resource has no scope")
        for scope in resource.get("scope_profiles", []):
            self.check("parca", one(scope, "scope", {}).get("name"), "a scope has no name")
            self.check("parca profcheck", scope.get("profiles"), "a scope has no profile")
            kinds = [self.check_profile(profile, labels, event, pushed)
                     for profile in scope.get("profiles", [])]
            self.check("pyroscope", len(set(kinds)) == len(kinds), "two profiles have one type")

    def check_profile(self, profile, labels, event, pushed):
        kind = self.check_type("pyroscope", profile, "sample_type")
        period = self.check_type("pyroscope parca", profile, "period_type")
        samples = profile.get("samples", [])
        if event == "cpu":
            self.check("elastic", (kind, period) == ("samples/count", "cpu/nanoseconds"),
                       f"it takes no {kind} with the period {period}")
        self.check("pyroscope", one(profile, "period") > 0, "no period: it finds no name")
        self.check("pyroscope", one(profile, "time_unix_nano") > 0, "no time: it takes its own")
        self.check("pyroscope", one(profile, "duration_nano") > 0, "no duration: it takes 10 s")
        self.check("parca", samples, "a profile has no samples")
        self.attributes(profile)
        own = set()
        for sample in samples:
            own |= set(self.check_sample(sample, profile))
        self.check("pyroscope", len(own | set(labels)) + LABELS_ADDED <= LABELS_OF_SERIES,
                   "a series has too many labels")
        identities = Counter((one(sample, "stack_index"), one(sample, "link_index"),
                              tuple(sorted(sample.get("attribute_indices", []))),
                              tuple(sample.get("timestamps_unix_nano", []))) for sample in samples)
        self.check("spec", all(count == 1 for count in identities.values()),
                   "two samples are the same")
        shapes = {(bool(sample.get("values")), bool(sample.get("timestamps_unix_nano")))
                  for sample in samples}
        self.check("profcheck", len(shapes) <= 1, "some samples have times, some have not")
        if pushed:
            self.check_size(len(samples))
            self.check("pyroscope", not own, "labels of samples make series")
        return kind

    def check_sample(self, sample, profile):
        values, times = sample.get("values", []), sample.get("timestamps_unix_nano", [])
        start = one(profile, "time_unix_nano")
        self.check("pyroscope parca", len(values) == 1, "a sample has not one value")
        self.check("parca profcheck", not times or len(times) == len(values),
                   "a sample has not one value for each time")
        self.check("profcheck parca", all(start <= time < start + one(profile, "duration_nano")
                                          for time in times), "a time is outside of the profile")
        self.check("pyroscope", all(value > 0 for value in values), "a value is not above 0")
        self.refer("stack_table", one(sample, "stack_index"))
        self.refer("link_table", one(sample, "link_index"))
        labels = self.attributes(sample)
        self.check_labels([(key, str(value)) for key, value in labels.items()])
        return labels


def findings_of(rules, schema, data, *checked):
    """Return what `rules`, a class, finds in data, compressed or not."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    try:
        applied = rules(decode(schema, data), len(data))
    except Refused as error:
        return [f"all: {error}"]
    applied.run(*checked)
    return applied.findings


def pprof_findings(data, pushed=False):
    """Return what is wrong with a profile of pprof's format, compressed or not. `pushed`: it is
    sent to a service, with its limits of size and number of series."""
    return findings_of(Pprof, PPROF, data, pushed)


def otlp_findings(data, event=None, pushed=False):
    """The same for OpenTelemetry's profiles. Elastic's rules on types hold for `event` "cpu"."""
    return findings_of(Otlp, OTLP, data, event, pushed)


def main():
    if len(sys.argv) < 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    found = 0
    for path in map(Path, sys.argv[1:]):
        findings = otlp_findings if ".otlp" in path.name else pprof_findings
        for finding in findings(path.read_bytes()):
            print(f"{path}: {finding}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
