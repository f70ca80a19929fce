# SPDX-License-Identifier: Apache-2.0
"""The speed of converting a long recording to other formats, and the size of a page."""
import json
import os
import re
import subprocess
import time

import beamflame
import nodes
from figures import Figure
from recording import folder, record

HZ = 999
# The fastest run counts: the first may pay for memory that the machine did not use before, which in
# a virtual machine costs more than all the rest.
RUNS = 3
STACKS = 50000  # in the recording that becomes a page


def replicate():
    """Build the program that makes a long recording from a short one; return its path."""
    out = nodes.BUILD / "bench" / "replicate"
    subprocess.run(["make", "-s", f"BUILD={nodes.BUILD}", out], cwd=nodes.ROOT, check=True)
    return out


def report(recording, target, form):
    """Run the report command; return its seconds, its resource usage, and the size of its
    output."""
    target.unlink(missing_ok=True)
    start = time.monotonic()
    process = subprocess.Popen([beamflame.BINARY, "report", recording, "-q", "--format", form,
                                "-o", target])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != beamflame.DONE:
        raise RuntimeError(f"report: exit code {process.returncode}")
    return seconds, usage, target.stat().st_size


def fastest(recording, target, form):
    return min((report(recording, target, form) for _ in range(RUNS)), key=lambda run: run[0])


def rendering(release, options):
    with folder() as out:
        with nodes.Node(release, "request") as node:
            time.sleep(1)
            record(node.pid, options.seconds, HZ, out / "short.bfr")
        subprocess.run([replicate(), out / "short.bfr", out / "long.bfr", str(options.samples)],
                       check=True)
        for form, least in (("perf", 300000), ("folded", 300000), ("svg", None)):
            seconds, usage, size = fastest(out / "long.bfr", out / "rendered", form)
            name = f"{options.samples} samples to .{form}"
            yield Figure(f"{name}, samples a second", options.samples / seconds, "{:,.0f}",
                         least=least)
            yield Figure(f"{name}, MB written", size / 2**20, "{:.1f}")
            yield Figure(f"{name}, CPU seconds in beamflame", usage.ru_utime, "{:.2f}")
            yield Figure(f"{name}, CPU seconds in the kernel", usage.ru_stime, "{:.2f}")
            yield Figure(f"{name}, peak memory in MB", usage.ru_maxrss / 1024, "{:.1f}")
        subprocess.run([replicate(), out / "short.bfr", out / "long.bfr", str(options.samples),
                        str(STACKS)], check=True)
        seconds, usage, size = fastest(out / "long.bfr", out / "rendered", "html")
        name = f"{options.samples} samples with {STACKS} stacks to .html"
        yield Figure(f"{name}, seconds", seconds, "{:.2f}", most=2)
        yield Figure(f"{name}, MB written", size / 2**20, "{:.1f}")
        yield Figure(f"{name}, peak memory in MB", usage.ru_maxrss / 1024, "{:.1f}", most=100)


def page_sizes(recording, target):
    """Return the bytes of a page's recording as text and in columns, and its samples."""
    report(recording, target, "html")
    text = target.read_text(encoding="utf-8")
    header = json.loads(re.search(r'id="header">([^<]*)<', text)[1])
    data = re.search(r'id="recording">([^<]*)<', text)[1]
    columns = sum(size for _, size, _ in header["columns"])
    return len(data), columns, header["counts"]["samples"]


def page(release, options):
    with nodes.Node(release, "request") as node, folder() as out:
        for events, most in (("cpu,gc,wall", 4), ("cpu", None)):
            record(node.pid, options.long, 99, out / "long.bfr", "-e", events)
            data, columns, samples = page_sizes(out / "long.bfr", out / "page.html")
            name = f"page of {options.long} s of {events}"
            yield Figure(f"{name}, samples", samples, "{:,.0f}")
            yield Figure(f"{name}, MB of them, as text", data / 2**20, "{:.2f}")
            yield Figure(f"{name}, bytes a sample, as text", data / samples, "{:.2f}", most=most)
            yield Figure(f"{name}, bytes a sample, in columns", columns / samples, "{:.2f}")
