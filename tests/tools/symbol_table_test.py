# SPDX-License-Identifier: Apache-2.0
"""tools/symbol-table gives no function a wrong name, and the tables in symbols/ have their form."""
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "symbol-table"
TABLES = sorted(path for path in (ROOT / "symbols").iterdir() if path.suffix != ".md")
LINE = re.compile(r"^([0-9a-f]+) ([0-9a-f]+) (~?[A-Za-z_][\w.$]*)$", re.ASCII)
FUNCTIONS = 200

FRAME = """
#include <stdlib.h>
#include <string.h>
static volatile int state;
#define APART __attribute__((noinline, noclone, noipa))
%s
static int (*const table[])(int) = {%s};
int main(int count, char **words) { return table[count %% %d](atoi(words[0])); }
"""


def function(number):
    """Return a function that calls the one before it. Each third has the same code as the one
    before it, but for what it calls."""
    like = number - 1 if number % 3 == 2 else number
    call = f"f{number - 1}(a)" if number else "a"
    return (f"APART static int f{number}(int a) {{ state += a * {like + 3};"
            f" if (state == {like}) abort(); return {call} + state; }}")


def program(functions, names=None):
    names = names or [f"f{number}" for number in range(FUNCTIONS)]
    return FRAME % ("\n".join(functions), ", ".join(names), len(names))


class Builds(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="beamflame-test-")
        self.addCleanup(made.cleanup)
        self.folder = Path(made.name)
        self.plain = [function(number) for number in range(FUNCTIONS)]

    def build(self, name, source, *flags):
        path = self.folder / name
        subprocess.run(["gcc", "-O2", "-g", "-Wl,--build-id", *flags, "-x", "c", "-", "-o", path],
                       input=source, text=True, check=True)
        return path

    def table(self, truth, rebuild):
        """Make the table of `truth`, stripped, from a rebuild. Return the tool's process, what
        --check says of the table, and {name: start}."""
        stripped, table = self.folder / "stripped", self.folder / "table"
        subprocess.run(["strip", "-o", stripped, truth], check=True)
        done = subprocess.run([TOOL, stripped, rebuild, "a test"], capture_output=True, text=True,
                              check=False)
        table.write_text(done.stdout, encoding="ascii")
        if done.returncode:
            return done, None, {}
        checked = subprocess.run([TOOL, "--check", table, truth], capture_output=True, text=True,
                                 check=False)
        lines = [line.split() for line in done.stdout.splitlines()[2:]]
        return done, checked, {name: start for start, _, name in lines}

    def test_equal_code_has_all_names(self):
        """The rebuild differs in its debug information, and so in its build id."""
        truth = self.build("truth", program(self.plain))
        rebuild = self.build("rebuild", program(self.plain), "-g3")
        done, checked, names = self.table(truth, rebuild)
        self.assertIn("; equal code\n", done.stdout)
        self.assertIn("0 wrong; 0 functions without a name", checked.stdout)
        self.assertIn("f7", names)

    def test_names_of_changed_sources_are_not_wrong(self):
        """One function changes, one is added, one is removed; the others have moved. What calls
        the removed one calls another, so it differs too."""
        changed = list(self.plain)
        changed[21] = changed[21].replace("a * 24", "a * 24 + (a >> 3) * (a ^ 77)")
        changed[30] += "\nAPART static int added(int a) { state ^= a; return f30(a) + 1; }"
        changed[31] = changed[31].replace("f30(a)", "added(a)")
        changed[41] = ""
        changed[42] = changed[42].replace("f41(a)", "f40(a)")
        names = [f"f{number}" for number in range(FUNCTIONS) if number != 41]
        truth = self.build("truth", program(changed, names))
        rebuild = self.build("rebuild", program(self.plain))
        done, checked, found = self.table(truth, rebuild)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertIn("~f21", found)
        self.assertNotIn("f41", found)
        self.assertGreater(sum(name[0] != "~" for name in found), 0.9 * FUNCTIONS)

    def test_functions_that_changed_places_are_not_confused(self):
        """Two functions with the same code but other callees are in the other order."""
        changed = list(self.plain)
        for number in 10, 11:
            changed[number] = (f"APART static int f{number}(int a) {{ state += a * 13;"
                               f" if (state == 10) abort(); return f{number - 8}(a) + state; }}")
        swapped = [*changed[:10], changed[11], changed[10], *changed[12:]]
        truth = self.build("truth", program(swapped))
        done, checked, _ = self.table(truth, self.build("rebuild", program(changed)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(checked.returncode, 0, checked.stdout)

    def test_another_program_is_refused(self):
        other = [line.replace("state +=", "state = 7 - state *") for line in self.plain]
        done, _, _ = self.table(self.build("truth", program(self.plain)),
                                self.build("rebuild", program(other)))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is no rebuild of", done.stderr)


class Tables(unittest.TestCase):
    def test_tables_have_their_form(self):
        """Functions come by address, are within the code, and do not overlap."""
        self.assertTrue(TABLES)
        for path in TABLES:
            with self.subTest(path.name):
                self.assertRegex(path.name, r"^[0-9a-f]{40}$")
                first, code, *lines = path.read_text("ascii").splitlines()
                self.assertRegex(first, r"^# OTP \S+, .*; ")
                start, size, _ = (int(word, 16) for word in code.removeprefix("code ").split())
                at = start
                for line in lines:
                    found = LINE.match(line)
                    self.assertTrue(found, line)
                    self.assertGreaterEqual(int(found[1], 16), at, line)
                    at = int(found[1], 16) + int(found[2], 16)
                self.assertLessEqual(at, start + size)


if __name__ == "__main__":
    unittest.main()
