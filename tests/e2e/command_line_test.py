# SPDX-License-Identifier: Apache-2.0
"""Help, manual pages, completions and the parser of the command line, which are all made from one
table of options. Needs no node."""
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import beamflame
from beamflame import DONE, FAILED, USAGE, run

NEEDS = "own nodes"
COMMANDS = ("record", "report", "prof", "diff", "dump", "ps", "calls", "probes", "doctor", "agent",
            "ctl", "help", "completion")
FOLDED = "a;b 2\na;c 1\n"
COMPLETE = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
_beamflame 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


def options_of(help_text):
    """The long options that a help text lists."""
    return re.findall(r"^  (?:-\w, |    )--([\w-]+)", help_text, re.MULTILINE)


class Help(unittest.TestCase):
    def test_overview_lists_every_command(self):
        for arguments in (("help",), ("--help",), ("-h",)):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stderr), (DONE, ""))
            for command in COMMANDS:
                self.assertRegex(done.stdout, rf"(?m)^  {command} +\w")

    def test_help_of_each_command_begins_with_its_usage(self):
        for command in COMMANDS:
            done = run("help", command)
            self.assertEqual((done.returncode, done.stderr), (DONE, ""))
            self.assertTrue(done.stdout.startswith(f"Usage: beamflame {command}"), done.stdout)
            self.assertEqual(run(command, "--help").stdout, done.stdout)

    def test_lines_of_help_fit_the_terminal(self):
        for line in run("help", "record").stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_version_is_printed(self):
        self.assertRegex(run("--version").stdout, r"^beamflame \d+\.\d+\.\d+\n$")

    def test_text_that_cannot_be_written_is_an_error(self):
        for arguments, what in ((("help",), "help"), (("--help",), "help"),
                                (("help", "record"), "help"), (("ps", "--help"), "help"),
                                (("help", "--man"), "help"), (("--version",), "version"),
                                (("completion", "bash"), "script")):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([beamflame.BINARY, *arguments], stdout=full, text=True,
                                      stderr=subprocess.PIPE, check=False)
            self.assertEqual((done.returncode, done.stderr), (
                FAILED, f"beamflame: can't write the {what}: No space left on device\n"), arguments)

    def test_every_listed_option_is_understood(self):
        """With a bad argument, or with one too many, the message is not that there is no such
        option."""
        for command in COMMANDS:
            for option in options_of(run("help", command).stdout):
                done = run(command, f"--{option}=\n", "/none", "/none", "/none")
                self.assertNotIn("unknown option", done.stderr, (command, option))

    def test_options_without_a_meaning_are_not_listed(self):
        for command in ("dump", "diff"):
            self.assertNotIn("from", options_of(run("help", command).stdout))
            done = run(command, "--from", "1")
            self.assertEqual(done.returncode, USAGE)
            self.assertIn("unknown option '--from'", done.stderr)


class Parser(unittest.TestCase):
    def setUp(self):
        self.folder = beamflame.folder(self.addCleanup)
        self.input = self.folder / "in"
        self.input.write_text(FOLDED)

    def test_options_may_follow_arguments(self):
        out = self.folder / "x.folded"
        self.assertEqual(run("report", self.input, "-o", out).returncode, DONE)
        self.assertEqual(out.read_text(), FOLDED)

    def test_format_may_come_before_or_after_a_single_output(self):
        for number, order in enumerate((("--format", "folded", "-o"), ("-o",))):
            out = self.folder / f"any{number}"
            done = run("report", self.input, *order, out, *(("--format=folded",) * number))
            self.assertEqual((done.returncode, out.read_text()), (DONE, FOLDED), done.stderr)

    def test_format_belongs_to_the_next_of_several_outputs(self):
        first, second = self.folder / "x.svg", self.folder / "any"
        run("report", self.input, "-o", first, "--format", "folded", "-o", second)
        self.assertIn("<svg", first.read_text())
        self.assertEqual(second.read_text(), FOLDED)
        done = run("report", self.input, "-o", first, "-o", second, "--format", "folded")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("--format folded needs an -o after it", done.stderr)

    def test_long_options_can_be_shortened(self):
        out = self.folder / "x.folded"
        self.assertEqual(run("report", self.input, "--outp", out, "--qui").returncode, DONE)
        self.assertEqual(out.read_text(), FOLDED)

    def test_bad_usage_is_refused_with_one_sentence(self):
        """One sentence says what is wrong, the next line where to look."""
        for arguments, says in ((("--nix=1",), "unknown option '--nix'\n"),
                                (("-Z",), "unknown option '-Z'"),
                                (("--fo",), "option '--fo' is ambiguous: --format, "
                                            "--fold-recursion\n"),
                                (("--h", "1"), "is ambiguous: --holdoff, --help\n"),
                                (("report", "-o"), "--output needs FILE"),
                                (("report",), "which recording?"),
                                (("ps", "--json=1"), "--json takes no argument"),
                                (("ps", "x"), "unexpected argument 'x'"),
                                (("help", "nix"), "there is no command 'nix'"),
                                (("completion", "csh"), "bash, zsh or fish"),
                                (("-p", "1", "sleep"), "unknown command 'sleep'"),
                                (("-e", "x"), "'x'; the events are: cpu, wall, gc, alloc, "),
                                (("-e", "cpu,x"), "'x'; the events are: cpu, wall, gc, alloc, "),
                                (("probes", "-e", "x"), "'x'; the events are: cpu, wall, gc, alloc, "),
                                (("probes", "-e", "cpu"), "'cpu' has no probes; the events with "
                                                          "probes are: gc, alloc, sched, "),
                                (("-p", "1", "-a"), "give one of"),
                                (("-d", "soon"), "number of seconds, not 'soon'"),
                                (("--max-size", "1T"), "not '1T'"),
                                (("-F", "0"), "from 1 to 50000, not '0'")):
            with self.subTest(arguments):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
                self.assertIn(says, done.stderr)
                self.assertRegex(done.stderr, r"^beamflame: [^\n]+\nSee 'beamflame help \w+'\.\n$")


class Completion(unittest.TestCase):
    def script(self, shell):
        path = beamflame.folder(self.addCleanup) / shell
        path.write_text(run("completion", shell).stdout)
        return path

    def complete(self, *words):
        done = subprocess.run(["bash", "-c", COMPLETE, "bash", self.script("bash"), *words],
                              capture_output=True, text=True, check=True)
        return done.stdout.split()

    def test_bash_completes_commands_options_and_values(self):
        self.assertEqual(self.complete("beamflame", "re"), ["record", "report"])
        self.assertEqual(self.complete("beamflame", "--ev"), ["--event="])
        self.assertIn("sched", self.complete("beamflame", "-e", ""))
        self.assertEqual(self.complete("beamflame", "report", "--group-by", "s"),
                         ["status", "scheduler"])
        self.assertEqual(self.complete("beamflame", "help", "du"), ["dump"])
        self.assertEqual(self.complete("beamflame", "ctl", "s"), ["status", "snapshot", "stop"])
        self.assertEqual(self.complete("beamflame", "completion", "z"), ["zsh"])
        self.assertEqual(self.complete("beamflame", "ps", "--j"), ["--json"])

    def test_zsh_and_fish_can_read_their_completions(self):
        missing = []
        for shell in ("zsh", "fish"):
            if shutil.which(shell):
                subprocess.run([shell, "-n", self.script(shell)], check=True)
            else:
                missing.append(shell)
        if missing:
            self.skipTest(f"not installed: {', '.join(missing)}")


class ManualPages(unittest.TestCase):
    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_pages_have_no_faults(self):
        for command in (*COMMANDS, None):
            page = run("help", "--man", *((command,) if command else ())).stdout
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, text=True,
                                  capture_output=True, check=True)
            self.assertEqual(done.stderr, "")
            name = f"beamflame-{command}" if command else "beamflame"
            self.assertIn(f"{name.upper()}(1)", done.stdout)

    def test_make_install_has_a_page_for_each_command(self):
        makefile = Path(__file__).resolve().parents[2] / "Makefile"
        listed = re.search(r"^COMMANDS := (.*)$", makefile.read_text(encoding="utf-8"), re.M)[1]
        self.assertEqual(sorted(listed.split()), sorted(COMMANDS))


if __name__ == "__main__":
    unittest.main()
