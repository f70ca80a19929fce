# SPDX-License-Identifier: Apache-2.0
"""How fast texts become other formats, and how much faster than by the scripts of FlameGraph."""
import os
import subprocess
import time
import unittest
from pathlib import Path

import nodes
from figures import Figure
from recording import folder, record
from rendering import HZ, RUNS, replicate, report

SCRIPTS = "stackcollapse-perf.pl", "flamegraph.pl"


def require_scripts(options):
    """Their folder."""
    where = options.flamegraph or os.environ.get("FLAMEGRAPH")
    if not where:
        raise unittest.SkipTest("name a checkout of github.com/brendangregg/FlameGraph by "
                                "--flamegraph or in the environment as FLAMEGRAPH")
    for script in SCRIPTS:
        if not (Path(where) / script).is_file():
            raise unittest.SkipTest(f"there is no {script} in {where}")
    return Path(where)


def by_script(script, source, target):
    """Seconds that it takes."""
    start = time.monotonic()
    with open(target, "wb") as out:
        subprocess.run(["perl", script, source], stdout=out, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def best(runs, measure):
    return min(measure() for _ in range(runs))


def reading(release, options):
    scripts = require_scripts(options)
    with folder() as out:
        with nodes.Node(release, "request") as node:
            time.sleep(1)
            record(node.pid, options.seconds, HZ, out / "short.bfr")
        subprocess.run([replicate(), out / "short.bfr", out / "long.bfr", str(options.samples)],
                       check=True)
        report(out / "long.bfr", out / "long.perf", "perf")
        ours = best(RUNS, lambda: report(out / "long.perf", out / "long.folded", "folded")[0])
        theirs = by_script(scripts / SCRIPTS[0], out / "long.perf", out / "their.folded")
        size = (out / "long.perf").stat().st_size
        name = f"{options.samples} samples of perf-script to .folded"
        yield Figure(f"{name}, MB a second", size / 2**20 / ours, "{:,.0f}")
        yield Figure(f"{name}, seconds", ours, "{:.2f}")
        yield Figure(f"{name}, of stackcollapse-perf.pl", theirs, "{:.2f}")
        yield Figure(f"{name}, times as fast", theirs / ours, "{:.1f}", least=20)
        with open(out / "long.folded", encoding="utf-8") as lines:
            count = sum(1 for _ in lines)
        name = f"{count} lines of .folded to .svg"
        ours = best(3 * RUNS, lambda: report(out / "long.folded", out / "x.svg", "svg")[0])
        theirs = best(3 * RUNS,
                      lambda: by_script(scripts / SCRIPTS[1], out / "long.folded", out / "y.svg"))
        yield Figure(f"{name}, seconds", ours, "{:.3f}")
        yield Figure(f"{name}, of flamegraph.pl", theirs, "{:.3f}")
        yield Figure(f"{name}, times as fast", theirs / ours, "{:.1f}", least=10)
