# SPDX-License-Identifier: Apache-2.0
"""How fast a long recording becomes other formats."""
import os
import subprocess
import time

import beamflame
import nodes
from figures import Figure
from recording import folder, record

HZ = 999
# The fastest counts: the first may pay for memory that the machine did not use before, which in a
# virtual machine costs more than all the rest.
RUNS = 3
SOURCES = ("util", "profile")


def replicate():
    """The program that makes a long recording of a short one."""
    out = nodes.BUILD / "bench" / "replicate"
    out.parent.mkdir(parents=True, exist_ok=True)
    sources = [nodes.ROOT / "tools" / "bench.d" / "replicate.c",
               *(path for room in SOURCES for path in (nodes.ROOT / "src" / room).glob("*.c"))]
    libraries = subprocess.run(["pkg-config", "--cflags", "--libs", "libzstd", "zlib"],
                               capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror",
                    f"-I{nodes.ROOT / 'src'}", f"-I{nodes.ROOT / 'include'}", "-o", out, *sources,
                    *libraries], check=True)
    return out


def report(recording, target, form):
    """Seconds that the report command takes, what it used, and the size of what it wrote."""
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


def rendering(release, options):
    with folder() as out:
        with nodes.Node(release, "request") as node:
            time.sleep(1)
            record(node.pid, options.seconds, HZ, out / "short.bfr")
        subprocess.run([replicate(), out / "short.bfr", out / "long.bfr", str(options.samples)],
                       check=True)
        for form, least in (("perf", 300000), ("folded", 300000), ("svg", None)):
            seconds, usage, size = min(
                (report(out / "long.bfr", out / "rendered", form) for _ in range(RUNS)),
                key=lambda run: run[0])
            name = f"{options.samples} samples to .{form}"
            yield Figure(f"{name}, samples a second", options.samples / seconds, "{:,.0f}",
                         least=least)
            yield Figure(f"{name}, MB written", size / 2**20, "{:.1f}")
            yield Figure(f"{name}, CPU seconds in beamflame", usage.ru_utime, "{:.2f}")
            yield Figure(f"{name}, CPU seconds in the kernel", usage.ru_stime, "{:.2f}")
            yield Figure(f"{name}, peak memory in MB", usage.ru_maxrss / 1024, "{:.1f}")
