# SPDX-License-Identifier: Apache-2.0
"""RabbitMQ and ejabberd in containers of containerd, the agent in its own container with what the
DaemonSet gives it: services and Prometheus have the names of their pods."""
import json
import os
import time
import unittest

import agent_delivery_test
import applications
import beamflame
import pods
from agent_test import EVENTS, INTERVAL
from amqp import Channel
from collector_test import Collector
from prometheus import Prometheus

NEEDS = "all nodes"


class RabbitMQ(pods.InPod, applications.RabbitMQ):
    pass


class Ejabberd(pods.InPod, applications.Ejabberd):
    pass


class Pods(agent_delivery_test.DaemonSet):
    def setUp(self):
        super().setUp()
        containerd = pods.Containerd(self)
        self.broker = pods.Pod(containerd, "shop", "rabbit-0", "broker")
        self.rabbit = self.enterContext(RabbitMQ(self.broker))
        self.chat = pods.Pod(containerd, "talk", "chat-0", "ejabberd",
                             {"pyroscope.io/service_name": "messages"})
        self.enterContext(Ejabberd(self.chat))

    def start_agent(self, protocol, url):
        (self.config / "agent.yaml").write_text(
            f"record:\n  interval: {INTERVAL}\n  cpu: 99\nhttp:\n  listen: 127.0.0.1:{self.port}\n"
            f"push:\n  - protocol: {protocol}\n    url: {url}\n")
        spec = self.spec(agent_delivery_test.PARANOID)
        if not os.access("/proc/1/root/", os.R_OK):  # this machine protects its first process
            spec["mounts"].append({"destination": str(pods.TASKS), "source": str(pods.TASKS),
                                   "type": "none", "options": ["rbind", "ro", "rslave"]})
        self.start(self.out / "bundle", spec)

    def wait_for(self, what, state):
        """Wait for a true result while clients of RabbitMQ work, and return it."""
        deadline = time.monotonic() + 120
        with Channel(self.rabbit.port, "client") as channel:
            channel.declare("orders")
            while not (result := what()):
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.process.terminate()
                    self.fail(f"{state()}: {self.process.communicate()[0]}")
                channel.publish("orders", b"x" * 1000)
        return result

    def test_pyroscope_and_prometheus_have_the_pods(self):
        prometheus = Prometheus(self, self.port)
        self.start_agent("pyroscope", self.service.url)
        for pod, service, events in ((self.broker, "shop/broker", EVENTS),
                                     (self.chat, "messages", {"block"})):  # nobody logs in
            with self.subTest(service):
                self.wait_for(lambda: events <= self.service.names(service),
                              lambda: [profile["labels"] for profile in self.service.profiles()])
                for profile in self.service.of(service):
                    self.assertEqual([profile["labels"].get(name) for name in
                                      ("namespace", "pod", "container")],
                                     [pod.name_space, pod.name, pod.container])
                query = f'beamflame_node_cpu_seconds_total{{pod="{pod.name}"}}'
                [result] = self.wait_for(lambda: prometheus.answer(query), lambda: query)
                self.assertEqual([result["metric"].get(name) for name in
                                  ("service_name", "namespace", "container")],
                                 [service, pod.name_space, pod.container])

    def test_pod_that_nothing_on_the_host_names_has_the_names_that_it_has_inside(self):
        pod = pods.SilentPod(self, self.broker.containerd, "talk", "chat-1")
        with Ejabberd(pod) as chat:
            out = self.out / "stats.json"
            done = beamflame.run("-p", chat.pid, "-e", "wall", "-d", 1, "-o",
                                 self.out / "chat.bfr", "--stats", out)
            self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
            [target] = json.loads(out.read_text())["targets"]
            self.assertEqual(target["attributes"],
                             f"k8s.namespace.name=talk,k8s.pod.name=chat-1,k8s.pod.uid={pod.uid}")

    def test_collector_has_the_pods(self):
        collector = Collector(self)
        self.start_agent("otlp", collector.url)
        for pod, service in (self.broker, "shop/broker"), (self.chat, "messages"):
            wanted = {"service.name": service, "k8s.namespace.name": pod.name_space,
                      "k8s.pod.name": pod.name, "k8s.pod.uid": pod.uid,
                      "k8s.container.name": pod.container, "container.id": pod.id}
            for name, value in wanted.items():
                line = f"-> {name}: Str({value})"
                self.wait_for(lambda: line in collector.log.read_text(), lambda: line)


if __name__ == "__main__":
    unittest.main()
