# SPDX-License-Identifier: Apache-2.0
"""The linter finds each kind of defect, and finds nothing in a correct file."""
import unittest

from perf_script_lint import Linter

GOOD = """# ========
# hostname : web-1
# ========
#
beam.smp 100/102 [003] 6036036.799684:          1 cpu-clock:
\t    7f20aabbccdd lists:map/2 (/tmp/perf-100.map)
\tffffffff81000000 do_syscall_64 ([kernel.kallsyms])

beam.smp 100/103 [000] 6036036.800684:          1 cpu-clock:
\t    7f20aabbccdd beam.smp+0x12 (/usr/bin/beam.smp)

"""

# (defect, text to replace, replacement, a word of the finding).
DEFECTS = [
    ("no banner", "# ========\n# host", "# host", "first line"),
    ("no last empty line", "beam.smp)\n\n", "beam.smp)\n", "no empty line"),
    ("time goes back", "6036036.800684", "6036036.000001", "goes back"),
    ("whole second", "6036036.800684", "6036037.000000", "whole second"),
    ("bad comm", "beam.smp 100/102", "1_scheduler 100/102", "comm"),
    ("parenthesis", "lists:map/2", "f(x)", "opens a second module"),
    ("arrow", "lists:map/2", "a->b", "splits the frame"),
    ("semicolon", "lists:map/2", "a;b", "splits the stack"),
    ("operator", "lists:map/2", "erlang:+/2", "cuts the symbol"),
    ("like an event", "lists:map/2", "a 12: x:", "reads as an event"),
    ("comment like an event", "# hostname : web-1", "# at 12: x:", "reads as an event"),
    ("space in module", "/usr/bin/beam.smp", "/x (deleted)", "not a frame line"),
    ("two events", "800684:          1 cpu-clock", "800684:          1 cycles", "several event"),
    ("tab in event line", "beam.smp 100/102", "beam.smp\t100/102", "not an event line"),
    ("upper-case address", "7f20aabbccdd lists", "7F20AABBCCDD lists", "not a frame line"),
    ("control character", "lists:map/2", "lists:\x1bmap/2", "control character"),
    ("no tab", "\tffffffff81000000", "ffffffff81000000", "not a frame line"),
]


def findings(text):
    linter = Linter()
    linter.run(text if isinstance(text, bytes) else text.encode())
    return linter.findings


class Lint(unittest.TestCase):
    def test_good_file_has_no_findings(self):
        """A file in the documented form has no findings."""
        self.assertEqual(findings(GOOD), [])

    def test_each_defect_is_found(self):
        """One defect in a good file gives the finding that names it."""
        for name, old, new, word in DEFECTS:
            with self.subTest(name):
                self.assertIn(old, GOOD)
                found = findings(GOOD.replace(old, new, 1))
                self.assertTrue(any(word in finding for finding in found), found)

    def test_bytes_that_are_not_utf8_are_refused(self):
        """A file that is not UTF-8 is refused."""
        self.assertIn("not UTF-8", findings(b"# ========\n\xff\n\n")[0])

    def test_one_sample_is_too_few(self):
        """Importers need two samples for a time line."""
        first = GOOD.split("\nbeam.smp 100/103", maxsplit=1)[0] + "\n"
        self.assertEqual([f for f in findings(first) if "fewer" not in f], [])
        self.assertEqual(len(findings(first)), 1)
