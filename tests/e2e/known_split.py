# SPDX-License-Identifier: Apache-2.0
"""Programs with a known split of CPU time, and the split that a profile of them shows."""
import itertools
import json
import tempfile
import time
from pathlib import Path

import beamflame
import nodes

# Frames of each part of the load `split`. A frame of one part is in no stack of another part.
PARTS = {
    "pure": {"split:pure_turn/1"},
    "bifs": {"phases:phase_bifs/1"},
    "gc": {"phases:phase_garbage/1"},
    "nif": {"phases:phase_nif/1"},
    "dirty_nif": {"phases:phase_dirty_nif/1"},
    "deep": {"phases:phase_deep_recursion/1"},
    "short_lived": {"split:spawner_turn/1", "split:short_lived/1"},
}


class Profile:
    """A profile of a load of tests/loads, taken for `seconds` at 999 Hz.

    `truth` is each part's share of the CPU time that the load measured during the profile, `report`
    the last report of the load, `stacks` the profile as {(pid, ..., leaf): count}.
    """

    def __init__(self, release, load, seconds, *options):
        with tempfile.TemporaryDirectory(prefix="beamflame-split-") as folder, \
                nodes.Node(release, load, *options, flags=nodes.NO_BUSY_WAIT) as node:
            recording = Path(folder, "x.bfr")
            time.sleep(1)
            first = node.report()
            beamflame.record("-q", "-p", node.pid, "-d", seconds, "-F", 999, "-o", recording,
                             timeout=seconds + 60)
            self.report = node.report()
            self.truth = nodes.shares(nodes.difference(self.report, first, "cpu_ns"))
            self.stacks = beamflame.folded(recording, "--group-by", "pid")


def phases(release, seconds):
    """Profile the phases of one process, which run in turn. Return the true shares, the found
    shares and the number of samples of that process. Shares are of all its samples."""
    profile = Profile(release, "phases", seconds, "slice=20")
    own = {stack: count for stack, count in profile.stacks.items()
           if stack[0] == profile.report["pid"]}
    total = sum(own.values())
    found = {phase: beamflame.weight_of(own, f"phases:phase_{phase}/1") / total
             for phase in profile.truth}
    return profile.truth, found, total


def parts(release, seconds):
    """Profile parts in processes of their own. Return the true and the found shares of the parts,
    of all samples of the node; the same for the functions of one of the processes, as shares of
    each other; the share of schedulers that look for work, which belongs to no part; and the number
    of samples."""
    profile = Profile(release, "split", seconds)
    total = sum(profile.stacks.values())
    found = {part: beamflame.weight_where(profile.stacks, PARTS[part].intersection) / total
             for part in profile.truth}
    true_functions = profile.report["pure"]
    functions = nodes.shares({function: beamflame.weight_of(profile.stacks, f"split:{function}/2")
                              for function in true_functions})
    scheduling = beamflame.weight_where(profile.stacks,
                                        lambda stack: stack[0] == "[scheduler] scheduling")
    return profile.truth, found, true_functions, functions, scheduling / total, total


class OwnTimes:
    """Own times of the functions of the load `costly`, in a profile of `seconds` at 999 Hz.

    `truth` is the share of the 20 costliest functions in the work; `found` that of their own time in
    `beamflame prof`, of all CPU time; `half` half of its interval, of the functions that have a row;
    `traced` the share of their own time by eprof; `samples` the number of samples.
    """

    def __init__(self, release, seconds):
        with tempfile.TemporaryDirectory(prefix="beamflame-own-") as folder, \
                nodes.Node(release, "costly", flags=nodes.NO_BUSY_WAIT) as node:
            recording = Path(folder, "x.bfr")
            node.take_precedence()  # eprof's times contain those in which the node has no CPU
            report = node.tell("traced")
            node.tell("turns")
            beamflame.record("-q", "-p", node.pid, "-d", seconds, "-F", 999, "-o", recording,
                             timeout=seconds + 60)
            table, = json.loads(beamflame.run("prof", recording, "--format", "json").stdout)["tables"]
        costliest = sorted(report["shares"], key=report["shares"].get)[-20:]
        rows = {row["function"]: row for row in table["functions"] if row["function"] in costliest}
        self.truth = {name: report["shares"][name] for name in costliest}
        self.traced = nodes.shares(report["traced"])
        self.found = dict.fromkeys(costliest, 0) | {name: row["own"] / table["sum"]
                                                    for name, row in rows.items()}
        self.half = {name: row["own_half"] / table["sum"] for name, row in rows.items()}
        self.samples = sum(row["samples"] for row in rows.values())

    def pairs(self):
        """Return the number of pairs of functions whose intervals do not overlap, and those of them
        that eprof has in the other order."""
        apart = [(more, less) for more, less in itertools.permutations(self.half, 2)
                 if self.found[more] - self.half[more] > self.found[less] + self.half[less]]
        return len(apart), [(more, less) for more, less in apart
                            if self.traced[more] < self.traced[less]]
