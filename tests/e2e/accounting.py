# SPDX-License-Identifier: Apache-2.0
"""The cost of probes: the trap, as beamflame calibrates it, and the BPF programs, by the kernel's
accounting. Beamflame turns that accounting on while it has probes."""
import re
from pathlib import Path

import beamflame

CALIBRATION = "count_hit"  # the program on beamflame's own functions
PLACE = re.compile(r"(entry|return) +(\w+) +\S+ +(0x\w+) +(\d+) ns")


def traps(pid, *events):
    """Return {program: nanoseconds that the trap of a hit costs, without the program itself}. The
    listed cost of a return contains the trap of its instruction; an entry at the same offset has
    paid for that trap already. A program with several places gets the most expensive one."""
    options = [word for event in events for word in ("-e", event)]
    listed = beamflame.record("probes", "-p", pid, *options).stdout
    places = [(where, program, offset, int(ns))
              for where, program, offset, ns in PLACE.findall(listed)]
    entries = {offset: ns for where, _, offset, ns in places if where == "entry"}
    found = {}
    for where, program, offset, ns in places:
        own = ns - (entries.get(offset, 0) if where == "return" else 0)
        found[program] = max(own, found.get(program, 0))
    return found


def program_ids(pid):
    """Return the ids of the BPF programs that a process has open."""
    held = set()
    for path in Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            held.update(map(int, re.findall(r"^prog_id:\t(\d+)", path.read_text("ascii"), re.M)))
        except FileNotFoundError:
            pass  # closed meanwhile
    return held


def counted(process):
    """Return {name: (runs, ns)} of the programs on probes of a running beamflame."""
    return counted_of_type(process, "kprobe")


def counted_of_type(process, kind):
    """Return {name: (runs, ns)} of its programs of the given type."""
    found, held = {}, program_ids(process.pid)
    for program in beamflame.bpftool("prog", "show"):
        name = program.get("name")
        if program["type"] != kind or program["id"] not in held or name == CALIBRATION:
            continue
        runs, ns = found.get(name, (0, 0))
        found[name] = (runs + program.get("run_cnt", 0), ns + program.get("run_time_ns", 0))
    return found


def total(sums):
    """Return the sum of runs and of nanoseconds over all programs."""
    return tuple(map(sum, zip((0, 0), *sums.values())))


def cost_ns(sums, trap):
    """Return the cost of all hits, in nanoseconds. Programs that are not attached have no hits."""
    return sum(runs * trap[name] + ns for name, (runs, ns) in sums.items() if runs)
