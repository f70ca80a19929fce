# SPDX-License-Identifier: Apache-2.0
"""Other kernels, booted in qemu: the oldest and the newest that tools/kernel-lab has. A boot takes
about 20 seconds; run the tool by hand for the kernels between."""
import json
import os
import shutil
import subprocess
import unittest

import nodes
from beamflame import DONE, UNSUPPORTED

KERNEL_LAB = nodes.ROOT / "tools" / "kernel-lab"


def require():
    """Return the kernels to test on, oldest first; skip the test if there are none."""
    if not shutil.which("qemu-system-x86_64"):
        raise unittest.SkipTest("qemu-system-x86 is not installed")
    if not os.path.exists("/bin/busybox"):
        raise unittest.SkipTest("busybox is not installed")
    nodes.require(25)
    have = subprocess.run([KERNEL_LAB, "available"], capture_output=True, text=True, check=True)
    if not have.stdout:
        raise unittest.SkipTest("no kernels are there (tools/kernel-lab fetch all)")
    return have.stdout.split()


def boot(kernel, *options):
    """Profile a node on that kernel; return the lab's result."""
    nodes.compiled_loads(25)
    done = subprocess.run([KERNEL_LAB, "run", "--build", nodes.BUILD, "--seconds", "3", *options,
                           kernel], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


class Kernels(unittest.TestCase):
    def test_oldest_and_newest(self):
        """The program loads on these kernels, and stacks are as complete as here."""
        kernels = require()
        for kernel in sorted({kernels[0], kernels[-1]}):
            with self.subTest(kernel):
                got = boot(kernel)
                self.assertEqual(got["exit_code"], DONE, got["message"])
                stats = got["stats"]
                self.assertGreater(stats["erlang_samples"], 100)
                self.assertGreater(stats["complete_stacks"], 0.95 * stats["erlang_samples"])

    def test_without_btf(self):
        """A kernel without BTF is refused, and the message names the missing kernel option."""
        got = boot(require()[-1], "--hide", "/sys/kernel/btf")
        self.assertEqual(got["exit_code"], UNSUPPORTED, got["message"])
        self.assertIn("CONFIG_DEBUG_INFO_BTF", got["message"])
