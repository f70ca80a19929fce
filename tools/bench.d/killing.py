# SPDX-License-Identifier: Apache-2.0
"""What a profiler leaves in a node and in the kernel after kill -9 at any moment."""
import math
import os
import random
import sys
import time

import kills
import nodes
from figures import Figure, median_and_error
from recording import folder

WINDOWS = 20  # in which work is measured, before and after
SEED = 1


def schedule(node, policy):
    for tid in os.listdir(f"/proc/{node.pid}/task"):
        os.sched_setscheduler(int(tid), policy, os.sched_param(0))


def works(node, other):
    """Return the node's work divided by that of another node in the same time, which feels the
    machine's disturbances but no profiler. At other times the other node has a CPU only when no
    other program wants one."""
    schedule(other, os.SCHED_OTHER)
    time.sleep(1)
    pairs = [kills.work(1, node, other) for _ in range(WINDOWS)]
    schedule(other, os.SCHED_IDLE)
    return median_and_error([work / undisturbed for work, undisturbed in pairs])


def error_of_ratio(a, b):
    return a[0] / b[0] * math.hypot(a[1] / a[0], b[1] / b[0])


def kill(release, options):
    """Do the kills of the end-to-end test, more of them."""
    found, said = [], []
    log = kills.KernelLog()
    with nodes.Node(release, "request") as node, nodes.Node(release, "request") as other, \
            folder() as out:
        killer = kills.Killer(node, out, random.Random(SEED))
        time.sleep(5)
        before = [works(node, other) for _ in range(2)]
        for phase, budget in kills.plan(options.kills):
            left, lines = killer.kill_one(phase, budget), log.bad_lines()
            for text in left + lines:
                print(f"{phase}, budget {budget}: {text}", file=sys.stderr)
            found += [left] if left else []
            said += [lines] if lines else []
        after = works(node, other)
    log.close()
    yield Figure(f"{options.kills} kills: of which something stayed", len(found), "{:.0f}", most=0)
    yield Figure("kills that the kernel's log tells of", len(said), "{:.0f}", most=0)
    yield Figure("changes of links that kills were timed by", killer.changes, "{:.0f}")
    yield Figure("work per CPU second after them, of that before", after[0] / before[1][0],
                 least=0.95, error=error_of_ratio(after, before[1]))
    yield Figure("the same of two times before", before[1][0] / before[0][0],
                 error=error_of_ratio(*before))
