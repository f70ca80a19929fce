# SPDX-License-Identifier: Apache-2.0
"""The cost of the agent with its default configuration: for the host, and on the wire."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import beamflame
import nodes
from figures import Figure
from overhead import ratio, work_of
from recording import folder, kill, wait_for

STUB = nodes.ROOT / "tests" / "tools" / "push_stub.py"
PATIENCE = 300  # seconds until all nodes are recorded
ROUNDS = 6  # with the agent, between times without
JOINED = 10  # seconds until a few nodes are recorded as usual
TICK = 1 / os.sysconf("SC_CLK_TCK")
BUSY, IDLE = "clients=1", "clients=0"


@contextmanager
def service(out):
    """Run a service that takes all profiles; yield its URL."""
    process = subprocess.Popen([sys.executable, STUB, "--port", "0", "--dir", out, "--mode",
                                "unchecked"], stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        kill(process)
        process.stdout.close()


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def recorded(port):
    """Return the number of nodes that the agent records."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/readyz")
        count = re.match(rb"recording (\d+) nodes", connection.getresponse().read())
        return int(count[1]) if count else 0
    except ConnectionRefusedError:
        return 0
    finally:
        connection.close()


@contextmanager
def agent(out, url, port):
    """Run the agent with its defaults, apart from where things are."""
    config = out / "agent.yaml"
    config.write_text(f"spool:\n  directory: {out / 'spool'}\nhttp:\n  listen: 127.0.0.1:{port}\n"
                      f"push:\n  - protocol: pyroscope\n    url: {url}\n")
    with open(out / "said", "wb") as said:
        process = subprocess.Popen([beamflame.BINARY, "agent", "--config", config],
                                   stdout=said, stderr=said)
    try:
        yield process
        if process.poll() is not None:
            raise RuntimeError(f"the agent ended: {(out / 'said').read_text()}")
    finally:
        kill(process)


def family(pid):
    """Return the living processes of the agent."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rsplit(")", 1)[1].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            pass
    found = [pid]
    for member in found:
        found += [child for child, parent in parents.items() if parent == member]
    return found


def cpu_seconds(pid):
    """Return the CPU time of the agent, and of its children as far as they live or were waited
    for."""
    total = 0
    for member in family(pid):
        try:
            fields = Path(f"/proc/{member}/stat").read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(map(int, fields[11:15])) * TICK
    return total


def memory_mb(pid):
    """Return the proportional set size of all processes of the agent."""
    total = 0
    for member in family(pid):
        try:
            lines = Path(f"/proc/{member}/smaps_rollup").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def accepted(out):
    """Return the requests that the service has accepted."""
    path = out / "requests.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


@contextmanager
def stopped(pid):
    """Stop a process until the end of the block, or until it is continued."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def cost(name, busy, idle, options, release, most_cpu, most_memory):
    """Measure the agent beside nodes that serve requests, and nodes that do nothing. The busy ones
    are stopped until all are recorded: beside 20 of them, 220 nodes take a quarter of an hour to
    join."""
    with ExitStack() as stack:
        out = stack.enter_context(folder())
        held = stack.enter_context(ExitStack())
        for count, load in ((busy, BUSY), (idle, IDLE)):
            for _ in range(count):
                node = stack.enter_context(nodes.Node(release, "request", load))
                if load == BUSY:
                    held.enter_context(stopped(node.pid))
        taken = out / "taken"
        taken.mkdir()
        port = free_port()
        process = stack.enter_context(agent(out, stack.enter_context(service(taken)), port))
        wait_for(lambda: recorded(port) >= busy + idle and accepted(taken),
                 "request with all nodes recorded", PATIENCE, pause=2)
        held.close()
        time.sleep(options.settle)
        seen, cpu, began = len(accepted(taken)), cpu_seconds(process.pid), time.monotonic()
        memory = 0
        for _ in range(options.long):
            time.sleep(1)
            memory = max(memory, memory_mb(process.pid))
        seconds = time.monotonic() - began
        cpu = cpu_seconds(process.pid) - cpu
        sent = sum(request["bytes"] for request in accepted(taken)[seen:])
    yield Figure(f"{name}: CPU of the agent, % of a core", 100 * cpu / seconds, "{:.2f}",
                 most=most_cpu)
    yield Figure(f"{name}: memory of the agent (PSS), MB", memory, "{:.1f}", most=most_memory)
    yield Figure(f"{name}: sent for each node and minute, kB",
                 sent / (busy + idle) / seconds * 60 / 1000, "{:.1f}",
                 most=100)


def effect(release, options):
    """Measure the work of four busy nodes with the agent and without, by turns."""
    with ExitStack() as stack:
        out = stack.enter_context(folder())
        running = [stack.enter_context(nodes.Node(release, "request", BUSY)) for _ in range(4)]
        url, port = stack.enter_context(service(out)), free_port()

        def with_agent():
            with agent(out, url, port):
                wait_for(lambda: recorded(port) >= len(running), "nodes that are recorded", PATIENCE)
                time.sleep(JOINED)
                return work_of(running, options.seconds)

        value, error = ratio(with_agent, lambda: work_of(running, options.seconds), ROUNDS)
    yield Figure("4 busy nodes: work per CPU second with the agent / without", value, least=0.995,
                 error=error)


def always_on(release, options):
    yield from cost("4 busy nodes", 4, 0, options, release, 0.5, 60)
    yield from effect(release, options)


def fleet(release, options):
    yield from cost("20 busy and 200 idle nodes", 20, 200, options, release, 2, 200)
