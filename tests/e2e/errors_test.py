# SPDX-License-Identifier: Apache-2.0
"""Each error has its exit code, one sentence that says what is wrong, and leaves no file behind."""
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import beamflame
import nodes
from beamflame import DONE, FAILED, NO_PROCESS, NO_SAMPLES, PERMISSION, USAGE

NEEDS = "own nodes"


class Errors(unittest.TestCase):
    def setUp(self):
        self.out = beamflame.folder(self.addCleanup)

    def expect(self, code, *arguments, says=()):
        done = beamflame.run(*arguments)
        self.check(done, code, says)
        return done

    def check(self, done, code, says):
        self.assertEqual(done.returncode, code, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line]
        self.assertTrue(lines, "said nothing")
        self.assertRegex(lines[0], r"^(\S*/)?beamflame( \w+)?: \S")
        for text in says:
            self.assertIn(str(text), done.stderr)
        self.assertEqual(os.listdir(self.out), [], "left something behind")

    def test_missing_process_is_an_error(self):
        """The error names the pid, which does not exist."""
        beamflame.require()
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.expect(NO_PROCESS, "-p", gone.pid, "-d", 1, "-o", self.out / "x.folded",
                    says=[gone.pid])

    def test_other_program_is_an_error_whatever_its_name(self):
        """A process that is not an Erlang VM is refused, even if its name is that of one."""
        beamflame.require()
        program = self.out / "beam.smp"
        shutil.copy("/bin/sleep", program)
        with subprocess.Popen([program, "60"]) as other:
            try:
                program.unlink()
                self.expect(NO_PROCESS, "-p", other.pid, "-d", 1, "-o", self.out / "x.folded",
                            says=[other.pid])
            finally:
                other.kill()

    def test_bad_options_are_refused_before_any_output(self):
        """Invalid options and values are refused before any output is touched."""
        mine = ("-p", os.getpid())
        for arguments in (("--no-such-option",), ("-p", "abc"), ("-p", "-1"), ("-p", "0"),
                          (*mine, "-d", "x"), (*mine, "-d", "0"), (*mine, "-d", "-1"),
                          (*mine, "-F", "0"), (*mine, "-F", "-5"), (*mine, "-F", "many"),
                          (*mine, "-o", self.out / "x.unknown"), (*mine, "-o", self.out / "none"),
                          (*mine, "--format", "unknown", "-o", "-"), (*mine, "--group-by", "x"),
                          (*mine, "-I", "a(b"), (*mine, "-X", "["), (*mine, "--status", "busy"),
                          (*mine, "--process", ""), (*mine, "--from", "x"), (*mine, "--to", "-1"),
                          (*mine, "--from", "2", "--to", "2"),
                          ("report",), ("no-such-command",)):
            with self.subTest(arguments):
                self.expect(USAGE, *arguments)

    def test_unwritable_output_is_reported_at_the_start(self):
        """An output that cannot be written is reported at the start, not after the recording."""
        beamflame.require()
        with nodes.Node(25, "identity") as node:
            for path in ("/proc/x.folded", self.out / "no-such-folder" / "x.svg"):
                with self.subTest(path):
                    start = time.monotonic()
                    self.expect(FAILED, "-p", node.pid, "-d", 20, "-o", path, says=[path])
                    self.assertLess(time.monotonic() - start, 10)

    def test_error_names_the_missing_capability(self):
        """The message to a user without capabilities names the missing one."""
        beamflame.require()
        with nodes.Node(25, "identity") as node, \
                tempfile.TemporaryDirectory(prefix="beamflame-test-") as folder:
            os.chmod(folder, 0o755)
            binary = shutil.copy(beamflame.BINARY, folder)
            done = subprocess.run(
                ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                 binary, "-p", str(node.pid), "-d", "1", "--format", "folded", "-o", "/dev/null"],
                capture_output=True, text=True, timeout=30)
        self.check(done, PERMISSION, ["CAP_"])

    def test_host_without_a_beam_is_an_error(self):
        """An empty pid namespace is a host without a BEAM; no option names a target."""
        beamflame.require()
        done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child",
                               beamflame.BINARY, "-d", "1", "-o", self.out / "x.folded"],
                              capture_output=True, text=True, timeout=30)
        self.check(done, NO_PROCESS, [])

    def test_error_lists_several_beams_of_the_host(self):
        """Without -p, the message lists the BEAMs of a host that has two."""
        beamflame.require()
        with nodes.Node(25, "identity") as one, nodes.Node(25, "identity") as other:
            self.expect(USAGE, "-d", 1, "-o", self.out / "x.folded", says=[one.pid, other.pid])

    def test_target_that_ends_while_attaching_is_reported(self):
        """If the node ends while beamflame attaches, beamflame does not crash or hang, and its exit
        code says what happened."""
        beamflame.require()
        for delay in (0.0, 0.05, 0.1, 0.2):
            with self.subTest(delay=delay), nodes.Node(25, "identity") as node:
                profiler = beamflame.start("-p", node.pid, "-d", 20, "-o", self.out / "x.folded")
                time.sleep(delay)
                node.kill()
                _, said = profiler.communicate(timeout=60)
                self.assertIn(profiler.returncode,
                              (DONE, NO_PROCESS, NO_SAMPLES), said)

    def test_node_that_ends_before_its_first_sample_has_its_exit_code(self):
        """The outputs are missing, which is said, and the recording is there without a sample."""
        beamflame.require()
        recording, picture = self.out / "x.bfr", self.out / "x.svg"
        with nodes.Node(25, "identity") as node:  # it never calls this function
            profiler = beamflame.start("-p", node.pid, "-d", 60, "-e", "bif:erlang:md5/1",
                                       "-o", recording, "-o", picture)
            self.addCleanup(profiler.kill)
            self.assertIn("sampling", profiler.stderr.readline())
        out, said = profiler.communicate(timeout=60)
        self.assertEqual(profiler.returncode, NO_SAMPLES, said)
        self.assertEqual(out, "")
        self.assertIn(f"warning: process {node.pid} ended while it was recorded", said)
        self.assertIn("the recording holds no samples", said)
        self.assertEqual(os.listdir(self.out), ["x.bfr"])
        self.assertEqual(beamflame.run("report", recording).returncode, NO_SAMPLES)

    def test_data_before_a_full_disk_is_readable(self):
        """When the disk is almost full, an error says so, and what was written before is valid. There
        is room left for others."""
        beamflame.require()
        report = self.out / "x.folded"
        script = ('mount -t tmpfs -o size=64k tmpfs "$1" || exit 99; '
                  '"$2" -p "$3" -d 40 -F 999 -o "$1/x.bfr" >&2; code=$?; '
                  'stat -f -c "free: %a" "$1" >&2; '
                  '"$2" report "$1/x.bfr" --format folded -o -; exit $code')
        with nodes.Node(25, "request") as node, tempfile.TemporaryDirectory() as disk:
            done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", disk,
                                   beamflame.BINARY, str(node.pid)],
                                  capture_output=True, text=True, timeout=90)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertIn("No space left on device, except 3.3 kB that stay free", done.stderr)
        self.assertRegex(done.stderr, r"(?m)^free: [1-9]")
        report.write_text(done.stdout)
        self.assertGreater(sum(beamflame.read_folded(report).values()), 20)

    def test_report_refuses_files_that_are_no_recording(self):
        """A recording that is missing, empty or of another format is refused by its path."""
        with tempfile.TemporaryDirectory(prefix="beamflame-test-") as folder:
            empty, other = Path(folder, "empty.bfr"), Path(folder, "other.bfr")
            empty.touch()
            other.write_bytes(os.urandom(4096))
            for path in (Path(folder, "missing.bfr"), empty, other):
                with self.subTest(path.name):
                    self.expect(FAILED, "report", path, "-o", self.out / "x.folded", says=[path])

    def test_report_lists_the_events_and_values_of_a_recording(self):
        """An unknown event or value is an error that lists those in the recording."""
        beamflame.require()
        with tempfile.TemporaryDirectory(prefix="beamflame-test-") as folder:
            recording, out = Path(folder, "x.bfr"), self.out / "x.folded"
            with nodes.Node(25, "request") as node:
                beamflame.record("-p", node.pid, "-d", 2, "-F", 199, "-o", recording)
            self.expect(USAGE, "report", recording, "--event", "cpus", "-o", out,
                        says=["cpus", "it has: cpu"])
            self.expect(USAGE, "report", recording, "--weight", "words", "-o", out,
                        says=["words", "event cpu", "it has: time"])
            beamflame.record("report", recording, "--event", "cpu", "--weight", "time", "-o", out)
            self.assertTrue(out.exists())

    def test_cut_recording_is_readable(self):
        """A recording that is cut anywhere yields its complete records and never a crash."""
        beamflame.require()
        with nodes.Node(25, "request") as node:
            whole = self.out / "whole.bfr"
            beamflame.record("-p", node.pid, "-d", 3, "-F", 199, "-o", whole)
        data = whole.read_bytes()
        for share in (0.999, 0.9, 0.5):
            cut = self.out / "cut.bfr"
            cut.write_bytes(data[:int(len(data) * share)])
            done = beamflame.run("report", cut, "--format", "folded", "-o", "-")
            self.assertIn(done.returncode, (DONE, NO_SAMPLES), done.stderr)
class ReaderThatLeaves(unittest.TestCase):
    """`head` closes the pipe as soon as it has enough."""

    def first_line(self, *arguments):
        """Run beamflame with a reader of standard output who leaves after a line, and with SIGPIPE
        ignored, as under many supervisors. Return the line, the exit code and the messages."""
        process = subprocess.Popen([beamflame.BINARY, *map(str, arguments)], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
        line = process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        process.stderr.close()
        return line, process.wait(timeout=30), said

    def test_record_and_report_end_quietly(self):
        """It is no error, and other outputs are complete."""
        beamflame.require()
        out = beamflame.folder(self.addCleanup)
        with nodes.Node(27, "request") as node:
            line, code, said = self.first_line("-p", node.pid, "-d", 2, "-F", 999, "-q", "--format",
                                               "json", "-o", "-", "-o", out / "x.bfr")
        self.assertIn('"header"', line)
        self.assertEqual((code, said), (DONE, ""))
        self.assertGreater(len(beamflame.folded(out / "x.bfr")), 1)
        line, code, said = self.first_line("report", out / "x.bfr", "-q", "--format", "json",
                                           "-o", "-", "-o", out / "x.txt")
        self.assertIn('"header"', line)
        self.assertEqual((code, said), (DONE, ""))
        self.assertGreater((out / "x.txt").stat().st_size, 100)


