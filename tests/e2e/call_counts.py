# SPDX-License-Identifier: Apache-2.0
"""What `beamflame calls` counts while something runs."""
import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import beamflame

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
from schemas import schema, validator  # pylint: disable=wrong-import-position


@contextmanager
def counting(node, *arguments):
    """Count while the block runs; yield a dictionary that has the recorder's pid, and afterwards the
    counts and what was said."""
    process = beamflame.start("calls", "-p", node.pid, "--budget", 100, "--json", *arguments,
                              stdin=subprocess.DEVNULL)
    counted = {"recorder": process.pid}
    try:
        said = process.stderr.readline()
        if "counting" not in said:
            raise AssertionError(f"{said}{process.stderr.read()}")
        yield counted
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=120)
        if process.returncode != beamflame.DONE:
            raise AssertionError(f"exit code {process.returncode}: {said}")
        result = json.loads(out)
        validator(schema("calls")).validate(result)
        counted.update(result, said=said)
    finally:
        process.kill()
        process.communicate()
