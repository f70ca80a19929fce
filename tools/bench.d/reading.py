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
from rendering import HZ, RUNS, STACKS, fastest, replicate, report

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


def collapse(scripts, out, samples):
    """perf-script text to folded stacks."""
    report(out / "long.bfr", out / "long.perf", "perf")
    ours, _, _ = fastest(out / "long.perf", out / "ours.folded", "folded")
    theirs = by_script(scripts / SCRIPTS[0], out / "long.perf", out / "theirs.folded")
    name = f"{samples} samples of perf-script to .folded"
    yield Figure(f"{name}, MB a second", (out / "long.perf").stat().st_size / 2**20 / ours,
                 "{:,.0f}")
    yield Figure(f"{name}, seconds", ours, "{:.2f}")
    yield Figure(f"{name}, of stackcollapse-perf.pl", theirs, "{:.2f}")
    yield Figure(f"{name}, times as fast", theirs / ours, "{:.1f}", least=20)


def draw(scripts, out, least):
    """Folded stacks to a graph."""
    report(out / "long.bfr", out / "long.folded", "folded")
    with open(out / "long.folded", encoding="utf-8") as lines:
        name = f"{sum(1 for _ in lines)} lines of .folded to .svg"
    ours, _, _ = fastest(out / "long.folded", out / "ours.svg", "svg")
    theirs = min(by_script(scripts / SCRIPTS[1], out / "long.folded", out / "theirs.svg")
                 for _ in range(RUNS))
    yield Figure(f"{name}, seconds", ours, "{:.3f}")
    yield Figure(f"{name}, of flamegraph.pl", theirs, "{:.3f}")
    yield Figure(f"{name}, times as fast", theirs / ours, "{:.1f}", least=least)


def reading(release, options):
    scripts = require_scripts(options)
    with folder() as out:
        with nodes.Node(release, "request") as node:
            time.sleep(1)
            record(node.pid, options.seconds, HZ, out / "short.bfr")
        make = [replicate(), out / "short.bfr", out / "long.bfr", str(options.samples)]
        subprocess.run(make, check=True)
        yield from collapse(scripts, out, options.samples)
        # Of a small graph much of the time is that of starting a program.
        yield from draw(scripts, out, None)
        subprocess.run([*make, str(STACKS)], check=True)
        yield from draw(scripts, out, 10)
