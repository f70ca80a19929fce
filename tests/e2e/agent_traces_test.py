# SPDX-License-Identifier: Apache-2.0
"""The agent sends the traces of samples to the services that are configured so, and answers with the
profile of one trace."""
import json
import time
import unittest

import agent_http_test
import beamflame
import nodes
from agent_test import INTERVAL, Service, named

NEEDS = "all nodes"
UNKNOWN = "f" * 32


def form_of(protocol, trace):
    """Return the bytes of a trace's id in a profile."""
    return bytes.fromhex(trace) if protocol == "otlp" else trace.encode()


class AgentTraces(beamflame.Profilers, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        nodes.require(27)
        cls.out = beamflame.folder(cls.addClassCleanup)

    def configuration(self, services, port):
        path = self.out / "agent.yaml"
        path.write_text(f"record:\n  interval: {INTERVAL}\n  cpu: 99\n"
                        f"spool:\n  directory: {self.out / 'spool'}\n"
                        f"http:\n  listen: 127.0.0.1:{port}\npush:\n" + "".join(
                            f"  - protocol: {service.name}\n    url: {service.url}\n"
                            f"    traces: {'false' if service.name == 'parca' else 'true'}\n"
                            for service in services))
        return path

    def wait_for(self, what):
        deadline = time.monotonic() + 60
        while not what():
            self.assertLess(time.monotonic(), deadline, "not in time")
            time.sleep(0.2)

    @staticmethod
    def sent(service):
        """Return the bytes of the profiles that a service has accepted."""
        return [(service.folder / profile["file"]).read_bytes() for profile in service.profiles()]

    def found(self, service, traces):
        """Return the traces that the profiles of a service have."""
        data = self.sent(service)
        return {trace for trace in traces
                if any(form_of(service.name, trace) in one for one in data)}

    def test_services_get_traces_if_they_are_configured_so(self):
        services = [Service(self, name) for name in ("pyroscope", "otlp", "parca")]
        port = agent_http_test.free_port()

        def get(path):
            status, _, body = agent_http_test.answer_of(agent_http_test.connect(port), path)
            return status, body.decode()

        with nodes.Node(27, "traces", flags=named("shop")) as node:
            traces = {ids[0] for ids in node.report()["spans"].values()}
            agent = self.start("agent", "--config", self.configuration(services, port))
            for service in services[:2]:
                self.wait_for(lambda: self.found(service, traces) == traces)
            self.wait_for(lambda: len(services[2].profiles()) > 4)
            self.check_profile_of_a_trace(get, node.report()["spans"])
            agent.terminate()
            self.assertEqual(self.ended(agent)[0], 0)
        self.assertEqual(self.found(services[2], traces), set())
        for service in services:
            self.assertEqual([r["findings"] for r in service.requests() if r["findings"]], [])

    def check_profile_of_a_trace(self, get, spans):
        """Each sample of the profile is of the trace, whose function stands in its stack."""
        status, text = get(f"/profile?trace={spans['child'][0].upper()}&format=json")
        self.assertEqual(status, 200, text)
        lines = [json.loads(line) for line in text.splitlines()]
        samples = [line for line in lines if line["type"] == "sample"]
        self.assertEqual({line["trace_id"] for line in samples}, {spans["child"][0]})
        self.assertGreater(len(samples), 0)
        self.assertEqual(get(f"/profile?trace={UNKNOWN}")[0], 404)
        self.assertEqual(get("/profile?trace=12")[0], 400)
        self.assertIn("a trace has an id of 32 hexadecimal digits", get("/profile?trace=12")[1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
