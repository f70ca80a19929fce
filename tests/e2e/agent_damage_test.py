# SPDX-License-Identifier: Apache-2.0
"""Damaged recordings in the spool cost nothing but themselves."""
import subprocess
import time
import unittest

import beamflame
import nodes
from agent_http_test import answer_of, connect, free_port
from agent_test import Service

NEEDS = "all nodes"


class Damaged(beamflame.Profilers, unittest.TestCase):
    def setUp(self):
        """The spool has a whole recording, between those that are garbage, empty, and cut: in the
        header, and in the middle."""
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)
        self.spool = self.out / "spool"
        self.spool.mkdir(mode=0o700)
        self.now = time.time()
        whole = self.spool / self.name(3)
        subprocess.run([nodes.BUILD / "tests" / "large_recording", whole], check=True,
                       capture_output=True)
        content = whole.read_bytes()
        for back, damaged in ((5, b"garbage" * 1000), (4, b""), (2, content[:10]),
                              (1, content[:len(content) // 2])):
            (self.spool / self.name(back)).write_bytes(damaged)
        self.unreadable = [self.name(back) for back in (5, 4, 2)]
        self.port = free_port()

    def name(self, back):
        return time.strftime("agent-web-1-%Y%m%d-%H%M%S.bfr", time.gmtime(self.now - back))

    def start_agent(self, *services):
        config = self.out / "agent.yaml"
        config.write_text("rules: [{profile: false}]\n"
                          f"spool:\n  directory: {self.spool}\n"
                          f"http:\n  listen: '127.0.0.1:{self.port}'\npush:\n" + "".join(
                              f"  - protocol: {service.name}\n    url: {service.url}\n"
                              for service in services))
        self.agent = self.start("agent", "--config", config)

    def get(self, path):
        return answer_of(connect(self.port, 60), path)

    def wait_for(self, what):
        return self.result_of(what, self.agent, 60,
                              lambda: [p.read_text() for p in self.spool.glob("*.sent")])

    def test_service_gets_all_others(self):
        """Each unreadable recording is named and counted, and those behind it are sent."""
        service = Service(self, "pyroscope")
        self.start_agent(service)
        sent = self.spool / "pyroscope.sent"
        names = {self.name(back) for back in range(1, 6)}
        self.wait_for(lambda: sent.exists() and all(f"{name} all" in sent.read_text()
                                                    for name in names))
        self.assertIn(b'beamflame_push_unreadable_total{service="pyroscope"} 3\n',
                      self.get("/metrics")[2])
        self.assertGreaterEqual(sum(p["samples"] for p in service.profiles()), 100000)
        self.agent.terminate()
        code, said = self.ended(self.agent)
        self.assertEqual(code, 0, said)
        for name in names:
            self.assertEqual(f"{name} is not sent to service pyroscope" in said,
                             name in self.unreadable, said)

    def test_profile_is_made_of_all_others_and_says_so(self):
        self.start_agent()
        self.wait_for(lambda: self.get("/healthz")[0] == 200)
        status, headers, body = self.get("/profile?seconds=3600&format=folded")
        self.assertEqual(status, 200, body[:200])
        self.assertEqual(headers["Beamflame-Damaged-Recordings"], "3")
        self.assertGreater(body.count(b"\n"), 1000)
        for name in self.unreadable:
            (self.spool / name).unlink()
        _, headers, other = self.get("/profile?seconds=3600&format=folded")
        self.assertNotIn("Beamflame-Damaged-Recordings", headers)
        self.assertEqual(sorted(body.splitlines()), sorted(other.splitlines()))

    def test_profile_of_nothing_but_damage_is_an_error(self):
        for path in self.spool.glob("agent-*.bfr"):
            if path.name not in self.unreadable:
                path.unlink()
        self.start_agent()
        self.wait_for(lambda: self.get("/healthz")[0] == 200)
        status, headers, body = self.get("/profile?seconds=3600")
        self.assertEqual(status, 500, body)
        self.assertIn(b"a recording of the spool", body)
        self.assertEqual(headers["Beamflame-Damaged-Recordings"], "3")


if __name__ == "__main__":
    unittest.main()
