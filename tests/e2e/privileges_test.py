# SPDX-License-Identifier: Apache-2.0
"""beamflame gives up the rights that it does not need, before it reads what others wrote."""
import os
import subprocess
import time
import unittest
from pathlib import Path

import beamflame
import nodes

NEEDS = "all nodes"
# include/uapi/linux/capability.h
NUMBERS = {"chown": 0, "dac_override": 1, "dac_read_search": 2, "fowner": 3, "sys_ptrace": 19,
           "sys_admin": 21, "sys_nice": 23, "sys_resource": 24, "syslog": 34, "perfmon": 38,
           "bpf": 39, "checkpoint_restore": 40}
FILES = {"chown", "dac_override", "dac_read_search", "fowner"}
PROBES = {"bpf", "perfmon", "dac_read_search", "sys_ptrace"}  # a thread that attaches and detaches
RECORD = FILES | {"bpf", "perfmon", "sys_ptrace", "checkpoint_restore"}
OTHER = 65533


def status(pid):
    """Return the fields of /proc/PID/status."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def threads(pid):
    """Return the fields of status of each thread of a process, by tid."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            found[int(task.name)] = status(f"{pid}/task/{task.name}")
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has just ended
    return found


def names(mask):
    """Return the names of a set of capabilities; a number where this test knows no name."""
    known = {number: name for name, number in NUMBERS.items()}
    return {known.get(bit, bit) for bit in range(64) if int(mask, 16) >> bit & 1}


class Privileges(beamflame.Profilers, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.own = names(status("self")["CapPrm"])  # what root has here
        cls.out = beamflame.folder(cls.addClassCleanup)
        cls.out.chmod(0o777)
        cls.node = nodes.Node(25, "request")
        cls.addClassCleanup(cls.node.kill)
        beamflame.record("-p", cls.node.pid, "-d", 1, "-o", cls.out / "x.bfr")

    def check(self, found, kept, filtered):
        for kind in ("CapPrm", "CapEff"):
            self.assertEqual(names(found[kind]), kept & self.own, kind)
        for kind in ("CapInh", "CapAmb", "CapBnd"):
            self.assertEqual(names(found[kind]), set(), kind)
        self.assertEqual(found["NoNewPrivs"], "1")
        if "san" not in beamflame.BINARY.parts:  # the sanitizers make calls of their own
            self.assertEqual(found["Seccomp"], "2" if filtered else "0")

    def core_limit(self, pid):
        limits = Path(f"/proc/{pid}/limits").read_text(encoding="utf-8")
        line = next(line for line in limits.splitlines() if line.startswith("Max core file size"))
        return line.split()[4:6]

    def test_files_of_the_vm_are_parsed_by_a_process_without_rights(self):
        """While beamflame records, a child has the files of the VM open: it has no capability, and
        a filter of system calls."""
        with beamflame.recording("-p", self.node.pid, "-o", self.out / "parsed.folded") as profiler:
            children = Path(f"/proc/{profiler.pid}/task/{profiler.pid}/children")
            parsers = [child for child in children.read_text().split()
                       if status(child)["Name"] == beamflame.PARSER]
            self.assertEqual(len(parsers), 1)
            self.check(status(parsers[0]), set(), filtered=True)
            opened = [os.readlink(path) for path in Path(f"/proc/{parsers[0]}/fd").iterdir()]
            self.assertTrue(any(path.endswith("/beam.smp") for path in opened), opened)
        end = time.monotonic() + 5  # the kernel ends it
        while time.monotonic() < end and Path(f"/proc/{parsers[0]}/fd/3").exists():
            time.sleep(0.05)
        self.assertFalse(Path(f"/proc/{parsers[0]}/fd/3").exists())

    def test_report_keeps_capabilities_for_files_only(self):
        """A report has no capability but those for files, and a filter of system calls, before it
        reads its input."""
        reader = subprocess.Popen([beamflame.BINARY, "report", "-", "--format", "folded", "-o",
                                   "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(reader.kill)
        time.sleep(0.5)  # it waits for its input
        self.check(status(reader.pid), FILES, filtered=True)
        self.assertEqual(self.core_limit(reader.pid), ["0", "0"])
        output, _ = reader.communicate((self.out / "x.bfr").read_bytes(), timeout=60)
        self.assertEqual(reader.returncode, beamflame.DONE)
        self.assertGreater(len(output), 100)

    def test_root_writes_into_folders_of_any_user(self):
        """Root can read and write files of any user still."""
        folder = beamflame.folder(self.addCleanup)
        recording = folder / "x.bfr"
        recording.write_bytes((self.out / "x.bfr").read_bytes())
        recording.chmod(0o600)
        folder.chmod(0o700)
        for path in recording, folder:
            os.chown(path, OTHER, OTHER)
        beamflame.record("report", recording, "-o", folder / "x.svg", "-o", folder / "x.html")
        self.assertGreater((folder / "x.svg").stat().st_size, 1000)

    def test_recording_keeps_what_sampling_takes(self):
        """A recording of CPU time has what reading and sampling take, and a filter of system calls;
        with probes, CAP_SYS_ADMIN too; with probes of VMs that may start later, CAP_SYS_NICE."""
        paranoid = int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) > 2
        one, every = ("-p", self.node.pid), ("-a",)
        for target, event, more in ((one, "cpu", set()), (one, "cpu,wall", set()),
                                    (one, "gc", {"sys_admin"}), (every, "cpu", set()),
                                    (every, "gc", {"sys_admin", "sys_nice"})):
            with self.subTest(target=target, event=event), beamflame.recording(
                    *target, "-e", event, "-o", self.out / "y.bfr") as profiler:
                time.sleep(0.3)
                kept = RECORD | more | ({"sys_admin"} if paranoid else set())
                self.check(status(profiler.pid), kept, filtered=True)
                self.assertEqual(self.core_limit(profiler.pid), ["0", "0"])

    def test_other_threads_keep_less(self):
        """While a recording opens and closes windows of probes, no thread but the first has more
        than what probes take; a thread that has no part in this has nothing."""
        admin = {"sys_admin"} if int(
            Path("/proc/sys/kernel/perf_event_paranoid").read_text()) > 2 else set()
        links = {"checkpoint_restore"} if "checkpoint_restore" in self.own else {"sys_admin"}
        reading = {"sys_ptrace", "dac_read_search"}
        # A thread that reads for one that attaches has no more than that one.
        permitted = (set(), reading, reading | links, reading | admin,
                     (PROBES | admin) & self.own)
        seen = set()
        with beamflame.recording("-p", self.node.pid, "-e", "cpu,wall,gc,alloc,msg", "-o",
                                 self.out / "t.bfr") as profiler:
            end = time.monotonic() + 2
            while time.monotonic() < end:
                for tid, found in threads(profiler.pid).items():
                    if tid != profiler.pid:
                        self.check_thread(found, permitted)
                        seen.add(tuple(sorted(names(found["CapEff"]))))
                time.sleep(0.002)
        self.assertLessEqual({(), tuple(sorted(permitted[-1]))}, seen)

    def check_thread(self, found, permitted):
        """A thread that has just begun has what its maker has, until it gives that up; it makes
        no call but that. So only those are looked at that have used the CPU and wait."""
        if int(found["voluntary_ctxt_switches"]) == 0:
            return
        self.assertEqual(found["NoNewPrivs"], "1")
        self.assertEqual(names(found["CapBnd"]), set())
        for kind in ("CapPrm", "CapEff"):
            self.assertIn(names(found[kind]), permitted)

    def test_all_threads_have_the_rights_of_a_report_while_outputs_are_written(self):
        """While a recording writes its outputs, no thread is left that has no filter."""
        profiler = self.start("-p", self.node.pid, "-q", "-d", 1, "--format", "html", "-o", "-")
        end = time.monotonic() + 30
        while not (found := profiler.stdout.read(1)) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertTrue(found)  # the rest of the page is more than the pipe holds
        for found in threads(profiler.pid).values():
            self.check(found, FILES, filtered=True)
        self.assertEqual(len(threads(profiler.pid)), 1)

    def test_writer_of_segments_has_the_rights_of_a_report(self):
        """The process that makes outputs from a segment has the rights of a report."""
        profiler = self.start("-p", self.node.pid, "--loop", 1, "-d", 4, "-o", self.out / "z.bfr",
                              "-o", self.out / "z.html")
        seen = []
        while profiler.poll() is None:
            try:
                seen += [found for found in map(status, self.writers(profiler.pid))
                         if found["Seccomp_filters"] == "2"]
            except (FileNotFoundError, ProcessLookupError):
                pass  # it has ended
            time.sleep(0.002)
        code, said = self.ended(profiler)
        self.assertEqual(code, beamflame.DONE, said)
        self.assertTrue(seen, "no process with a filter of its own")
        self.check(seen[-1], FILES, filtered=True)
        self.assertEqual(len(list(self.out.glob("z-*.html"))), 4)

    def test_doctor_still_works(self):
        """All checks of doctor pass with what is kept."""
        done = beamflame.run("doctor", "-p", self.node.pid)
        self.assertEqual(done.returncode, beamflame.DONE, done.stdout)


if __name__ == "__main__":
    unittest.main()
