# SPDX-License-Identifier: Apache-2.0
"""The programs that our files are made for: each loads its file and finds the same stacks and sums
as report."""
import json
import re
import shutil
import subprocess
import unittest
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import beamflame
import nodes

NEEDS = "own nodes"
SPEEDSCOPE = nodes.ROOT / "tests" / "web" / "speedscope.js"


def require(program, package):
    if not shutil.which(program):
        raise unittest.SkipTest(f"{program} is not installed (Debian's {package})")


def evented_stacks(profile, frames):
    """Return {(root, ..., leaf): weight} of a profile in speedscope's evented form."""
    stacks, stack, since = Counter(), [], profile["startValue"]
    for event in profile["events"]:
        stacks[tuple(stack)] += event["at"] - since
        since = event["at"]
        if event["type"] == "O":
            stack.append(frames[event["frame"]]["name"])
        else:
            stack.pop()
    return stacks


def speedscope_stacks(path):
    """Return the stacks that speedscope has read, summed over all profiles of the file."""
    module = SPEEDSCOPE.parent / "node_modules" / "speedscope"
    require("node", "nodejs")
    require("chromium", "chromium")
    if not module.exists():
        raise unittest.SkipTest("speedscope is not installed (tools/install-deps test)")
    done = subprocess.run(["node", SPEEDSCOPE, path], capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise AssertionError(f"speedscope can't read {path.name}: {done.stderr}")
    document, stacks = json.loads(done.stdout), Counter()
    for profile in document["profiles"]:
        stacks.update(evented_stacks(profile, document["shared"]["frames"]))
    del stacks[()]  # time without samples
    return +stacks  # without stacks of no time


def annotated(path):
    """Return callgrind_annotate's total and {function: self}."""
    require("callgrind_annotate", "valgrind")
    done = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", path],
                          capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise AssertionError(f"callgrind_annotate can't read {path.name}: {done.stderr}")
    total, functions = None, Counter()
    for line in done.stdout.splitlines():
        found = re.match(r" *([\d,]+) \([ \d.]+%\)  (.*)", line)
        if not found:
            continue
        cost, what = int(found[1].replace(",", "")), found[2]
        if what == "PROGRAM TOTALS":
            total = cost
        else:
            functions[re.sub(r" \[\[?[^][]*\]\]?$", "", what)] += cost
    return total, functions


class Consumers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.folder = beamflame.folder(cls.addClassCleanup)
        cls.recording = cls.folder / "x.bfr"
        with nodes.Node(25, "identity") as node:
            beamflame.record("-p", node.pid, "-d", 4, "-F", 499, "-o", cls.recording)
        cls.stacks = beamflame.folded(cls.recording, "--weight", "cpu")  # ns
        if len(cls.stacks) < 10:
            raise AssertionError(f"the load gave {len(cls.stacks)} stacks only")

    def written(self, suffix):
        path = self.folder / f"x{suffix}"
        beamflame.record("report", self.recording, "-o", path)
        return path

    def test_speedscope_reads_its_own_format(self):
        """speedscope finds each stack of its own format, with its time."""
        seen = speedscope_stacks(self.written(".speedscope.json"))
        self.assertEqual(seen, self.stacks)

    def test_speedscope_reads_perf_script(self):
        """speedscope finds each stack of perf-script text. It computes times from the time stamps
        of samples."""
        seen = speedscope_stacks(self.written(".perf"))
        names = {tuple(map(unquote, stack)) for stack in seen}
        # To speedscope, the last sample of a thread has no duration.
        self.assertLessEqual(len(set(self.stacks) - names), 8)
        self.assertEqual(names - set(self.stacks), set())

    def test_callgrind_annotate_reads_totals_and_self_times(self):
        """callgrind_annotate finds the total and the self time of each function."""
        total, functions = annotated(self.written(".callgrind"))
        self.assertEqual(total, sum(self.stacks.values()))
        leaves = Counter()
        for stack, time in self.stacks.items():
            leaves[stack[-1]] += time
        for function, time in leaves.items():
            with self.subTest(function):
                same = [cost for name, cost in functions.items() if name.endswith(f":{function}")]
                self.assertIn(time, same)


if __name__ == "__main__":
    unittest.main()
