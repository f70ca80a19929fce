# SPDX-License-Identifier: Apache-2.0
"""`beamflame doctor`: what it finds on this machine and in nodes, and its exit codes."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import beamflame
import breakpoints
import nodes
from beamflame import DONE, NO_PROCESS, PERMISSION, USAGE

NEEDS = "all nodes"
EVENTS = ("gc", "alloc", "sched", "msg")
BREAKPOINT = b"\xcc"


def check(*options):
    """Run the checks; return (exit code, {check: finding})."""
    done = beamflame.run("doctor", "--json", *options)
    found = json.loads(done.stdout)
    by_name = {finding["check"]: finding for finding in found}
    assert len(by_name) == len(found), "two findings have the same name"
    return done.returncode, by_name


def padding(path):
    """Return the offset in an ELF file of a byte between two functions, which is never run."""
    lines = subprocess.run(["objdump", "-d", "-j", ".text", "-F", path], capture_output=True,
                           text=True, check=True).stdout.splitlines()
    for line in lines:
        # "  1234:	66 66 2e 0f 1f 84 00 	data16 cs nopw 0x0(%rax,%rax,1)": padding of the compiler
        address, _, code = line.strip().partition(":\t")
        if code.startswith("66 66 2e 0f 1f 84"):
            section = next(l.split() for l in subprocess.run(
                ["objdump", "-h", path], capture_output=True, text=True,
                check=True).stdout.splitlines() if " .text " in l)
            return int(address, 16) - int(section[3], 16) + int(section[5], 16)
    raise AssertionError(f"{path} has no padding")


def address_of(pid, name, offset):
    """Return the address at which a process has the code at an offset of a file."""
    for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines():
        addresses, access, start_offset, *_, path = line.split()
        start, end = (int(address, 16) for address in addresses.split("-"))
        if "x" in access and path.endswith("/" + name) \
                and 0 <= offset - int(start_offset, 16) < end - start:
            return start + offset - int(start_offset, 16)
    raise AssertionError(f"process {pid} has no code of {name} at 0x{offset:x}")


def fdinfo(pid):
    """Yield what the kernel says of each descriptor of a process."""
    for info in Path(f"/proc/{pid}/fdinfo").iterdir():
        with contextlib.suppress(OSError):
            yield info.read_text(encoding="utf-8")


def has_perf_event(pid):
    """True if a process has a descriptor of a perf event now, or has ended."""
    try:
        descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
    except FileNotFoundError:
        return True
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            if "perf_event" in os.readlink(descriptor):
                return True
    return False


@contextlib.contextmanager
def changed_byte(pid, address, byte):
    """Change a byte of a process's own copy of its code while the block runs; yield what was
    there."""
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(address)
        before = memory.read(1)
        memory.seek(address)
        memory.write(byte)
        try:
            yield before
        finally:
            memory.seek(address)
            memory.write(before)


class Machine(unittest.TestCase):
    """The checks of the machine."""

    def setUp(self):
        beamflame.require()

    def test_nothing_is_missing_on_a_working_machine(self):
        """Where beamflame can record, nothing is missing, and each warning has advice."""
        with nodes.Node(25, "identity") as node:
            code, found = check("-p", node.pid)
        self.assertEqual(code, DONE)
        for name, finding in found.items():
            with self.subTest(name):
                self.assertIn(finding["status"], ("ok", "warning"))
                self.assertTrue(finding["found"])
                self.assertEqual(finding["status"] == "warning", bool(finding["advice"]))
        for name in ("kernel", "BTF", "capabilities", "pid namespace", "helper processes",
                     "BPF program of samples", "BPF programs of events", "probes",
                     "sampling clock"):
            self.assertEqual(found[name]["status"], "ok", found[name])
        self.assertEqual(found["kernel"]["found"], os.uname().release)
        self.assertRegex(found["cost of a hit"]["found"], r"^[1-9]\d* ns")
        self.assertRegex(found["sampling clock"]["found"], r"cpu-clock ticked [1-9]\d* times")

    def test_settings_are_those_of_the_kernel(self):
        """Sysctls and the clocksource are shown as they are."""
        _, found = check()
        for setting in ("perf_event_paranoid", "perf_event_max_sample_rate"):
            value = Path("/proc/sys/kernel", setting).read_text(encoding="ascii").strip()
            self.assertRegex(found[f"kernel.{setting}"]["found"], rf"^{value}\b")
        clock = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        self.assertTrue(found["clocksource"]["found"].startswith(
            clock.read_text(encoding="ascii").strip()))
        self.assertEqual("none" not in found["PMU"]["found"], beamflame.has_pmu())
        self.assertEqual(found["hardware breakpoints"]["found"].startswith("work"), breakpoints.work())

    def test_each_check_has_one_line(self):
        """Each check has one line, which begins with its status and its name."""
        lines = beamflame.run("doctor").stdout.splitlines()
        _, found = check()
        machine = [name for name in found if not name.startswith("vm ") and name != "VMs"]
        self.assertGreater(len(machine), 10)
        for name, line in zip(machine, lines):
            self.assertRegex(line, rf"^(ok|warning|missing) +{name}  ")

    def test_pid_without_a_vm_is_missing(self):
        """A process that is not a VM, or does not exist, is missing, with the code for that."""
        with subprocess.Popen(["sleep", "60"]) as other:
            try:
                code, found = check("-p", other.pid)
            finally:
                other.kill()
        self.assertEqual(code, NO_PROCESS)
        self.assertEqual(found[f"vm {other.pid}"]["status"], "missing")
        self.assertIn("not an Erlang VM", found[f"vm {other.pid}"]["found"])
        code, found = check("-p", other.pid)  # it has ended
        self.assertEqual(code, NO_PROCESS)
        self.assertIn("no process", found[f"vm {other.pid}"]["found"])
        self.assertEqual(beamflame.run("doctor", "-p", "x").returncode, USAGE)


class Unprivileged(unittest.TestCase):
    """The checks of other users."""

    def setUp(self):
        beamflame.require()
        folder = beamflame.folder(self.addCleanup)
        folder.chmod(0o755)
        self.binary = shutil.copy(beamflame.BINARY, folder)

    def check(self, capabilities, *options):
        """Run the checks as another user with these capabilities."""
        sets = [f"--{kind}=-all{''.join(',+' + c for c in capabilities)}"
                for kind in ("inh-caps", "ambient-caps", "bounding-set")]
        done = subprocess.run(
            ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *sets,
             self.binary, "doctor", "--json", *map(str, options)],
            capture_output=True, text=True, timeout=60)
        return done.returncode, {f["check"]: f for f in json.loads(done.stdout)}

    def test_each_missing_capability_is_named(self):
        """Each missing capability is named with its purpose, and the exit code says it."""
        with nodes.Node(25, "identity") as node:
            code, found = self.check([], "-p", node.pid)
        self.assertEqual(code, PERMISSION)
        self.assertEqual(found["capabilities"]["status"], "missing")
        for name in ("CAP_BPF (", "CAP_PERFMON (", "CAP_SYS_PTRACE (", "CAP_SYS_ADMIN ("):
            self.assertIn(name, found["capabilities"]["found"])
        self.assertIn("root", found["capabilities"]["advice"])
        for name in ("BPF program of samples", "probes", f"vm {node.pid}"):
            self.assertEqual(found[name]["status"], "missing", found[name])

    def test_only_missing_capabilities_are_named(self):
        """Only the capabilities that are missing are named, and what works without them is ok."""
        code, found = self.check(["bpf", "perfmon"])
        self.assertEqual(found["BPF program of samples"]["status"], "ok")
        self.assertEqual(found["probes"]["status"], "ok")
        self.assertEqual(found["capabilities"]["status"], "warning")
        self.assertNotIn("CAP_BPF", found["capabilities"]["found"])
        self.assertIn("CAP_SYS_PTRACE", found["capabilities"]["found"])
        self.assertEqual(code, PERMISSION)  # VMs of others are not visible
        self.assertEqual(found["VMs"]["status"], "missing")

    def test_advised_capabilities_are_enough_to_record(self):
        """With the capabilities that doctor calls for, a VM of another user is ok, and can be
        recorded."""
        needed = ["bpf", "perfmon", "sys_ptrace", "dac_read_search", "syslog", "sys_admin"]
        with nodes.Node(25, "identity") as node:
            code, found = self.check(needed, "-p", node.pid)
        self.assertEqual(code, DONE, found)
        self.assertEqual(found["capabilities"]["status"], "ok")
        self.assertEqual(found[f"vm {node.pid}"]["status"], "ok")


@nodes.each_release
class Vm:
    """The checks of a node."""

    release = None  # set by each_release

    def setUp(self):
        beamflame.require()
        self.node = nodes.Node(self.release, "identity")
        self.addCleanup(self.node.kill)
        self.vm = f"vm {self.node.pid}"

    def test_all_checks_of_a_healthy_node_are_ok(self):
        """All is ok, but for symbols that a stripped VM does not have: there the advice has the path
        of the debug file, with the build id."""
        code, found = check("-p", self.node.pid)
        self.assertEqual(code, DONE)
        for part in ("", " layout", " frames", " seccomp", " container", " code in memory",
                     *(" " + event for event in EVENTS)):
            self.assertEqual(found[self.vm + part]["status"], "ok", found[self.vm + part])
        self.assertIn(f"OTP {self.node.ready['otp']}, erts {self.node.ready['erts']}, JIT",
                      found[self.vm]["found"])
        for event in EVENTS:
            self.assertRegex(found[f"{self.vm} {event}"]["found"], r"^[1-9] probes: ")
        symbols = found[f"{self.vm} symbols"]
        if symbols["status"] == "warning":
            notes = subprocess.run(["readelf", "-n", f"/proc/{self.node.pid}/exe"],
                                   capture_output=True, text=True, check=True).stdout
            build_id = notes.partition("Build ID: ")[2].split()[0]
            self.assertIn(f"{build_id[:2]}/{build_id[2:]}.debug", symbols["advice"])

    def test_every_vm_is_checked_without_a_pid(self):
        """Without a pid, the node is among the VMs that are checked. Other VMs may run here."""
        code, found = check()
        missing = [finding for finding in found.values() if finding["status"] == "missing"]
        self.assertEqual(code == DONE, not missing, missing)
        self.assertEqual(found[f"{self.vm} code in memory"]["status"], "ok")

    def leave_breakpoint(self):
        """Put a breakpoint where no thread runs. Return what doctor then says of the code, and how
        it must name the place."""
        path = f"/proc/{self.node.pid}/exe"
        offset = padding(path)
        address = address_of(self.node.pid, "beam.smp", offset)
        with changed_byte(self.node.pid, address, BREAKPOINT) as before:
            code, found = check("-p", self.node.pid)
        self.assertEqual(code, DONE)
        finding = found[f"{self.vm} code in memory"]
        place = f"beam.smp+0x{offset:x} has cc for {before.hex()}"
        self.assertIn(place, finding["found"])
        return finding, place

    def skip_if_others_probe(self, finding, own=()):
        """Skip the test if a process that is not of this test may have probes attached: doctor can't
        know that it has none."""
        holder = re.search(r"by process (\d+) ", finding["found"])
        if holder and int(holder[1]) not in own and has_perf_event(holder[1]):
            self.skipTest(f"process {holder[1]} has perf events, which may be probes")

    def test_leftover_breakpoint_is_reported_with_its_place(self):
        """A byte that differs from the file is reported with its place, until it is restored."""
        finding, place = self.leave_breakpoint()
        self.skip_if_others_probe(finding)
        self.assertEqual(finding["status"], "warning")
        self.assertIn("1 breakpoints are left over: " + place, finding["found"])
        self.assertIn("safety.md", finding["advice"])
        _, found = check("-p", self.node.pid)
        self.assertEqual(found[f"{self.vm} code in memory"]["status"], "ok")

    def test_leftover_breakpoint_is_found_while_others_record(self):
        """Clocks of a recording, and probes of another node, do not hide a breakpoint that was left.
        Older kernels do not say what a descriptor is for."""
        out = beamflame.folder(self.addCleanup)
        with nodes.Node(25, "identity") as other, \
                beamflame.recording("-p", self.node.pid, "-o", out / "cpu.bfr") as of_this, \
                beamflame.recording("-p", other.pid, "-e", "gc", "--budget", 100,
                                    "-o", out / "gc.bfr") as of_other:
            if not any("event_type:" in text for text in fdinfo(of_this.pid)):
                self.skipTest("this kernel does not say what a BPF link is for")
            finding, place = self.leave_breakpoint()
            self.skip_if_others_probe(finding, (of_this.pid, of_other.pid))
        self.assertIn("1 breakpoints are left over: " + place, finding["found"])

    def test_probes_of_a_recording_are_no_leftovers(self):
        """While another beamflame has probes attached, they are not called leftovers."""
        out = beamflame.folder(self.addCleanup) / "x.bfr"
        with beamflame.recording("-p", self.node.pid, "-e", "gc", "--budget", 100, "-o", out):
            code, found = check("-p", self.node.pid)
        finding = found[f"{self.vm} code in memory"]
        self.assertEqual(code, DONE)
        self.assertEqual(finding["status"], "warning", finding)
        self.assertRegex(finding["found"], r"process \d+ \(.+\) may have probes attached")
        self.assertNotIn("left over", finding["found"])
        _, found = check("-p", self.node.pid)
        self.assertEqual(found[f"{self.vm} code in memory"]["status"], "ok")


if __name__ == "__main__":
    unittest.main()
