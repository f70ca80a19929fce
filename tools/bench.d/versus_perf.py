# SPDX-License-Identifier: Apache-2.0
"""Comparison with `perf record -g` in the same seconds, on a node that writes a perf map for it.

perf knows the leaf if it is JIT code, even if the rest of the stack is broken: in those samples,
functions must have equal shares. Addresses are looked up in the map here, so it does not matter
whether perf finds the map of a node with its own file system.
"""
import bisect
import re
import subprocess
import time
from collections import Counter

import nodes
from figures import Figure
from recording import folder, perf_running, record

HZ = 999
TOP = 20


class PerfMap:
    """/tmp/perf-PID.map of a node, in any namespaces."""

    def __init__(self, pid):
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            inner = re.search(r"^NSpid:.*\t(\d+)$", status.read(), re.M).group(1)
        self.ranges = {}
        with open(f"/proc/{pid}/root/tmp/perf-{inner}.map", encoding="utf-8") as lines:
            for line in lines:
                start, size, name = line.rstrip("\n").split(" ", 2)
                # A later line is newer code.
                self.ranges[int(start, 16)] = (int(size, 16), self.function(name))
        self.starts = sorted(self.ranges)

    @staticmethod
    def function(name):
        return name.removeprefix("$").removesuffix("-CodeInfoPrologue")

    def __call__(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0:
            return None
        size, name = self.ranges[self.starts[at]]
        return name if address < self.starts[at] + size else None


def perf_leaves(data, first, last, function_of):
    """Return {function: samples} of the samples with JIT code as leaf, and the number of perf's
    stacks in all and broken, without the root frame of the process."""
    text = subprocess.run(["perf", "script", "-i", data, "-F", "time,ip"], capture_output=True,
                          text=True, check=True).stdout
    leaves, total, broken = Counter(), 0, 0
    for sample in text.split("\n\n"):
        words = sample.split()
        if len(words) < 2 or not first <= float(words[0].rstrip(":")) <= last:
            continue
        functions = [function_of(int(ip, 16)) for ip in words[1:]]
        total += 1
        broken += "erts_beamasm:normal_exit/0" not in functions
        if functions[0]:
            leaves[functions[0]] += 1
    return leaves, total, broken


EVENT = re.compile(r"^\S+ \d+/\d+ \[\d+\] ([\d.]+): ")
FRAME = re.compile(r"^\t *([0-9a-f]+) (.*) \((.*)\)$")


def own_leaves(path):
    """Return {function: samples} of the samples with JIT code as leaf, and the times of the first
    and last sample."""
    leaves, times, leaf_is_next = Counter(), [], False
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if event := EVENT.match(line):
                times.append(float(event.group(1)))
                leaf_is_next = True
            elif leaf_is_next:
                leaf_is_next = False
                address, function, module = FRAME.match(line).groups()
                if module.startswith("/tmp/perf-") and int(address, 16):
                    leaves[function.replace("%2B", "+").replace("%25", "%")] += 1
    return leaves, times[0], times[-1]


# The flags that make a node write a map. From 26 on there are frame pointers too, which perf needs
# to get past the leaf.
MODES = {"map": ("+JPperf", "map"), "fp": ("+JPperf", "map", "+JPperf", "fp")}
MODES_25 = {"true": ("+JPperf", "true")}


def versus_perf(release, options):
    for mode, flags in (MODES_25 if release == 25 else MODES).items():
        with nodes.Node(release, "request", ns=False, flags=flags) as node, folder() as out:
            time.sleep(1)
            with perf_running(node.pid, HZ, out / "perf.data"):
                stats = record(node.pid, 3 * options.seconds, HZ, out / "x.perf")
            ours, first, last = own_leaves(out / "x.perf")
            theirs, total, broken = perf_leaves(out / "perf.data", first, last,
                                                PerfMap(node.pid))
        samples = min(sum(ours.values()), sum(theirs.values()))
        ours, theirs = nodes.shares(ours), nodes.shares(theirs)
        top = sorted(theirs, key=theirs.get, reverse=True)[:TOP]
        errors = {f: abs(ours.get(f, 0) - theirs[f]) for f in top}
        worst = max(errors, key=errors.get)
        yield Figure(f"+JPperf {mode}: worst of perf's top {TOP}, points off",
                     100 * errors[worst], "{:.2f}", most=2)
        yield Figure(f"+JPperf {mode}: samples with a leaf in JIT code", samples, "{:.0f}")
        yield Figure(f"+JPperf {mode}: share of the top {TOP}, %",
                     100 * sum(theirs[f] for f in top), "{:.1f}")
        yield Figure(f"+JPperf {mode}: stacks of perf cut short, %", 100 * broken / total,
                     "{:.1f}")
        yield Figure(f"+JPperf {mode}: Erlang stacks of beamflame cut short, %",
                     100 - 100 * stats["complete_stacks"] / stats["erlang_samples"], "{:.2f}")
