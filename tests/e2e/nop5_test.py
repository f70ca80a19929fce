# SPDX-License-Identifier: Apache-2.0
"""On kernels whose probes on 5-byte nops overwrite the stack, beamflame puts no probe on such a
nop."""
import json
import re
import subprocess

import beamflame
import kills
import nodes
from uprobe_counters import UprobeCounters

NEEDS = "own nodes"
NOP5 = "0f 1f 44 00 00"
SAYS = "nop of five bytes"


def lines_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def address_in(pid, file, symbol):
    """Return the address of an exported symbol of a shared object in a process. The object's first
    segment begins at 0."""
    value = next(int(line.split()[0], 16) for line in lines_of("nm", "-D", file)
                 if line.split()[-1] == symbol)
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return value + next(int(line.split("-")[0], 16) for line in maps
                            if re.search(rf" 00000000 .*/{file.name}$", line))


def nop5_in(file):
    """Return a 5-byte nop in a function that the file exports, as "SYMBOL+OFFSET"."""
    functions = sorted((int(address, 16), int(size, 16), name) for address, size, kind, name in (
        line.split() for line in lines_of("nm", "-D", "-S", "--defined-only", file)
        if len(line.split()) == 4) if kind == "T")
    for start, size, name in functions:
        for line in lines_of("objdump", "-d", f"--start-address={start}",
                             f"--stop-address={start + size}", file):
            address, _, code = line.strip().partition(":\t")
            if code.startswith(NOP5):
                return f"{name}+0x{int(address, 16) - start:x}"
    raise AssertionError(f"no function of {file} has such a nop")


@nodes.each_release
class Nop5:
    release = None  # set by each_release

    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)
        self.node = nodes.Node(self.release, "nops")
        self.addCleanup(self.node.kill)
        self.does_harm = self.kernel_does_harm()

    def kernel_does_harm(self):
        """True if a probe of the test's own on a 5-byte nop changes the stack of a leaf
        function."""
        library = nodes.compiled_loads(self.release) / "nop_nif.so"
        self.assertEqual(self.node.report()["changed"], 0)
        counters = UprobeCounters(
            self.node.pid, {"leaf": address_in(self.node.pid, library, "nop_in_leaf")})
        said = self.node.report()
        self.assertEqual(counters.close(), {"leaf": said["calls"]})
        return said["changed"] > 0

    def check_refused(self, event):
        """The event is refused with one sentence and not attached; on a kernel without the defect
        it is counted."""
        done = beamflame.run("-p", self.node.pid, "-d", 1, "-e", event, "-o", self.out / "x.bfr")
        listed = beamflame.run("probes", "-p", self.node.pid, "-e", event).stdout
        if self.does_harm:
            self.assertEqual(done.returncode, beamflame.UNSUPPORTED, done.stderr)
            self.assertIn(SAYS, done.stderr)
            self.assertRegex(listed, rf"(?m)^{re.escape(event)} +refused: .*{SAYS}")
        else:
            self.assertIn(done.returncode, (beamflame.DONE, beamflame.NO_SAMPLES), done.stderr)
            self.assertNotIn(SAYS, done.stderr)
            self.assertRegex(listed, rf"(?m)^{re.escape(event)} +entry .* nop5 ")

    def test_probe_on_a_nop5_of_the_vm_is_refused(self):
        self.check_refused(f"probe:{nop5_in(nodes.emulator(self.release))}")

    def test_nif_that_loops_after_its_nop5_is_refused(self):
        """A loop begins after the nop, so the instruction there runs more often than the
        function."""
        self.check_refused("nif:nop_nif:looped/1")

    def test_probe_moves_past_the_nop5(self):
        """The probe goes to the instruction after the nop instead."""
        event = "nif:nop_nif:straight/1"
        listed = beamflame.run("probes", "-p", self.node.pid, "-e", event).stdout
        self.assertRegex(listed, rf"(?m)^{event} +entry .* {'stepped' if self.does_harm else 'nop5'} ")
        with beamflame.recording("-p", self.node.pid, "-e", event, "--budget", 100,
                                 "-o", self.out / "x.bfr", "--stats", self.out / "s.json"):
            said = self.node.report()
        counts = json.loads((self.out / "s.json").read_text())["events"][event]["values"]
        self.assertEqual(counts["count"]["sum"], said["calls"])
        self.assertEqual(said["changed"], 0)
        self.assertEqual(kills.changed_code(self.node.pid), [])
