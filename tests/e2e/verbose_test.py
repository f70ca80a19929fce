# SPDX-License-Identifier: Apache-2.0
"""Diagnostics: -v, -vv and BEAMFLAME_LOG."""
import os
import pty
import re
import select
import subprocess
import unittest

import beamflame
import nodes

NEEDS = "own nodes"
LINE = re.compile(r"beamflame: \[(\d+\.\d{3})\] ([a-z ]+): (.+)")


def areas(text):
    """Return the messages of each area. Fail if a line is neither a message nor an old one."""
    found = {}
    for line in text.splitlines():
        match = LINE.fullmatch(line)
        if match:
            found.setdefault(match[2], []).append(match[3])
        elif "[" in line.partition(":")[2][:3]:
            raise AssertionError(f"not a message: {line!r}")
    return found


def on_terminal(*arguments):
    """Run beamflame with a terminal as standard error; return what it wrote there."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([beamflame.BINARY, *map(str, arguments)], stdout=subprocess.DEVNULL,
                          stderr=theirs) as process:
        os.close(theirs)
        said = b""
        while select.select([ours], [], [], 60)[0]:
            try:
                said += os.read(ours, 1 << 16)
            except OSError:  # the other side is closed
                break
        process.wait(60)
    os.close(ours)
    return said.decode()


@nodes.each_release
class Verbose:
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.folder = beamflame.folder(cls.addClassCleanup)
        cls.node = nodes.Node(cls.release, "storm")
        cls.addClassCleanup(cls.node.kill)
        cls.file = cls.folder / "quiet.bfr"
        cls.quiet = beamflame.record("-p", cls.node.pid, "-d", "1", "-e", "cpu,gc", "-o", cls.file)

    def record(self, *arguments):
        return beamflame.record("-p", self.node.pid, "-d", "2", "-e", "cpu,gc", "-o",
                                self.folder / "x.bfr", *arguments)

    def test_v_names_layout_hooks_and_clock(self):
        said = areas(self.record("-v").stderr)
        layout = " ".join(said["layout"])
        self.assertRegex(layout, r"from the (built-in table of OTP|DWARF of)")
        self.assertRegex(layout, "passed its checks")
        self.assertRegex(said["vm"][0], f"process {self.node.pid} is a VM.* OTP {self.release}")
        hooks = [text for text in said["hooks"] if text.startswith("garbage_collect at 0x")]
        self.assertRegex(hooks[0], "by (symbol|caller)")
        self.assertRegex(said["clock"][0], "cpu-clock for sample_cpu: 99 ticks .* 10101010 ns")
        self.assertTrue(any("the process table (erts_proc)" in text for text in said["roots"]))
        self.assertTrue(any("gc_begin" in text for text in said["bpf"]))
        self.assertRegex(said["calibration"][-1], r"a hit costs \d+ ns")
        self.assertTrue(any(text.startswith("gc in process") for text in said["probes"]))
        self.assertNotIn("windows", said)
        self.assertNotIn("budget", said)

    def test_vv_names_windows_and_budget(self):
        said = areas(self.record("-vv").stderr)
        self.assertTrue(any("stands for" in text for text in said["windows"]))
        self.assertTrue(any("are its share" in text for text in said["budget"]))
        self.assertTrue(any(text.startswith("libbpf: ") for text in said["bpf"]))

    def test_nothing_is_logged_without_v(self):
        self.assertEqual(self.quiet.stderr,
                         f"beamflame: sampling 1 VM at 99 Hz for 1 s\nbeamflame: wrote {self.file}\n")

    def test_standard_output_is_the_same_with_vv(self):
        for command in (("report", self.file), ("diff", self.file, self.file)):
            with self.subTest(command[0]):
                quiet, verbose = beamflame.record(*command), beamflame.record(*command, "-vv")
                self.assertGreater(len(quiet.stdout), 100)
                self.assertEqual(verbose.stdout, quiet.stdout)
                self.assertIn("recording", areas(verbose.stderr))
                self.assertEqual(quiet.stderr, "")

    def test_each_command_has_option_v(self):
        for command, area in (("ps", "vm"), ("dump", "layout"), ("probes", "hooks"), ("doctor", "hooks")):
            with self.subTest(command):
                which = () if command == "ps" else ("-p", self.node.pid)
                self.assertIn(area, areas(beamflame.record(command, *which, "-v").stderr))

    def test_environment_variable_logs_into_a_file(self):
        log = self.folder / "log"
        environment = dict(os.environ, BEAMFLAME_LOG=f"detail:{log}")
        done = beamflame.run("-p", self.node.pid, "-d", "2", "-e", "gc", "-o",
                             self.folder / "y.bfr", env=environment)
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        self.assertEqual(areas(done.stderr), {})
        said = areas(log.read_text())
        self.assertIn("layout", said)
        self.assertIn("windows", said)

    def test_environment_variable_1_is_like_v(self):
        done = beamflame.run("report", self.file, env=dict(os.environ, BEAMFLAME_LOG="1"))
        self.assertIn("recording", areas(done.stderr))

    def test_segments_are_written_while_a_file_is_logged(self):
        """The processes that write segments keep the file open, and no other file gets lines."""
        log = self.folder / "segments"
        done = beamflame.run("-p", self.node.pid, "-d", "2", "--loop", "1", "-o",
                             self.folder / "s.folded", env=dict(os.environ, BEAMFLAME_LOG=str(log)))
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        files = list(self.folder.glob("s-*.folded"))
        self.assertGreaterEqual(len(files), 2)
        for file in files:
            self.assertGreater(sum(beamflame.read_folded(file).values()), 0)
        self.assertEqual(len(areas(log.read_text())["selection"]), len(files))

    def test_log_lines_replace_the_progress_on_a_terminal(self):
        said = on_terminal("-vv", "-p", self.node.pid, "-d", "3", "-e", "cpu,gc", "-o",
                           self.folder / "t.bfr")
        self.assertIn("samples (", said)
        self.assertIn("] budget: ", said)
        for line in said.split("\r\n"):
            if "] budget: " in line:
                self.assertTrue(line.rpartition("\r\x1b[K")[2].startswith("beamflame: ["), line)

    def test_blocked_reader_of_the_log_does_not_stop_the_run(self):
        profiler = beamflame.start("-vv", "-p", self.node.pid, "-d", "2", "-e", "cpu,gc,alloc,msg",
                                   "-o", self.folder / "u.bfr")
        try:
            self.assertEqual(profiler.wait(60), beamflame.DONE)
        finally:
            profiler.kill()
            _, said = profiler.communicate()
        self.assertIn("wrote", said)
        self.assertLess(len(said), 64 << 10)


class Refusals(unittest.TestCase):
    def test_log_file_that_cannot_be_written_is_a_warning(self):
        done = beamflame.run("help", env=dict(os.environ, BEAMFLAME_LOG="/no/such/file"))
        self.assertEqual(done.returncode, beamflame.DONE)
        self.assertIn("warning: nothing is logged", done.stderr)

    def report(self, log):
        """Run `report`, with details logged to this file."""
        stacks = beamflame.folder(self.addCleanup) / "in.folded"
        stacks.write_text("a;b 3\n")
        done = beamflame.run("report", stacks, env=dict(os.environ, BEAMFLAME_LOG=f"detail:{log}"),
                             timeout=20)
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        return done.stderr

    def test_lines_that_a_full_disk_loses_are_counted(self):
        """A warning at the end has the number of lines that a log without loss would have."""
        log = beamflame.folder(self.addCleanup) / "log"
        self.assertEqual(self.report(log), "")
        lines = len(log.read_text().splitlines())
        self.assertGreater(lines, 1)
        self.assertEqual(self.report("/dev/full"),
                         f"beamflame: warning: {lines} lines of the log were lost: No space left on "
                         "device\n")

    def test_lines_that_a_full_pipe_loses_are_counted(self):
        pipe = beamflame.folder(self.addCleanup) / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, writer)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))
        self.assertRegex(self.report(pipe), r"beamflame: warning: \d+ lines of the log were lost: the "
                                            "reader of the pipe was too slow\n")

    def test_log_file_that_is_a_pipe_without_a_reader_is_a_warning(self):
        pipe = beamflame.folder(self.addCleanup) / "pipe"
        os.mkfifo(pipe)
        done = beamflame.run("help", env=dict(os.environ, BEAMFLAME_LOG=str(pipe)), timeout=10)
        self.assertEqual(done.returncode, beamflame.DONE)
        self.assertIn(f"warning: nothing is logged to the file of BEAMFLAME_LOG: can't write {pipe}: "
                      "No such device or address", done.stderr)


if __name__ == "__main__":
    unittest.main()
