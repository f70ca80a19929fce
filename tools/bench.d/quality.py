# SPDX-License-Identifier: Apache-2.0
"""Completeness of stacks, and accuracy on programs whose split of CPU time is known."""
import time

import beamflame
import nodes
from figures import Figure
from recording import folder, record

HZ = 999


def completeness(release, options):
    """Erlang stacks that reach the bottom, and Erlang frames that have a name."""
    for load in ("request", "phases"):
        with nodes.Node(release, load) as node, folder() as out:
            time.sleep(1)
            stats = record(node.pid, options.seconds, HZ, out / "x.bfr")
        erlang = stats["erlang_samples"]
        yield Figure(f"{load}: complete stacks, %", 100 * stats["complete_stacks"] / erlang,
                     "{:.2f}", least=99.7)
        yield Figure(f"{load}: Erlang frames unresolved, %",
                     100 * stats["unknown_erlang_frames"] / stats["erlang_frames"],
                     "{:.3f}", most=0.2)
        yield Figure(f"{load}: Erlang samples", erlang, "{:.0f}")
        yield Figure(f"{load}: stacks with their middle cut, %",
                     100 * stats["truncated_stacks"] / erlang, "{:.2f}")
        yield Figure(f"{load}: native frames without a symbol, % of frames",
                     100 * stats["unknown_native_frames"] / stats["frames"], "{:.2f}")
        yield Figure(f"{load}: samples lost", stats["lost_events"], "{:.0f}")


def known_split(release, options, load, *load_options):
    """The true share of each part, the last report, and {(root, ..., leaf): count}."""
    with nodes.Node(release, load, *load_options, flags=nodes.NO_BUSY_WAIT) as node, \
            folder() as out:
        time.sleep(1)
        first = node.report()
        record(node.pid, options.seconds, HZ, out / "x.bfr")
        last = node.report()
        truth = nodes.shares(nodes.difference(last, first, "cpu_ns"))
        return truth, last, beamflame.folded(out / "x.bfr", "--group-by", "pid")


def split_figures(load, truth, found):
    """The worst part, and what belongs to none. Shares are of the same whole."""
    errors = {part: found[part] - share for part, share in truth.items()}
    worst = max(errors, key=lambda part: abs(errors[part]))
    yield Figure(f"{load}: worst part ({worst}), points off", 100 * abs(errors[worst]), "{:.2f}",
                 most=2)
    yield Figure(f"{load}: charged to nobody, %", 100 * (1 - sum(found.values())), "{:.2f}",
                 most=2)


def phases(release, options):
    """The phases of one process, over all samples of that process."""
    truth, report, stacks = known_split(release, options, "phases", "slice=20")
    own = {stack: count for stack, count in stacks.items() if stack[0] == report["pid"]}
    total = sum(own.values())
    yield from split_figures("phases", truth, {
        phase: beamflame.weight_of(own, f"phases:phase_{phase}/1") / total for phase in truth})


PARTS = {
    "pure": ("split:pure_turn/1",),
    "bifs": ("phases:phase_bifs/1",),
    "gc": ("phases:phase_garbage/1",),
    "nif": ("phases:phase_nif/1",),
    "dirty_nif": ("phases:phase_dirty_nif/1",),
    "deep": ("phases:phase_deep_recursion/1",),
    "short_lived": ("split:spawner_turn/1", "split:short_lived/1"),
}


def split(release, options):
    """Parts in processes of their own, over all samples of the node; functions in one of them."""
    truth, report, stacks = known_split(release, options, "split")
    total = sum(stacks.values())
    yield from split_figures("split", truth, {
        part: beamflame.weight_where(
            stacks, lambda s, marks=PARTS[part]: any(m in s for m in marks)) / total
        for part in truth})
    found = nodes.shares({f: beamflame.weight_of(stacks, f"split:{f}/2") for f in report["pure"]})
    yield Figure("split: worst of three functions of one process, points off",
                 100 * max(abs(found[f] - share) for f, share in report["pure"].items()),
                 "{:.2f}", most=2)


def accuracy(release, options):
    yield from phases(release, options)
    yield from split(release, options)
