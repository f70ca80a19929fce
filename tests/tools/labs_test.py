# SPDX-License-Identifier: Apache-2.0
"""tools/otp-lab and tools/kernel-lab leave no folder when they are interrupted."""
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
# A download that never ends.
STUCK = '#!/bin/sh\ntouch "$STARTED"\nexec sleep 60\n'


class Interrupted(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")

    def interrupt(self, command, downloader, lab, number):
        """Run the command with a downloader that is stuck, and send the signal to its group. Return
        the folders that are left in the lab."""
        with tempfile.TemporaryDirectory(prefix="beamflame-test-") as made:
            folder = Path(made)
            fake, started = folder / downloader, folder / "started"
            fake.write_text(STUCK, encoding="ascii")
            fake.chmod(0o755)
            process = subprocess.Popen(
                command, start_new_session=True, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", lab: str(folder / "lab"),
                     "STARTED": str(started)})
            deadline = time.monotonic() + 20
            while not started.exists():
                self.assertLess(time.monotonic(), deadline, "the download does not start")
                time.sleep(0.05)
            self.assertEqual(len(self.folders(folder / "lab")), 1)
            os.killpg(process.pid, number)
            process.wait(timeout=20)
            return self.folders(folder / "lab")

    def folders(self, lab):
        return [path for path in lab.iterdir() if path.is_dir()]

    def test_otp_lab(self):
        for number in signal.SIGINT, signal.SIGTERM:
            with self.subTest(number):
                self.assertEqual(self.interrupt([TOOLS / "otp-lab", "fetch", "29"], "debootstrap",
                                                "BEAMFLAME_LAB", number), [])

    def test_kernel_lab(self):
        for number in signal.SIGINT, signal.SIGTERM:
            with self.subTest(number):
                self.assertEqual(self.interrupt([TOOLS / "kernel-lab", "fetch", "6.1"], "apt-get",
                                                "BEAMFLAME_KERNELS", number), [])


if __name__ == "__main__":
    unittest.main()
