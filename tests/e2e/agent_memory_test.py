# SPDX-License-Identifier: Apache-2.0
"""Requests take a part of the memory that the agent's control group may have."""
import http.client
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

import beamflame
import nodes
from applications import free_port

NEEDS = "all nodes"
GROUP = 40 << 20
REQUEST = GROUP // 4


def limited(bytes_most):
    """Return a command that starts another one, which reads this limit of its control group."""
    group = next(line.partition("::")[2] for line in
                 Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
    folder = f"/sys/fs/cgroup{group.rstrip('/')}"
    return ["unshare", "-m", "sh", "-c",
            "mount -t tmpfs none /sys/fs/cgroup && mkdir -p \"$1\" && "
            "echo \"$2\" > \"$1\"/memory.max && shift 2 && exec \"$@\"",
            "sh", folder, str(bytes_most)]


class SmallGroup(beamflame.Profilers, unittest.TestCase):
    def setUp(self):
        """The spool has recordings of 100,000 stacks each."""
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)
        spool = self.out / "spool"
        spool.mkdir(mode=0o700)
        now = time.time()
        names = [time.strftime("agent-web-1-%Y%m%d-%H%M%S.bfr", time.gmtime(now - back))
                 for back in range(4)]
        subprocess.run([nodes.BUILD / "tests" / "large_recording", spool / names[0]], check=True,
                       capture_output=True)
        for name in names[1:]:
            shutil.copy(spool / names[0], spool / name)
        self.port = free_port()
        self.config = self.out / "agent.yaml"
        self.config.write_text("record: {beside_others: true}\nrules: [{profile: false}]\n"
                               f"spool:\n  directory: {spool}\n"
                               f"http:\n  listen: '127.0.0.1:{self.port}'\n")

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except ConnectionRefusedError:
            return 0, b""
        finally:
            connection.close()

    def start_agent(self, *before):
        agent = subprocess.Popen([*before, beamflame.BINARY, "agent", "--config", self.config],
                                 stderr=subprocess.PIPE, text=True)
        self.addCleanup(agent.communicate)
        self.addCleanup(agent.kill)
        deadline = time.monotonic() + 30
        while self.get("/healthz")[0] != 200:
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(agent.poll())
            time.sleep(0.1)
        return agent

    def end(self, agent):
        self.assertIsNone(agent.poll(), "the agent has ended")
        agent.send_signal(signal.SIGTERM)
        self.assertEqual(agent.wait(30), 0)

    def test_profile_that_needs_more_is_refused_and_the_agent_lives(self):
        """A request that takes more than its part of a small group gets a sentence; the same
        request without a limit is answered."""
        agent = self.start_agent(*limited(GROUP))
        status, body = self.get("/profile?seconds=3600")
        self.assertEqual(status, 500, body[:200])
        self.assertIn(f"more than {REQUEST >> 20} MB of memory".encode(), body)
        self.assertEqual(self.get("/metrics")[0], 200)
        self.end(agent)
        agent = self.start_agent()
        status, body = self.get("/profile?seconds=3600")
        self.assertEqual(status, 200, body[:200])
        self.end(agent)


if __name__ == "__main__":
    unittest.main()
