# SPDX-License-Identifier: Apache-2.0
"""The speed of converting text formats, compared with the scripts of FlameGraph."""
import os
import subprocess
import time
import unittest
from pathlib import Path

import nodes
from figures import Figure
from recording import folder, record
from rendering import HZ, RUNS, STACKS, replicate, report

SCRIPTS = "stackcollapse-perf.pl", "flamegraph.pl"


def require_scripts(options):
    """Return the folder of the scripts."""
    where = options.flamegraph or os.environ.get("FLAMEGRAPH")
    if not where:
        raise unittest.SkipTest("name a checkout of github.com/brendangregg/FlameGraph by "
                                "--flamegraph or in the environment as FLAMEGRAPH")
    for script in SCRIPTS:
        if not (Path(where) / script).is_file():
            raise unittest.SkipTest(f"there is no {script} in {where}")
    return Path(where)


def by_script(script, source, target):
    """Return the CPU seconds of a script."""
    with open(target, "wb") as out:
        process = subprocess.Popen(["perl", script, source], stdout=out,
                                   stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{script}: exit code {process.returncode}")
    return cpu_seconds(usage)


def cpu_seconds(usage):
    """Return the CPU time: each program runs on one CPU, which other programs may use too."""
    return usage.ru_utime + usage.ru_stime


def ours_of(source, target, form):
    return min(cpu_seconds(report(source, target, form)[1]) for _ in range(RUNS))


def compared(name, ours, theirs, script, least):
    yield Figure(f"{name}, CPU seconds", ours, "{:.3f}")
    yield Figure(f"{name}, of {script}", theirs, "{:.3f}")
    yield Figure(f"{name}, times as fast", theirs / ours, "{:.1f}", least=least)


def collapse(scripts, out, samples):
    """Convert perf-script text to folded stacks."""
    report(out / "long.bfr", out / "long.perf", "perf")
    name = f"{samples} samples of perf-script to .folded"
    yield Figure(f"{name}, MB read", (out / "long.perf").stat().st_size / 2**20, "{:,.0f}")
    yield from compared(name, ours_of(out / "long.perf", out / "ours.folded", "folded"),
                        by_script(scripts / SCRIPTS[0], out / "long.perf", out / "theirs.folded"),
                        SCRIPTS[0], 20)


def draw(scripts, out, least):
    """Draw folded stacks as a flame graph."""
    report(out / "long.bfr", out / "long.folded", "folded")
    with open(out / "long.folded", encoding="utf-8") as lines:
        name = f"{sum(1 for _ in lines)} lines of .folded to .svg"
    theirs = min(by_script(scripts / SCRIPTS[1], out / "long.folded", out / "theirs.svg")
                 for _ in range(RUNS))
    yield from compared(name, ours_of(out / "long.folded", out / "ours.svg", "svg"), theirs,
                        SCRIPTS[1], least)


def reading(release, options):
    scripts = require_scripts(options)
    with folder() as out:
        with nodes.Node(release, "request") as node:
            time.sleep(1)
            record(node.pid, options.seconds, HZ, out / "short.bfr")
        make = [replicate(), out / "short.bfr", out / "long.bfr", str(options.samples)]
        subprocess.run(make, check=True)
        yield from collapse(scripts, out, options.samples)
        # With few stacks, much of the time is that of starting a program.
        yield from draw(scripts, out, None)
        subprocess.run([*make, str(STACKS)], check=True)
        yield from draw(scripts, out, 10)
