# SPDX-License-Identifier: Apache-2.0
"""The agent: services get the profiles of all VMs of the host as these come and go, across failures
of the services and of the agent."""
import json
import os
import signal
import subprocess
import sys
import time
import unittest
from collections import Counter
from pathlib import Path
from unittest import mock

import beamflame
import nodes

NEEDS = "all nodes"
STUB = nodes.ROOT / "tests" / "tools" / "push_stub.py"
INTERVAL = 2  # seconds of a recording
LABELS = {"__name__", "__delta__", "service_name", "node", "host", "otp_release"}
EVENTS = {"process_cpu", "wall", "gc", "memory", "block"}


def named(name):
    """Return the flags of a node with this name."""
    return ("-sname", name, "-dist_listen", "false", "-start_epmd", "false")


def alone(name):
    """Return the end of `record`, and rules, of an agent that runs beside other tests: it profiles the
    nodes whose names begin so."""
    return (f"  beside_others: true\nrules: [{{node: '{name}*@*', profile: true}}, "
            "{profile: false}]\n")


class WithFolder(beamflame.Profilers):
    """Tests whose agent has its configuration and its spool in a folder of its own."""

    def setUp(self):
        beamflame.require()
        nodes.require(27)
        self.out = beamflame.folder(self.addCleanup)
        self.spool = self.out / "spool"
        self.config = self.out / "agent.yaml"


class Service:
    """A service that takes profiles (tests/tools/push_stub.py)."""

    def __init__(self, test, name, mode="accept", *options, port=0, within=()):
        """`within`: the beginning of a command that starts another one elsewhere."""
        self.name = name
        self.folder = beamflame.folder(test.addCleanup)
        self.process = subprocess.Popen(
            [*within, sys.executable, STUB, "--port", str(port), "--dir", self.folder, "--mode", mode,
             *options], stdout=subprocess.PIPE, text=True)
        test.addCleanup(self.process.communicate)
        test.addCleanup(self.process.kill)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def set_mode(self, mode):
        (self.folder / "mode.new").write_text(mode)
        (self.folder / "mode.new").rename(self.folder / "mode")

    def requests(self):
        path = self.folder / "requests.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def profiles(self):
        """Return the accepted profiles."""
        return [profile for request in self.requests() if request["status"] == 200
                for profile in request["profiles"]]

    def of(self, service):
        """Return the accepted profiles of a VM's service."""
        return [p for p in self.profiles() if p["labels"].get("service_name") == service]

    def names(self, service):
        return {p["labels"]["__name__"] for p in self.of(service)}


class Agent(beamflame.Profilers, unittest.TestCase):
    def setUp(self):
        beamflame.require()
        nodes.require(27)
        self.out = beamflame.folder(self.addCleanup)
        self.spool = self.out / "spool"
        self.agents = []

    def configure(self, *services, record="", spool=""):
        """Return the path of a configuration."""
        path = self.out / "agent.yaml"
        path.write_text(f"record:\n  interval: {INTERVAL}\n{record}"
                        f"spool:\n  directory: {self.spool}\n{spool}push:\n" + "".join(
                            f"  - protocol: {service.name}\n    url: {service.url}\n"
                            for service in services) if services else
                        f"record:\n  interval: {INTERVAL}\n{record}"
                        f"spool:\n  directory: {self.spool}\n{spool}")
        return path

    def agent(self, config):
        self.agents = [*(agent for agent in self.agents if agent.poll() is None),
                       self.start("agent", "--config", config)]
        return self.agents[-1]

    def wait_for(self, what, seconds=60):
        """Return the first true result, which comes while all agents run."""
        deadline = time.monotonic() + seconds
        while not (result := what()):
            self.assertLess(time.monotonic(), deadline, "not in time")
            for agent in self.agents:
                self.assertIsNone(agent.poll(), "the agent has ended")
            time.sleep(0.1)
        return result

    def end(self, agent):
        """End the agent as a service manager does; return what it said."""
        agent.send_signal(signal.SIGTERM)
        code, said = self.ended(agent)
        self.assertEqual(code, 0, said)
        return said

    def recordings(self):
        return sorted(self.spool.glob("agent-*.bfr"))

    def sent(self):
        """Return what the service has of each recording."""
        lines = (self.spool / "pyroscope.sent").read_text().splitlines()
        return dict(line.split() for line in lines)

    # ---- what recordings have ----

    def check_sweeps(self, clients, delta):
        """Few samples stand for many sweeps: together they have all of the time, and the number of
        sweeps."""
        with nodes.Node(27, "request", f"clients={clients}", flags=named("shop")):
            agent = self.agent(self.configure(record="  wall: 10\n  events: ''\n"))
            self.wait_for(lambda: len(self.recordings()) >= 5)
            self.end(agent)
        whole = self.out / "whole.bfr"
        beamflame.record("report", *self.recordings()[1:4], "-o", whole, "--node", "shop",
                         "--event", "wall", "--stats", self.out / "s.json")
        stats = json.loads((self.out / "s.json").read_text())
        wall = stats["events"]["wall"]
        times = Counter()
        for stack, ns in beamflame.folded(whole, "--event", "wall", "--group-by", "pid",
                                          "--idle").items():
            times[stack[0]] += ns / 1e6
        for process, ms in times.items():
            self.assertAlmostEqual(ms / wall["span_ms"], 1, delta=delta, msg=process)
        self.assertAlmostEqual(wall["hits"] / (len(times) * wall["windows"]), 1, delta=0.1)
        self.assertLess(stats["samples"], wall["hits"] / 2)

    def test_sweeps_of_a_vm_that_rests_stand_together(self):
        self.check_sweeps(clients=0, delta=0.02)

    def test_sweeps_of_processes_that_rest_stand_together(self):
        """The VM does not rest. Samples of running processes can be written to the next recording."""
        self.check_sweeps(clients=1, delta=0.1)

    # ---- what services get ----

    def test_each_service_gets_profiles_of_all_events_of_each_vm(self):
        """Pyroscope, Parca and a collector accept all profiles of two VMs, which have few labels.
        Nothing is left when the agent has ended."""
        services = [Service(self, name) for name in ("pyroscope", "parca", "otlp")]
        with nodes.Node(27, "request", flags=named("shop")) as shop, nodes.Node(25, "request", flags=named("till")):
            agent = self.agent(self.configure(*services, record="  cpu: 99\n"))
            for service in services[:2]:
                self.wait_for(lambda: all(service.names(name) >= EVENTS for name in ("shop", "till")))
            children = beamflame.Profilers.writers(agent.pid)
            said = self.end(agent)
            self.assertIsNone(shop.process.poll())
        self.assertNotIn("warning", said)
        for service in services:
            with self.subTest(service.name):
                requests = service.requests()
                self.assertEqual([r["findings"] for r in requests if r["findings"]], [])
                self.assertEqual({r["status"] for r in requests}, {200})
                self.assertFalse(any(p["duplicate"] for p in service.profiles()))
        for profile in services[0].profiles():
            self.assertLessEqual(set(profile["labels"]), LABELS)
        self.assertGreaterEqual(len(children), len(services))
        for child in children:
            self.assertFalse(Path(f"/proc/{child}").exists(), child)

    def test_vms_that_come_and_go_are_profiled_meanwhile(self):
        """The agent starts before any VM. A VM that starts is profiled, and no longer when it has
        ended. The environment of a VM names its service."""
        service = Service(self, "pyroscope")
        agent = self.agent(self.configure(service))
        time.sleep(INTERVAL)
        with nodes.Node(27, "request", flags=named("first")):
            self.wait_for(lambda: "process_cpu" in service.names("first"))
        variables = {"OTEL_SERVICE_NAME": "checkout",
                     "OTEL_RESOURCE_ATTRIBUTES": "service.version=1.2,service.name=no"}
        with mock.patch.dict(os.environ, variables), nodes.Node(25, "request"):
            self.wait_for(lambda: "process_cpu" in service.names("checkout"))
        time.sleep(2 * INTERVAL)
        counts = [len(service.of(name)) for name in ("first", "checkout")]
        time.sleep(2 * INTERVAL)
        self.assertEqual([len(service.of(name)) for name in ("first", "checkout")], counts)
        self.end(agent)
        self.assertEqual({p["labels"]["service_version"] for p in service.of("checkout")}, {"1.2"})

    def test_profiles_that_services_would_refuse_as_too_large_are_divided(self):
        """A recording of 100,000 stacks reaches each service in requests of at most 2 MB: all of
        it, and nothing twice."""
        services = [Service(self, name) for name in ("pyroscope", "parca", "otlp")]
        self.spool.mkdir(mode=0o700)
        now = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        large = self.spool / f"agent-web-1-{now}.bfr"
        subprocess.run([nodes.BUILD / "tests" / "large_recording", large], check=True,
                       capture_output=True)
        agent = self.agent(self.configure(*services))
        for service in services:
            sent = self.spool / f"{service.name}.sent"
            self.wait_for(lambda: sent.exists() and f"{large.name} all" in sent.read_text())
        said = self.end(agent)
        self.assertNotIn("warning", said)
        for service in services:
            requests = service.requests()
            self.assertEqual({r["status"] for r in requests}, {200}, service.name)
            self.assertFalse(any(p["duplicate"] for p in service.profiles()))
            self.assertGreater(len(requests), 3)
        for service in services[:2]:
            self.assertEqual(sum(p["samples"] for p in service.profiles()
                                 if p["labels"]["service_name"] in ("shop0", "shop1")), 100000)

    # ---- failures ----

    def test_service_that_was_away_gets_all_in_the_order_of_time(self):
        service = Service(self, "pyroscope", "503")
        with nodes.Node(27, "request", flags=named("shop")):
            agent = self.agent(self.configure(service))
            self.wait_for(lambda: len(self.recordings()) >= 4)
            self.assertEqual(service.profiles(), [])
            service.set_mode("accept")
            self.wait_for(lambda: len({p["time"] for p in service.profiles()}) >= 5)
            said = self.end(agent)
        self.assertIn("service pyroscope does not take profiles: ", said)
        self.assertIn("service pyroscope takes profiles again", said)
        profiles = service.profiles()
        self.assertFalse(any(p["duplicate"] for p in profiles))
        times = [p["time"] for p in service.of("shop")
                 if p["labels"]["__name__"] == "process_cpu"]
        self.assertEqual(times, sorted(times))
        self.assertEqual(self.sent(), {r.name: "all" for r in self.recordings()})

    def test_nothing_is_lost_or_sent_twice_when_the_agent_is_killed(self):
        """What a killed agent has recorded is sent by the next one, also the recording that it was
        making."""
        service = Service(self, "pyroscope", "503")
        with nodes.Node(27, "request", flags=named("shop")):
            config = self.configure(service)
            agent = self.agent(config)
            self.wait_for(lambda: len(self.recordings()) >= 2)
            time.sleep(INTERVAL / 2)
            agent.kill()
            self.ended(agent)
            part = list(self.spool.glob("*.bfr.part"))
            self.assertEqual(len(part), 1)
            service.set_mode("accept")
            agent = self.agent(config)
            self.wait_for(lambda: len({p["time"] for p in service.profiles()}) >= 4)
            self.end(agent)
        self.assertFalse(any(p["duplicate"] for p in service.profiles()))
        self.assertEqual(list(self.spool.glob("*.part")), [])
        self.assertIn(part[0].with_suffix(""), self.recordings())
        self.assertEqual(self.sent(), {r.name: "all" for r in self.recordings()})

    def test_recording_that_nobody_completes_is_completed(self):
        """A process that completes a recording can be killed while the agent runs. The recording that
        is being made stays as it is."""
        with nodes.Node(27, "request", flags=named("shop")):
            agent = self.agent(self.configure())
            self.wait_for(lambda: len(self.recordings()) >= 2)
            part = self.spool / "agent-other-20260101-000000.bfr.part"
            part.write_bytes(self.recordings()[0].read_bytes())
            self.wait_for(lambda: not part.exists())
            self.assertTrue(part.with_suffix("").exists())
            own = [path for path in self.spool.glob("*.part") if path.stat().st_size]
            self.assertEqual(len(own), 1)
            count = len(self.recordings())
            self.wait_for(lambda: len(self.recordings()) >= count + 2)
            said = self.end(agent)
        self.assertNotIn("warning", said)
        for path in self.recordings():  # the last one may have ended as soon as it began
            done = beamflame.run("report", path, "-q", "-o", self.out / "x.json")
            self.assertIn(done.returncode, (beamflame.DONE, beamflame.NO_SAMPLES), done.stderr)

    def test_spool_keeps_its_age_and_names_what_a_service_never_got(self):
        """A service that is away costs no more disk than the spool may take."""
        service = Service(self, "pyroscope", "503")
        with nodes.Node(27, "request", flags=named("shop")):
            agent = self.agent(self.configure(service, spool="  max_age: 4s\n"))
            first = self.wait_for(self.recordings)[0]
            self.wait_for(lambda: not first.exists())
            said = self.end(agent)
        self.assertIn(f"service pyroscope never got {first.name}", said)

    def test_second_agent_on_a_spool_says_so_and_ends(self):
        with nodes.Node(27, "request"):
            config = self.configure()
            agent = self.agent(config)
            self.wait_for(lambda: (self.spool / "lock").exists())
            second = beamflame.run("agent", "--config", config)
            self.assertEqual(second.returncode, beamflame.FAILED)
            self.assertIn(f"another agent uses the spool {self.spool}", second.stderr)
            self.end(agent)

    def test_second_agent_on_a_host_says_so_and_ends(self):
        """Also with another spool, and in another mount namespace, as in a container; unless it may
        record beside others."""
        config = self.configure()
        other = self.out / "other.yaml"
        other.write_text(f"spool:\n  directory: {self.out / 'other'}\n")
        agent = self.start("agent", "--config", config, env=os.environ)
        self.agents = [agent]
        self.wait_for(self.recordings)
        second = subprocess.run(["unshare", "-m", "-n", beamflame.BINARY, "agent", "--config", other],
                                capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(second.returncode, beamflame.FAILED)
        self.assertIn(f"another agent, process {agent.pid}, records the VMs of this host",
                      second.stderr)
        third = self.agent(other)
        self.wait_for(lambda: (self.out / "other" / "lock").exists())
        time.sleep(1)
        self.end(third)
        self.end(agent)

    def test_lock_of_another_user_stops_no_agent(self):
        """Every user can lock the file: a warning names the process, and the agent records."""
        holder = subprocess.Popen(
            ["setpriv", "--reuid", "65534", "--clear-groups", sys.executable, "-c",
             "import fcntl, time; file = open('/proc/self/ns/pid'); "
             "fcntl.flock(file, fcntl.LOCK_EX); print(1, flush=True); time.sleep(600)"],
            stdout=subprocess.PIPE)
        self.addCleanup(holder.communicate)
        self.addCleanup(holder.kill)
        holder.stdout.readline()
        agent = self.start("agent", "--config", self.configure(), env=os.environ)
        self.agents = [agent]
        self.wait_for(self.recordings)
        self.assertIn(f"process {holder.pid} of another user holds the lock", self.end(agent))

    def test_end_of_the_agent_ends_a_request_that_takes_too_long(self):
        """A service that answers too slowly delays the end for 10 s, and its sender ends by
        itself then."""
        service = Service(self, "pyroscope", "slow")
        with nodes.Node(27, "request", flags=named("shop")):
            agent = self.agent(self.configure(service))
            self.wait_for(self.recordings)
            time.sleep(1)
            begun = time.monotonic()
            self.end(agent)
        self.assertLess(time.monotonic() - begun, 11.7)

    def test_sender_without_libcurl_is_not_started_again_and_again(self):
        """What is missing is said once. Recording continues."""
        service = Service(self, "pyroscope")
        library = subprocess.run(
            "ldconfig -p | awk '/libcurl.so.4 .*x86-64/ { print $NF; exit }'", shell=True,
            capture_output=True, text=True, check=True).stdout.strip()
        if not library:
            self.skipTest("libcurl is not installed")
        with nodes.Node(27, "request", flags=named("shop")):
            agent = subprocess.Popen(
                ["unshare", "-m", "sh", "-c", 'mount --bind /dev/null "$0" && exec "$@"', library,
                 beamflame.BINARY, "agent", "--config",
                 self.configure(service, record="  beside_others: true\n")],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(agent.communicate)
            self.addCleanup(agent.kill)
            self.agents = [agent]
            time.sleep(13)
            self.wait_for(self.recordings)
            said = self.end(agent)
        self.assertEqual(said.count("nothing is sent to service pyroscope"), 1, said)
        self.assertNotIn("started again", said)

    # ---- another configuration ----

    def test_reload_changes_what_is_recorded_and_where_it_is_sent(self):
        """SIGHUP adds an event and a service; another SIGHUP removes the first service. What was
        recorded before is sent, and nothing twice."""
        first, second = Service(self, "pyroscope"), Service(self, "parca")
        with nodes.Node(27, "request", flags=named("shop")):
            agent = self.agent(self.configure(first, record="  cpu: 99\n  wall: 0\n  events: ''\n"))
            self.wait_for(lambda: len(first.of("shop")) >= 2)
            self.assertEqual(first.names("shop"), {"process_cpu"})
            self.configure(first, second, record="  cpu: 99\n  wall: 0\n  events: gc\n")
            agent.send_signal(signal.SIGHUP)
            self.wait_for(lambda: "gc" in first.names("shop") & second.names("shop"))
            self.configure(second, record="  cpu: 99\n  wall: 0\n  events: gc\n")
            agent.send_signal(signal.SIGHUP)
            time.sleep(INTERVAL)
            counts = len(first.profiles()), len(second.profiles())
            self.wait_for(lambda: len(second.profiles()) >= counts[1] + 4)
            self.assertEqual(len(first.profiles()), counts[0])
            said = self.end(agent)
        self.assertEqual(said.count("the configuration was read again"), 2, said)
        self.assertNotIn("warning", said)
        self.assertFalse(any(p["duplicate"] for s in (first, second) for p in s.profiles()))
        times = [p["time"] for p in second.of("shop") if p["labels"]["__name__"] == "process_cpu"]
        gaps = [(b - a) / 1e9 for a, b in zip(times, times[1:])]
        self.assertLess(max(gaps), 2 * INTERVAL, "a recording was left out")

    def test_bad_file_at_a_reload_changes_nothing_and_is_named(self):
        service = Service(self, "pyroscope")
        with nodes.Node(27, "request", flags=named("shop")):
            config = self.configure(service)
            agent = self.agent(config)
            self.wait_for(service.profiles)
            good = config.read_text()
            config.write_text("record:\n  cpu: many\n")
            agent.send_signal(signal.SIGHUP)
            time.sleep(1)
            config.write_text(good.replace(str(self.spool), str(self.out / "other")))
            agent.send_signal(signal.SIGHUP)
            count = len(service.profiles())
            self.wait_for(lambda: len(service.profiles()) >= count + 4)
            said = self.end(agent)
        self.assertIn(f"the configuration stays as it was: {config}:2:8: ", said)
        self.assertIn(f"spool.directory stays {self.spool} until the agent is restarted", said)
        self.assertFalse((self.out / "other").exists())

    # ---- rights ----

    def test_senders_have_no_rights(self):
        """The processes that talk to the network have no capability, read only what they need, and
        make only the system calls that they need."""
        service = Service(self, "pyroscope")
        with nodes.Node(27, "request", flags=named("shop")):
            agent = self.agent(self.configure(service))
            self.wait_for(lambda: service.profiles())
            senders = [pid for pid in beamflame.Profilers.writers(agent.pid)
                       if Path(f"/proc/{pid}/comm").read_text().strip() == "beamflame-send"]
            self.assertEqual(len(senders), 1)
            status = dict(line.split(":\t", 1) for line in
                          Path(f"/proc/{senders[0]}/status").read_text().splitlines())
            self.end(agent)
        for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(status[key], 16), 0, key)
        self.assertEqual(status["NoNewPrivs"], "1")
        self.assertEqual(status["Seccomp"].strip(), "2", "no filter of system calls")


if __name__ == "__main__":
    unittest.main()
