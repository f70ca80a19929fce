# SPDX-License-Identifier: Apache-2.0
"""Recordings for a measurement, made with beamflame as its users run it."""
import json
import os
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import beamflame


@contextmanager
def folder():
    """A temporary folder for the files of one measurement."""
    with tempfile.TemporaryDirectory(prefix="beamflame-bench-") as path:
        yield Path(path)


def record(pid, seconds, hz, out, *options):
    """Record to the file `out`; return the statistics."""
    stats = Path(out).with_suffix(".stats.json")
    beamflame.record("-q", "-p", pid, "-d", seconds, "-F", hz, "-o", out, "--stats", stats,
                     *options, timeout=seconds + 60)
    return json.loads(stats.read_text())


def wait_for(condition, what, seconds=20, pause=0.02):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"no {what} after {seconds} s")
        time.sleep(pause)


def stop(process, tries=10):
    """End a process with SIGINT, as Ctrl-C does; repeat it for bpftrace, which misses one now and
    then."""
    for _ in range(tries):
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=6)
            return
        except subprocess.TimeoutExpired:
            pass
    raise TimeoutError(f"{process.args[0]} does not end")


def kill(process):
    process.kill()
    process.wait()


@contextmanager
def running(pid, hz, out, *options):
    """Run beamflame in the background inside the block."""
    process = subprocess.Popen([beamflame.BINARY, "-p", str(pid), "-F", str(hz), "-o", out,
                                *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        said = process.stderr.readline()  # printed when it samples
        if b"sampling" not in said:
            raise RuntimeError(f"beamflame said {said!r}")
        yield process
        stop(process)
        if process.returncode not in (beamflame.DONE, beamflame.NO_SAMPLES):
            raise RuntimeError(f"beamflame: exit code {process.returncode}")
    finally:
        kill(process)
        process.stderr.close()


@contextmanager
def perf_running(pid, hz, out):
    """Run `perf record -g` in the background inside the block."""
    process = subprocess.Popen(
        ["perf", "record", "-q", "-B", "-N", "-g", "-k", "CLOCK_MONOTONIC", "-F", str(hz),
         "-p", str(pid), "-o", out], stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: os.path.exists(out) and os.path.getsize(out) > 0, "perf record")
        yield process
        stop(process)
    finally:
        kill(process)
