# SPDX-License-Identifier: Apache-2.0
"""The response times of a page with a long recording, in Chromium."""
import json
import subprocess
import time

import beamflame
import nodes
import viewer
from figures import Figure
from recording import folder, record
from rendering import STACKS, replicate

SPEED = nodes.ROOT / "tests" / "web" / "page_speed.js"
HZ = 999


def viewing(release, options):
    viewer.require()
    with folder() as out:
        with nodes.Node(release, "request") as node:
            time.sleep(1)
            record(node.pid, options.seconds, HZ, out / "short.bfr")
        subprocess.run([replicate(), out / "short.bfr", out / "long.bfr", str(options.samples),
                        str(STACKS)], check=True)
        beamflame.record("report", out / "long.bfr", "-o", out / "long.html")
        done = subprocess.run(["node", SPEED, out / "long.html"], stdout=subprocess.PIPE, text=True,
                              check=True, timeout=300)
        yield from figures_of(json.loads(done.stdout), f"page of {options.samples} samples")


def figures_of(measured, name):
    yield Figure(f"{name}, seconds until it is usable", measured["opened"] / 1000, "{:.2f}", most=2)
    for change, took in measured["changes"].items():
        yield Figure(f"{name}, ms to {change}", took, "{:.0f}", most=300)
    for what in ("zoom", "scroll", "scrollHeatmap"):
        yield Figure(f"{name}, {what}, ms a frame (median)", measured[what]["median"], "{:.1f}",
                     most=17)
        yield Figure(f"{name}, {what}, longest task in ms", measured[what]["longTask"], "{:.0f}",
                     most=100)
    yield Figure(f"{name}, MB of JavaScript's heap", measured["heap"] / 2**20, "{:.0f}")
