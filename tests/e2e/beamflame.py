# SPDX-License-Identifier: Apache-2.0
"""Helpers that run beamflame in tests and read its outputs."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import nodes

BINARY = nodes.BUILD / "beamflame"
PARSER = "beamflame-elf"  # the name of the process that parses ELF files
PARSERS = PARSER, "beamflame-fork"  # and of the one that forks it

# Exit codes, as documented.
DONE, FAILED, USAGE, NO_PROCESS, PERMISSION, UNSUPPORTED, NO_SAMPLES = range(7)


def require():
    """Skip the test if the kernel does not let us load BPF programs. This check does not use
    beamflame, so that an error of beamflame is not taken for a limit of the machine."""
    if os.geteuid() != 0:
        raise unittest.SkipTest("needs root")
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        raise unittest.SkipTest("the kernel has no BTF")
    if bpftool("prog", "show") is None:
        raise unittest.SkipTest("no BPF here")


def has_pmu():
    """True if the machine counts cycles."""
    done = subprocess.run(["perf", "stat", "-x,", "-e", "cycles", "true"], capture_output=True,
                          text=True, check=False)
    return done.returncode == 0 and done.stderr.split(",")[0].isdigit()


def each_release_and_clock(tests):
    """Class decorator: like nodes.each_release(), with a second case per release whose recordings
    all use the clock `cycles`. That case is skipped if there is no PMU."""
    nodes.each_release(tests)
    module = sys.modules[tests.__module__]
    for release in nodes.RELEASES:
        case = getattr(module, f"{tests.__name__}{release}")
        by_cycles = type(f"{case.__name__}Cycles", (case,),
                         {"setUpClass": classmethod(_set_up_cycles)})
        by_cycles.__module__ = tests.__module__
        setattr(module, by_cycles.__name__, by_cycles)
    return tests


_clock = []  # the options that select the clock


def _set_up_cycles(case):
    if not has_pmu():
        raise unittest.SkipTest("no PMU here: the clock 'cycles' is not tested")
    _clock[:] = ["--clock", "cycles"]
    case.addClassCleanup(_clock.clear)
    super(case, case).setUpClass()


def _with_clock(arguments):
    """Return the arguments, with the options of the tested clock added for a recording."""
    is_recording = "-p" in arguments[:-1] or "-a" in arguments or "--" in arguments
    is_command = arguments and not str(arguments[0]).startswith("-")
    given = "--clock" in arguments
    return [*(_clock if is_recording and not is_command and not given else []), *arguments]


def bpftool(*arguments):
    """Return bpftool's JSON output, or None if bpftool fails."""
    path = next((p for p in ("/usr/sbin/bpftool", "/usr/local/sbin/bpftool") if os.path.exists(p)),
                "bpftool")
    try:
        run = subprocess.run([path, "-j", *arguments], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return json.loads(run.stdout)


def folder(clean_up):
    """Create a temporary folder. `clean_up`, a test's addCleanup or addClassCleanup, gets the
    function that removes it."""
    made = tempfile.TemporaryDirectory(prefix="beamflame-test-")
    clean_up(made.cleanup)
    return Path(made.name)


def run(*arguments, timeout=120, **options):
    """Run beamflame to its end; return the finished process with its text output."""
    return subprocess.run([BINARY, *map(str, _with_clock(arguments))], capture_output=True, text=True,
                          timeout=timeout, **options)


def start(*arguments, stderr=subprocess.PIPE, **options):
    """Start beamflame and return the process; the caller ends it. An agent records although agents
    of other tests do, unless the test sets the environment."""
    if arguments[0] == "agent":
        options.setdefault("env", {**os.environ, "BEAMFLAME_RECORD_BESIDE_OTHERS": "true"})
    return subprocess.Popen([BINARY, *map(str, _with_clock(arguments))], stdout=subprocess.PIPE,
                            stderr=stderr, text=True, **options)


def formats():
    """Return the names of all formats, as the program lists them."""
    said = run("report", "--format", "none", "-o", os.devnull, os.devnull).stderr
    return re.search(r"the formats are: (.*)", said)[1].split(", ")


def read_until(process, text):
    """Read what a process says, up to a line with the text; return this line."""
    for line in process.stderr:
        if text in line:
            return line
    raise AssertionError(f"the process ended without '{text}'")


class Profilers:
    """Mixin for unittest.TestCase: helpers of tests about the end of recordings."""

    def start(self, *arguments, **options):
        """Start a profiler; the end of the test kills it if it still runs."""
        profiler = start(*arguments, **options)
        self.addCleanup(profiler.communicate)
        self.addCleanup(profiler.kill)
        return profiler

    @staticmethod
    def writers(pid):
        """Return the pids of the processes that write outputs of segments: the children of a
        profiler but those that parse ELF files, and the one that forks these."""
        found = []
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split():
            try:
                name = Path(f"/proc/{child}/comm").read_text("ascii").strip()
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has just ended
            if name not in PARSERS:
                found.append(int(child))
        return found

    def result_of(self, what, process, seconds, state=lambda: "not in time"):
        """Return the first true result of `what`, which comes within so many seconds, while the
        process runs. `state` returns what the message of a failure says."""
        deadline = time.monotonic() + seconds
        while not (result := what()):
            self.assertIsNone(process.poll(), "it has ended")
            self.assertLess(time.monotonic(), deadline, state())
            time.sleep(0.1)
        return result

    def ended(self, profiler):
        """Wait for the profiler and all its children to end; return its exit code and its
        stderr."""
        _, said = profiler.communicate(timeout=60)
        return profiler.returncode, said


class OneNode:
    """Mixin for unittest.TestCase: all tests share the node `node`, which is under load. Each has a
    folder `out`."""

    @classmethod
    def setUpClass(cls):
        require()
        cls.node = nodes.Node(25, "request")
        cls.addClassCleanup(cls.node.kill)

    def setUp(self):
        self.out = folder(self.addCleanup)


class BadOptions:
    """Mixin for unittest.TestCase: options of a recording that are usage errors."""

    cases = ()  # (options, part of the message)

    def test_bad_options_are_usage_errors(self):
        """Each case is a usage error, and the message lists the valid choices."""
        self.assertGreater(len(self.cases), 0)
        for options, says in self.cases:
            with self.subTest(options):
                done = run(*options, "-p", "1")
                self.assertEqual(done.returncode, USAGE)
                self.assertIn(says, done.stderr)


@contextmanager
def recording(*arguments):
    """Record while the block runs. The block starts when all probes are attached; the recording
    ends after it."""
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
    """Run beamflame; fail with its messages unless it succeeds."""
    done = run(*arguments, timeout=timeout)
    if done.returncode != DONE:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
    return done


WAITING = ("waiting", "idle", "blocked")


def vm_status(status):
    """Return the status that the VM itself has: it does not know what a process waits for."""
    return "waiting" if status in WAITING else status


def folded(recording, *options):
    """Return a recording as {(root, ..., leaf): count}, made by the report command."""
    path = Path(recording).with_suffix(".test.folded")
    record("report", recording, *options, "-o", path)
    return read_folded(path)


def read_folded(path):
    stacks = Counter()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            stack, count = line.rstrip("\n").rsplit(" ", 1)
            # The folded format percent-escapes its own separators in names, such as ';'.
            stacks[tuple(map(unquote, stack.split(";")))] += int(count)
    return stacks


def weight_where(stacks, predicate):
    """Return the sum of the counts of the stacks for which `predicate(stack)` is true."""
    return sum(count for stack, count in stacks.items() if predicate(stack))


def weight_of(stacks, frame):
    """Return the sum of the counts of the stacks that contain this frame."""
    return weight_where(stacks, lambda stack: frame in stack)
