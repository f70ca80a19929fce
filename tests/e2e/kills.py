# SPDX-License-Identifier: Apache-2.0
"""Killed profilers, and what they leave behind: in a node's code, in the kernel, in the kernel's
log."""
import os
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

import beamflame

EVENTS = "cpu,wall,gc,alloc,sched,msg"
PHASES = ("start", "recording", "window", "end")
BUDGETS = (1, 100)
TIME_TO_END = 15  # seconds; the kernel may take one to end a link
BAD_LINE = re.compile(r"uprobe|\bBUG\b|WARNING|lockup|\bOops\b|blocked for more than")

# ---- the kernel's log ----


class KernelLog:
    """The lines of the kernel's log from now on."""

    def __init__(self):
        try:
            self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            raise unittest.SkipTest(f"the kernel's log can't be read: {error}") from error
        os.lseek(self.fd, 0, os.SEEK_END)

    def close(self):
        os.close(self.fd)

    def bad_lines(self):
        """Return the lines since the last call that are about uprobes or errors of the kernel."""
        lines = []
        while True:
            try:
                record = os.read(self.fd, 8192).decode(errors="replace")
            except BlockingIOError:
                return [line for line in lines if BAD_LINE.search(line)]
            except BrokenPipeError:  # some were overwritten before they were read
                lines.append("BUG of the test: lines of the kernel's log were missed")
                continue
            lines.append(record.partition(";")[2].partition("\n")[0])


# ---- the code of a process ----


def code_mappings(pid):
    """Yield (start, end, offset, name) of each executable mapping of a file. The JIT's code is in a
    memfd, which has no file."""
    for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines():
        addresses, access, offset, _, inode, *name = line.split(None, 5)
        if "x" in access and inode != "0" and not name[0].startswith("/memfd:"):
            start, end = (int(address, 16) for address in addresses.split("-"))
            yield start, end, int(offset, 16), name[0]


def changed_code(pid):
    """Return the differences between the code of a process and its files, as texts."""
    changes = []
    compared = 0
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for start, end, offset, name in code_mappings(pid):
            memory.seek(start)
            have = memory.read(end - start)
            with open(f"/proc/{pid}/map_files/{start:x}-{end:x}", "rb") as file:
                file.seek(offset)
                want = file.read(end - start)
            compared += len(want)
            if have[:len(want)] != want:
                changes += [f"{name}+0x{offset + i:x}: {want[i:i + 5].hex()} is "
                            f"{have[i:i + 5].hex()} in memory"
                            for i in range(len(want)) if have[i] != want[i]]
    assert compared > 1 << 20, f"no more than {compared} bytes of code to compare"
    return changes


# ---- BPF objects ----


def objects():
    """Return the BPF objects of this machine: {(kind, id): bpftool's description}."""
    return {(kind, thing["id"]): thing for kind in ("prog", "map", "link")
            for thing in beamflame.bpftool(kind, "show")}


def held():
    """Return the BPF objects that a process has a descriptor of."""
    found = set()
    for info in Path("/proc").glob("[0-9]*/fdinfo/*"):
        try:
            text = info.read_text(encoding="ascii")
        except OSError:
            continue
        found |= {(kind, int(number)) for kind, number
                  in re.findall(r"^(prog|map|link)_id:\s+(\d+)", text, re.M)}
    return found


def orphans(before):
    """Return the BPF objects that are new and that no process has: neither by a descriptor nor as a
    part of an object with a descriptor. Other programs on this machine may have objects too."""
    new = {key: thing for key, thing in objects().items() if key not in before}
    kept = held()
    for key, thing in new.items():
        if key[0] == "link" and key in kept:
            kept.add(("prog", thing.get("prog_id")))
    for key, thing in new.items():
        if key[0] == "prog" and key in kept:
            kept |= {("map", number) for number in thing.get("map_ids", [])}
    return [f"{kind} {number} ({thing.get('name', thing.get('type'))}) is without an owner"
            for (kind, number), thing in new.items() if (kind, number) not in kept]


def check_no_orphans(test, before):
    """Check that orphans() has none at last: the kernel may take a moment to end a link."""
    end = time.monotonic() + TIME_TO_END
    while orphans(before) and time.monotonic() < end:
        time.sleep(0.1)
    test.assertEqual(orphans(before), [])


# ---- processes ----


def of_all_processes(name, wanted):
    """Return the entries /proc/PID/NAME for which `wanted` is true. Entries that can't be read are
    left out: processes end, and files of others may be on a server that has gone."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        path = process / name
        try:
            found += [str(path)] if wanted(path) else []
        except OSError:
            continue
    return found


def processes():
    """Return the OS processes of this build of beamflame, including a child that still shares its
    memory."""
    binary = os.stat(beamflame.BINARY)
    return [f"{path} lives on" for path in of_all_processes(
        "exe", lambda exe: os.path.samestat(os.stat(exe), binary))]


def children(pid):
    """Return the pids of the children of a process, those of all its threads."""
    return [int(child) for path in Path(f"/proc/{pid}/task").glob("*/children")
            for child in path.read_text(encoding="ascii").split()]


def perf_events():
    """Return the perf events with programs whose process is beamflame, or has ended."""
    mine = {int(text.split("/")[2]) for text in processes()}
    return [f"perf event {event}" for event in beamflame.bpftool("perf", "show") or []
            if event["pid"] in mine or not os.path.exists(f"/proc/{event['pid']}")]


def links_of(pid):
    """Return the number of BPF links that a process has descriptors of."""
    count = 0
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        try:
            count += "link" in os.readlink(fd).partition(":")[2]
        except OSError:
            continue
    return count


# ---- what is left ----


def settled(look):
    """Return what `look` still finds after everything had time to end."""
    deadline = time.monotonic() + TIME_TO_END
    while (rest := look()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return rest


def left_of_one(pid, before):
    """Return what a profiler of this process has left, as texts. Others may run. The process that
    attaches probes may live on for a moment (docs/safety.md)."""
    return settled(lambda: orphans(before) or changed_code(pid))


# ---- killing ----


class Killer:
    """Kills profilers of a node at random moments; `chance` is a random.Random."""

    def __init__(self, node, out, chance):
        self.node = node
        self.out = out
        self.chance = chance
        self.changes = 0  # of links, seen while waiting

    def wait_for_window(self, profiler):
        """Wait until links come or go, for a random number of times: at that moment the kernel is
        working on them."""
        deadline = time.monotonic() + 3
        wanted = self.chance.randint(1, 12)
        have = 0
        while wanted and time.monotonic() < deadline:
            links = links_of(profiler.pid)
            wanted -= links != have
            self.changes += links != have
            have = links
            time.sleep(0.001)
        time.sleep(self.chance.uniform(0, 0.003))

    def wait_for(self, phase, profiler):
        if phase == "start":
            time.sleep(self.chance.uniform(0, 0.8))
        elif phase == "recording":
            time.sleep(self.chance.uniform(0.8, 2.5))
        elif phase == "window":
            self.wait_for_window(profiler)
        else:
            time.sleep(self.chance.uniform(0.8, 1.5))
            profiler.send_signal(signal.SIGINT)
            time.sleep(self.chance.uniform(0, 0.4))

    def kill_one(self, phase, budget):
        """Start a profiler and kill it; return what it left behind, as texts."""
        before = set(objects())
        profiler = beamflame.start("-p", self.node.pid, "-e", EVENTS, "--budget", budget,
                                   "-o", self.out / "x.bfr", stdin=subprocess.DEVNULL)
        try:
            self.wait_for(phase, profiler)
        finally:
            profiler.kill()
            profiler.communicate()
        return self.left(before)

    def left(self, before):
        """Return what is left after everything had time to end."""
        return settled(lambda: processes() or orphans(before) or perf_events()) \
            + changed_code(self.node.pid)


def work(seconds, *each):
    """Return the requests per second of CPU time of each node, all measured over the same time."""
    first = [node.report() for node in each]
    time.sleep(seconds)
    last = [node.report() for node in each]
    return [(b["requests"] - a["requests"]) * 1e9 / (b["cpu_ns"] - a["cpu_ns"])
            for a, b in zip(first, last)]


def plan(count):
    """Return (phase, budget) of each kill, evenly distributed."""
    kinds = [(phase, budget) for phase in PHASES for budget in BUDGETS]
    return [kinds[i % len(kinds)] for i in range(count)]
