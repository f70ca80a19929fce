# SPDX-License-Identifier: Apache-2.0
"""How tests/run treats failed tests: it retries a few of those that noise may disturb."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUN = Path(__file__).resolve().parents[1] / "run"

# A test that fails `times` times, one that never fails, and a set-up that fails once.
FILE = """
import unittest
from pathlib import Path

def fail(name, times):
    attempts = Path(__file__).with_name(name)
    attempts.touch()
    attempts.write_text(attempts.read_text() + "x")
    if len(attempts.read_text()) <= times:
        raise AssertionError("not this time")

class Some(unittest.TestCase):
    def test_good(self):
        fail("good", 0)
"""
TEST = """
    def test_{name}(self):
        fail("{name}", {times})
"""
SET_UP = """
class Late(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        fail("late", 1)

    def test_one(self):
        pass

    def test_two(self):
        pass
"""
# A program of two tests, one of which fails `times` times.
PROGRAM = """#!/bin/sh
echo x >> "$(dirname "$0")/../../attempts"
[ "$(wc -l < "$(dirname "$0")/../../attempts")" -gt {times} ] || not="not "
echo "${{not}}ok 1 - one"
echo "ok 2 - two"
echo 1..2
[ -z "$not" ]
"""
CRASH = """
    def test_crash(self):
        import os, signal
        os.kill(os.getpid(), signal.SIGKILL)
"""


# Passes if the test of another such file runs at the same time.
BESIDE = """
import time
import unittest
from pathlib import Path

NEEDS = "{needs}"

class Some(unittest.TestCase):
    def test_beside(self):
        Path(__file__).with_name("runs_" + Path(__file__).stem).touch()
        end = time.monotonic() + {seconds}
        while len(list(Path(__file__).parents[1].glob("*/runs*"))) < 2:
            assert time.monotonic() < end
            time.sleep(0.01)
"""


def file(**tests):
    """Return the text of a test file; the arguments say how many times each test fails."""
    return FILE + "".join(TEST.format(name=n, times=t) for n, t in tests.items())


class Run(unittest.TestCase):
    def run_files(self, program="", **files):
        """Run e2e test files, by name, or files of another kind (kind_name), and a unit test."""
        with tempfile.TemporaryDirectory(prefix="beamflame-test-") as folder:
            tests = Path(folder)
            shutil.copy(RUN, tests / "run")
            for name, text in files.items():
                kind, _, name = name.rpartition("_")
                path = tests / (kind or "e2e") / f"{name}_test.py"
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
            if program:
                path = tests / "build" / "tests" / "program_test"
                path.parent.mkdir(parents=True)
                path.write_text(program, encoding="utf-8")
                path.chmod(0o755)
            done = subprocess.run([sys.executable, tests / "run", tests / "build"],
                                  capture_output=True, text=True, timeout=50)
            self.attempts = {path.name: len(path.read_text(encoding="utf-8"))
                             for path in tests.glob("*/*") if path.is_file() and not path.suffix}
        self.assertEqual(done.stderr, "")
        return done.stdout, done.stdout.splitlines()[-1], done.returncode

    def test_pass_at_the_second_attempt_counts_as_passed(self):
        """Tests that pass at the second attempt count as passed, and are named; tests that passed
        at first are not run again."""
        said, last, code = self.run_files(a=file(x=1, y=1), b=file())
        self.assertEqual((last, code), ("4 passed, 0 failed", 0))
        self.assertIn("passed at the second attempt: e2e/a_test: Some.test_x, Some.test_y\n", said)
        self.assertIn("not this time", said)
        self.assertEqual(self.attempts, {"good": 2, "x": 2, "y": 2})  # each file has a test `good`

    def test_files_run_beside_each_other_if_their_needs_permit_it(self):
        for needs, kind in (("all nodes", "tools_"), ("all nodes", "replay_"), ("own nodes", "")):
            with self.subTest(needs, kind=kind):
                text = BESIDE.format(needs=needs, seconds=20)
                said, last, code = self.run_files(a=text, **{kind + "b": text})
                self.assertEqual((last, code), ("2 passed, 0 failed", 0), said)
                self.assertNotIn("second attempt", said)

    def test_files_run_alone_if_their_needs_do_not(self):
        for one, other in (("all", "own nodes"), ("all nodes", "own nodes"), ("all", "all")):
            with self.subTest(one, other=other):
                said, _, _ = self.run_files(a=BESIDE.format(needs=one, seconds=1),
                                            b=BESIDE.format(needs=other, seconds=1))
                self.assertIn("FAIL e2e/a_test: 0 passed, 1 failed", said)

    def test_unknown_needs_are_refused(self):
        said, last, code = self.run_files(a=BESIDE.format(needs="some nodes", seconds=1))
        self.assertRegex(last, r'a_test.py: unknown NEEDS = "some nodes"$', said)
        self.assertEqual(code, 1)

    def test_failed_test_has_no_third_attempt(self):
        said, last, code = self.run_files(a=file(x=1, y=2))
        self.assertEqual((last, code), ("2 passed, 1 failed", 1))
        self.assertNotIn("passed at the second attempt", said)
        self.assertEqual(self.attempts, {"good": 1, "x": 2, "y": 2})

    def test_class_is_run_again_if_its_set_up_fails(self):
        said, last, code = self.run_files(a=file() + SET_UP)
        self.assertEqual((last, code), ("3 passed, 0 failed", 0))
        self.assertIn("passed at the second attempt: e2e/a_test: Late\n", said)

    def test_nothing_is_run_again_if_many_tests_fail(self):
        """If many tests fail, in a file or in all, none is run again: something is broken."""
        _, last, code = self.run_files(a=file(p=1, q=1, r=1, s=1), b=file(x=1))
        self.assertEqual((last, code), ("3 passed, 4 failed", 1))
        self.assertEqual(self.attempts["p"], 1)
        few = {name: file(**{f"{name}{i}": 1 for i in range(3)}) for name in "abcd"}
        _, last, code = self.run_files(**few, e=file(x=1))
        self.assertEqual((last, code), ("5 passed, 13 failed", 1))
        self.assertEqual(self.attempts["x"], 1)

    def test_program_is_run_again_and_counted_once(self):
        said, last, code = self.run_files(PROGRAM.format(times=1))
        self.assertEqual((last, code), ("2 passed, 0 failed", 0))
        self.assertIn("passed at the second attempt: unit/program_test: all\n", said)
        _, last, code = self.run_files(PROGRAM.format(times=2))
        self.assertEqual((last, code), ("1 passed, 1 failed", 1))

    def test_kinds_that_noise_cannot_disturb_are_not_run_again(self):
        _, last, code = self.run_files(tools_a=file(x=1), b=file(y=1))
        self.assertEqual((last, code), ("3 passed, 1 failed", 1))
        self.assertEqual((self.attempts["x"], self.attempts["y"]), (1, 2))

    def test_file_that_ended_early_is_not_run_again(self):
        _, last, code = self.run_files(e=file(a=1) + CRASH)
        self.assertEqual((last, code), ("0 passed, 1 failed", 1))
        self.assertEqual(self.attempts, {"a": 1})


if __name__ == "__main__":
    unittest.main()
