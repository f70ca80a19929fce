# SPDX-License-Identifier: Apache-2.0
"""A service is away for as long as an hour of recordings, and the agent is killed at random moments,
before and after the service is back. Each recording that was in the spool reaches the service, or the
agent has said that it does not; no profile counts twice at a service that tells profiles apart.
build/long/agent_kills.txt gets the figures."""
import json
import os
import random
import re
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
# pylint: disable=wrong-import-position
import beamflame  # noqa: E402
import nodes  # noqa: E402
from agent_test import Service, named  # noqa: E402

NEEDS = "all nodes"
INTERVAL = 1  # seconds of a recording, which stand for 15
OUTAGE = 240  # recordings: an hour
KILLS = 50
MAX_AGE = 60  # seconds: the spool drops older recordings, and the outage is longer
LOST = re.compile(r"service pyroscope never got (\S+),")
FIGURES = nodes.BUILD / "long" / "agent_kills.txt"
SEED = int(os.environ.get("BEAMFLAME_SEED", str(time.time_ns())))


class Kills(beamflame.Profilers, unittest.TestCase):
    def setUp(self):
        beamflame.require()
        nodes.require(27)
        self.out = beamflame.folder(self.addCleanup)
        self.spool, self.seen = self.out / "spool", self.out / "seen"
        self.spool.mkdir(mode=0o700)
        self.seen.mkdir()
        self.service = Service(self, "pyroscope", "503")
        self.config = self.out / "agent.yaml"
        self.config.write_text(f"record: {{interval: {INTERVAL}, events: gc}}\n"
                               f"spool: {{directory: {self.spool}, max_age: {MAX_AGE}}}\n"
                               f"push:\n  - protocol: pyroscope\n    url: {self.service.url}\n")
        self.random = random.Random(SEED)
        self.said, self.kills = "", 0
        self.agent = self.start("agent", "--config", self.config)

    def keep(self):
        """Keep the recordings that are in the spool now."""
        for path in self.spool.glob("agent-*.bfr"):
            try:
                os.link(path, self.seen / path.name)
            except (FileExistsError, FileNotFoundError):
                pass

    def kill(self):
        self.keep()
        self.agent.kill()
        self.said += self.ended(self.agent)[1]
        self.kills += 1
        self.agent = self.start("agent", "--config", self.config)

    def run_for(self, seconds, kills):
        """Kill the agent at random moments of this time."""
        began = time.monotonic()
        moments = sorted(began + self.random.uniform(0, seconds) for _ in range(kills))
        while time.monotonic() < began + seconds:
            while moments and moments[0] < time.monotonic():
                moments.pop(0)
                self.kill()
            self.keep()
            time.sleep(0.05)

    def recordings(self):
        """Return {name of a recording: (its start in ns, names of VMs with CPU samples)}."""
        found = {}
        for path in sorted(self.seen.iterdir()):
            json_path = self.out / "one.json"
            done = beamflame.run("report", path, "-q", "-e", "cpu", "-o", json_path)
            if "no samples" in done.stderr or "select none" in done.stderr:
                continue
            self.assertEqual(done.returncode, beamflame.DONE, f"{path}: {done.stderr}")
            with open(json_path, encoding="utf-8") as lines:
                start = json.loads(lines.readline())["start_realtime_ns"]
            found[path.name] = start
        return found

    def test_what_is_lost_was_said(self):
        for name in ("shop", "till"):
            self.addCleanup(nodes.Node(27, "request", flags=named(name)).kill)
        self.run_for(OUTAGE * INTERVAL, KILLS // 2)
        self.service.set_mode("accept")
        self.run_for(OUTAGE * INTERVAL / 4, KILLS - KILLS // 2)
        deadline = time.monotonic() + 120
        while self.waiting() and time.monotonic() < deadline:
            self.keep()
            time.sleep(0.2)
        self.keep()
        self.agent.terminate()
        code, said = self.ended(self.agent)
        self.keep()
        self.said += said
        self.assertEqual(code, 0, said)
        self.check()

    def waiting(self):
        """Return the recordings of the spool that the service does not have."""
        sent = self.spool / "pyroscope.sent"
        lines = dict(line.split() for line in sent.read_text().splitlines()) if sent.exists() else {}
        return [path for path in self.spool.glob("agent-*.bfr") if lines.get(path.name) != "all"]

    def check(self):
        profiles = [p for p in self.service.profiles() if p["labels"]["__name__"] == "process_cpu"]
        accepted = {profile["time"] for profile in profiles}
        lost = set(LOST.findall(self.said))
        recordings = self.recordings()
        unsaid = [name for name, start in recordings.items()
                  if start not in accepted and name not in lost]
        twice = [profile for profile in self.service.profiles() if profile["duplicate"]]
        ids = {profile["id"] for profile in twice}
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_text(
            f"seed {SEED}: {self.kills} kills, {len(recordings)} recordings, {len(lost)} said to be "
            f"lost, {len(unsaid)} lost without a word; {len(self.service.profiles())} profiles, "
            f"{len(ids)} of them sent again with the same id\n", encoding="utf-8")
        self.assertEqual(self.kills, KILLS)
        self.assertGreater(len(recordings), 100)
        self.assertGreater(len(lost), 0)
        self.assertEqual(unsaid, [])
        by_labels = {}
        for profile in self.service.profiles():
            key = profile["time"], json.dumps(profile["labels"], sort_keys=True)
            by_labels.setdefault(key, set()).add(profile["id"])
        self.assertEqual({key: ids for key, ids in by_labels.items() if len(ids) > 1}, {})
        self.assertLessEqual(len({profile["time"] for profile in twice}), KILLS)


if __name__ == "__main__":
    unittest.main()
