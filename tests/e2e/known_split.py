# SPDX-License-Identifier: Apache-2.0
"""Programs with a known split of CPU time, and the split that a profile of them shows."""
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
