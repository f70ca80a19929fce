# SPDX-License-Identifier: Apache-2.0
"""Unit tests that hand foreign bytes to libraries read no undefined memory, and none that is not
theirs. The sanitizers (make sanitize) do not see into libelf, libdw, capstone, zlib, libyaml and
the demangler, and not whether memory was ever written."""
import os
import shutil
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BEAMFLAME_BUILD", ROOT / "build")).resolve()
TESTS = ("agent_config", "atom", "cfi_expression", "dataflow", "decoder", "demangle", "elf_limits",
         "gdb_jit", "input", "instruction", "native_symbols", "output_otlp", "output_pprof",
         "process_info", "recording", "recording_damage", "recording_join", "snapshot", "term")
FOUND = 99  # exit code if memcheck finds something


def is_instrumented(program):
    """True for the builds of make SAN=1 and COVERAGE=1."""
    code = program.read_bytes()
    return b"__asan_init" in code or b"__llvm_profile" in code


def memcheck(name, library):
    """Return the finished test, which ran with the library."""
    return subprocess.run(["valgrind", "-q", f"--error-exitcode={FOUND}", "--num-callers=20",
                           BUILD / "tests" / f"{name}_test"], capture_output=True, text=True,
                          check=False, timeout=100, env=os.environ | {"LD_PRELOAD": library})


class Memcheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="beamflame-test-")
        self.addCleanup(folder.cleanup)
        self.library = f"{folder.name}/clone.so"

    def test_no_undefined_memory_is_used(self):
        if not shutil.which("valgrind"):
            self.skipTest("valgrind is not installed")
        programs = [BUILD / "tests" / f"{name}_test" for name in TESTS]
        if not all(program.exists() for program in programs):
            self.skipTest("the unit tests are not built (make unit-tests)")
        if is_instrumented(programs[0]):
            self.skipTest("valgrind can't run this build")
        if not shutil.which("cc"):
            self.skipTest("there is no C compiler")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.library,
                        ROOT / "tests/tools/valgrind_clone.c"], check=True)
        with ThreadPoolExecutor(2) as pool:
            finished = pool.map(lambda name: memcheck(name, self.library), TESTS)
            for name, ended in zip(TESTS, finished):
                with self.subTest(name):
                    self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)


if __name__ == "__main__":
    unittest.main()
