# SPDX-License-Identifier: Apache-2.0
"""The agent answers over HTTP: health, metrics, the VMs, and profiles of the last minutes."""
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import beamflame
import discovery_test
import nodes
from agent_test import INTERVAL, named
from applications import free_port

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
from schemas import schema, validator  # pylint: disable=wrong-import-position

NEEDS = "all nodes"
METRIC = re.compile(r'^([a-z_]+)(?:\{service="([^"]*)"\})? (\d+)$', re.M)


def connect(port, timeout=30):
    return http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)


def answer_of(connection, path, method="GET", **headers):
    """Return status, headers and body; status 0 if nobody listens."""
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    except ConnectionRefusedError:
        return 0, {}, b""
    finally:
        connection.close()


class OnSocketFile(http.client.HTTPConnection):
    """A connection to a socket file."""

    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class AgentHttp(beamflame.Profilers, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """One agent with one VM answers all requests."""
        beamflame.require()
        nodes.require(27)
        cls.out = beamflame.folder(cls.addClassCleanup)
        cls.port = free_port()
        cls.node = nodes.Node(27, "request", flags=named("shop"))
        cls.enterClassContext(cls.node)
        config = cls.configuration(cls.out, f"127.0.0.1:{cls.port}",
                                   "rules:\n  - {node: 'secret@*', profile: false}\n")
        cls.agent = beamflame.start("agent", "--config", config)
        cls.addClassCleanup(cls.agent.communicate)
        cls.addClassCleanup(cls.agent.send_signal, signal.SIGTERM)
        deadline = time.monotonic() + 60
        while cls.get("/profile?node=shop")[0] != 200:
            if time.monotonic() > deadline:
                raise AssertionError("no profile in time")
            time.sleep(0.2)

    @staticmethod
    def configuration(folder, listen, more=""):
        path = folder / "agent.yaml"
        path.write_text(f"record:\n  interval: {INTERVAL}\n  cpu: 99\n"
                        f"spool:\n  directory: {folder / 'spool'}\n"
                        + (f"http:\n  listen: '{listen}'\n{more}" if listen is not None else ""))
        return path

    @classmethod
    def get(cls, path, method="GET", connection=None, **headers):
        return answer_of(connection or connect(cls.port), path, method, **headers)

    def wait_for(self, condition):
        deadline = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), deadline, "not in time")
            time.sleep(0.1)

    def metrics(self):
        return {(name, service): int(value)
                for name, service, value in METRIC.findall(self.get("/metrics")[2].decode())}

    def test_health_says_that_the_agent_records(self):
        self.assertEqual(self.get("/healthz")[::2], (200, b"ok\n"))
        status, _, body = self.get("/readyz")
        self.assertEqual(status, 200, body)
        self.assertRegex(body, rb"recording \d+ nodes")

    def test_metrics_are_those_of_prometheus_and_grow(self):
        self.wait_for(lambda: self.metrics()["beamflame_spool_bytes", ""])
        before = self.metrics()
        self.assertGreaterEqual(before["beamflame_nodes", ""], 1)
        time.sleep(2 * INTERVAL + 1)
        after = self.metrics()
        for name in ("beamflame_samples_total", "beamflame_recordings_total"):
            self.assertGreater(after[name, ""], before[name, ""], name)
        if not shutil.which("promtool"):
            self.skipTest("promtool is not installed")
        checked = subprocess.run(["promtool", "check", "metrics"], input=self.get("/metrics")[2],
                                 capture_output=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_nodes_are_listed(self):
        status, headers, _ = self.get("/nodes")
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Type"], "application/json")
        shop = self.await_listed("targets", self.node.pid)
        self.assertRegex(shop["node"], "^shop@")
        self.assertEqual((shop["service_name"], shop["otp_release"]), ("shop", "27"))

    def await_listed(self, key, pid, reason=""):
        """Wait until /nodes lists a VM. Return its entry."""
        other = {"targets": "refused", "refused": "targets"}[key]
        deadline = time.monotonic() + 60
        while True:
            answer = json.loads(self.get("/nodes")[2])
            validator(schema("nodes")).validate(answer)
            self.assertGreaterEqual(answer["refused_count"], len(answer["refused"]))
            found = [vm for vm in answer[key] if vm["pid"] == pid]
            if found and reason in found[0].get("reason", ""):
                self.assertNotIn(pid, [vm["pid"] for vm in answer[other]])
                return found[0]
            self.assertLess(time.monotonic(), deadline, answer)
            time.sleep(0.1)

    def stopped_vm(self):
        """Start a VM, and stop it before it has its name."""
        command = discovery_test.named("late")
        vm = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(vm.wait)
        self.addCleanup(vm.kill)
        deadline = time.monotonic() + 30
        while not os.readlink(f"/proc/{vm.pid}/exe").endswith("/beam.smp"):
            self.assertLess(time.monotonic(), deadline)
        vm.send_signal(signal.SIGSTOP)
        return vm

    def refused(self, reason):
        return int(re.search(rf'^beamflame_nodes_refused{{reason="{reason}"}} (\d+)$',
                             self.get("/metrics")[2].decode(), re.M)[1])

    def test_vm_that_a_rule_excludes_is_listed_with_its_name(self):
        with nodes.Node(27, "request", flags=named("secret")) as node:
            refused = self.await_listed("refused", node.pid, "rule 1 of the configuration")
            self.assertGreaterEqual(self.refused("rule"), 1)
        self.assertRegex(refused["node"], "^secret@")

    def test_vm_that_is_starting_is_listed_with_the_name_that_it_requests(self):
        """When it can be read, it is profiled."""
        vm = self.stopped_vm()
        self.assertEqual(self.await_listed("refused", vm.pid, "not yet: ")["node"], "late")
        self.assertGreaterEqual(self.refused("starting"), 1)
        self.assertEqual(self.refused("rule"), 0)
        vm.send_signal(signal.SIGCONT)
        self.await_listed("targets", vm.pid)

    def test_go_reads_a_profile(self):
        """`go tool pprof` takes the address of a profile, and shows functions of the node."""
        url = f"http://127.0.0.1:{self.port}/profile?node=shop&seconds=30"
        done = subprocess.run(["go", "tool", "pprof", "-top", "-symbolize=none", url],
                              capture_output=True, text=True, check=False,
                              env={"PPROF_TMPDIR": str(self.out), "HOME": str(self.out),
                                   "PATH": "/usr/bin:/bin:/usr/local/go/bin"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Type: cpu", done.stdout)
        self.assertIn("request:", done.stdout)

    def test_each_format_can_be_requested(self):
        for name, begin in (("svg", b"<?xml"), ("html", b"<!DOCTYPE html>"), ("folded", b""),
                            ("speedscope", b"{"), ("perf", b"#"), ("otlp", b"\n")):
            with self.subTest(name):
                status, _, body = self.get(f"/profile?node=shop&format={name}")
                self.assertEqual(status, 200, body[:200])
                self.assertGreater(len(body), 100)
                self.assertTrue(body.startswith(begin), body[:40])

    def test_profile_has_the_requested_event_and_node(self):
        _, _, folded = self.get("/profile?node=shop&event=gc&format=folded")
        self.assertIn(b"request:", folded)
        status, _, body = self.get("/profile?node=nobody")
        self.assertEqual(status, 404)
        self.assertIn(b"no node is 'nobody', the nodes are: ", body)

    def test_requests_that_mean_nothing_get_a_sentence(self):
        for path, status, words in (
                ("/", 404, b"there are /healthz"),
                ("/profile?format=elf", 400, b"there is no format 'elf'"),
                ("/profile?seconds=0", 400, b"seconds must be a number"),
                ("/profile?seconds=1e9", 400, b"seconds must be a number"),
                ("/profile?seconds=x", 400, b"seconds must be a number"),
                ("/profile?event=none", 400, b"none"),
                ("/profile?trace=12", 400, b"a trace has an id of 32 hexadecimal digits"),
                ("/%2e%2e/%00", 404, b"there are /healthz"),
                ("/profile?node=" + "x" * 4000, 404, b"no node is")):
            with self.subTest(path[:40]):
                answer = self.get(path)
                self.assertEqual(answer[0], status, answer[2][:200])
                self.assertIn(words, answer[2])
        self.assertEqual(self.get("/metrics", "POST")[0], 405)
        self.assertEqual(self.get("/metrics?" + "x" * (64 << 10))[0] // 100, 4)

    def test_slow_clients_do_not_stop_others(self):
        """Connections that never send their request end after a time, and others are answered
        meanwhile."""
        waiting = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(8)]
        for connection in waiting:
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost:")
        self.assertEqual(self.get("/healthz")[0], 200)
        waiting[0].settimeout(30)
        self.assertEqual(waiting[0].recv(4096)[:12].partition(b" ")[0], b"")
        for connection in waiting:
            connection.close()

    def test_connections_of_one_address_leave_room_for_others(self):
        """More connections of one address than there can be at all do not keep another out."""
        waiting = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(40)]
        for connection in waiting:
            self.addCleanup(connection.close)
        time.sleep(0.5)
        other = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5,
                                           source_address=("127.0.0.2", 0))
        self.assertEqual(self.get("/healthz", connection=other)[0], 200)

    # ---- dumps ----

    def test_dump_has_the_processes_that_a_node_has_now(self):
        """JSON and text are those of `beamflame dump`."""
        pid = self.node.pid
        status, headers, body = self.get(f"/dump?node={pid}")
        self.assertEqual((status, headers["Content-Type"]), (200, "application/json"), body[:300])
        dump = json.loads(body)
        own = json.loads(beamflame.run("dump", "-p", str(pid), "--json").stdout)
        self.assertEqual(dump.keys(), own.keys())
        self.assertEqual(dump["pid"], pid)

        def named_processes(of):
            return {p["name"] for p in of["processes"]} - {None}
        self.assertEqual(named_processes(dump), named_processes(own))
        self.assertIn("application_controller", named_processes(dump))
        status, headers, body = self.get(f"/dump?node={pid}&format=text")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/plain; charset=utf-8"))
        self.assertIn(b"gen_server:loop/", body)

    def test_dump_of_no_node_or_of_several_gets_a_sentence(self):
        name = f"till{os.getpid()}"
        with nodes.Node(27, "request", flags=named(name)) as till:
            deadline = time.monotonic() + 30
            while (answer := self.get(f"/dump?node={name}"))[0] != 200:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.2)
            self.assertEqual(json.loads(answer[2])["pid"], till.pid)
            status, _, body = self.get("/dump")
            self.assertEqual(status, 400)
            self.assertIn(f"({till.pid})".encode(), body)
            for path, status, words in (
                    ("/dump?node=nobody", 404, b"no node is 'nobody', the nodes are: "),
                    ("/dump?node=" + "x" * 4000, 404, b"no VM has so long a name"),
                    ("/dump?format=pprof", 400, b"json or text, not 'pprof'")):
                answer = self.get(path)
                self.assertEqual(answer[0], status, answer[2])
                self.assertIn(words, answer[2])

    def dumper(self):
        """Return the pid of the process that takes dumps."""
        found = [pid for pid in beamflame.Profilers.writers(self.agent.pid)
                 if Path(f"/proc/{pid}/comm").read_text().strip() == "beamflame-dumps"]
        self.assertEqual(len(found), 1)
        return int(found[0])

    def stop_dumps(self, count):
        """Stop so many processes that take a dump, and return their pids."""
        children = Path("/proc/{0}/task/{0}/children".format(self.dumper()))
        stopped = set()
        deadline = time.monotonic() + 60
        while len(stopped) < count:
            self.assertLess(time.monotonic(), deadline, "no dump was seen")
            for pid in set(map(int, children.read_text().split())) - stopped:
                if self.stops(pid):
                    stopped.add(pid)
                    self.addCleanup(self.kill, pid)
            time.sleep(0.001)
        return stopped

    @staticmethod
    def stops(pid):
        """Stop a process; false if it has ended before."""
        try:
            os.kill(pid, signal.SIGSTOP)
            while (state := Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]) != "T":
                if state == "Z":
                    return False
                time.sleep(0.001)
            return True
        except (ProcessLookupError, FileNotFoundError):
            return False

    @staticmethod
    def kill(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def test_two_dumps_at_a_time_delay_nothing_and_end_with_a_sentence(self):
        """Dumps that take long, as those of hostile VMs, keep no other request waiting. Their places
        are free again when they have ended."""
        path = f"/dump?node={self.node.pid}"
        over = threading.Event()

        def request():
            answers = [self.get(path)]
            while not over.is_set():
                answers.append(self.get(path))
            return answers
        with ThreadPoolExecutor(2) as pool:
            requests = [pool.submit(request) for _ in range(2)]
            try:
                stopped = self.stop_dumps(2)
            finally:
                over.set()
            for refused in (path, "/profile"):
                status, _, body = self.get(refused)
                self.assertEqual((status, body), (
                    503, b"2 other profiles or dumps are being made: try again\n"))
            for answered in ("/healthz", "/readyz", "/metrics", "/nodes"):
                self.assertEqual(self.get(answered)[0], 200)
            for pid in stopped:
                self.kill(pid)
            last = [done.result()[-1] for done in requests]
        failed = [body for status, _, body in last if status == 500]
        self.assertTrue(failed, last)  # one may have been answered when it was stopped
        for body in failed:
            self.assertIn(b"the process that took the dump has ended: it may take 40 s", body)
        self.assertEqual(self.get(path)[0], 200)

    def test_process_that_takes_dumps_is_started_again(self):
        os.kill(self.dumper(), signal.SIGKILL)
        deadline = time.monotonic() + 60
        while self.get(f"/dump?node={self.node.pid}")[0] != 200:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.2)

    # ---- who may ask ----

    def test_address_that_others_reach_needs_a_token(self):
        folder = beamflame.folder(self.addCleanup)
        refused = beamflame.run("agent", "--check", "--config",
                                self.configuration(folder, "0.0.0.0:9466"))
        self.assertEqual(refused.returncode, beamflame.USAGE)
        self.assertIn("http.token_file", refused.stderr)

    def test_token_and_socket_file_keep_others_out(self):
        folder = beamflame.folder(self.addCleanup)
        (folder / "token").write_text("secret\n")
        path = folder / "socket"
        agent = self.start("agent", "--config", self.configuration(
            folder, f"unix:{path}", f"  token_file: {folder / 'token'}\n"))
        self.wait_for(path.exists)
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        for given, status in ({}, 401), ({"Authorization": "Bearer wrong"}, 401), \
                ({"Authorization": "Bearer secret"}, 200):
            self.assertEqual(self.get("/metrics", connection=OnSocketFile(path), **given)[0], status)
        self.assertEqual(self.get("/healthz", connection=OnSocketFile(path))[0], 200)
        agent.send_signal(signal.SIGTERM)
        self.assertEqual(self.ended(agent)[0], 0)

    def test_agent_answers_its_own_user_unless_the_configuration_says_otherwise(self):
        for listen in None, "":
            folder = beamflame.folder(self.addCleanup)
            socket_file = folder / "spool" / "http.sock"
            agent = self.start("agent", "--config", self.configuration(folder, listen))
            self.wait_for(lambda: list(folder.glob("spool/*.bfr")))
            if listen is None:
                self.assertEqual(socket_file.stat().st_mode & 0o777, 0o600)
                self.assertIn(b"shop@", self.get("/nodes", connection=OnSocketFile(socket_file))[2])
            else:
                self.assertFalse(socket_file.exists())
            agent.send_signal(signal.SIGTERM)
            self.assertEqual(self.ended(agent)[0], 0)


if __name__ == "__main__":
    unittest.main()
