# SPDX-License-Identifier: Apache-2.0
"""The time of sweeps over the processes of a node, and their cost to the node."""
import os
import signal
import statistics
import subprocess
import time

import beamflame
import cores
import nodes
from figures import Figure
from overhead import SLICE, ratio, work
from recording import folder, running

MILLION = 1000000
TRIES = 3


def finished(*arguments):
    """Run beamflame; return wall time and CPU time in seconds, and peak memory in MB."""
    began = time.monotonic()
    process = subprocess.Popen([beamflame.BINARY, *map(str, arguments)],
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"beamflame {arguments}: exit code {process.returncode}")
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def medians(*arguments):
    return [statistics.median(values)
            for values in zip(*(finished(*arguments) for _ in range(TRIES)))]


def crowd(release, processes, depth):
    """Start a node with processes that can each have a stack of that depth; nothing else runs."""
    return nodes.Node(release, "crowd", f"processes={processes}", f"depth={depth}",
                      flags=("+P", str(2 * MILLION), "+S", "1:1"))


def sweep_seconds(node, small, out, count):
    """Return the CPU time of one sweep over `count` processes with their stacks: the difference of
    a longer and a shorter recording, after names are known. `small` is a node with few
    processes."""
    def spent(target, seconds):
        return finished("-q", "-p", target.pid, "-e", "wall", "--wall-frequency", 2, "-d", seconds,
                        "--top", f"{count}:heap:1000", "-o", out / "x.bfr")[1]

    return (spent(node, 7) - spent(node, 2) - spent(small, 7) + spent(small, 2)) / 10


def dump_of_core(release, out, count):
    """Return wall and CPU time of a dump of the core of a node with so many processes."""
    core = out / "core"
    with cores.Node(release, "crowd", f"processes={count}") as node:
        node.core(lambda: os.kill(node.pid, signal.SIGABRT), core)
    seconds, cpu, _ = medians("dump", "--core", core, "--exe", nodes.emulator(release))
    return seconds, cpu


def sweeps(release, options):
    """Measure dumps, and sweeps over all processes with and without stacks."""
    with crowd(release, 10, 1) as small, folder() as out:
        _, base, _ = medians("dump", "--top", "1:heap", "-p", small.pid)
        with crowd(release, 100000, 20) as node:
            seconds, cpu, memory = medians("dump", "-p", node.pid)
            yield Figure("dump of 100,000 processes, s", seconds, "{:.2f}", most=1)
            yield Figure("dump of 100,000 processes: CPU time, s", cpu, "{:.2f}")
            yield Figure("dump of 100,000 processes: memory, MB", memory, "{:.0f}")
            seconds, cpu = dump_of_core(release, out, 100000)
            yield Figure("dump of a core of 100,000 processes, s", seconds, "{:.2f}")
            yield Figure("dump of a core of 100,000 processes: CPU time, s", cpu, "{:.2f}")
            count = 50000
            one = sweep_seconds(node, small, out, count)
            yield Figure("sweep with stacks, processes a second of CPU", count / one, "{:.0f}",
                         least=250000)
        with crowd(release, MILLION, 5) as node:
            _, cpu, memory = medians("dump", "--top", "1:heap", "-p", node.pid)
            yield Figure("sweep without stacks, processes a second of CPU", MILLION / (cpu - base),
                         "{:.0f}", least=MILLION)
            yield Figure("sweep without stacks of 1,000,000: memory, MB", memory, "{:.0f}", most=100)
            _, cpu, memory = finished("-q", "-p", node.pid, "-e", "wall", "--top",
                                      "100:+reductions:5", "-d", options.seconds,
                                      "-o", out / "x.bfr")
            yield Figure("wall of the top 100 of 1,000,000 by growth, each 5 s: % of a core",
                         100 * cpu / options.seconds, "{:.1f}", most=25)
            yield Figure("wall of the top 100 of 1,000,000: memory, MB", memory, "{:.0f}", most=100)


def wall(release, options):
    """Measure the cost of event wall at its default rate to a node of 20,000 processes, of which
    2,000 are busy: beamflame is stopped in alternate windows. Its CPU samples continue all of the
    time; their cost is another figure."""
    with nodes.Node(release, "request", "clients=1000", "idle=18000") as node, folder() as out:
        time.sleep(3)
        with running(node.pid, 99, out / "x.bfr", "-e", "wall") as process:
            time.sleep(3)

            def one(number):
                process.send_signal(number)
                return work(node, SLICE)

            try:
                median, error = ratio(lambda: one(signal.SIGCONT), lambda: one(signal.SIGSTOP),
                                      options.alternations)
            finally:
                process.send_signal(signal.SIGCONT)
        yield Figure("work per CPU second: -e wall, 20,000 processes", median, least=0.998,
                     error=error)
