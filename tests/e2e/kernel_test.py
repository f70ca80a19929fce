# SPDX-License-Identifier: Apache-2.0
"""Other kernels, booted in qemu, as far as tools/kernel-lab has them. A boot takes about 20
seconds."""
import json
import os
import shutil
import subprocess
import unittest

import nodes
from beamflame import DONE, UNSUPPORTED

NEEDS = "no nodes"
WITHOUT_COOKIES = ["5.10"]  # bpf_get_attach_cookie() came with 5.15
EVENTS = ["gc", "alloc", "sched", "msg"]
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
    # Emulation takes all CPU time that it gets. Other tests run beside it.
    done = subprocess.run(["nice", KERNEL_LAB, "run", "--build", nodes.BUILD, "--seconds", "3",
                           *options, kernel], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


class Kernels(unittest.TestCase):
    def test_stacks_are_complete_on_the_oldest_and_newest_kernel(self):
        """The program loads on these kernels, and stacks are as complete as here."""
        kernels = require()
        for kernel in sorted({kernels[0], kernels[-1]}):
            with self.subTest(kernel):
                got = boot(kernel)
                self.assertEqual(got["exit_code"], DONE, got["message"])
                stats = got["stats"]
                self.assertGreater(stats["erlang_samples"], 100)
                self.assertGreater(stats["complete_stacks"], 0.95 * stats["erlang_samples"])

    def test_all_probes_count_on_each_kernel(self):
        """All probes work and count on each kernel that can distinguish them, beside sweeps. Older
        kernels are refused, and the message names the release that is needed."""
        for kernel in require():
            with self.subTest(kernel):
                got = boot(kernel, "--event", ",".join(["cpu", "wall", *EVENTS]))
                if kernel in WITHOUT_COOKIES:
                    self.assertEqual(got["exit_code"], UNSUPPORTED, got["message"])
                    self.assertIn("need Linux 5.15 or later", got["message"])
                    continue
                self.assertEqual(got["exit_code"], DONE, got["message"])
                self.assertEqual(got["doctor_code"], DONE, got["doctor"])
                self.assertGreater(got["stats"]["events"]["wall"]["samples"], 10)
                counted = [got["stats"]["events"][event] for event in EVENTS]
                # An emulated CPU does little work in the time, and may be too slow to take all
                # samples, but it reads all memory.
                for event, counts in zip(EVENTS, counted):
                    self.assertGreater(counts["hits"], 10, event)
                self.assertLessEqual(sum(counts["lost"] for counts in counted),
                                     got["stats"]["losses"]["ring_full"])

    def test_sweeps_need_no_cookies(self):
        for kernel in set(require()) & set(WITHOUT_COOKIES):
            with self.subTest(kernel):
                got = boot(kernel, "--event", "wall")
                self.assertEqual(got["exit_code"], DONE, got["message"])
                self.assertGreater(got["stats"]["events"]["wall"]["samples"], 10)

    def test_kernel_without_btf_is_refused(self):
        """A kernel without BTF is refused, and the message names the missing kernel option."""
        got = boot(require()[-1], "--hide", "/sys/kernel/btf")
        self.assertEqual(got["exit_code"], UNSUPPORTED, got["message"])
        self.assertIn("CONFIG_DEBUG_INFO_BTF", got["message"])
