# SPDX-License-Identifier: Apache-2.0
"""The program is linked and compiled with what makes its faults harder to use."""
import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BEAMFLAME_BUILD", ROOT / "build")).resolve()
BINARY = BUILD / "beamflame"


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


class Hardening(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not BINARY.exists():
            raise unittest.SkipTest("the program is not built (make)")
        cls.headers = output("readelf", "-hlW", BINARY)
        cls.dynamic = output("readelf", "-dW", BINARY)
        cls.functions = set(re.findall(r"\bUND (\w+)",
                                       output("readelf", "--dyn-syms", "-W", BINARY)))

    def segment(self, kind):
        """Return the columns of a program header."""
        found = re.search(rf"^ +{kind} +(.*)$", self.headers, re.M)
        self.assertTrue(found, f"no segment {kind}")
        return found[1].split()

    def test_program_is_position_independent(self):
        """The program is loaded at a random address."""
        self.assertRegex(self.headers, r"Type: +DYN")
        self.assertRegex(self.dynamic, r"FLAGS_1.*\bPIE\b")

    def test_relocations_are_read_only(self):
        """All symbols are bound at the start, and the tables are read-only from then on."""
        self.segment("GNU_RELRO")
        self.assertRegex(self.dynamic, r"\(FLAGS\).*\bBIND_NOW\b")
        self.assertRegex(self.dynamic, r"FLAGS_1.*\bNOW\b")

    def test_no_memory_is_writable_and_executable(self):
        """Neither the stack nor a segment can be both."""
        self.assertEqual(self.segment("GNU_STACK")[-2], "RW")
        self.assertEqual(re.findall(r"^ +LOAD.* RWE ", self.headers, re.M), [])

    def test_program_has_a_stack_protector(self):
        """Functions with arrays check their stack. -fstack-protector-strong covers one function in
        ten; the default of GCC covers fewer than one in fifty."""
        self.assertIn("__stack_chk_fail", self.functions)
        code = output("objdump", "-d", "--no-show-raw-insn", BINARY)
        functions = len(re.findall(r"^[0-9a-f]+ <", code, re.M))
        self.assertGreater(len(re.findall(r"call .*<__stack_chk_fail", code)), functions / 15)

    def test_objects_are_marked_for_control_flow(self):
        """Functions that pointers can reach begin with the mark for indirect calls."""
        if os.uname().machine != "x86_64":
            self.skipTest("marks of x86-64")
        code = output("objdump", "-d", "--no-show-raw-insn", "--disassemble=main", BINARY)
        self.assertRegex(code, r"<main>:\n.*\bendbr64\b")

    def test_calls_are_fortified(self):
        """Calls of the C library check the size of buffers. The sanitizers do that themselves."""
        if "__asan_init" in self.functions:
            self.skipTest("a program with sanitizers")
        for function in ("__snprintf_chk", "__memcpy_chk", "__fprintf_chk"):
            self.assertIn(function, self.functions)


if __name__ == "__main__":
    unittest.main()
