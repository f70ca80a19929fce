# SPDX-License-Identifier: Apache-2.0
"""An agent whose disk is full lives: it drops its oldest recordings, else it waits for room."""
import os
import re
import shutil
import signal
import subprocess
import time
import unittest
import urllib.request

import beamflame
import nodes
from applications import free_port
from agent_test import INTERVAL, alone, named

NEEDS = "own nodes"
DISK = 400 * 1024


class FullDisk(beamflame.Profilers, unittest.TestCase):
    def setUp(self):
        beamflame.require()
        nodes.require(27)
        self.out = beamflame.folder(self.addCleanup)
        self.spool = self.out / "spool"
        self.spool.mkdir(mode=0o700)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=700", "none", self.spool],
                       check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.spool], check=True)
        self.enterContext(nodes.Node(27, "request", flags=named("disk")))
        self.port = free_port()
        config = self.out / "agent.yaml"
        config.write_text(f"record:\n  interval: {INTERVAL}\n{alone('disk')}"
                          f"spool:\n  directory: {self.spool}\n"
                          f"http:\n  listen: '127.0.0.1:{self.port}'\n"
                          "push:\n  - {protocol: pyroscope, url: 'http://127.0.0.1:9'}\n")
        self.config = config

    def start_agent(self):
        self.agent = self.start("agent", "--config", self.config)

    def metrics(self):
        """Return the values of metrics by their names and labels."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as it:
                text = it.read().decode()
        except (ConnectionError, urllib.error.URLError):
            return {}
        return {name: float(value) for name, value in
                re.findall(r"^(beamflame_(?:rec|push_dr)\S+) (\S+)$", text, re.M)}

    def wait_for(self, what, seconds=60):
        return self.result_of(what, self.agent, seconds,
                              lambda: (self.metrics(), os.listdir(self.spool)))

    def recordings(self):
        return sorted(path.name for path in self.spool.glob("agent-*.bfr"))

    def fill(self):
        """Take all room of the disk, until nothing can be written for a while."""
        with open(self.spool / "filler", "ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def is_paused_without_recordings(self):
        """The recording that the pause ended can appear later, and is removed a second after."""
        self.fill()
        return (self.metrics().get("beamflame_recording_paused") == 1 and
                not self.recordings())

    def end(self):
        self.agent.send_signal(signal.SIGTERM)
        code, said = self.ended(self.agent)
        self.assertEqual(code, 0, said)
        return said

    def test_oldest_recordings_make_room(self):
        """Recordings fill a disk that is smaller than the spool may be: the oldest are dropped and
        counted, and a recording that has room is complete."""
        dropped = 'beamflame_push_dropped_total{service="pyroscope"}'
        self.start_agent()
        first = self.wait_for(self.recordings)[0]
        self.wait_for(lambda: self.metrics().get(dropped, 0) >= 2, 180)
        self.assertNotIn(first, self.recordings())
        *old, before = self.recordings()
        for name in old:
            (self.spool / name).unlink()
        self.wait_for(lambda: self.recordings()[-2:-1] > [before])
        said = self.end()
        self.assertIn(f"service pyroscope never got {first}", said)
        newer = next(name for name in self.recordings() if name > before)
        copy = shutil.copy(self.spool / newer, self.out / "newer.bfr")
        self.assertGreater(sum(beamflame.folded(copy, "--event", "cpu").values()), 0)

    def make_room(self):
        (self.spool / "filler").unlink()
        self.wait_for(lambda: len(self.recordings()) >= 2)
        self.wait_for(lambda: self.metrics()["beamflame_recording_paused"] == 0)

    def check_wait(self, meanwhile=lambda: None):
        """The agent waits, answers, and records when there is room."""
        self.wait_for(self.is_paused_without_recordings)
        meanwhile()
        self.make_room()
        steady = time.monotonic() + 12  # so long without an error, and a message says so
        self.wait_for(lambda: time.monotonic() > steady)
        said = self.end()
        self.assertEqual(said.count("recording pauses"), 1, said)
        self.assertIn("No space left on device", said)
        self.assertIn("recording continues\n", said)
        self.assertNotIn("recording continues as", said)

    def reload(self):
        """Let another session begin."""
        self.config.write_text(self.config.read_text().replace("record:\n", "record:\n  cpu: 99\n"))
        self.agent.send_signal(signal.SIGHUP)
        time.sleep(3)

    def test_agent_waits_for_room_that_others_took(self):
        self.start_agent()
        self.wait_for(self.recordings)
        self.check_wait()

    def test_agent_waits_with_another_configuration(self):
        self.start_agent()
        self.wait_for(self.recordings)
        self.check_wait(self.reload)

    def test_session_that_a_reload_ends_can_not_be_written(self):
        self.start_agent()
        self.wait_for(self.recordings)
        self.fill()
        self.reload()
        self.wait_for(self.is_paused_without_recordings)
        self.make_room()
        self.assertIn("No space left on device", self.end())

    def test_agent_starts_without_room(self):
        """Its lock has no bytes, so the spool can be opened."""
        self.fill()
        self.start_agent()
        self.check_wait()


if __name__ == "__main__":
    unittest.main()
