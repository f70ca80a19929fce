#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that a perf-script file reads the same in every tool that users load it into.

usage: perf_script_lint.py FILE      (exit 0: nothing found; 1: findings; 2: usage)

The importers of stackcollapse-perf.pl, FlameScope, speedscope, Firefox Profiler and inferno each
have their own expressions. A file of the following form passes all of them:

    # ========                                            first line
    # ...                                                 comments
    comm pid/tid [cpu] seconds.micros: period event:      one event name in the file
    <TAB>address symbol (module)                          leaf first
    <empty line>                                          after every sample, the last too
"""
import gzip
import re
import sys

EVENT = re.compile(r"^(\S+) (\d+)/(\d+) \[(\d{3,})\] (\d+\.\d{6}): +(\d+) (\S+):$")
FRAME = re.compile(r"^\t *([0-9a-f]+) (.+) \(([^()\s]+)\)$")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# FlameScope takes any line that matches this for an event.
FLAMESCOPE_EVENT = re.compile(r" +([0-9.]+): .+?:")
# How importers misread these inside a symbol.
FORBIDDEN = {
    "(": "opens a second module",
    "->": "splits the frame",
    ";": "splits the stack",
    "+": "cuts the symbol",
    "\t": "is a column of another dialect",
}
OFFSET = re.compile(r"\+0x[0-9a-f]+$")  # all of them cut this off


class Linter:
    def __init__(self):
        self.findings = []
        self.samples = 0
        self.frames = 0
        self.events = set()
        self.last_time = None
        self.in_sample = False

    def say(self, number, text):
        self.findings.append(f"line {number}: {text}")

    def run(self, data):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            self.findings.append(f"byte {error.start}: not UTF-8")
            return
        lines = text.split("\n")
        if lines[0] != "# ========":
            self.say(1, "the first line is not '# ========': Firefox Profiler does not detect it")
        for number, line in enumerate(lines, 1):
            self.line(number, line)
        if not text.endswith("\n\n"):
            self.say(len(lines), "no empty line after the last sample: perl drops it")
        self.whole(len(lines))

    def line(self, number, line):
        if CONTROL.search(line):
            self.say(number, "control character")
        if line == "":
            self.in_sample = False
        elif line.startswith("#"):
            if FLAMESCOPE_EVENT.search(line):
                self.say(number, "comment that FlameScope reads as an event")
        elif self.in_sample:
            self.frame(number, line)
        else:
            self.in_sample = True
            self.event(number, line)

    def event(self, number, line):
        match = EVENT.match(line)
        if not match:
            self.say(number, f"not an event line: {line[:80]!r}")
            return
        comm, time, event = match[1], match[5], match[7]
        seconds, micros = time.split(".")
        moment = int(seconds) * 1000000 + int(micros)
        self.samples += 1
        self.events.add(event)
        if not re.match(r"^[A-Za-z].", comm):
            self.say(number, f"comm {comm!r} is not a letter and more: FlameScope cuts it")
        if self.last_time is not None and moment < self.last_time:
            self.say(number, f"time goes back to {time}: speedscope gives up")
        self.last_time = moment

    def frame(self, number, line):
        match = FRAME.match(line)
        if not match:
            self.say(number, f"not a frame line: {line[:80]!r}")
            return
        symbol, module = match[2], match[3]
        self.frames += 1
        named = OFFSET.sub("", symbol)
        for token, why in FORBIDDEN.items():
            if token in named:
                self.say(number, f"symbol {symbol!r} holds {token!r}, which {why}")
        if symbol != symbol.strip():
            self.say(number, f"symbol {symbol!r} has spaces around it")
        if module.startswith("[beam"):
            self.say(number, f"module {module!r} is coloured as kernel")
        if FLAMESCOPE_EVENT.search(line):
            self.say(number, "frame that FlameScope reads as an event")

    def whole(self, lines):
        if len(self.events) > 1:
            self.say(lines, f"several event names, readers keep one: {sorted(self.events)}")
        if self.samples < 2:
            self.say(lines, "fewer than two samples")
        if self.last_time is not None and self.last_time % 1000000 == 0:
            self.say(lines, "the last time is a whole second: FlameScope's heatmap fails on it")


def lint(path):
    """Check the file; return a Linter with `findings`, `samples` and `frames`."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rb") as file:
        linter = Linter()
        linter.run(file.read())
        return linter


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    linter = lint(arguments[0])
    for finding in linter.findings[:20]:
        print(finding)
    print(f"{linter.samples} samples, {linter.frames} frames, {len(linter.findings)} findings")
    return 1 if linter.findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
