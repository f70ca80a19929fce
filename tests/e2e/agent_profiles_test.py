# SPDX-License-Identifier: Apache-2.0
"""What the agent puts into profiles by the settings of a service: traces, times, some events. And the
profile of one trace over HTTP."""
import json
import sys
import time
import unittest
from pathlib import Path

import agent_http_test
import beamflame
import nodes
from agent_test import INTERVAL, Service, named

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
import profile_rules  # pylint: disable=wrong-import-position
import protoc  # pylint: disable=wrong-import-position

NEEDS = "all nodes"
UNKNOWN = "f" * 32


def form_of(protocol, trace):
    """Return the bytes of a trace's id in a profile."""
    return bytes.fromhex(trace) if protocol == "otlp" else trace.encode()


class AgentProfiles(beamflame.Profilers, unittest.TestCase):
    def setUp(self):
        beamflame.require()
        nodes.require(27)
        self.out = beamflame.folder(self.addCleanup)
        self.port = agent_http_test.free_port()
        self.node = self.enterContext(nodes.Node(27, "traces", flags=named("shop")))
        self.spans = self.node.report()["spans"]

    def start_agent(self, *services):
        """Start an agent with services, each with its further settings."""
        path = self.out / "agent.yaml"
        path.write_text(f"record:\n  interval: {INTERVAL}\n  cpu: 99\n"
                        f"spool:\n  directory: {self.out / 'spool'}\n"
                        f"http:\n  listen: 127.0.0.1:{self.port}\npush:\n" + "".join(
                            f"  - {{protocol: {service.name}, url: '{service.url}'{settings}}}\n"
                            for service, settings in services))
        return self.start("agent", "--config", path)

    def end(self, agent, *services):
        """End the agent; check that services had nothing to say against a request."""
        agent.terminate()
        code, said = self.ended(agent)
        self.assertEqual(code, 0, said)
        for service in services:
            self.assertEqual([r["findings"] for r in service.requests() if r["findings"]], [])

    def wait_for(self, what, state=lambda: "not in time"):
        deadline = time.monotonic() + 60
        while not what():
            self.assertLess(time.monotonic(), deadline, state())
            time.sleep(0.2)

    def get(self, path):
        status, _, body = agent_http_test.answer_of(agent_http_test.connect(self.port), path)
        return status, body.decode()

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
        pyroscope, otlp, parca = (Service(self, name) for name in ("pyroscope", "otlp", "parca"))
        traces = {ids[0] for ids in self.spans.values()}
        agent = self.start_agent((pyroscope, ", traces: true"), (otlp, ", traces: true"), (parca, ""))
        for service in (pyroscope, otlp):
            self.wait_for(lambda: self.found(service, traces) == traces,
                          lambda: [service.name, len(service.profiles()), self.spans,
                                   self.found(service, traces)])
        self.wait_for(lambda: len(parca.profiles()) > 4)
        self.end(agent, pyroscope, otlp, parca)
        self.assertEqual(self.found(parca, traces), set())

    def test_profile_of_a_trace_has_its_samples_alone(self):
        agent, (trace, _) = self.start_agent(), self.spans["child"]
        path = f"/profile?trace={trace.upper()}&format=json"
        self.wait_for(lambda: self.get(path)[0] == 200)
        lines = [json.loads(line) for line in self.get(path)[1].splitlines()]
        samples = [line["trace_id"] for line in lines if line["type"] == "sample"]
        self.assertEqual(set(samples), {trace})
        self.assertEqual(self.get(f"/profile?trace={UNKNOWN}")[0], 404)
        status, text = self.get("/profile?trace=12")
        self.assertEqual(status, 400)
        self.assertIn("a trace has an id of 32 hexadecimal digits", text)
        self.end(agent)

    def test_elastic_gets_cpu_samples_with_their_times(self):
        """Elastic shows no sample without a time, and refuses all other events."""
        elastic = Service(self, "otlp")
        agent = self.start_agent((elastic, ", events: cpu, timestamps: true"))
        self.wait_for(lambda: len(elastic.profiles()) > 2)
        self.end(agent, elastic)
        for data in self.sent(elastic):
            self.assertEqual(profile_rules.otlp_findings(data, "cpu", pushed=True), [])
            for resource in protoc.decode(protoc.OTLP, data)["resource_profiles"]:
                profile, = resource["scope_profiles"][0]["profiles"]
                self.assertEqual([len(sample["timestamps_unix_nano"])
                                  for sample in profile["samples"]], [1] * len(profile["samples"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
