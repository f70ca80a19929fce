# SPDX-License-Identifier: Apache-2.0
"""Names of functions in a NIF of Rust, which rustc builds where it is installed."""
import re
import shutil
import subprocess
import time
import unittest
from pathlib import Path

import beamflame
import nodes

NEEDS = "own nodes"
NIF = "rust_nif.so"
BURN = "F = fun L() -> rust_nif:burn(), L() end, F()."
V0 = ("-C", "symbol-mangling-version=v0")


class Rust(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        nodes.require(25)
        if not shutil.which("rustc"):
            raise unittest.SkipTest("rustc is not installed")

    def setUp(self):
        self.out = beamflame.folder(self.addCleanup)

    def build(self, *flags):
        subprocess.run(["erlc", "-o", self.out, nodes.LOADS / "rust_nif.erl"], check=True)
        subprocess.run(["rustc", "--edition", "2018", "--crate-type", "cdylib", "-O", *flags,
                        "-o", self.out / NIF, nodes.LOADS / "rust_nif.rs"], check=True)

    def record(self, *options):
        """Run the NIF, record, and return {stack below rust_nif:burn/0: samples}."""
        node = subprocess.Popen(["erl", "-noshell", "-pa", self.out, "-eval", BURN],
                                stdin=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 30
            while NIF not in Path(f"/proc/{node.pid}/maps").read_text("utf-8"):
                self.assertLess(time.monotonic(), deadline, "the node has not loaded the NIF")
                time.sleep(0.1)
            beamflame.record("-q", "-p", node.pid, "-d", 2, "-F", 499, *options, "-o",
                             self.out / "x.folded")
        finally:
            node.kill()
            node.wait()
        stacks = beamflame.read_folded(self.out / "x.folded")
        return {stack[stack.index("rust_nif:burn/0") + 1:]: count
                for stack, count in stacks.items() if "rust_nif:burn/0" in stack}

    def shares(self, stacks):
        """Return {function: share of the samples with it}."""
        total = sum(stacks.values())
        self.assertGreater(total, 50)
        names = {name for stack in stacks for name in stack}
        return {name: sum(n for stack, n in stacks.items() if name in stack) / total
                for name in names}

    def test_names_of_the_older_form_have_the_module_and_no_hash(self):
        """It is the default of rustc until some version. The types are part of the hash."""
        self.build()
        symbols = subprocess.run(["nm", self.out / NIF], capture_output=True, text=True,
                                 check=True).stdout
        if "_ZN8rust_nif4work5plain" not in symbols:
            self.skipTest("this rustc makes no names of the older form")
        shares = self.shares(self.record())
        self.assertGreater(shares["rust_nif::burn"], 0.95)
        self.assertGreater(shares["rust_nif::work::plain"], 0.05)
        self.assertGreater(shares["rust_nif::work::generic"], 0.2)

    def test_names_of_v0_have_the_types_of_generic_functions(self):
        self.build(*V0)
        shares = self.shares(self.record())
        self.assertGreater(shares["rust_nif::burn"], 0.95)
        self.assertGreater(shares["rust_nif::work::plain"], 0.05)
        self.assertGreater(shares["rust_nif::work::generic::<u32>"], 0.1)
        self.assertGreater(shares["rust_nif::work::generic::<u64>"], 0.1)

    def test_stripped_functions_have_offsets(self):
        """Only what the file exports has a name, and no function has that of another one."""
        self.build(*V0)
        subprocess.run(["strip", "--strip-all", self.out / NIF], check=True)
        shares = self.shares(self.record())
        own = {name for name in shares if re.fullmatch(r"rust_nif\.so\+0x[0-9a-f]+", name)}
        self.assertEqual(len(own), 4)
        self.assertEqual([name for name in shares if name.startswith("rust_nif::")], [])

    def test_inlined_functions_are_frames(self):
        """rustc describes a function in the namespace of its module."""
        self.build("-g", *V0)
        stacks = self.record("--inline")
        generic, step = ("rust_nif::work::generic::<u64>", "<u64 as rust_nif::work::Step>::step")
        self.assertTrue(any((generic, step) in zip(stack, stack[1:]) for stack in stacks), stacks)
        self.assertGreater(self.shares(stacks)["rust_nif::work::plain"], 0.05)


if __name__ == "__main__":
    unittest.main()
