# SPDX-License-Identifier: Apache-2.0
"""Recordings that run are steered by `beamflame ctl`."""
import os
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

import beamflame
import nodes
from segments import Segments

NEEDS = "own nodes"
FOLDER = Path("/run/beamflame")
NOBODY = 65534


class Steered(Segments, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.node = nodes.Node(27, "request")
        cls.addClassCleanup(cls.node.kill)

    def recorder(self, *options):
        """Start a recording; wait until it has begun."""
        process = self.start("-p", self.node.pid, *options)
        beamflame.read_until(process, "sampling")
        return process

    def ctl(self, process, *words, code=beamflame.DONE):
        """Steer a recording; return what is printed or, if it fails, said."""
        done = beamflame.run("ctl", "-p", process.pid, *words, timeout=30)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr if code else done.stdout

    @staticmethod
    def socket_of(process):
        return FOLDER / f"{process.pid}.sock"

    # ---- status, list, stop ----

    def test_status_says_what_is_recorded(self):
        process = self.recorder("-e", "cpu,gc", "-o", self.out / "x.bfr")
        self.wait_for(lambda: " 0 samples" not in self.ctl(process, "status"))
        status = self.ctl(process, "status")
        self.assertRegex(status, r"^recording for \d+ s: [1-9]\d* samples, \d+ lost\n"
                                 r"since: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [-+]\d{4}\n"
                                 rf"VMs: {self.node.pid}\ncommand: beamflame -p {self.node.pid} "
                                 r"-e cpu,gc -o .*/x\.bfr\n$")
        self.assertEqual(os.stat(self.socket_of(process)).st_mode & 0o777, 0o600)

    def test_stop_ends_a_recording_as_ctrl_c_does(self):
        """Its outputs are there, and its socket is gone; also of one in segments."""
        for options in ((), ("--loop", 60)):
            with self.subTest(options):
                self.out = beamflame.folder(self.addCleanup)
                process = self.recorder(*self.outputs("bfr", "svg"), *options)
                time.sleep(1)
                self.assertEqual(self.ctl(process, "stop"), "the recording ends\n")
                code, said = self.ended(process)
                self.assertEqual(code, beamflame.DONE, said)
                self.assertEqual(sorted(p.suffix for p in self.out.iterdir()), [".bfr", ".svg"])
                self.assertGreater(self.samples(next(self.out.glob("*.bfr"))), 10)
                self.assertFalse(self.socket_of(process).exists())

    def test_a_recording_that_waits_for_a_trigger_can_be_stopped(self):
        process = self.recorder("--trigger", "msgq>1000000", *self.outputs("bfr"))
        self.assertIn("waiting for a trigger for", self.ctl(process, "status"))
        self.ctl(process, "stop")
        self.assertEqual(self.ended(process)[0], beamflame.NO_SAMPLES)

    def test_recordings_are_listed_and_chosen_by_pid(self):
        one, other = self.recorder(*self.outputs("bfr")), self.recorder("-o", self.out / "y.bfr")
        listed = beamflame.run("ctl", "list").stdout
        for process in one, other:
            self.assertRegex(listed, rf"(?m)^{process.pid}  recording for ")
        done = beamflame.run("ctl", "status")
        self.assertEqual(done.returncode, beamflame.USAGE)
        self.assertRegex(done.stderr, r"\d+ recordings run on this host: choose one by -p PID, "
                                      rf"one of .*{one.pid}")
        self.ctl(other, "stop")
        self.assertEqual(self.ended(other)[0], beamflame.DONE)
        self.assertIn("recording for", self.ctl(one, "status"))

    def test_a_killed_recording_is_listed_no_more(self):
        """What SIGKILL left is removed."""
        process = self.recorder(*self.outputs("bfr"))
        process.kill()
        process.wait()
        self.assertTrue(self.socket_of(process).exists())
        self.assertIn(f"process {process.pid} is no recording that can be steered",
                      self.ctl(process, "status", code=beamflame.NO_PROCESS))
        self.assertNotIn(str(process.pid), beamflame.run("ctl", "list").stdout)
        self.assertFalse(self.socket_of(process).exists())

    def test_a_recorder_that_is_stopped_does_not_hang_others(self):
        process = self.recorder(*self.outputs("bfr"))
        process.send_signal(signal.SIGSTOP)
        self.assertIn(f"recorder {process.pid} does not answer within 10 s",
                      self.ctl(process, "status", code=beamflame.FAILED))
        process.send_signal(signal.SIGCONT)
        self.assertIn("recording for", self.ctl(process, "status"))

    # ---- who may, and where ----

    def test_another_user_may_not(self):
        process = self.recorder(*self.outputs("bfr"))
        done = subprocess.run(
            [beamflame.BINARY, "ctl", "-p", str(process.pid), "stop"], capture_output=True,
            text=True, check=False, user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertEqual(done.returncode, beamflame.PERMISSION)
        self.assertIn(f"not permitted to steer recorder {process.pid}: run as root", done.stderr)
        self.assertIn("recording for", self.ctl(process, "status"))

    def test_a_host_whose_run_folder_is_read_only_records(self):
        """The recording says so once, and can't be steered."""
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c",
             'mount -t tmpfs -o ro none /run && exec "$@"', "sh", beamflame.BINARY, "-p",
             str(self.node.pid), "-d", "1", "-o", self.out / "x.bfr"],
            capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        self.assertEqual(re.findall("'beamflame ctl' can't steer this recording: (.*)", done.stderr),
                         ["can't make folder /run/beamflame: Read-only file system"])
        self.assertGreater(self.samples(self.out / "x.bfr"), 10)

    def test_wrong_words_are_explained(self):
        for words, message in (((), "write one command: list, status or stop"),
                               (("pause", "now"), "write one command"),
                               (("finish",), "'finish' is no command for a recording")):
            with self.subTest(words):
                done = beamflame.run("ctl", *words)
                self.assertEqual(done.returncode, beamflame.USAGE)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
