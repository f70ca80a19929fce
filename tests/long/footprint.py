# SPDX-License-Identifier: Apache-2.0
"""What a profiler takes of the machine over a long run: memory, descriptors, mappings, objects of the
kernel."""
import os
import re
import statistics
import time
from collections import Counter
from pathlib import Path

SETTLE = 0.25  # share of the run in which the profiler may still grow
EARLY, LATE = (SETTLE, 0.5), (0.75, 1)  # shares of the run that are compared

# Links of /proc/PID/fd, by what they are.
KINDS = {"anon_inode:bpf-map": "BPF maps", "anon_inode:bpf-prog": "BPF programs",
         "anon_inode:bpf_link": "links of probes", "anon_inode:[perf_event]": "perf events"}


def status(pid, name):
    return int(re.search(rf"{name}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])


def descriptors(pid):
    """Return {kind: count}; "descriptors" is their sum."""
    counts = Counter(dict.fromkeys(("descriptors", *KINDS.values()), 0))
    for path in Path(f"/proc/{pid}/fd").iterdir():
        counts["descriptors"] += 1
        try:
            kind = KINDS.get(os.readlink(path).replace("bpf-link", "bpf_link"))
        except OSError:
            continue  # it was closed meanwhile
        if kind:
            counts[kind] += 1
    return counts


def children(pid):
    return len(Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split())


class Footprint:
    """The footprint of a process at several moments."""

    def __init__(self, pid):
        self.pid = pid
        self.began = time.monotonic()
        self.rows = []  # (seconds, {what: amount})

    def note(self):
        mappings = Path(f"/proc/{self.pid}/maps").read_text("utf-8", "replace").count("\n")
        self.rows.append((time.monotonic() - self.began, {
            "kB of memory": status(self.pid, "VmRSS"), "threads": status(self.pid, "Threads"),
            "mappings": mappings, "children": children(self.pid), **descriptors(self.pid)}))

    def between(self, what, shares):
        """Return the amounts between two shares of the run."""
        first, last = (share * self.rows[-1][0] for share in shares)
        return [row[what] for seconds, row in self.rows if first <= seconds <= last]

    def middle(self, what, shares):
        return statistics.median(self.between(what, shares))

    def text(self):
        """Return a line for each amount: its medians early and late, and its maxima."""
        return "".join(
            f"  {what}: {self.middle(what, EARLY):.0f}, later {self.middle(what, LATE):.0f}; at most "
            f"{max(self.between(what, EARLY))}, later {max(self.between(what, LATE))}\n"
            for what in self.rows[-1][1])

    def check_memory(self, test):
        """It grows by 5 % and 1 MB at most."""
        early, late = (self.middle("kB of memory", shares) for shares in (EARLY, LATE))
        test.assertLess(late - early, 0.05 * early + 1024, self.text())
