# SPDX-License-Identifier: Apache-2.0
"""Who reads an output does not learn where the kernel is in memory (KASLR)."""
import os
import re
import subprocess
import unittest

import beamflame
import nodes
from beamflame import USAGE

FORMATS = ("perf", "json", "svg", "html", "folded", "txt", "callgrind", "speedscope.json")
# As text, in hex or decimal: an address of the upper half.
TEXT = re.compile(rb"ffff[89a-f][0-9a-f]{11}|\b18446[67]\d{14}\b")


def kernel_functions():
    """Return {start of a function: its name} of the running kernel."""
    with open("/proc/kallsyms", encoding="ascii") as lines:
        known = {int(line.split()[0], 16): line.split()[2] for line in lines
                 if line.split()[1] in "tT"}
    if not any(known):
        raise unittest.SkipTest("the kernel hides its addresses")
    return known


def varint(value):
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes([*out, value])


class KernelAddresses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.known = kernel_functions()
        cls.out = beamflame.folder(cls.addClassCleanup)
        cls.outputs = [cls.out / f"x.{suffix}" for suffix in (*FORMATS, "pb", "otlp")]
        recording = cls.out / "x.bfr"
        with nodes.Node(25, "request") as node:
            cls.record(node, "-o", recording, *cls.by_name(cls.outputs))
            cls.record(node, "--kernel-addresses", "-o", cls.out / "with.bfr", "-o",
                       cls.out / "with.perf")
        cls.outputs += [cls.out / "again.perf", cls.out / "again.json"]
        beamflame.record("report", recording, *cls.by_name(cls.outputs[-2:]))

    @staticmethod
    def by_name(paths):
        """Return the options for these outputs."""
        return [word for path in paths for word in ("-o", path)]

    @classmethod
    def record(cls, node, *options):
        beamflame.record("-p", node.pid, "-d", 3, "-F", 499, "-q", *options)

    def frames(self, path):
        """Return (address, symbol) of the kernel's frames of a .perf file."""
        found = re.findall(r"^\t *([0-9a-f]+) (.*) \(\[kernel\.kallsyms\]\)$", path.read_text(), re.M)
        self.assertGreater(len(found), 20)
        return [(int(address, 16), symbol) for address, symbol in found]

    def test_no_output_has_kernel_addresses(self):
        """No format has one, nor has the recording; the names are there."""
        seen = {address for address, _ in self.frames(self.out / "with.perf")}
        for path in self.outputs:
            with self.subTest(path.name):
                data = path.read_bytes()
                self.assertIsNone(TEXT.search(data))
                for address in seen:
                    self.assertNotIn(varint(address), data)
        self.assertEqual({address for address, _ in self.frames(self.out / "x.perf")}, {0})

    def test_root_can_ask_for_kernel_addresses(self):
        """With --kernel-addresses frames have the starts of their functions, in the recording
        too. BPF programs, which come and go, are not known."""
        again = self.out / "with-again.perf"
        beamflame.record("report", self.out / "with.bfr", "-o", again)
        for path in (self.out / "with.perf", again):
            for address, symbol in self.frames(path):
                if not symbol.startswith("bpf_"):
                    self.assertIn(address, self.known, symbol)

    def test_others_can_not_ask_for_kernel_addresses(self):
        """The option needs root."""
        binary = self.out / "beamflame"
        binary.write_bytes(beamflame.BINARY.read_bytes())
        for path in (self.out, binary):
            path.chmod(0o755)
        done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                               binary, "-p", str(os.getpid()), "--kernel-addresses"],
                              capture_output=True, text=True, timeout=30, cwd="/")
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("--kernel-addresses", done.stderr)


if __name__ == "__main__":
    unittest.main()
