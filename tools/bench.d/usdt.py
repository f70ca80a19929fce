# SPDX-License-Identifier: Apache-2.0
"""The cost of a hit to the node: a USDT probe, compared with our probe on the surrounding
function."""
import time
import unittest

import nodes
from figures import Figure
from overhead import ratio, work
from recording import folder, running

GC = [f"usdt:gc_{kind}-{end}" for kind in ("minor", "major") for end in ("start", "end")]

# By storm: what is counted, the function, and the USDT probes that count the same.
PAIRS = {
    "messages": (
        ("messages sent", "probe:erts_queue_proc_message+0", "usdt:message-send"),
        ("messages received", "probe:beam_jit_remove_message+0", "usdt:message-receive"),
        ("processes that leave", "probe:erts_schedule+0", "usdt:process-unscheduled"),
    ),
    "collections": (
        ("collections, both ends", "probe:garbage_collect", ",".join(GC)),
    ),
}


def usdt(release, options):
    """Probes are attached all of the time, without a budget, on loads that do little else."""
    if release not in nodes.BUILDS:
        raise unittest.SkipTest("a release without USDT probes")
    for what, pairs in PAIRS.items():
        for name, function, probe in pairs:
            with nodes.Node(release, "storm", f"what={what}") as node, folder() as out:
                def probed(events, node=node, out=out):
                    with running(node.pid, 99, out / "x.bfr", "-e", events, "--budget", "100"):
                        time.sleep(0.3)
                        return work(node, options.window)

                median, error = ratio(lambda p=probe: probed(p), lambda f=function: probed(f),
                                      options.rounds)
            yield Figure(f"work per CPU second: {name}, USDT to function", median, error=error)
