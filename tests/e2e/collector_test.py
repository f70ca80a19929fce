# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry's own collector takes all profiles, and passes on the numbers that they have."""
import re
import subprocess
import sys
import time
import unittest
import urllib.request

import beamflame
import nodes
from applications import free_port

sys.path.insert(0, str(nodes.ROOT / "tests" / "tools"))
import protoc  # noqa: E402

NEEDS = "all nodes"
LAB = nodes.ROOT / "tools" / "collector-lab"
EVENTS = ("cpu", "wall", "gc", "alloc", "sched", "msg")
VALUES = re.compile(r"^ +Values: \[([\d ]*)\]$", re.M)
CONFIGURATION = """
receivers:
  otlp: {protocols: {http: {endpoint: "127.0.0.1:%d"}}}
exporters:
  debug: {verbosity: detailed, sampling_initial: 100000}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    profiles: {receivers: [otlp], exporters: [debug]}
"""


class Collector:
    """A collector that prints what it gets."""

    def __init__(self, test):
        found = subprocess.run([LAB, "program"], capture_output=True, text=True, check=False)
        if found.returncode:
            raise unittest.SkipTest("there is no collector (run 'tools/collector-lab fetch')")
        folder = beamflame.folder(test.addCleanup)
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.log = folder / "log"
        (folder / "c.yaml").write_text(CONFIGURATION % port)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [found.stdout.strip(), "--config", f"file:{folder / 'c.yaml'}",
                 "--feature-gates=service.profilesSupport"], stdout=log, stderr=log)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)
        self.wait(lambda text: "Everything is ready" in text)

    def wait(self, condition, seconds=60):
        """Wait until the condition holds for what it has printed, and return that."""
        deadline = time.monotonic() + seconds
        while not condition(text := self.log.read_text()):
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise AssertionError(text[-2000:])
            time.sleep(0.1)
        return text

    def post(self, data):
        """Send the profiles; return what is printed of them."""
        before = len(self.log.read_text())
        request = urllib.request.Request(f"{self.url}/v1development/profiles", data,
                                         {"Content-Type": "application/x-protobuf"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status == 200
        return self.wait(lambda text: is_complete(text[before:]))[before:]


def is_complete(text):
    """True if all samples of the profiles are printed."""
    records = re.search(r'"sample records": (\d+)', text)
    return bool(records) and text.endswith("\n") and len(VALUES.findall(text)) == int(records[1])


def printed(text):
    """Return the services, the number of samples and the sum of their values, as printed."""
    values = VALUES.findall(text)
    return (set(re.findall(r"-> service\.name: Str\((.*)\)$", text, re.M)), len(values),
            sum(int(value) for one in values for value in one.split()))


def written(data):
    """Return the same of a file."""
    services, samples = set(), []
    message = protoc.decode(protoc.OTLP, data)
    texts = message["dictionary"][0]["string_table"]
    for resource in message["resource_profiles"]:
        for attribute in resource["resource"][0]["attributes"]:
            if attribute["key"] == ["service.name"]:
                services.add(attribute["value"][0]["string_value"][0])
        for scope in resource["scope_profiles"]:
            for profile in scope["profiles"]:
                samples += profile.get("samples", [])
    assert texts[0] == ""
    return services, len(samples), sum(sum(sample["values"]) for sample in samples)


class Collectors(unittest.TestCase):
    def test_files_of_each_event_are_passed_on_with_their_numbers(self):
        beamflame.require()
        collector = Collector(self)
        folder = beamflame.folder(self.addCleanup)
        with nodes.Node(27, "request") as node:
            beamflame.record("-p", node.pid, "-d", 3, "--budget", 20, "-e", ",".join(EVENTS),
                             "-o", folder / "x.bfr")
        for event in EVENTS:
            with self.subTest(event):
                beamflame.record("report", folder / "x.bfr", "-e", event, "-o", folder / "x.otlp",
                                 "-q")
                data = (folder / "x.otlp").read_bytes()
                self.assertEqual(printed(collector.post(data)), written(data))

    def test_profiles_of_the_agent_arrive_with_the_service(self):
        beamflame.require()
        collector = Collector(self)
        folder = beamflame.folder(self.addCleanup)
        (folder / "agent.yaml").write_text(
            f"record:\n  interval: 2\nspool:\n  directory: {folder / 'spool'}\n"
            f"push:\n  - protocol: otlp\n    url: {collector.url}\n")
        with nodes.Node(27, "request", flags=("-sname", "shop", "-dist_listen", "false",
                                              "-start_epmd", "false")):
            agent = beamflame.start("agent", "--config", folder / "agent.yaml")
            self.addCleanup(agent.kill)
            try:
                text = collector.wait(lambda text: text.count("service.name: Str(shop)") > 4)
            finally:
                agent.terminate()
                _, said = agent.communicate(timeout=60)
        services, samples, values = printed(text)
        self.assertIn("shop", services)
        self.assertGreater(samples, 0)
        self.assertGreater(values, 0)
        self.assertNotIn("refused", said)


if __name__ == "__main__":
    unittest.main()
