# SPDX-License-Identifier: Apache-2.0
"""Text formats as inputs of the report command."""
import gzip
import json
import re
import shutil
import subprocess
import unittest

import beamflame
from beamflame import BINARY, DONE, FAILED, USAGE, folder, record, require, run

NEEDS = "own nodes"
SAMPLES = """\
V8 Worker 10/11 [003] 7.000001:     10 cycles:
\tffffffff81000000 read+0x1 ([kernel.kallsyms])
\t        7f000001 main+0x10 (/usr/bin/x)

beam 20/21 [001] 7.500002:     5 cycles:
\t              12 lists:map/2+0x3 (/tmp/perf-20.map)

"""
FOLDED = "V8_Worker;main;read 10\nbeam;lists:map/2 5\n"


class Inputs(unittest.TestCase):
    def setUp(self):
        self.folder = folder(self.addCleanup)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def report(self, path, name, *options):
        """Return the text of an output."""
        record("report", "-q", path, *options, "-o", self.folder / name)
        return (self.folder / name).read_text(encoding="utf-8")

    def test_format_of_a_file_is_detected_from_its_content(self):
        """The format of a file is detected from its content, whatever its name."""
        self.assertEqual(self.report(self.write("x.bfr", SAMPLES), "a.folded"), FOLDED)
        self.assertEqual(self.report(self.write("x.perf", FOLDED), "b.folded"), FOLDED)
        packed = self.folder / "packed"
        packed.write_bytes(gzip.compress(SAMPLES.encode()))
        self.assertEqual(self.report(packed, "c.folded"), FOLDED)
        record("report", "-q", packed, "-o", self.folder / "d.bfr")
        self.assertEqual(self.report(self.folder / "d.bfr", "d.folded"), FOLDED)
        self.assertEqual(self.report(self.folder / "d.bfr", "e.folded", "--from", "0.1"),
                         "beam;lists:map/2 5\n")

    def test_standard_input_is_read(self):
        """The report reads standard input, although a pipe can be read only once."""
        done = run("report", "-q", "-", "--format", "folded", "-o", "-", input=SAMPLES)
        self.assertEqual((done.returncode, done.stdout), (DONE, FOLDED), done.stderr)

    def test_parts_of_a_recording_give_the_whole(self):
        """The parts of a recording, in any order, give the whole."""
        whole = self.write("whole", "".join(
            f"beam 1/{1 + i % 3} [000] {1 + i / 100:.6f}: 1 cycles:\n\t {i % 7 + 1:x} f{i % 7} (/x)\n\n"
            for i in range(500)))
        first, last = self.folder / "first.bfr", self.folder / "last.bfr"
        record("report", "-q", whole, "-o", first, "--to", "2.5")
        record("report", "-q", whole, "-o", last, "--from", "2.5")
        for form in ("folded", "perf", "speedscope.json"):
            record("report", "-q", whole, "-o", self.folder / f"a.{form}")
            record("report", "-q", last, first, "-o", self.folder / f"b.{form}")
            a, b = ((self.folder / f"{name}.{form}").read_text(encoding="utf-8")
                    for name in "ab")
            if form == "perf":  # only the text of parts says that samples were left out
                b = re.sub("# left out .*\n\n", "", b)
            self.assertEqual(a, b.replace("b.speedscope", "a.speedscope"))

    def test_files_of_different_formats_are_joined(self):
        """Files of different formats are joined, with the events of each."""
        text, stacks = self.write("x", SAMPLES), self.write("y", FOLDED)
        record("report", "-q", text, text, stacks, "-o", self.folder / "z.folded")
        self.assertEqual((self.folder / "z.cycles.folded").read_text(encoding="utf-8"),
                         "V8_Worker;main;read 20\nbeam;lists:map/2 10\n")
        self.assertEqual((self.folder / "z.stacks.folded").read_text(encoding="utf-8"), FOLDED)
        done = run("report", "-", "-", input=SAMPLES)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("standard input (-) can be read only once", done.stderr)
        done = run("report", text, self.folder / "none", "-o", self.folder / "n.folded")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("can't read", done.stderr)

    def test_joined_recording_says_that_one_was_cut(self):
        """The note that a recording was cut is kept when it is joined with others."""
        whole, cut = self.folder / "whole.bfr", self.folder / "cut.bfr"
        record("report", "-q", self.write("x", SAMPLES), "-o", whole)
        cut.write_bytes(whole.read_bytes()[:-16])
        record("report", "-q", cut, "-o", self.folder / "again.bfr")
        for paths, was_cut in (((whole,), False), ((cut,), True), ((whole, cut), True),
                               ((self.folder / "again.bfr", whole), True)):
            record("report", "-q", *paths, "-o", self.folder / "y.json")
            last = (self.folder / "y.json").read_text(encoding="utf-8").splitlines()[-1]
            self.assertEqual(json.loads(last)["cut"], was_cut, paths)

    def test_recording_of_200_hosts_is_readable(self):
        """A recording of many hosts is readable, however long their names are together."""
        paths = [self.write(f"h{i}", f"# ========\n# hostname : {'web' * 30}{i}\n# ========\n#\n"
                                     + SAMPLES) for i in range(200)]
        record("report", "-q", *paths, "-o", self.folder / "all.bfr")
        text = self.report(self.folder / "all.bfr", "all.folded", "--group-by", "none")
        self.assertIn("lists:map/2 1000\n", text)

    def test_bad_file_is_refused_with_its_line(self):
        """A bad file gives one sentence with file and line, exit code 1, and no output."""
        cut = gzip.compress(FOLDED.encode() * 50)[:-10]
        bad = {
            "garbage": (b"\x00\x01\x02 garbage\n", "line 1: the file is not"),
            "empty": (b"", "the file is empty"),
            "last": (SAMPLES.encode() + b"beam 20", "line 8: the file is incomplete"),
            "frame": (SAMPLES.replace("lists", "\n lists").encode(), "line 6: this is not a frame"),
            "packed": (cut, "the compressed file is incomplete"),
            "folded": (b"a;b 1\na;b 1.5\n", "line 2: this is not a folded stack"),
        }
        for name, (content, says) in bad.items():
            with self.subTest(name):
                path = self.folder / name
                path.write_bytes(content)
                before = set(self.folder.iterdir())
                done = run("report", path, "-o", self.folder / "out.folded",
                           "-o", self.folder / "out.bfr")
                self.assertEqual((done.returncode, done.stdout), (FAILED, ""))
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(f"{path}: ", done.stderr)
                self.assertIn(says, done.stderr)
                self.assertEqual(set(self.folder.iterdir()), before)

    def test_event_that_is_called_cpu_keeps_its_name(self):
        """It has no clock to be named after. What is written can be read again."""
        once = self.report(self.write("p", SAMPLES.replace("cycles:", "cpu:")), "once.perf")
        self.assertIn(" 5 cpu:\n", once)
        self.assertEqual(self.report(self.folder / "once.perf", "twice.perf"), once)

    def test_text_of_perf_is_read_completely(self):
        """Text of perf itself is read with all of its samples and the kernel's frames."""
        perf = shutil.which("perf")
        if not perf:
            self.skipTest("no perf here")
        data = self.folder / "data"
        done = subprocess.run([perf, "record", "-F", "999", "-g", "-e", "cpu-clock", "-o", data,
                               "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            self.skipTest(f"perf can't record here: {done.stderr.strip().splitlines()[-1]}")
        text = subprocess.run([perf, "script", "-i", data, "--header"], capture_output=True,
                              text=True, check=True).stdout
        self.report(self.write("p", text), "p.folded")
        stacks = beamflame.read_folded(self.folder / "p.folded")
        periods = [int(line.split(": ")[1].split()[0]) for line in text.splitlines()
                   if "cpu-clock" in line and line[0] not in "#\t "]
        self.assertGreater(len(periods), 10)
        self.assertEqual(sum(stacks.values()), sum(periods))


class EndlessInput(unittest.TestCase):
    """Pipes whose writer never ends."""

    # Runs the command "$3" on a disk of 20 MB, and prints the fewest blocks that were free there.
    SMALL_DISK = """
        mount -t tmpfs -o size=20m tmpfs "$1" || exit 99
        export TMPDIR=$1
        eval "$3" | "$2" report -q --format folded -o - - &
        report=$!
        least=999999
        while kill -0 $report 2>/dev/null; do
            now=$(stat -f -c %a "$1")
            [ "$now" -lt "$least" ] && least=$now
        done
        wait $report
        code=$?
        echo "$least" $(ls -A "$1")
        exit $code"""

    def test_disk_is_not_filled(self):
        """The report ends with a sentence while 5 % of the disk are free, and leaves no file."""
        require()
        disk = folder(self.addCleanup)
        for command in ("yes 'a;b 1'", "cat /dev/zero", "cat /dev/urandom",
                        "printf '\\037\\213'; cat /dev/urandom"):
            with self.subTest(command):
                done = subprocess.run(["unshare", "--mount", "sh", "-c", self.SMALL_DISK, "sh", disk,
                                       BINARY, command], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, FAILED, done.stderr)
                self.assertEqual(done.stderr, "beamflame: can't copy standard input to a temporary "
                                 "file: No space left on device, except 1.0 MB that stay free for "
                                 "other programs\n")
                least, *files = done.stdout.split()
                self.assertEqual(files, [])
                self.assertGreaterEqual(int(least), 20 * 1024 // 4 // 20)


if __name__ == "__main__":
    unittest.main()
