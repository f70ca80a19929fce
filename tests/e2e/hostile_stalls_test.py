# SPDX-License-Identifier: Apache-2.0
"""A VM that keeps beamflame waiting in the kernel: memory whose contents a file server never gives
(FUSE), and a memory map whose lock is never released. Not even SIGKILL ends the first wait. Every
command ends in time, and other VMs are recorded."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock
from pathlib import Path

import beamflame
import nodes
from hostile_test import HOSTILE, NOBODY, SECONDS, Liar, patience
from kills import changed_code

STALLING = nodes.BUILD / "tests" / "stalling_files"
# A library that takes most of a VM's CPU time when it is preloaded.
LIBRARY = """
int memcmp(const void *a, const void *b, unsigned long size)
{
    const volatile unsigned char *x = a, *y = b;
    unsigned long i = 0;

    for (volatile int spin = 0; spin < 1000; spin++)
        ;
    while (i < size && x[i] == y[i])
        i++;
    return i < size ? x[i] - y[i] : 0;
}
"""
PAGE = "holds back its memory, which can't be read"
# Prints the longest time that a fork takes, in seconds. subprocess makes processes by vfork().
FORKER = """
import os, time
longest, end = 0, time.monotonic() + 6
while time.monotonic() < end:
    began = time.monotonic()
    if not (child := os.fork()):
        os._exit(0)
    os.waitpid(child, 0)
    longest = max(longest, time.monotonic() - began)
    time.sleep(0.01)
print(longest)
"""
WAITER = "beamflame-wait"  # the name of a process that keeps probes attached
LOCK = "holds the lock of its memory map, which can't be read"


def check_forks(test):
    """Processes of the host fork within half a second."""
    forker = subprocess.Popen([sys.executable, "-c", FORKER], stdout=subprocess.PIPE)
    test.addCleanup(forker.kill)
    longest, _ = forker.communicate(timeout=20 * patience())
    test.assertLess(float(longest), 0.5 * patience())


class Stalls(Liar, unittest.TestCase):
    def setUp(self):
        super().setUp()
        if not os.path.exists("/dev/fuse"):
            self.skipTest("this kernel has no FUSE")
        self.mount = beamflame.folder(self.addCleanup)
        self.server = subprocess.Popen([STALLING, self.mount], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
        self.addCleanup(self.server.communicate)  # all who wait for it continue
        self.assertEqual(self.server.stdout.readline(), b"ready\n")
        path = f"/proc/{self.server.pid}/root{self.mount}/stalling"
        self.node = nodes.Node(25, "hostile", f"user={NOBODY}", f"file={path}")
        self.addCleanup(self.end_node)

    def end_node(self):
        self.server.kill()  # else the node could not end
        self.server.wait()
        self.node.kill()

    def lock_memory(self):
        self.node.send("tell lock")
        end = time.monotonic() + 20
        while time.monotonic() < end:
            for task in os.listdir(f"/proc/{self.node.pid}/task"):
                with open(f"/proc/{self.node.pid}/task/{task}/stack", encoding="ascii") as stack:
                    if "fuse_file_mmap" in stack.read():
                        return
            time.sleep(0.05)
        self.skipTest("a mapping does not wait for the file on this kernel")

    def check_refused(self, message):
        """All commands say why this VM is left out."""
        message = f"process {self.node.pid} {message}"
        listed, *others = self.check_all(self.node.pid)
        self.assertIn(message, listed)
        for said in others:
            self.assertIn(message, said)
        self.assertIn(message, self.check("doctor", "-p", self.node.pid))
        self.assertIn(message, self.check("probes", "-p", self.node.pid))

    def test_memory_that_a_file_server_does_not_give(self):
        """The process table points to a mapped file whose contents never come."""
        os.kill(self.node.pid, signal.SIGSTOP)
        subprocess.run([HOSTILE, str(self.node.pid), "held_table"], check=True)
        self.check_refused(PAGE)

    def record_and_lock(self, *options):
        """Record the VM, which then takes the lock. No probe is being attached or detached then:
        that would wait for the lock. Return the profiler."""
        recorder = beamflame.start("-p", self.node.pid, *options, "--budget", 100, "-o",
                                   self.out / "x.bfr")
        self.addCleanup(recorder.kill)
        self.addCleanup(self.server.kill)  # before all other processes
        while "sampling" not in recorder.stderr.readline():
            pass
        self.lock_memory()
        return recorder

    def test_memory_map_whose_lock_is_held(self):
        """A thread of the VM holds the lock of the memory map."""
        self.lock_memory()
        self.check_refused(LOCK)

    def test_lock_that_is_held_later_ends_the_recording_of_this_vm_only(self):
        """The lock is taken while two VMs are recorded, with probes: the recording of the other
        continues, and processes of the host fork as before. The probes, which can't be detached,
        are kept until the lock is free."""
        other = nodes.Node(25, "request")
        self.addCleanup(other.kill)
        recorder = self.record_and_lock("-p", other.pid, "-d", 9, "-e", "cpu,wall,gc,msg")
        check_forks(self)
        _, said = recorder.communicate(timeout=9 + 2 * SECONDS * patience())
        self.assertEqual(recorder.returncode, beamflame.DONE, said)
        self.assertIn(f"process {self.node.pid} holds back its memory: it is not recorded any more",
                      said)
        self.assertIn("probes are not attached to any VM", said)
        self.check_other_is_recorded_to_the_end()
        self.assertTrue(self.waiters())
        self.server.kill()
        end = time.monotonic() + 5 * patience()
        while self.waiters() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertFalse(self.waiters())
        self.assertEqual(changed_code(other.pid), [])

    def test_lock_of_a_vm_that_is_not_recorded_delays_no_fork(self):
        """The kernel would take the lock of each VM that runs the same file."""
        other = nodes.Node(25, "request")
        self.addCleanup(other.kill)
        self.lock_memory()
        recorder = beamflame.start("-p", other.pid, "-d", 5, "-e", "cpu,gc", "-o",
                                   self.out / "x.bfr")
        self.addCleanup(recorder.kill)
        self.addCleanup(self.server.kill)  # before all other processes
        check_forks(self)
        _, said = recorder.communicate(timeout=5 + 2 * SECONDS * patience())
        self.assertEqual(recorder.returncode, beamflame.DONE, said)
        self.assertIn(f"while process {self.node.pid} holds the lock of its memory map, probes are "
                      "not attached to any VM", said)

    def check_other_is_recorded_to_the_end(self):
        beamflame.record("report", self.out / "x.bfr", "--from", "7", "-e", "cpu", "-o",
                         self.out / "x.folded")
        self.assertGreater(beamflame.weight_of(beamflame.read_folded(self.out / "x.folded"),
                                               "request:client/3"), 50)

    @staticmethod
    def waiters():
        """Return the processes that keep probes attached."""
        found = []
        for path in Path("/proc").glob("[0-9]*/comm"):
            try:
                found += [path.parent.name] if path.read_text("ascii") == WAITER + "\n" else []
            except (FileNotFoundError, ProcessLookupError):
                pass  # it has just ended
        return found

    def test_signal_ends_a_recording_of_such_a_vm(self):
        """SIGTERM ends a recording whose VM holds the lock."""
        recorder = self.record_and_lock("-d", 60, "-e", "cpu,wall,gc")
        time.sleep(0.5)
        recorder.terminate()
        recorder.communicate(timeout=2 * patience() + 1)
        self.assertIn(recorder.returncode, range(7))


class FileServer(Liar):
    """Mixin for unittest.TestCase: a file on a file server that stops to answer."""

    def setUp(self):
        super().setUp()
        if not os.path.exists("/dev/fuse"):
            self.skipTest("this kernel has no FUSE")

    def serve(self, path, *reads):
        """Start a server of this file, which falls silent after so many `reads`; return the path
        that it has there."""
        mount = beamflame.folder(self.addCleanup)
        self.server = subprocess.Popen([STALLING, mount, path, *map(str, reads)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(subprocess.run, ["umount", "-l", mount], check=True)
        self.addCleanup(self.server.communicate)
        self.assertEqual(self.server.stdout.readline(), b"ready\n")
        return mount / "stalling"

    def stall(self):
        self.server.stdin.write(b"stall\n")
        self.server.stdin.flush()
        self.assertEqual(self.server.stdout.readline(), b"stalls\n")
        time.sleep(1.1)  # the kernel knows the file's attributes for a second


class ServedVm(FileServer):
    """Mixin for unittest.TestCase: a VM with a file of such a server, beside another VM."""

    def setUp(self):
        super().setUp()
        self.other = nodes.Node(25, "request")
        self.addCleanup(self.other.kill)

    def start(self, load, **options):
        """Start the VM with the file."""
        self.node = nodes.Node(25, load, **options)
        self.addCleanup(self.end_node)

    def end_node(self):
        self.server.kill()  # else the node could not end
        self.server.wait()
        self.node.kill()

    def record(self, *options):
        """Record for 2 s; return what is printed, and the folded stacks."""
        said = self.check(*options, "-d", 2, "-o", self.out / "x.bfr")
        return said, beamflame.folded(self.out / "x.bfr")

    def check_load(self, stacks, load):
        self.assertGreater(beamflame.weight_where(
            stacks, lambda stack: any(f"{load}:" in f for f in stack)), 20)

    def make_library(self):
        library = beamflame.folder(self.addCleanup) / "library.so"
        subprocess.run(["gcc", "-g", "-O1", "-fno-builtin", "-shared", "-fPIC", "-o", library, "-x",
                        "c", "-"], input=LIBRARY, text=True, check=True)
        return library


class SilentServer(ServedVm, unittest.TestCase):
    """The server does not answer when beamflame starts."""

    def test_vm_whose_executable_is_not_given_is_left_out(self):
        """The VM is refused with the reason; the other is listed and recorded."""
        self.start("identity", emulator=self.serve(nodes.emulator(25)))
        self.stall()
        message = f"the executable of process {self.node.pid} can't be read: its file server " \
                  "does not answer"
        listed = self.check("ps")
        self.assertIn(message, listed)
        self.assertIn(f" {self.other.pid} ", listed)
        self.assertIn(message, self.check("-p", self.node.pid, "-d", 1, "-o", self.out / "x.bfr"))
        said, stacks = self.record("-a")
        self.assertIn(f"process {self.node.pid} is skipped: {message}", said)
        self.check_load(stacks, "request")

    def test_many_processes_of_one_server_delay_as_one_does(self):
        """Processes that are no VMs, with an executable of the server: each would take a quarter of
        a second."""
        path = self.serve(shutil.which("sleep"))
        for _ in range(60):
            process = subprocess.Popen([path, "600"])
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
        self.addCleanup(self.server.kill)  # first: else they could not end
        self.stall()
        began = time.monotonic()
        self.assertIn(f" {self.other.pid} ", self.check("ps"))
        self.assertLess(time.monotonic() - began, 60 * 0.25 / 2)
        _, stacks = self.record("-a")
        self.check_load(stacks, "request")

    def test_many_servers_delay_as_a_few_do(self):
        """Each process has an executable on a server of its own: each would take a quarter of a
        second. Some are not read then, which is reported, and VMs on local disks are."""
        servers = []
        for _ in range(40):
            path = self.serve(shutil.which("sleep"))
            process = subprocess.Popen([path, "600"])
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            self.addCleanup(self.server.kill)  # first: else it could not end
            servers.append(self.server)
        for server in servers:
            server.stdin.write(b"stall\n")
            server.stdin.flush()
        time.sleep(1.1)
        later = nodes.Node(25, "request")  # its pid is after theirs
        self.addCleanup(later.kill)
        listed = self.check("ps")
        self.assertIn(f" {self.other.pid} ", listed)
        self.assertIn(f" {later.pid} ", listed)
        said = self.check("-v", "-a", "-d", 2, "-o", self.out / "x.bfr")
        self.assertIn("is not read: it may be on a file server, and too many others do not answer",
                      said)
        self.check_load(beamflame.folded(self.out / "x.bfr"), "request")

    def test_vm_whose_library_is_not_given_is_recorded(self):
        """Functions of the library have no names; all else is recorded."""
        preload = self.serve(self.make_library())
        with unittest.mock.patch.dict(os.environ, LD_PRELOAD=str(preload)):
            self.start("request")
        self.stall()
        said, stacks = self.record("-v", "-p", self.node.pid)
        self.assertIn(f"the file server of {preload} does not answer", said)
        self.check_load(stacks, "request")
        self.assertTrue(any("stalling+0x" in f for stack in stacks for f in stack))

    def test_vm_whose_debug_file_is_not_given_is_recorded(self):
        """The debug file of a library is one of the server. All else is recorded."""
        library = self.make_library()
        debug = library.with_suffix(".debug")
        for command in (["objcopy", "--only-keep-debug", library, debug],
                        ["strip", "--strip-unneeded", library],
                        ["objcopy", f"--add-gnu-debuglink={debug}", library]):
            subprocess.run(command, check=True)
        served = self.serve(debug)
        debug.rename(debug.with_suffix(".served"))
        debug.symlink_to(served)
        with unittest.mock.patch.dict(os.environ, LD_PRELOAD=str(library)):
            self.start("request")
        self.stall()
        said, stacks = self.record("-v", "-p", self.node.pid)
        self.assertIn(f"the file server of {debug} in /proc/{self.node.pid}/root does not answer",
                      said)
        self.check_load(stacks, "request")
        self.assertTrue(any("memcmp" in f for stack in stacks for f in stack))


class LaterSilence(ServedVm, unittest.TestCase):
    """The server stops to answer when beamflame has opened the file of a VM that it records."""

    def setUp(self):
        super().setUp()
        self.recording = beamflame.folder(self.addCleanup) / "recording.bfr"

    def record_and_stall(self, *options):
        """Start a recording, and let the server stall. Return the profiler."""
        recorder = beamflame.start(*options, "-o", self.recording)
        self.addCleanup(recorder.kill)
        self.addCleanup(self.server.kill)  # before all other processes
        while "sampling" not in recorder.stderr.readline():
            pass
        time.sleep(1)
        self.stall()
        return recorder

    def check_ended(self, recorder, seconds):
        """The recording ends in time."""
        _, said = recorder.communicate(timeout=seconds + SECONDS * patience())
        self.assertEqual(recorder.returncode, beamflame.DONE, said)
        return said

    def check_recorded_from(self, second, load):
        """This load has samples from this second on."""
        self.check_load(beamflame.folded(self.recording, "--from", second, "-e", "cpu"), load)

    def record_both(self, *options):
        return self.record_and_stall("-p", self.node.pid, "-p", self.other.pid, *options)

    def test_server_of_an_executable(self):
        """Both VMs are recorded, with probes; the recording of the other continues to the end."""
        self.start("storm", emulator=self.serve(nodes.emulator(25)))
        recorder = self.record_both("-d", 8, "-e", "cpu,wall,gc,msg")
        self.check_ended(recorder, 8)
        self.check_recorded_from("6", "request")
        self.assertEqual(changed_code(self.other.pid), [])

    def test_server_of_an_executable_whose_windows_end(self):
        """With a small budget, probes are attached again and again. Those that can't be attached
        are reported, or that the VM itself waits for the server: its memory can be missed before
        the next windows begin. Processes of the host fork as before."""
        self.start("storm", emulator=self.serve(nodes.emulator(25)))
        began = time.monotonic()
        recorder = self.record_both("-v", "-d", 60, "-e", "cpu,msg", "--budget", "0.5")
        noticed = re.compile("attaching failed|holds back its memory: it is not recorded")
        before = []
        for line in recorder.stderr:
            before.append(line)
            if noticed.search(line):
                break
        check_forks(self)
        seconds = time.monotonic() - began
        recorder.terminate()
        said = "".join(before) + self.check_ended(recorder, 0)
        self.assertRegex(said, f"event msg of process {self.node.pid} is not recorded: the file "
                               f"server of .*|process {self.node.pid} holds back its memory: it is "
                               "not recorded any more")
        self.assertNotIn(f"of process {self.other.pid} is not recorded", said)
        self.check_recorded_from(str(int(seconds) - 4), "request")

    def test_server_of_a_library(self):
        """The VM with the library is recorded to the end."""
        self.other.kill()
        self.other = nodes.Node(25, "storm")
        self.addCleanup(self.other.kill)
        with unittest.mock.patch.dict(os.environ, LD_PRELOAD=str(self.serve(self.make_library()))):
            self.start("request")
        recorder = self.record_both("-d", 6, "-e", "cpu,gc")
        self.check_ended(recorder, 6)
        self.check_recorded_from("4", "request")
        self.check_recorded_from("4", "storm")

    def test_vm_that_starts_later_is_recorded(self):
        """While the server of one VM does not answer, another VM starts and is recorded."""
        self.other.kill()
        self.start("storm", emulator=self.serve(nodes.emulator(25)))
        recorder = self.record_and_stall("-a", "-d", 9)
        later = nodes.Node(25, "request")
        self.addCleanup(later.kill)
        self.check_ended(recorder, 9)
        self.check_recorded_from("6", "request")

    def test_other_commands_meanwhile(self):
        """While a recording hangs on to the file, all commands see the other VM."""
        self.start("storm", emulator=self.serve(nodes.emulator(25)))
        recorder = self.record_both("-d", 60)
        self.assertIn(f" {self.other.pid} ", self.check("ps"))
        self.assertIn("request", self.check("dump", "-p", self.other.pid))
        _, stacks = self.record("-p", self.other.pid)
        self.check_load(stacks, "request")
        recorder.terminate()
        self.check_ended(recorder, 0)

    def test_silence_before_the_end(self):
        """The server falls silent half a second before the end of the recording."""
        self.start("storm", emulator=self.serve(nodes.emulator(25)))
        recorder = self.record_both("-d", 1.5)
        self.check_ended(recorder, 0.5)


if __name__ == "__main__":
    unittest.main()
