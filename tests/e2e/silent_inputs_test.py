# SPDX-License-Identifier: Apache-2.0
"""Files that the command line names, a core file, or standard input, on a file server that falls
silent (FUSE): commands end in time with one sentence, and read the files of a server that answers."""
import os
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock

import beamflame
import cores
import nodes
from hostile_stalls_test import FileServer
from hostile_test import patience

NEEDS = "own nodes"
SILENT = "its file server does not answer"
STACKS = "".join(f"a;b{i};c{i % 7} {i}\n" for i in range(1, 60000))


class Inputs(FileServer, unittest.TestCase):
    """Inputs of `report` and `diff`."""

    def setUp(self):
        super().setUp()
        self.input = beamflame.folder(self.addCleanup) / "in.folded"
        self.input.write_text(STACKS)

    def check_silent(self, path, *arguments):
        """The command fails in time, with one line that says why."""
        self.assertEqual(self.check(*arguments), f"beamflame: can't read '{path}': {SILENT}\n")

    def test_input_of_a_server_that_answers_is_read(self):
        served = self.serve(self.input)
        done = beamflame.record("report", served, "--format", "folded", "-o", "-")
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(STACKS.splitlines()))

    def test_silent_input(self):
        """The server does not answer when the file is opened."""
        served = self.serve(self.input)
        self.stall()
        self.check_silent(served, "report", self.input, served)
        self.check_silent(served, "diff", self.input, served)

    def test_input_that_falls_silent_while_it_is_read(self):
        """Two parts of the file are read before."""
        served = self.serve(self.input, 2)
        self.check_silent(served, "report", served)

    def test_pipe_and_own_descriptor_are_read(self):
        """A named pipe and a descriptor of the command's own (`report <(...)`) are no files of a
        server."""
        pipe = self.input.with_name("pipe")
        os.mkfifo(pipe)
        writer = subprocess.Popen(["cp", self.input, pipe])
        self.addCleanup(writer.wait)
        self.addCleanup(writer.kill)
        done = beamflame.record("report", pipe, "--format", "folded", "-o", "-")
        self.assertEqual(len(done.stdout.splitlines()), len(STACKS.splitlines()))
        with self.input.open("rb") as file:
            done = beamflame.run("report", f"/dev/fd/{file.fileno()}", "--format", "folded", "-o",
                                 "-", pass_fds=[file.fileno()])
        self.assertEqual(len(done.stdout.splitlines()), len(STACKS.splitlines()), done.stderr)


# Prints a line once standard input is open, and becomes beamflame at the next line from the pipe.
OPENER = """
import os, sys
os.close(0)
os.set_inheritable(os.open(sys.argv[1], os.O_RDONLY), True)
print("open", flush=True)
os.read(int(sys.argv[2]), 1)
os.execv(sys.argv[3], sys.argv[3:])
"""


class StandardInput(FileServer, unittest.TestCase):
    """Any command, whose standard input is such a file."""

    def setUp(self):
        super().setUp()
        self.input = beamflame.folder(self.addCleanup) / "in.folded"
        self.input.write_text(STACKS)

    def run_with(self, path, *arguments, stall=False):
        """Run beamflame with this standard input, on a server that stalls once the file is open;
        return what it prints to each stream, and its exit code. It ends in time, and nobody
        keeps its output open."""
        ready, go = os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-c", OPENER, path, str(ready), beamflame.BINARY, *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, pass_fds=[ready])
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "open\n")
        if stall:
            self.stall()
        began = time.monotonic()
        os.close(go)
        out, said = process.communicate(timeout=30)
        self.assertLess(time.monotonic() - began, 5 * patience())
        os.close(ready)
        return out, said, process.returncode

    def test_standard_input_of_a_server_that_answers_is_read(self):
        served = self.serve(self.input)
        for name in ("-", "/dev/stdin"):
            with self.subTest(name):
                out, said, code = self.run_with(served, "report", name, "-q", "--format", "folded",
                                                "-o", "-")
                self.assertEqual((said, code), ("", beamflame.DONE))
                self.assertEqual(sorted(out.splitlines()), sorted(STACKS.splitlines()))

    def test_silent_standard_input(self):
        """From the start, and after two parts of the file."""
        expected = "", f"beamflame: can't read standard input: {SILENT}\n", beamflame.FAILED
        served = self.serve(self.input)
        self.assertEqual(self.run_with(served, "report", "-", stall=True), expected)
        served = self.serve(self.input)
        self.assertEqual(self.run_with(served, "diff", self.input, "-", stall=True), expected)
        served = self.serve(self.input, 2)
        self.assertEqual(self.run_with(served, "report", "-", "-o", self.out / "x.svg"), expected)

    def test_commands_that_do_not_read_it(self):
        """They do their work, and end."""
        for command in (["--version"], ["report", self.input, "-q", "--format", "folded", "-o", "-"],
                        ["ps"]):
            with self.subTest(command[0]):
                served = self.serve(self.input)
                out, said, code = self.run_with(served, *command, stall=True)
                self.assertIn(code, (beamflame.DONE, beamflame.NO_PROCESS), said)
                self.assertNotIn("server", said)

    def test_command_behind_the_dashes_gets_it(self):
        """`beamflame -- CMD < FILE`: the command reads all of it."""
        beamflame.require()
        served = self.serve(self.input)
        out, _, _ = self.run_with(served, "-d", 1, "--", "/bin/cat")
        self.assertEqual(out, STACKS)


class Cores(FileServer, unittest.TestCase):
    """Core files, their executables and their libraries."""

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.exe = nodes.emulator(25)
        cls.core = beamflame.folder(cls.addClassCleanup) / "core"
        with cores.Node(25, "identity") as node:
            node.core(lambda: os.kill(node.pid, signal.SIGABRT), cls.core)
        cls.dumped = beamflame.record("dump", "--core", cls.core, "--exe", cls.exe).stdout

    def test_core_and_executable_of_a_server_that_answers_are_read(self):
        served = self.serve(self.core)
        self.assertEqual(beamflame.record("dump", "--core", served, "--exe", self.exe).stdout,
                         self.dumped)
        served = self.serve(self.exe)
        self.assertEqual(beamflame.record("dump", "--core", self.core, "--exe", served).stdout,
                         self.dumped)

    def test_silent_core(self):
        served = self.serve(self.core)
        self.stall()
        self.assertEqual(self.check("dump", "--core", served, "--exe", self.exe),
                         f"beamflame: can't read '{served}': {SILENT}\n")

    def test_core_that_falls_silent_while_it_is_read(self):
        """The server falls silent at the first read, and later."""
        for reads in (0, 8):
            with self.subTest(reads=reads):
                served = self.serve(self.core, reads)
                self.assertEqual(self.check("dump", "--core", served, "--exe", self.exe),
                                 f"beamflame: can't read '{served}': {SILENT}\n")

    def test_silent_executable(self):
        """The message says how to name another one."""
        served = self.serve(self.exe)
        self.stall()
        said = self.check("dump", "--core", self.core, "--exe", served)
        self.assertIn(f"can't open the executable of the core file, '{served}' ({SILENT}): give it "
                      "with --exe FILE", said)
        self.assertEqual(len(said.splitlines()), 1)

    def test_executable_that_falls_silent_while_it_is_read(self):
        served = self.serve(self.exe, 1)
        said = self.check("dump", "--core", self.core, "--exe", served)
        self.assertIn(SILENT, said)

    def test_library_that_is_not_given_has_no_names(self):
        """The core is dumped; -v says which library is missing."""
        library = beamflame.folder(self.addCleanup) / "library.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, "-x", "c", "/dev/null"], check=True)
        served = self.serve(library)
        with unittest.mock.patch.dict(os.environ, LD_PRELOAD=str(served)):
            node = cores.Node(25, "identity")
        self.addCleanup(node.kill)
        core = beamflame.folder(self.addCleanup) / "core"
        node.core(lambda: os.kill(node.pid, signal.SIGABRT), core)
        self.stall()
        said = self.check("dump", "-v", "--core", core, "--exe", self.exe)
        self.assertIn(f"the file server of {served} does not answer", said)
        self.assertIn("identity", said)


if __name__ == "__main__":
    unittest.main()
