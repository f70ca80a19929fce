# SPDX-License-Identifier: Apache-2.0
"""The process that writes the outputs has no rights, and when it dies nothing is lost."""
import os
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

import beamflame
from beamflame import DONE, FAILED
from privileges_test import status

NEEDS = "own nodes"
NAME = "beamflame-out"
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def children(pid, name=NAME):
    """Return the children of a process that have this name."""
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
        return [int(child) for child in found
                if Path(f"/proc/{child}/comm").read_text("ascii").strip() == name]
    except (FileNotFoundError, ProcessLookupError):
        return []  # it has just ended


def is_gone(pid):
    try:
        return status(pid)["State"].startswith(("Z", "X"))
    except (FileNotFoundError, ProcessLookupError):
        return True


class OutputsProcess(beamflame.OneNode, beamflame.Profilers, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.temporary = self.out / "temporary"
        self.temporary.mkdir()
        self.environment = dict(os.environ, TMPDIR=str(self.temporary))

    def wait_for(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not (found := condition()) and time.monotonic() < end:
            time.sleep(0.01)
        self.assertTrue(found)
        return found

    def writing(self, *arguments):
        """Record, until the process that writes the outputs waits for the reader of a page. Return
        the profiler, and the pid of that process."""
        return self.all_writing([arguments])[0]

    def all_writing(self, cases):
        """The same for each of several lists of arguments, at once."""
        profilers = [beamflame.start("-p", self.node.pid, "-F", 499, "-d", 0.7, "--format", "html",
                                     "-o", "-", *arguments, env=self.environment)
                     for arguments in cases]
        for profiler in profilers:
            self.addCleanup(profiler.communicate)
            self.addCleanup(profiler.kill)
        found = []
        for profiler in profilers:
            self.assertTrue(profiler.stdout.read(1))  # the rest is more than the pipe holds
            child, = children(profiler.pid)
            found.append((profiler, child))
        return found

    def check_nothing_left(self, profiler, child):
        self.assertTrue(is_gone(child))
        self.assertIsNotNone(profiler.poll())
        self.check_no_temporary()

    def check_no_temporary(self):
        self.assertEqual(list(self.out.rglob("*.tmp")), [])

    def test_process_has_nothing(self):
        """While it writes: no capability, a filter of system calls, a limit of memory, no core
        file, and no open file but those that it was given."""
        profiler, child = self.writing("-o", self.out / "x.svg")
        found = status(child)
        for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(found[kind], 16), 0, kind)
        self.assertEqual(found["NoNewPrivs"], "1")
        self.assertEqual(found["Threads"], "1")
        opened = [os.readlink(path) for path in Path(f"/proc/{child}/fd").iterdir()]
        named = [path for path in opened if path.startswith("/") and path != "/dev/null"]
        # the recording, which has no name, and the output under its temporary name
        self.assertEqual(len(named), 2, opened)
        self.assertTrue(all(path.startswith(str(self.out)) for path in named), opened)
        if "san" not in beamflame.BINARY.parts:
            self.assertEqual(found["Seccomp"], "2")
            limits = Path(f"/proc/{child}/limits").read_text(encoding="ascii")
            line = re.search(r"Max address space +(\d+) +(\d+)", limits)
            self.assertIsNotNone(line, limits)
            self.assertLess(int(line[1]), 4 << 30)
            self.assertEqual(line[1], line[2])
            self.assertRegex(limits, r"Max core file size +0 +0 ")
        code, said = self.ended(profiler)
        self.assertEqual(code, DONE, said)
        self.assertGreater((self.out / "x.svg").stat().st_size, 1000)
        self.check_nothing_left(profiler, child)

    def test_recording_is_kept_if_the_process_is_killed(self):
        """Killed or crashed in the midst, without a requested recording and with one: the message
        says by what, and where the recording is, which report reads; no output is half written."""
        deaths = {signal.SIGKILL: "somebody killed it, or the machine had no memory",
                  signal.SIGSEGV: "a fault of beamflame: report it"}
        cases = [(number, named) for number in deaths for named in (False, True)]
        started = self.all_writing(
            [(*(("-o", self.out / f"kept{number:d}.bfr") if named else ()),
              "-o", self.out / f"x{number:d}{named}.folded") for number, named in cases])
        for (number, named), (profiler, child) in zip(cases, started):
            with self.subTest(number=number, named=named):
                os.kill(child, number)
                code, said = self.ended(profiler)
                self.assertEqual(code, FAILED, said)
                self.assertTrue(is_gone(child))
                self.assertFalse((self.out / f"x{number:d}{named}.folded").exists())
                line, = (line for line in said.splitlines() if "the recording is kept" in line)
                self.assertIn(f"signal {number:d} ended the process that writes the outputs", line)
                self.assertIn(deaths[number], line)
                kept, = re.findall(r"kept in (\S+?);", line)
                self.assertEqual(Path(kept).parent, self.out if named else self.temporary)
                self.assertGreater(sum(beamflame.folded(kept).values()), 50)
        self.check_no_temporary()

    def test_process_ends_with_its_parent(self):
        """A profiler that is killed, or gets two signals, takes the process with it at once. The
        recording is there."""
        cases = [(signal.SIGKILL,), *((number, number) for number in ENDS)]
        started = self.all_writing([("-o", self.out / f"x{case[0]:d}.svg",
                                     "-o", self.out / f"x{case[0]:d}.bfr") for case in cases])
        for numbers, (profiler, child) in zip(cases, started):
            with self.subTest(numbers):
                for number in numbers:
                    self.assertIsNone(profiler.poll())
                    profiler.send_signal(number)
                    time.sleep(0.2)
                self.wait_for(lambda child=child: is_gone(child), 2)
                profiler.stdout.read()
                self.assertEqual(profiler.wait(2), -numbers[0])
                self.assertGreater(
                    sum(beamflame.folded(self.out / f"x{numbers[0]:d}.bfr").values()), 50)
        # SIGKILL leaves its temporary file, which the next run removes.
        self.assertLessEqual(len(list(self.out.rglob("*.tmp"))), 1)

    def test_signals_of_a_terminal_are_for_the_profiler(self):
        """The first signal of each kind, which a terminal sends to all, ends neither process while
        outputs are written. SIGPIPE ends none at all."""
        numbers = (*ENDS, signal.SIGPIPE)
        for number, (profiler, child) in zip(numbers, self.all_writing([()] * len(numbers))):
            with self.subTest(number):
                profiler.send_signal(number)
                os.kill(child, number)
                page, said = profiler.communicate(timeout=60)
                self.assertEqual(profiler.returncode, DONE, said)
                self.assertTrue(page.endswith("</html>\n"), page[-100:])

    def recorded(self):
        path = self.out / "x.bfr"
        if not path.exists():
            beamflame.record("-p", self.node.pid, "-F", 499, "-d", 2, "-q", "-o", path)
        return path

    def test_report_of_a_killed_process_says_so(self):
        """The same of report, which has nothing to keep."""
        report = beamflame.start("report", self.recorded(), "--format", "html", "-o", "-", "-o",
                                 self.out / "y.svg")
        self.addCleanup(report.communicate)
        self.addCleanup(report.kill)
        self.assertTrue(report.stdout.read(1))
        child, = children(report.pid)
        self.assertEqual(int(status(child)["CapEff"], 16), 0)
        os.kill(child, signal.SIGKILL)
        code, said = self.ended(report)
        self.assertEqual(code, FAILED, said)
        self.assertIn("signal 9 ended the process that writes the outputs", said)
        self.assertFalse((self.out / "y.svg").exists())
        self.check_nothing_left(report, child)

    def test_reader_that_leaves_ends_report_quietly(self):
        """SIGPIPE ends report as it ends other programs; a recording does not mind."""
        recording = self.recorded()
        for arguments, code in ((("report", recording), -signal.SIGPIPE),
                                (("-p", self.node.pid, "-d", 1, "-q"), DONE)):
            with self.subTest(arguments):
                program = beamflame.start(*arguments, "--format", "html", "-o", "-",
                                          env=self.environment)
                self.addCleanup(program.kill)
                program.stdout.read(1)
                program.stdout.close()
                said = program.stderr.read()
                program.stderr.close()
                self.assertEqual((program.wait(30), said if code else ""), (code, ""))

    @unittest.skipIf("san" in beamflame.BINARY.parts, "the sanitizers have no limit of memory")
    def test_lack_of_memory_is_said_and_the_recording_kept(self):
        """Less memory than the outputs take, by a limit of this process: record and report say
        so, and what to do."""
        wide = self.out / "wide.folded"
        wide.write_text("".join(f"root{number};{'x' * 200}{number} 1\n"
                                for number in range(150000)), encoding="ascii")
        done = subprocess.run(["prlimit", f"--as={100 << 20}", beamflame.BINARY, "report", wide,
                               "-o", self.out / "wide.html"], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertRegex(done.stderr, r"the process that writes the outputs needs more than \d+ MB "
                         "of memory: give more by --max-memory, or write fewer formats at once")
        self.assertFalse((self.out / "wide.html").exists())
        self.assertEqual(list(self.out.glob("*.tmp")), [])
        beamflame.record("report", wide, "-o", self.out / "wide.html")

    def kill_first(self, profiler, of_writer):
        """Kill the process that writes the first segment, or the one that writes its outputs."""
        self.assertIn("sampling", profiler.stderr.readline())
        end = time.monotonic() + 20
        while time.monotonic() < end:
            for writer in self.writers(profiler.pid):
                for victim in children(writer) if of_writer else [writer]:
                    os.kill(victim, signal.SIGKILL)
                    return
        self.fail("no process wrote a segment")

    def test_segment_is_kept_if_its_writer_is_killed(self):
        """With --loop, with and without a requested recording: the segment of a process that was
        killed is kept and named, with the signal, and the other segments are written."""
        cases = [(of_writer, suffixes) for of_writer in (False, True)
                 for suffixes in (("html",), ("html", "bfr"))]
        started = []  # each continues while the next begins
        for of_writer, suffixes in cases:
            folder = self.out / f"{of_writer}-{len(suffixes)}"
            folder.mkdir()
            outputs = [part for suffix in suffixes for part in ("-o", folder / f"x.{suffix}")]
            profiler = self.start("-p", self.node.pid, "-F", 999, "--loop", 1, "-d", 3, *outputs)
            self.kill_first(profiler, of_writer)
            started.append((folder, profiler))
        for (of_writer, suffixes), (folder, profiler) in zip(cases, started):
            with self.subTest(of_writer=of_writer, suffixes=suffixes):
                self.check_killed_segment(of_writer, folder, profiler)

    def check_killed_segment(self, of_writer, folder, profiler):
        code, said = self.ended(profiler)
        self.assertEqual(code, FAILED, said)
        self.assertIn("signal 9 ended the process that "
                      + ("writes the outputs" if of_writer else "wrote a segment"), said)
        self.assertIn("1 of 3 segments could not be written completely", said)
        kept, = re.findall("the recording of that segment is kept in (.*)", said)
        self.assertEqual(Path(kept).parent, folder)
        self.assertGreater(sum(beamflame.folded(kept).values()), 50)
        Path(kept).with_suffix(".test.folded").unlink()
        pages = [page.read_text() for page in folder.glob("*.html")]
        self.assertIn(len(pages), (2, 3), said)  # the end can come after the last
        for page in pages:
            self.assertTrue(page.rstrip().endswith("</html>"))
        self.assertEqual(list(folder.glob(".*.tmp")), [])

    def test_triggered_recording_is_kept_if_its_writer_is_killed(self):
        """The same of a recording around a trigger, which that process puts together."""
        profiler = self.start("-p", self.node.pid, "-F", 499, "--trigger", "memory>1", "--before",
                              2, "--after", 2, "-d", 6, "-o", self.out / "t.html", "-o",
                              self.out / "t.bfr")
        self.kill_first(profiler, False)
        code, said = self.ended(profiler)
        self.assertEqual(code, FAILED, said)
        self.assertIn("signal 9 ended the process that wrote a segment", said)
        kept, *_ = re.findall("the recording of that segment is kept in (.*)", said)
        self.assertGreater(sum(beamflame.folded(kept).values()), 50)


if __name__ == "__main__":
    unittest.main()
