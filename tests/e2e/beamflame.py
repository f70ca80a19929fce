# SPDX-License-Identifier: Apache-2.0
"""Running beamflame in tests, and reading what it writes."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import nodes

BINARY = nodes.BUILD / "beamflame"

# Exit codes, as documented.
DONE, FAILED, USAGE, NO_PROCESS, PERMISSION, UNSUPPORTED, NO_SAMPLES = range(7)


def require():
    """Skip the test where the kernel does not let us load BPF programs. Told without beamflame,
    so that an error of its own can't pass for a machine that is not able to."""
    if os.geteuid() != 0:
        raise unittest.SkipTest("needs root")
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        raise unittest.SkipTest("the kernel has no BTF")
    if bpftool("prog", "show") is None:
        raise unittest.SkipTest("no BPF here")


def has_pmu():
    """Whether the machine counts cycles."""
    done = subprocess.run(["perf", "stat", "-x,", "-e", "cycles", "true"], capture_output=True,
                          text=True, check=False)
    return done.returncode == 0 and done.stderr.split(",")[0].isdigit()


def each_release_and_clock(tests):
    """Class decorator: as nodes.each_release(), and each case once more by the clock `cycles`,
    which all recordings are then made by. Skipped where there is no PMU."""
    nodes.each_release(tests)
    module = sys.modules[tests.__module__]
    for release in nodes.RELEASES:
        case = getattr(module, f"{tests.__name__}{release}")
        by_cycles = type(f"{case.__name__}Cycles", (case,),
                         {"setUpClass": classmethod(_set_up_cycles)})
        by_cycles.__module__ = tests.__module__
        setattr(module, by_cycles.__name__, by_cycles)
    return tests


_clock = []  # the options that choose it


def _set_up_cycles(case):
    if not has_pmu():
        raise unittest.SkipTest("no PMU here: the clock 'cycles' is not tested")
    _clock[:] = ["--clock", "cycles"]
    case.addClassCleanup(_clock.clear)
    super(case, case).setUpClass()


def _with_clock(arguments):
    """The arguments, of a recording with the clock that is tested."""
    is_recording = "-p" in arguments[:-1] or "-a" in arguments or "--" in arguments
    is_command = arguments and not str(arguments[0]).startswith("-")
    given = "--clock" in arguments
    return [*(_clock if is_recording and not is_command and not given else []), *arguments]


def bpftool(*arguments):
    """What bpftool says, None where it fails."""
    path = next((p for p in ("/usr/sbin/bpftool", "/usr/local/sbin/bpftool") if os.path.exists(p)),
                "bpftool")
    try:
        run = subprocess.run([path, "-j", *arguments], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return json.loads(run.stdout)


def folder(clean_up):
    """A folder for files; `clean_up`, a test's addCleanup or addClassCleanup, has it removed."""
    made = tempfile.TemporaryDirectory(prefix="beamflame-test-")
    clean_up(made.cleanup)
    return Path(made.name)


def run(*arguments, timeout=120, **options):
    """Run to the end; returns the finished process with its text output."""
    return subprocess.run([BINARY, *map(str, _with_clock(arguments))], capture_output=True, text=True,
                          timeout=timeout, **options)


def start(*arguments, **options):
    """Start and go on; the caller ends it."""
    return subprocess.Popen([BINARY, *map(str, _with_clock(arguments))], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **options)


class Profilers:
    """What tests of how recordings end have in common: for a unittest.TestCase."""

    def start(self, *arguments):
        """A profiler that is ended with the test at the latest."""
        profiler = start(*arguments)
        self.addCleanup(profiler.communicate)
        self.addCleanup(profiler.kill)
        return profiler

    def ended(self, profiler):
        """Its exit code and what it said; what it started has ended too."""
        _, said = profiler.communicate(timeout=60)
        return profiler.returncode, said


class BadOptions:
    """Options of a recording that are usage errors: for a unittest.TestCase."""

    cases = ()  # (options, what is said)

    def test_bad_options(self):
        """Each is a usage error that says what there is."""
        self.assertGreater(len(self.cases), 0)
        for options, says in self.cases:
            with self.subTest(options):
                done = run(*options, "-p", "1")
                self.assertEqual(done.returncode, USAGE)
                self.assertIn(says, done.stderr)


@contextmanager
def recording(*arguments):
    """Recording meanwhile: the block begins when all is attached, and what it does is in there."""
    process = start(*arguments, stdin=subprocess.DEVNULL)
    try:
        said = process.stderr.readline()
        if "sampling" not in said:
            raise AssertionError(f"{said}{process.stderr.read()}")
        yield process
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
        if process.returncode != DONE:
            raise AssertionError(f"exit code {process.returncode}: {said}")
    finally:
        process.kill()
        process.communicate()


def record(*arguments, timeout=120):
    """Record with success, else fail with what it said."""
    done = run(*arguments, timeout=timeout)
    if done.returncode != DONE:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
    return done


def folded(recording, *options):
    """A recording as {(root, ..., leaf): count}, by way of the report command."""
    path = Path(recording).with_suffix(".test.folded")
    record("report", recording, *options, "-o", path)
    return read_folded(path)


def read_folded(path):
    stacks = Counter()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            stack, count = line.rstrip("\n").rsplit(" ", 1)
            # What a format gives a meaning is percent-escaped, such as a ';' in a name.
            stacks[tuple(map(unquote, stack.split(";")))] += int(count)
    return stacks


def weight_where(stacks, predicate):
    """Sum of the counts of the stacks for which `predicate(stack)` holds."""
    return sum(count for stack, count in stacks.items() if predicate(stack))


def weight_of(stacks, frame):
    """Sum of the counts of the stacks that hold this frame."""
    return weight_where(stacks, lambda stack: frame in stack)
