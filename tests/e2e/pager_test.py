# SPDX-License-Identifier: Apache-2.0
"""The pager that shows a long text on a terminal."""
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
import unittest
from pathlib import Path

import beamflame
import nodes

NEEDS = "own nodes"

ROWS, COLUMNS = 10, 80
STACKS = 300
BOLD = "\033[1m"
CTRL_C = b"\x03"
SECONDS = 60  # the longest that a command may take


class Terminal:
    """A command with a terminal of its own, as its foreground job."""

    def __init__(self, *arguments, shell=(), rows=ROWS, **environment):
        """`shell`: the command that runs this one."""
        environment = {"TERM": "xterm", "NO_COLOR": "1", **environment}
        kept = {name: text for name, text in os.environ.items()
                if name not in ("BEAMFLAME_PAGER", "PAGER", "LESS", "NO_COLOR", "SUDO_UID", "COLUMNS")}
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, COLUMNS, 0, 0))
            command = [*shell, beamflame.BINARY, *map(str, arguments)]
            os.execve(command[0], command, {**kept, **environment})
        self.printed = b""
        self.modes = termios.tcgetattr(self.master)

    def read(self, until=None, keys=b""):
        """Read until a text is printed, or to the end. Type keys whenever nothing is printed."""
        end = time.monotonic() + SECONDS
        while until is None or until not in self.printed:
            if not select.select([self.master], [], [], 0.5)[0]:
                os.write(self.master, keys)
                if time.monotonic() < end:
                    continue
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError(f"the command neither printed {until} nor ended: {self.printed}")
            try:
                data = os.read(self.master, 1 << 16)
            except OSError:  # the end
                break
            self.printed += data

    def type(self, keys):
        os.write(self.master, keys)

    def end(self):
        """Read to the end; return the exit code, and all that was printed."""
        self.read()
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.modes_at_end = termios.tcgetattr(self.master)
        os.close(self.master)
        return code, self.printed.decode().replace("\r\n", "\n")


class Pager(unittest.TestCase):
    def setUp(self):
        self.folder = beamflame.folder(self.addCleanup)
        self.stacks = self.folder / "x.folded"
        self.stacks.write_text("".join(f"process;m:f{i}/1 {STACKS - i}\n" for i in range(STACKS)), "ascii")
        self.folder.chmod(0o755)
        self.long = "report", self.stacks, "--summary", "full"
        self.text = self.show(*self.long, "--no-pager")
        self.assertGreater(len(self.text.splitlines()), ROWS + 5)

    def pager(self, script, name="pager"):
        """Make a program."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{script}\n", "ascii")
        path.chmod(0o755)
        return path

    def show(self, *arguments, code=beamflame.DONE, **environment):
        """Run a command to its end; return what its terminal got."""
        ended, printed = Terminal(*arguments, **environment).end()
        self.assertEqual(ended, code, printed)
        return printed

    def test_a_comparison_is_fitted_to_the_terminal(self):
        text = self.show("diff", self.stacks, self.stacks, "--no-pager", NO_COLOR="")
        self.assertIn(f"{BOLD}before    \033[0m{self.stacks}: ", text)

    def test_less_shows_the_text_until_it_is_quit(self):
        terminal = Terminal(*self.long)
        terminal.read(b"m:f0/1")
        self.assertNotIn(self.text.splitlines()[-1].encode(), terminal.printed)
        terminal.type(b"q")
        code, printed = terminal.end()
        self.assertEqual(code, beamflame.DONE, printed)
        self.assertNotIn("beamflame:", printed)
        self.assertEqual(terminal.modes_at_end, terminal.modes)

    def test_text_that_fits_needs_no_pager(self):
        lines = len(self.text.splitlines())
        for rows, is_paged in (lines, True), (lines + 1, False):
            with self.subTest(rows=rows):
                printed = self.show(*self.long, rows=rows, BEAMFLAME_PAGER="echo paged; cat")
                self.assertEqual(printed.startswith("paged\n"), is_paged, printed)

    def test_output_is_printed_at_once(self):
        """It can be larger than memory."""
        arguments = "report", self.stacks, "--format", "folded", "-o", "-", "-q"
        self.assertEqual(self.show(*arguments, PAGER="echo paged; cat"), beamflame.run(*arguments).stdout)

    def test_chosen_pager_gets_the_whole_text(self):
        """BEAMFLAME_PAGER counts before PAGER. The exit code of a pager means nothing."""
        gets = self.pager('echo "LESS=$LESS"; cat; exit 3')
        for environment in ({"BEAMFLAME_PAGER": gets, "PAGER": "false"}, {"PAGER": f"'{gets}' x | cat"}):
            with self.subTest(environment):
                self.assertEqual(self.show(*self.long, **environment), f"LESS=FRX\n{self.text}")
        self.assertTrue(self.show(*self.long, PAGER=gets, LESS="-S").startswith("LESS=-S\n"))

    def test_colour_is_kept(self):
        printed = self.show("report", self.stacks, "--summary", "full", NO_COLOR="", PAGER="echo paged; cat")
        self.assertTrue(printed.startswith(f"paged\n{BOLD}"), printed)

    def test_no_pager(self):
        """Text is printed at once where no pager is wanted, or none can be run."""
        plain = [({"PAGER": "echo paged", "BEAMFLAME_PAGER": ""}, ()), ({"PAGER": "cat"}, ()),
                 ({"PAGER": "echo paged", "TERM": "dumb"}, ()), ({"PATH": str(self.folder)}, ()),
                 ({"PAGER": "echo paged"}, ("--no-pager",))]
        for environment, options in plain:
            with self.subTest(environment, options=options):
                self.assertEqual(self.show(*self.long, *options, **environment), self.text)
        printed = self.show(*self.long, PAGER="/no/such/pager")
        self.assertTrue(printed.endswith(self.text), printed)

    def test_pager_that_quits_early_is_no_error(self):
        self.assertEqual(self.show(*self.long, PAGER="true"), "")

    def test_command_that_fails_has_its_exit_code_and_no_pager(self):
        printed = self.show(*self.long, "--format", "json", "-o", "/dev/full", PAGER="echo paged",
                            code=beamflame.FAILED)
        self.assertIn("/dev/full", printed)
        self.assertNotIn("paged", printed)

    def test_ctrl_c_leaves_the_pager_running(self):
        """less returns to its prompt, and leaves the terminal as it was."""
        terminal = Terminal(*self.long)
        terminal.read(b"m:f0/1")
        terminal.type(CTRL_C)
        time.sleep(0.5)
        self.assertEqual(os.waitpid(terminal.pid, os.WNOHANG), (0, 0))
        # less can drop a key that is typed soon after Ctrl-C
        terminal.read(self.text.splitlines()[ROWS].encode(), keys=b" ")
        terminal.read(keys=b"q")
        self.assertEqual(terminal.end()[0], beamflame.DONE)
        self.assertEqual(terminal.modes_at_end, terminal.modes)

    def test_pager_ends_with_the_command(self):
        terminal = Terminal(*self.long, shell=("/bin/sh", "-c", '"$@"; echo "code $?"; sleep 0.5', "sh"))
        terminal.read(b"m:f0/1")
        children = Path(f"/proc/{terminal.pid}/task/{terminal.pid}/children").read_text("ascii")
        os.kill(int(children), signal.SIGTERM)
        self.assertIn(f"code {128 + signal.SIGTERM}\n", terminal.end()[1])
        self.assertEqual(terminal.modes_at_end, terminal.modes)

    def test_pager_under_sudo_has_the_rights_of_the_user(self):
        """Its program too is the one that the user finds."""
        self.pager("id -u; id -g; grep CapEff /proc/self/status; echo $SUDO_UID", name="less")
        environment = {"SUDO_UID": "1234", "SUDO_GID": "1235", "PATH": f"{self.folder}:{os.environ['PATH']}"}
        shown = f"1234\n1235\nCapEff:\t{0:016x}\n\n"
        self.assertEqual(self.show(*self.long, **environment), shown)
        self.assertEqual(self.show(*self.long, PAGER="less x", **environment), shown)

    def test_each_command_that_prints_a_long_text_has_it(self):
        beamflame.require()
        recording = self.folder / "x.bfr"
        with nodes.Node(27, "request") as node:
            beamflame.record("-p", node.pid, "-d", 2, "-o", recording)
            commands = [("dump", "-p", node.pid), ("dump", "-p", node.pid, "--json"),
                        ("report", recording, "--summary", "full"), ("prof", recording),
                        ("diff", recording, recording)]
            for command in commands:
                with self.subTest(command):
                    printed = self.show(*command, rows=5, PAGER="echo paged; cat")
                    self.assertTrue(printed.startswith("paged\n"), printed[:1000])
                    self.assertGreater(len(printed.splitlines()), 5)
            with self.subTest("without a pager, Ctrl-C ends the text"):
                terminal = Terminal("dump", "-p", node.pid, "--json", PAGER="exit 127")
                terminal.read(b"processes")  # and no more: a terminal takes some kilobytes at a time
                terminal.type(CTRL_C)
                self.assertEqual(terminal.end()[0], -signal.SIGINT)


if __name__ == "__main__":
    unittest.main()
