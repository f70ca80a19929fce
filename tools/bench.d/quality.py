# SPDX-License-Identifier: Apache-2.0
"""Completeness of stacks, and accuracy on programs with a known split of CPU time."""
import time

import known_split
import nodes
from figures import Figure
from recording import folder, record

HZ = 999


def completeness(release, options):
    """Measure the share of Erlang stacks that reach the root, and of Erlang frames that have a
    name."""
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


def split_figures(load, truth, found):
    """Yield the error of the worst part, and the share that belongs to no part. Shares are of the
    same whole."""
    errors = {part: found[part] - share for part, share in truth.items()}
    worst = max(errors, key=lambda part: abs(errors[part]))
    yield Figure(f"{load}: worst part ({worst}), points off", 100 * abs(errors[worst]), "{:.2f}",
                 most=2)
    yield Figure(f"{load}: charged to nobody, %", 100 * (1 - sum(found.values())), "{:.2f}",
                 most=2)


def accuracy(release, options):
    truth, found, _samples = known_split.phases(release, options.seconds)
    yield from split_figures("phases", truth, found)
    truth, found, true_functions, functions, *_ = known_split.parts(release, options.seconds)
    yield from split_figures("split", truth, found)
    yield Figure("split: worst of three functions of one process, points off",
                 100 * max(abs(functions[f] - share) for f, share in true_functions.items()),
                 "{:.2f}", most=2)
    own = known_split.OwnTimes(release, options.seconds)
    for what, shares in (("prof", own.found), ("eprof", own.traced)):
        yield Figure(f"costly: worst of the 20 costliest functions by {what}, points off",
                     100 * max(abs(shares[f] - share) for f, share in own.truth.items()), "{:.2f}",
                     most=2)
    apart, contrary = own.pairs()
    yield Figure(f"costly: pairs in another order than by eprof, of {apart} whose intervals are apart",
                 len(contrary), "{:.0f}", most=0)
