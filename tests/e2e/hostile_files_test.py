# SPDX-License-Identifier: Apache-2.0
"""Files that try to harm the report command, its reader's terminal or the programs that read its
outputs."""
import ctypes
import gzip
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import unittest
import xml.etree.ElementTree
import zlib

import nodes
from beamflame import BINARY, DONE, NO_SAMPLES, folder

NEEDS = "own nodes"


# Three samples of threads whose VM is not known, where there are two VMs.
TWO_TARGETS = """\
a 0/1 [000] 1.000000: 1 cycles:
\t 1 f (/x)

b 20/21 [000] 1.100000: 1 cycles:
\t 1 f (/x)

c 30/31 [000] 1.200000: 1 cycles:
\t 1 f (/x)

"""
# What a terminal or a reader takes for more than text: controls except line ends, bidirectional
# controls, characters that XML forbids.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
                    "\ufffe\uffff\ud800-\udfff]")
SUFFIXES = ("svg", "html", "perf", "folded", "speedscope.json", "callgrind", "fprof", "pb.gz", "otlp",
            "json", "txt", "bfr")
READABLE = ("svg", "perf", "folded", "speedscope.json", "callgrind", "fprof", "json", "txt")


def report(*arguments):
    """Return the finished process; it has 20 s."""
    return subprocess.run([BINARY, "report", *map(str, arguments)], capture_output=True, timeout=20,
                          check=False)


# Kinds of chunks, and records, of src/recording/recording_format.h.
RECORDS, END = 2, 5
NAMES = b"\x01\x03cpu" b"\x01\x04time" b"\x01\x01f"
TABLES = NAMES + b"\x08\x01\x01\x02\x02" + b"\x02\x00\x03\x00\x00\x00\x01\x00"
DEEPER = b"\x03\x01\x01"  # a stack with one frame more than the stack before
CHUNK_MAX = 1 << 20


def varint(number):
    encoded = b""
    while number >= 0x80:
        encoded += bytes([number & 0x7f | 0x80])
        number >>= 7
    return encoded + bytes([number])


def frame(distance):
    """A frame so many bytes behind the frame before in the chunk."""
    return b"\x02" + varint(2 * distance) + b"\x03\x00\x00\x00\x01\x00"


def sample(time, stack):
    """A sample of 1 ms; both numbers are relative to the sample before in the chunk."""
    return b"\x07" + varint(time) + b"\x01" + varint(2000000) + varint(2 * stack) + bytes(9)


def next_sample():
    return b"\x07" + varint(1000) + b"\x01" + bytes(11)


def chunk(kind, data):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(len(data) + 1024)
    size = library.ZSTD_compress(out, ctypes.c_size_t(len(out)), data, ctypes.c_size_t(len(data)),
                                 19)
    head = struct.pack("<BBHII", kind, 1, 0, size, len(data))
    return head + struct.pack("<I", zlib.crc32(out.raw[:size], zlib.crc32(head))) + out.raw[:size]


def run_measured(*arguments):
    """Return the finished process, and its greatest memory in MB."""
    with subprocess.Popen([BINARY, "report", *map(str, arguments)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as child:
        printed = child.stderr.read().decode()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, printed, usage.ru_maxrss / 1024


def not_a_number(text):
    raise ValueError(f"{text} is no JSON")


class HostileFilesTest(unittest.TestCase):
    def setUp(self):
        self.folder = folder(self.addCleanup)

    def recordings(self):
        """Return recordings in which something is absent or extreme (tests/fuzz/full_profile.h)."""
        seeds = self.folder / "seeds"
        subprocess.run([nodes.BUILD / "tests" / "seeds", seeds], check=True)
        paths = sorted((seeds / "files").glob("*.bfr"))
        self.assertGreater(len(paths), 15)
        return paths

    def check_text(self, data, what):
        """The bytes are UTF-8 without anything that is more than text."""
        found = UNSAFE.search(data.decode("utf-8"))
        self.assertIsNone(found, f"{what}: {found and ascii(found[0])}")

    def check_file(self, path):
        if path.name.endswith(READABLE):
            self.check_text(path.read_bytes(), path.name)
        if path.suffix == ".svg":
            xml.etree.ElementTree.parse(path)
            if shutil.which("xmllint"):
                subprocess.run(["xmllint", "--noout", path], check=True)
        elif path.name.endswith(".speedscope.json"):
            json.loads(path.read_text("utf-8"), parse_constant=not_a_number)
        elif path.suffix == ".json":
            for line in path.read_text("utf-8").splitlines():
                json.loads(line, parse_constant=not_a_number)

    def test_extreme_recordings_give_valid_outputs(self):
        """All outputs of extreme recordings are written, and valid."""
        for path in self.recordings():
            for event in ("cpu", "sched"):
                with self.subTest(recording=path.name, event=event):
                    outputs = [self.folder / f"out.{suffix}" for suffix in SUFFIXES]
                    if event == "sched":
                        outputs.append(self.folder / "out.dot")
                    stats = self.folder / "stats.json"
                    arguments = [part for output in outputs for part in ("-o", output)]
                    done = report(path, "--event", event, "--stats", stats, *arguments)
                    if b"49 days" in done.stderr:  # the page shows no more
                        at = arguments.index(self.folder / "out.html")
                        del arguments[at - 1:at + 1]
                        outputs.remove(self.folder / "out.html")
                        done = report(path, "--event", event, "--stats", stats, *arguments)
                    self.assertEqual(done.returncode, DONE, done.stderr)
                    self.check_text(done.stdout + done.stderr, "terminal")
                    json.loads(stats.read_text("utf-8"), parse_constant=not_a_number)
                    for output in outputs:
                        if output.exists():
                            self.check_file(output)
                            output.unlink()

    def test_samples_with_and_without_targets_are_written(self):
        """Three samples of perf-script text do not end the program."""
        path = self.folder / "x.perf"
        path.write_text(TWO_TARGETS, "utf-8")
        done = report(path, *(part for suffix in SUFFIXES
                              for part in ("-o", self.folder / f"out.{suffix}")))
        self.assertEqual(done.returncode, DONE, done.stderr)
        names = [profile["name"] for profile in
                 json.loads((self.folder / "out.speedscope.json").read_text("utf-8"))["profiles"]]
        self.assertEqual(names, ["thread a (1)", "thread b (21) of process 20",
                                 "thread c (31) of process 30"])

    def recording_of(self, *records):
        """Return the path of a recording with these chunks of records after the tables."""
        seed = self.recordings()[0].read_bytes()
        header = seed[:12 + 16 + struct.unpack_from("<I", seed, 16)[0]]
        path = self.folder / "bomb.bfr"
        path.write_bytes(header + chunk(RECORDS, TABLES)
                         + b"".join(chunk(RECORDS, data) for data in records) + chunk(END, b""))
        self.assertLess(path.stat().st_size, 4000)
        return path

    def check_refused(self, path, words, *options):
        """One sentence, in time and within 256 MB; no file is left."""
        for suffix in ("folded", "perf", "svg", "html", "json", "bfr"):
            out = self.folder / f"refused.{suffix}"
            code, printed, megabytes = run_measured("-q", path, "-o", out, *options)
            self.assertEqual(code, 1, printed)
            self.assertRegex(printed, f"^beamflame: .*{words}[^\n]*\n$")
            self.assertLess(megabytes, 256)
            self.assertFalse(out.exists())

    def test_deep_stack_in_a_few_bytes_is_refused(self):
        bomb = [DEEPER * (CHUNK_MAX // 3)] * 14
        self.check_refused(self.recording_of(*bomb), "byte [0-9]+: stack is too deep")

    def test_many_stacks_in_a_few_bytes_are_refused(self):
        bomb = [frame(i << 20) + frame(1) * (CHUNK_MAX // 8 - 2) for i in range(1, 20)]
        self.check_refused(self.recording_of(*bomb), "take more memory than a file of this size")

    def test_many_samples_of_a_deep_stack_are_refused(self):
        """Stacks of 1 TB in the samples of a few bytes."""
        deep, many = 100000, 60000
        bomb = [DEEPER * deep] + [sample(2000000000 + i * 1000000, deep) + next_sample() * many
                                  for i in range(3)]
        self.check_refused(self.recording_of(*bomb), "(more frames than|MB of stacks)")

    def test_packed_text_that_unpacks_to_much_is_refused(self):
        """Text that gzip made a thousand times smaller."""
        path = self.folder / "bomb.gz"
        with gzip.open(path, "wb", 9) as file:
            for start in range(0, 1000000, 40000):
                file.write(b"a" + b"".join(b";%x" % (start + i) for i in range(40000)) + b" 1\n")
        self.assertEqual(run_measured("-q", path, "-o", self.folder / "x.svg")[0], DONE)
        with gzip.open(path, "wb", 9) as file:
            for _ in range(20):
                file.write(b"a;" * 1000000 + b"a 1\n")
        self.check_refused(path, "line 1: the stack has more than 131072 frames")
        with gzip.open(path, "wb", 9) as file:
            for i in range(100):
                file.write(b"%d" % i + b";a" * 100000 + b" 1\n")
        self.check_refused(path, "take more memory than a file of this size")

    def check_no_input(self, path, words):
        """No command takes the file as an input; each says why, in time."""
        for command in (("report", path), ("diff", path, path), ("dump", "--core", path),
                        ("report", "-o", self.folder / "x.svg", path)):
            with self.subTest(command=command):
                done = subprocess.run([BINARY, *map(str, command)], capture_output=True, timeout=5,
                                      check=False, stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr.decode(), words)
                self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)

    def test_devices_pipes_and_sockets_are_no_inputs(self):
        """Nothing waits for a file that never gives data, or that always does; links lead to
        such files, too."""
        master, slave = os.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        link, pipe, path = (self.folder / name for name in ("link", "pipe", "socket"))
        link.symlink_to("/dev/zero")
        os.mkfifo(pipe)
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(path))
            for device in ("/dev/zero", "/dev/full", "/dev/null", os.ttyname(slave), link, path):
                self.check_no_input(device, "is not a regular file")
        self.check_no_input(pipe, "no program writes to the pipe|is not a regular file")

    def test_endless_standard_input_is_refused(self):
        with open("/dev/zero", "rb") as zeros:
            done = subprocess.run([BINARY, "report", "-"], stdin=zeros, capture_output=True,
                                  timeout=5, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard input is a device", done.stderr)

    def test_pipe_is_read_to_its_end(self):
        """A program that opens the pipe late, or writes slowly, is waited for."""
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen(["sh", "-c", f"sleep 0.3; (echo 'a;b 1'; sleep 0.5; echo 'a;c 2') "
                                           f">{pipe}"]):
            done = report("-q", pipe, "--format", "folded", "-o", "-")
        self.assertEqual(done.stdout, b"a;b 1\na;c 2\n", done.stderr)

    def test_recording_without_samples_is_refused(self):
        """A recording without samples is refused with one sentence."""
        path = self.folder / "empty.folded"
        path.write_text("\n", "utf-8")
        done = report(path, "-o", self.folder / "x.svg")
        self.assertNotIn(done.returncode, (DONE, NO_SAMPLES))
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
