# SPDX-License-Identifier: Apache-2.0
"""What probes cost: the trap as beamflame calibrates it, the BPF programs by the kernel's accounting
(which is on while beamflame has probes)."""
import re
from pathlib import Path

import beamflame

CALIBRATION = "count_hit"  # the program on beamflame's own functions
PLACE = re.compile(r"(entry|return) +(\w+) +\S+ +(0x\w+) +(\d+) ns")


def traps(pid, *events):
    """Nanoseconds of a hit beside the program's own, by program. A return is listed with the trap on
    the instruction where it is, which it shares with the entry if that is there too. Of several places, the dearest."""
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
    """The BPF programs that a process holds."""
    held = set()
    for path in Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            held.update(map(int, re.findall(r"^prog_id:\t(\d+)", path.read_text("ascii"), re.M)))
        except FileNotFoundError:
            pass  # closed meanwhile
    return held


def counted(process):
    """Runs and nanoseconds by name, of the programs on probes of a beamflame that runs."""
    return counted_of_type(process, "kprobe")


def counted_of_type(process, kind):
    """The same of its programs of another type."""
    found, held = {}, program_ids(process.pid)
    for program in beamflame.bpftool("prog", "show"):
        name = program.get("name")
        if program["type"] != kind or program["id"] not in held or name == CALIBRATION:
            continue
        runs, ns = found.get(name, (0, 0))
        found[name] = (runs + program.get("run_cnt", 0), ns + program.get("run_time_ns", 0))
    return found


def total(sums):
    """Runs and nanoseconds of all programs."""
    return tuple(map(sum, zip((0, 0), *sums.values())))


def cost_ns(sums, trap):
    """What all hits cost. Programs that are not attached have none."""
    return sum(runs * trap[name] + ns for name, (runs, ns) in sums.items() if runs)
