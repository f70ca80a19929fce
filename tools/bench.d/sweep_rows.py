# SPDX-License-Identifier: Apache-2.0
"""How often the intervals of rows of event wall contain what the node says, where sweeps read some of
its processes."""
import math
import re
import statistics
import time

import beamflame
import nodes
from figures import Figure
from recording import folder, record

PROCESSES = 1000
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
AMOUNT = r"([\d,.]+) (ns|us|ms|s)"
ROW = re.compile(rf" +{AMOUNT} (?:\+- {AMOUNT})? +([\d.]+) % +([\d,]+) samples?  +(\w+)")


def seconds(number, unit):
    return float(number.replace(",", "")) * UNITS[unit] if number else 0


def statuses_of(recording):
    """Return {status: (seconds, half of the interval)} of the summary, with the statuses of the VM."""
    summary = beamflame.record("report", recording).stdout
    found = {}
    for line in summary.partition("\nstatus of wall by time\n")[2].partition("\n\n")[0].splitlines():
        *amounts, _, _, status = ROW.fullmatch(line).groups()
        amount, half = seconds(*amounts[:2]), seconds(*amounts[2:])
        before = found.get(beamflame.vm_status(status), (0, 0))
        found[beamflame.vm_status(status)] = (before[0] + amount, math.hypot(before[1], half))
    return found


def truth_of(node):
    """Return the number of processes in each status, as the node says."""
    says = dict(node.report()["statuses"])
    says["waiting"] += node.ready["processes"] - sum(says.values())
    return says


def sweep_rows(release, options):
    """Statuses of a node of 1,000 processes, of which a sweep reads 100."""
    with nodes.Node(release, "crowd", f"processes={PROCESSES}") as node, folder() as out:
        time.sleep(1)
        truth, told = truth_of(node), {}
        for _ in range(options.recordings):
            stats = record(node.pid, options.recording, 99, out / "x.bfr", "-e", "wall")
            wall = stats["events"]["wall"]
            span = wall["values"]["time"]["sum"] / 1e9 / node.ready["processes"]
            for status, (amount, half) in statuses_of(out / "x.bfr").items():
                if status in truth:
                    told.setdefault(status, []).append((amount / span, half / span))
    every = []
    for status, rows in told.items():
        held = [abs(count - truth[status]) <= half for count, half in rows]
        every += held
        yield Figure(f"{status}: {truth[status]} processes, "
                     f"found {statistics.mean(count for count, _ in rows):.1f} (mean) ± "
                     f"{statistics.median(half for _, half in rows):.1f} (median), held, %",
                     100 * sum(held) / len(held), "{:.0f}")
    yield Figure(f"wall, {PROCESSES} processes: intervals that hold the truth, %",
                 100 * sum(every) / max(len(every), 1), "{:.0f}", least=90,
                 error=100 * math.sqrt(0.9 * 0.1 / max(len(every), 1)))
