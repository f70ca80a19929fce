# SPDX-License-Identifier: Apache-2.0
"""Who reads an output does not learn where the kernel is in memory (KASLR)."""
import os
import re
import subprocess
import unittest

import beamflame
import nodes
from beamflame import USAGE

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
        cls.formats = beamflame.formats()
        with nodes.Node(25, "request") as node:
            # With messages, without which there is no graph of these.
            cls.record(node, "-e", "cpu,msg", *cls.outputs_of("x"))
            cls.record(node, "--kernel-addresses", "-o", cls.out / "with.bfr", "-o",
                       cls.out / "with.perf")
        beamflame.record("report", cls.out / "x.bfr", *cls.outputs_of("again"))
        cls.outputs = [*cls.out.glob("x.*"), *cls.out.glob("again.*")]

    @classmethod
    def outputs_of(cls, name):
        """Return the options for an output in each format."""
        return [word for form in cls.formats
                for word in ("--format", form, "-o", cls.out / f"{name}.{form}")]

    @staticmethod
    def record(node, *options):
        beamflame.record("-p", node.pid, "-d", 3, "-F", 499, "-q", *options)

    def frames(self, path):
        """Return (address, symbol) of the kernel's frames of a .perf file."""
        found = re.findall(r"^\t *([0-9a-f]+) (.*) \(\[kernel\.kallsyms\]\)$", path.read_text(), re.M)
        self.assertGreater(len(found), 20)
        return [(int(address, 16), symbol) for address, symbol in found]

    def test_no_output_has_kernel_addresses(self):
        """No format has one, nor has the recording; the names are there."""
        made = {part for path in self.outputs for part in path.name.split(".")}
        self.assertLessEqual(set(self.formats), made)
        seen = {address for address, _ in self.frames(self.out / "with.perf")}
        for path in self.outputs:
            with self.subTest(path.name):
                data = path.read_bytes()
                self.assertIsNone(TEXT.search(data))
                for address in seen:
                    self.assertNotIn(varint(address), data)
        self.assertEqual({address for address, _ in self.frames(self.out / "x.cpu.perf")}, {0})

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
