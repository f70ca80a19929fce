# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry's profiles as decoded by protoc with the schema: rules, sums, labels, resources."""
import gzip
import sys
import unittest
from collections import Counter

import beamflame
import nodes

sys.path.insert(0, str(nodes.ROOT / "tests" / "tools"))
import protoc  # noqa: E402

NEEDS = "own nodes"


def decoded(data):
    """Decode a ProfilesData; skip the test if protoc is missing."""
    try:
        return protoc.decode(protoc.OTLP, data)
    except FileNotFoundError as error:
        raise unittest.SkipTest(str(error)) from error


class Otlp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        folder = beamflame.folder(cls.addClassCleanup)
        cls.recording = folder / "x.bfr"
        with nodes.Node(27, "families") as node:
            beamflame.record("-p", node.pid, "-d", 4, "-F", 499, "-o", cls.recording,
                             "-o", folder / "direct.otlp.gz")
            cls.pid = node.pid
        beamflame.record("report", cls.recording, "-o", folder / "x.otlp")
        beamflame.record("report", cls.recording, "--weight", "cpu", "-o", folder / "cpu.otlp")
        cls.bytes = (folder / "x.otlp").read_bytes()
        cls.direct = gzip.decompress((folder / "direct.otlp.gz").read_bytes())
        cls.take((folder / "cpu.otlp").read_bytes())
        cls.selected = cls.data
        cls.take(cls.bytes)

    @classmethod
    def take(cls, data):
        """Let the tests be about this data, of one VM."""
        cls.data = data if isinstance(data, dict) else decoded(data)
        cls.dictionary, = cls.data["dictionary"]
        cls.resource, = cls.data["resource_profiles"]
        scope, = cls.resource["scope_profiles"]
        cls.profiles = scope["profiles"]

    def text(self, message, field):
        return self.dictionary["string_table"][message.get(field, [0])[0]]

    def attributes(self, message):
        pairs = [self.dictionary["attribute_table"][i]
                 for i in message.get("attribute_indices", ())]
        found = {self.text(pair, "key_strindex"): next(iter(pair["value"][0].values()))[0]
                 for pair in pairs}
        self.assertEqual(len(found), len(pairs))  # keys are unique
        return found

    def stack(self, sample):
        """Return the stack of a sample, root first."""
        table = self.dictionary
        indices = table["stack_table"][sample["stack_index"][0]]["location_indices"]
        functions = [table["function_table"][table["location_table"][i]["lines"][0]
                                             ["function_index"][0]] for i in indices]
        return tuple(self.text(function, "name_strindex") for function in reversed(functions))

    def test_tables_begin_with_zero_and_all_else_is_referred_to(self):
        """Element 0 of each table is the zero value, and all other elements are referred to."""
        table = self.dictionary
        for name in ("mapping_table", "location_table", "function_table", "attribute_table",
                     "stack_table"):
            self.assertEqual(table[name][0], {}, name)
            self.assertNotIn({}, table[name][1:], name)
        self.assertEqual(table["string_table"][0], "")
        self.assertEqual(len(table["link_table"]), 1)
        named = {"stack_index": "stack_table", "location_indices": "location_table",
                 "mapping_index": "mapping_table", "function_index": "function_table",
                 "attribute_indices": "attribute_table"}
        met = {name: {0} for name in (*named.values(), "string_table")}

        def meet(message):
            for field, values in message.items():
                name = "string_table" if field.endswith("_strindex") else named.get(field)
                if name:
                    met[name].update(values)
                for value in values:
                    if isinstance(value, dict):
                        meet(value)

        meet(self.data)
        for name, indices in met.items():
            self.assertEqual(indices, set(range(len(table[name]))), name)

    def test_profiles_have_the_sums_of_the_folded_form(self):
        """CPU time is one profile of samples, and one more where it is selected, which has the sums of
        the folded form. Numbers of samples are rounded in another order, so only their sum is the
        same. The period is the time of a sample on average."""
        self.assertEqual(len(self.profiles), 1)
        only, = self.profiles
        data = self.data
        self.addCleanup(self.take, data)
        type(self).take(self.selected)
        self.assertEqual([self.text(profile["sample_type"][0], "type_strindex")
                          for profile in self.profiles], ["cpu", "samples"])
        totals = []
        for profile, weight in zip(self.profiles, (("--weight", "cpu"), ())):
            sums = Counter()
            for sample in profile["samples"]:
                value, = sample["values"]
                sums[self.stack(sample)] += value
            folded = beamflame.folded(self.recording, *weight)
            if weight:
                self.assertEqual(sums, folded)
            self.assertEqual(sum(sums.values()), sum(folded.values()))
            self.assertGreater(sum(sums.values()), 100)
            totals.append(sum(sums.values()))
        self.assertEqual(self.profiles[0]["period"], [totals[0] // totals[1]])
        self.assertEqual(only["period"], self.profiles[0]["period"])
        self.assertEqual(sum(sample["values"][0] for sample in only["samples"]), totals[1])

    def test_samples_have_unique_stacks_and_attributes(self):
        """Each sample has its own combination of stack and attributes; the attributes are those of
        the process."""
        seen = set()
        for sample in self.profiles[0]["samples"]:
            key = (*sample["stack_index"], *sorted(sample["attribute_indices"]))
            self.assertNotIn(key, seen)
            seen.add(key)
            labels = self.attributes(sample)
            if "beam.process.name" in labels:
                self.assertEqual(labels["beam.process.name"], self.stack(sample)[0])
                self.assertRegex(labels["beam.process.pid"], r"^<0\.\d+\.\d+>$")
                self.assertIn("beam.process.status", labels)

    def test_resource_describes_the_vm_and_its_files(self):
        """The resource describes the VM, the files with their build ids, and the time."""
        resource = {pair["key"][0]: next(iter(pair["value"][0].values()))[0]
                    for pair in self.resource["resource"][0]["attributes"]}
        self.assertEqual(resource["process.pid"], self.pid)
        self.assertEqual(resource["process.runtime.name"], "BEAM")
        self.assertEqual(resource["process.runtime.description"],
                         f"Erlang/OTP 27 erts-{resource['process.runtime.version']}")
        self.assertEqual(resource["process.executable.name"], "beam.smp")
        self.assertEqual(resource["service.name"], "unknown_service:beam.smp")
        self.assertEqual(resource["host.arch"], "amd64")
        executable, = [mapping for mapping in self.dictionary["mapping_table"]
                       if self.text(mapping, "filename_strindex") ==
                       resource["process.executable.path"]]
        self.assertRegex(self.attributes(executable)["process.executable.build_id.gnu"],
                         r"^[0-9a-f]{40}$")
        profile = self.profiles[0]
        self.assertAlmostEqual(profile["duration_nano"][0] / 1e9, 4, delta=2)
        types = {self.attributes(location).get("profile.frame.type")
                 for location in self.dictionary["location_table"][1:]}
        self.assertLessEqual({"beam", "native"}, types)

    def test_recording_and_report_write_the_same(self):
        """The output of a recording and that of report are the same."""
        self.assertEqual(self.direct, self.bytes)

    def test_cut_recording_is_marked_as_cut(self):
        cut = self.recording.with_suffix(".cut.bfr")
        cut.write_bytes(self.recording.read_bytes()[:-20])
        path = cut.with_suffix(".otlp")
        beamflame.record("report", cut, "-o", path)
        data = decoded(path.read_bytes())
        table = data["dictionary"][0]
        keys = [table["string_table"][pair["key_strindex"][0]]
                for pair in table["attribute_table"][1:]]
        self.assertIn("beamflame.cut", keys)
