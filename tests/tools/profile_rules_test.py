# SPDX-License-Identifier: Apache-2.0
"""The rules find each kind of defect, and find nothing in a correct profile."""
import unittest

import profile_rules as rules
import protoc

PPROF = """
sample_type { type: 1 unit: 2 }
sample_type { type: 3 unit: 4 }
default_sample_type: 3
period_type { type: 3 unit: 4 }
period: 10000000
time_nanos: 1763697012000000000
duration_nanos: 1000000000
sample { location_id: 2 location_id: 1 value: 1 value: 10000000 label { key: 7 str: 8 } }
sample { location_id: 1 value: 2 value: 20000000 label { key: 7 str: 8 } }
mapping { id: 1 filename: 6 has_functions: true }
function { id: 1 name: 5 system_name: 5 }
location { id: 1 line { function_id: 1 } }
location { id: 2 mapping_id: 1 address: 4096 line { function_id: 1 line: 7 } }
string_table: ""
string_table: "samples"
string_table: "count"
string_table: "cpu"
string_table: "nanoseconds"
string_table: "main"
string_table: "/bin/beam.smp"
string_table: "pid"
string_table: "<0.1.0>"
"""

# (defect, text to replace, replacement, a word of the finding).
PPROF_DEFECTS = [
    ("text 0", 'string_table: ""\n', "", "first text"),
    ("- in a type", '"samples"', '"samples-"', "contains -"),
    (": in a type", '"samples"', '"a:b"', "no name in its queries"),
    (": in the period", 'period_type { type: 3', "period_type { type: 8", "no name in its"),
    ("words", '"count"', '"words"', "has the unit words"),
    ("one type twice", "sample_type { type: 1 unit: 2 }", "sample_type { type: 3 unit: 4 }",
     "there twice"),
    ("no types", "sample_type { type: 1 unit: 2 }\nsample_type { type: 3 unit: 4 }\n", "",
     "no sample_type"),
    ("no period type", "period_type { type: 3 unit: 4 }\n", "", "no period_type"),
    ("no period", "period: 10000000\n", "", "no period"),
    ("unknown default", "default_sample_type: 3", "default_sample_type: 5", "default type"),
    ("no time", "time_nanos: 1763697012000000000\n", "", "no time"),
    ("no duration", "duration_nanos: 1000000000\n", "", "no duration"),
    ("id 0 of a function", "function { id: 1", "function { id: 0", "function is 0"),
    ("id 0 of a location", "location { id: 1", "location { id: 0", "location is 0"),
    ("id 0 of a mapping", "mapping { id: 1", "mapping { id: 0", "mapping is 0"),
    ("ids with a gap", "location { id: 2", "location { id: 3", "not 1, 2, 3"),
    ("unknown function", "function_id: 1 line", "function_id: 2 line", "function is not in"),
    ("unknown mapping", "mapping_id: 1", "mapping_id: 2", "mapping is not in"),
    ("unknown location", "location_id: 2", "location_id: 9", "location is not in"),
    ("location 0", "location_id: 2", "location_id: 0", "location is not in"),
    ("unknown text", "name: 5 system", "name: 99 system", "text is not in"),
    ("no name", "name: 5 system", "name: 0 system", "no name"),
    ("no function", "line { function_id: 1 line: 7 }", "", "has no function"),
    ("few values", "value: 2 value", "value", "one value for each"),
    ("negative value", "value: 2 value", "value: -2 value", "negative"),
    ("no value", "value: 2 value: 20000000", "value: 0 value: 0", "has no value"),
    ("label without a name", "key: 7", "key: 0", "no name"),
    ("bad name of a label", '"pid"', '"my pid"', "bad name"),
    ("long name of a label", '"pid"', f'"{"p" * 1025}"', "name of a label is too long"),
    ("long label", '"<0.1.0>"', f'"{"p" * 2049}"', "label is too long"),
    ("a label twice", "label { key: 7 str: 8 }", "label { key: 7 str: 8 }" * 2, "label is there"),
    ("many labels", "label { key: 7 str: 8 }", "label { key: 7 str: 8 }" * 101, "many labels"),
    ("deep stack", "location_id: 1 value: 2", "location_id: 1 " * 1001 + "value: 2", "too deep"),
    ("long text", '"main"', f'"{"m" * 65536}"', "cut at its beginning"),
    ("a text twice", '"pid"', '"main"', "text is there twice"),
    ("mapping without size", "filename: 6", "filename: 6 memory_start: 8 memory_limit: 8",
     "no size"),
    ("functions of a file", "has_functions: true", "", "look for functions"),
]

OTLP = """
resource_profiles {
  resource { attributes { key: "service.name" value { string_value: "shop" } } }
  scope_profiles {
    scope { name: "beamflame" }
    profiles {
      sample_type { type_strindex: 1 unit_strindex: 2 }
      samples { stack_index: 1 values: 2 attribute_indices: 3 }
      samples { stack_index: 2 values: 1 attribute_indices: 3 }
      time_unix_nano: 1763697012000000000
      duration_nano: 1000000000
      period_type { type_strindex: 3 unit_strindex: 4 }
      period: 10000000
    }
  }
}
dictionary {
  mapping_table {}
  mapping_table { filename_strindex: 6 attribute_indices: 2 }
  location_table {}
  location_table { lines { function_index: 1 } attribute_indices: 1 }
  location_table { mapping_index: 1 address: 8 lines { function_index: 1 } attribute_indices: 1 }
  function_table {}
  function_table { name_strindex: 5 }
  link_table {}
  string_table: ""
  string_table: "samples"
  string_table: "count"
  string_table: "cpu"
  string_table: "nanoseconds"
  string_table: "main"
  string_table: "/bin/beam.smp"
  string_table: "profile.frame.type"
  string_table: "process.executable.build_id.gnu"
  string_table: "beam.process.pid"
  attribute_table {}
  attribute_table { key_strindex: 7 value { string_value: "beam" } }
  attribute_table { key_strindex: 8 value { string_value: "abcd" } }
  attribute_table { key_strindex: 9 value { string_value: "<0.1.0>" } }
  stack_table {}
  stack_table { location_indices: 1 }
  stack_table { location_indices: 2 location_indices: 1 }
}
"""

NO_SAMPLES = OTLP[OTLP.index("      samples {"):OTLP.index("      time_unix")]
PROFILE = OTLP[OTLP.index("    profiles {"):OTLP.index("  }\n}\ndictionary")]
SCOPE = OTLP[OTLP.index("  scope_profiles"):OTLP.index("}\ndictionary")]
RESOURCE = OTLP[:OTLP.index("dictionary")]
DICTIONARY = OTLP[OTLP.index("dictionary"):]
LINK = '  link_table { trace_id: "1234567812345678" span_id: "12345678" }\n'
TIMES = "timestamps_unix_nano: 1763697012000000001"

OTLP_DEFECTS = [
    ("no resource", RESOURCE, "", "no resource"),
    ("no scope", SCOPE, "", "no scope"),
    ("no profile", PROFILE, "", "no profile"),
    ("no samples", NO_SAMPLES, "", "no samples"),
    ("no dictionary", DICTIONARY, "", "no dictionary"),
    *[(f"no first {kind}", f"  {table} {{}}\n", "", f"first {kind}")
      for table, kind in rules.Otlp.TABLES.items() if table != "string_table"],
    ("first link with zeros", "link_table {}", r'link_table { span_id: "\000" }', "first link"),
    ("text 0", '  string_table: ""\n', "", "first text"),
    ("- in a type", '"samples"', '"samples-"', "contains -"),
    (": in the period", '"cpu"', '"a:b"', "no name in its queries"),
    ("no type", "sample_type { type_strindex: 1 unit_strindex: 2 }", "", "no sample_type"),
    ("no period type", "period_type { type_strindex: 3 unit_strindex: 4 }", "", "no period_type"),
    ("no period", "period: 10000000", "", "no period"),
    ("no time", "time_unix_nano: 1763697012000000000", "", "no time"),
    ("no duration", "duration_nano: 1000000000", "", "no duration"),
    ("other type for Elastic", "type_strindex: 1", "type_strindex: 3", "it takes no cpu"),
    ("no frame type", "function_index: 1 } attribute_indices: 1", "function_index: 1 }",
     "no profile.frame.type"),
    ("unknown frame type", '"beam" ', '"erlang" ', "no type of frames"),
    ("no function", "lines { function_index: 1 }", "", "has no function"),
    ("no service", 'key: "service.name"', 'key: "host.name"', "no service.name"),
    ("empty service", '"shop"', '""', "no service.name"),
    ("unknown attribute", "resource { ", 'resource { attributes { key: "node" '
     'value { string_value: "n" } } ', "not in the semantic"),
    ("attribute without a value", "resource { ", 'resource { attributes { key: "host.name" } ',
     "no name or value"),
    ("a resource's attribute twice", "resource { ", 'resource { attributes { key: "service.name" '
     'value { string_value: "n" } } ', "attribute twice"),
    ("long attribute of a resource", '"shop"', f'"{"p" * 2049}"', "label is too long"),
    ("no scope's name", 'name: "beamflame"', "", "scope has no name"),
    ("no value", "values: 2", "", "not one value"),
    ("two values", "values: 2", "values: 2 values: 3", "not one value"),
    ("value 0", "values: 2", "values: 0", "not above 0"),
    ("negative value", "values: 2", "values: -2", "not above 0"),
    ("two times", "values: 2", f"values: 2 {TIMES} {TIMES}", "for each time"),
    ("some times", "values: 2", f"values: 2 {TIMES}", "some samples have times"),
    ("late time", "values: 2", "values: 2 timestamps_unix_nano: 1763697013000000000", "outside"),
    ("early time", "values: 2", "values: 2 timestamps_unix_nano: 1763697011999999999", "outside"),
    ("unknown stack", "stack_index: 2", "stack_index: 9", "stack is not in"),
    ("unknown link", "stack_index: 2", "stack_index: 2 link_index: 1", "link is not in"),
    ("unknown attribute", "attribute_indices: 3", "attribute_indices: 9", "attribute is not in"),
    ("unknown location", "location_indices: 2", "location_indices: 9", "location is not in"),
    ("unknown function", "function_index: 1", "function_index: 9", "function is not in"),
    ("unknown mapping", "mapping_index: 1", "mapping_index: 9", "mapping is not in"),
    ("unknown text", "name_strindex: 5", "name_strindex: 99", "text is not in"),
    ("an attribute twice", "attribute_indices: 3", "attribute_indices: 3 attribute_indices: 3",
     "attribute is there twice"),
    ("attribute without a value", "value { string_value: \"abcd\" }", "", "no value"),
    ("attribute without a name", "key_strindex: 9", "", "no name"),
    ("a mapping twice", "mapping_table { filename_strindex: 6 attribute_indices: 2 }",
     "mapping_table { filename_strindex: 6 attribute_indices: 2 }\n" * 2, "mapping is there twice"),
    ("mapping without size", "filename_strindex: 6",
     "filename_strindex: 6 memory_start: 8 memory_limit: 8", "no size"),
    ("a text twice", '"main"', '"cpu"', "text is there twice"),
    ("long text", '"main"', f'"{"m" * 65536}"', "cut at its beginning"),
    ("unused text", 'string_table: "main"', 'string_table: "main"\nstring_table: "x"',
     "refers to a text"),
    ("unused stack", "stack_index: 2", "stack_index: 1 link_index: 0", "refers to a stack"),
    ("unused link", "  link_table {}\n", "  link_table {}\n" + LINK, "refers to a link"),
    ("short id of a link", "  link_table {}\n", "  link_table {}\n" + LINK.replace("81234567", ""),
     "wrong size"),
    ("negative line", "lines { function_index: 1 }", "lines { function_index: 1 line: -1 }",
     "line is negative"),
    ("deep stack", "location_indices: 2", "location_indices: 2 " * 1001, "too deep"),
    ("a sample twice", "stack_index: 2 values: 1", "stack_index: 1 values: 1", "are the same"),
    ("a profile twice", PROFILE, PROFILE * 2, "have one type"),
    ("long label", '"<0.1.0>"', f'"{"p" * 2049}"', "label is too long"),
    ("bad name of a label", '"beam.process.pid"', '"beam pid"', "bad name"),
]


class ProfileRules(unittest.TestCase):
    def findings(self, schema, text):
        try:
            data = protoc.run("encode", schema, text.encode())
        except FileNotFoundError as error:
            self.skipTest(str(error))
        if schema is protoc.PPROF:
            return rules.pprof_findings(data)
        return rules.otlp_findings(data, event="cpu")

    def check_defects(self, schema, good, defects):
        self.assertEqual(self.findings(schema, good), [])
        for defect, old, new, word in defects:
            with self.subTest(defect):
                self.assertIn(old, good)
                found = self.findings(schema, good.replace(old, new))
                self.assertTrue(any(word in finding for finding in found), (word, found))

    def test_each_defect_of_pprof_is_found(self):
        self.check_defects(protoc.PPROF, PPROF, PPROF_DEFECTS)

    def test_each_defect_of_otlp_is_found(self):
        self.check_defects(protoc.OTLP, OTLP, OTLP_DEFECTS)

    def test_ids_of_links_are_counted_in_bytes(self):
        """Bytes of an id can be a character of UTF-8 by chance."""
        link = LINK.replace("1234567812345678", r"\334\24234567812345678")
        good = OTLP.replace("  link_table {}\n", "  link_table {}\n" + link)
        self.assertEqual(self.findings(protoc.OTLP, good), ["profcheck: nothing refers to a link"])

    def encoded(self, schema, text):
        try:
            return protoc.run("encode", schema, text.encode())
        except FileNotFoundError as error:
            self.skipTest(str(error))

    def test_text_that_is_not_utf8_is_refused(self):
        for schema, text, findings in ((protoc.PPROF, PPROF, rules.pprof_findings),
                                       (protoc.OTLP, OTLP, rules.otlp_findings)):
            data = self.encoded(schema, text)
            self.assertNotEqual(findings(data.replace(b"main", b"ma\xffn")), [])
            self.assertNotEqual(findings(data[:-1]), [])  # cut

    def test_limits_of_pushed_profiles_are_found(self):
        """Labels, samples and bytes that a file may have are refused where it is pushed."""
        data = self.encoded(protoc.PPROF, PPROF)
        self.assertEqual(rules.pprof_findings(data, pushed=True),
                         ["pyroscope: labels of samples make series"])
        plain = self.encoded(protoc.PPROF, PPROF.replace("label { key: 7 str: 8 }", ""))
        self.assertEqual(rules.pprof_findings(plain, pushed=True), [])
        sample = "sample { location_id: 1 value: 2 value: 2 }\n"
        many = self.encoded(protoc.PPROF, PPROF + sample * 16000)
        self.assertIn("pyroscope: too many samples", rules.pprof_findings(many, pushed=True))
        large = self.encoded(protoc.PPROF, PPROF + f'string_table: "{"x" * 60000}"\n' * 70)
        self.assertIn("pyroscope: too many bytes", rules.pprof_findings(large, pushed=True))
        otlp = self.encoded(protoc.OTLP, OTLP)
        self.assertEqual(rules.otlp_findings(otlp, pushed=True),
                         ["pyroscope: labels of samples make series"])

    def test_labels_of_a_series_are_counted(self):
        keys = sorted(rules.RESOURCE_KEYS - {"service.name"})
        extra = "".join(f'attributes {{ key: "k{i}" value {{ string_value: "v" }} }} '
                        for i in range(30 - len(keys)))
        known = "".join(f'attributes {{ key: "{key}" value {{ string_value: "v" }} }} '
                        for key in keys)
        self.assertEqual(self.findings(protoc.OTLP, OTLP.replace("resource { ", "resource { " + known)),
                         [])
        found = self.findings(protoc.OTLP, OTLP.replace("resource { ", "resource { " + known + extra))
        self.assertIn("pyroscope: a series has too many labels", found)


if __name__ == "__main__":
    unittest.main()
