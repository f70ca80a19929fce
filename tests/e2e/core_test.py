# SPDX-License-Identifier: Apache-2.0
"""`beamflame dump --core`, compared with dumps of the same nodes while they were alive."""
import os
import re
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

import beamflame
import cores
import nodes
from dump_test import described
from privileges_test import names, status

NEEDS = "own nodes"
CROWD = 1000
NOT_KNOWN = re.compile(r"\[|0x")  # names of functions that the core does not contain
# A function of the node's own library. For 27 and 29, the library's file is not in this root.
CRASH = r"crash$|spin_nif\.so\+0x[0-9a-f]{4}$"


def dump(*arguments):
    return described(beamflame.record("dump", "--json", *arguments).stdout)


def same(process):
    """Return the fields that must not change while a process is at rest."""
    return {key: value for key, value in process.items() if key != "stack"}


@nodes.each_release
class Core:
    """A core of a node with many processes, which stood still and was then killed."""

    release = None

    @classmethod
    def setUpClass(cls):
        cls.exe = nodes.emulator(cls.release)
        cls.folder = beamflame.folder(cls.addClassCleanup)
        cls.core = cls.folder / "core"
        with cores.Node(cls.release, "crowd", f"processes={CROWD}") as node:
            cls.pid = node.pid
            os.kill(node.pid, signal.SIGSTOP)
            cls.live = dump("-p", node.pid)
            cls.killed = time.time()
            node.core(lambda: cls.abort(node.pid), cls.core)

    @staticmethod
    def abort(pid):
        os.kill(pid, signal.SIGABRT)
        os.kill(pid, signal.SIGCONT)

    def of_core(self, *options):
        return dump("--core", self.core, "--exe", self.exe, *options)

    def test_core_has_the_processes_of_the_live_node(self):
        """The core gives the same processes that did not run in between, the same ETS tables, and
        the same names and numbers of the node."""
        got, live = self.of_core(), self.live
        for key in ("pid", "node", "otp_release", "erts"):
            self.assertEqual(got[key], live[key])
        self.assertEqual(got["signal"], signal.SIGABRT)
        self.assertAlmostEqual(got["time"], os.stat(self.core).st_mtime, delta=60)
        self.assertLess(abs(len(got["processes"]) - len(live["processes"])), 10)
        rested = [(process, live["by_pid"][pid]) for pid, process in got["by_pid"].items()
                  if pid in live["by_pid"] and process["status"] in (*beamflame.WAITING, "suspended") and
                  process["metrics"]["reductions"] ==
                  live["by_pid"][pid]["metrics"]["reductions"]]
        self.assertGreaterEqual(len(rested), CROWD)
        for process, before in rested:
            self.assertEqual(same(process), same(before))
        self.assertTrue(all(process["complete"] for process, _ in rested))
        self.assertEqual((got["gone"], got["torn"]), (0, 0))
        self.assertGreater(len(got["tables"]), 15)
        self.assertEqual(got["tables"], live["tables"])

    def test_dump_of_a_core_can_write_no_file(self):
        """While it prints, it has the right to read files, and a filter of system calls."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        os.set_blocking(writer, False)
        with self.assertRaises(BlockingIOError):  # no room for what it prints
            while True:
                os.write(writer, bytes(1 << 12))
        os.set_blocking(writer, True)
        dumping = subprocess.Popen([beamflame.BINARY, "dump", "--core", self.core, "--exe", self.exe],
                                   stdout=writer)
        os.close(writer)
        self.addCleanup(dumping.wait)
        self.addCleanup(dumping.kill)
        end = time.monotonic() + 30
        while "pipe" not in Path(f"/proc/{dumping.pid}/wchan").read_text() and time.monotonic() < end:
            time.sleep(0.02)
        found = status(dumping.pid)
        self.assertEqual(names(found["CapEff"]), {"dac_read_search"})
        self.assertEqual(names(found["CapPrm"]), {"dac_read_search"})
        self.assertEqual(names(found["CapBnd"]), set())
        self.assertEqual(found["NoNewPrivs"], "1")
        if "san" not in beamflame.BINARY.parts:
            self.assertEqual(found["Seccomp"], "2")

    def test_options_select_processes_and_limit_stacks(self):
        longest = self.of_core("--top", "1:msgq")
        suspended = [process for process in self.of_core("--status", "suspended")["processes"]
                     if "crowd:wait/1" in process["functions"]]  # others wait for busy ports
        cut = self.of_core("--depth", 3, "--process", "crowd:_")
        self.assertEqual([(p["name"], p["metrics"]["msgq"]) for p in longest["processes"]],
                         [("queued", 1000)])
        self.assertEqual(len(suspended), CROWD // 20)
        self.assertIn(("crowd:wait/1",) * 3 + ("...",),
                      {tuple(process["functions"]) for process in cut["processes"]})

    def test_text_has_the_node_its_signal_and_the_stacks(self):
        text = beamflame.record("dump", "--core", self.core, "--exe", self.exe).stdout
        self.assertRegex(text, rf"^nonode@nohost, pid {self.pid}, OTP {nodes.otp(self.release)}, ")
        self.assertRegex(text, r"\nended by signal 6 \(SIGABRT\)")
        self.assertIn("    gen_server:loop/", text)

    def test_core_has_the_ports_but_not_the_sockets(self):
        """The core gives the same ports, without the addresses that only the kernel knows."""
        got = self.of_core()
        of = lambda ports: {port["id"]: (port["name"], port["owner"]) for port in ports}
        self.assertEqual(of(got["ports"]), of(self.live["ports"]))
        self.assertGreater(len(got["ports"]), 0)
        self.assertIsNone(got["sockets"])
        self.assertEqual(got["sockets_unknown"], "a core file does not have the sockets")

    def test_missing_processes_of_a_cut_core_are_counted(self):
        """A cut core shows its complete processes and counts the missing ones, or an error says
        that too much is missing."""
        whole = self.of_core()
        size = os.stat(self.core).st_size
        cut = self.folder / "cut"
        subprocess.run(["cp", "--sparse=always", self.core, cut], check=True)
        for missing in (4096, size // 10, size // 4, size // 2, size - 4096, size - 64, size - 1):
            os.truncate(cut, size - missing)
            done = beamflame.run("dump", "--json", "--core", cut, "--exe", self.exe)
            with self.subTest(missing=missing, said=done.stderr):
                self.assertIn("incomplete", done.stderr if missing < size - 1 else "incomplete")
                if done.returncode == beamflame.DONE:
                    self.compare_cut(described(done.stdout), whole)
                else:
                    self.assertGreater(missing, 4096)
                    self.assertIn(done.returncode, (beamflame.FAILED, beamflame.UNSUPPORTED))

    def compare_cut(self, got, whole):
        self.assertEqual(len(got["processes"]) + got["gone"], len(whole["processes"]))
        for process in got["processes"]:
            functions = process["functions"]
            if (process["complete"] and process["status"] != "running" and
                    not any(NOT_KNOWN.match(name) for name in functions)):
                self.assertEqual(functions, whole["by_pid"][process["pid"]]["functions"])

    def test_other_executable_than_that_of_the_core_is_refused(self):
        """The executable is found at its original path or given by an option; another executable is
        refused."""
        other = nodes.emulator(27 if nodes.otp(self.release) != "27" else 25)
        copy = self.folder / "copy"
        shutil.copy(self.exe, copy)
        at_its_place = beamflame.run("dump", "--core", self.core)
        copied = beamflame.run("dump", "--core", self.core, "--exe", copy)
        wrong = beamflame.run("dump", "--core", self.core, "--exe", other)
        no_beam = beamflame.run("dump", "--core", self.core, "--exe", "/bin/sh")
        if self.release == 25:
            self.assertEqual(at_its_place.returncode, beamflame.DONE, at_its_place.stderr)
        else:
            self.assertEqual(at_its_place.returncode, beamflame.FAILED)
            self.assertIn("--exe", at_its_place.stderr)
        self.assertEqual(copied.returncode, beamflame.DONE, copied.stderr)
        for done in (wrong, no_beam):
            self.assertEqual((done.returncode, done.stdout), (beamflame.FAILED, ""))
            self.assertRegex(done.stderr, "is not the executable of the core file")
        self.assertRegex(wrong.stderr, "its build id is [0-9a-f]{40}, not [0-9a-f]{40}")


@nodes.each_release
class Crash:
    """The crashed process, with its native and Erlang stack."""

    release = None

    def crash(self, how):
        """Return the dump of a core, and the crashed process."""
        core = beamflame.folder(self.addCleanup) / "core"
        with cores.Node(self.release, "crash", f"how={how}") as node:
            told = node.report()["told"]
            node.core(lambda: node.send("tell crash"), core)
        options = ("--core", core, "--exe", nodes.emulator(self.release))
        got = dump(*options)
        got["text"] = beamflame.record("dump", *options).stdout
        return got, got["by_pid"][told]

    def check(self, how, number, *leaf):
        got, process = self.crash(how)
        head, first = got["text"].split("\n\n")[:2]
        self.assertRegex(head, rf"\nended by signal {number:d} \(SIG.*\) in {process['pid']}\Z")
        self.assertRegex(first, rf"\A1 running\n(    .*\n)+  {process['pid']} +told ")
        functions = process["functions"]
        self.assertEqual((got["signal"], got["crashed_process"]), (number, process["pid"]))
        self.assertEqual(process["status"], "running")
        self.assertTrue(process["complete"])
        self.assertEqual(functions[-5:], ["crash:descend/2"] * 5)
        self.assertEqual(functions[-6], "crash:crash/1")
        for function in leaf:
            self.assertIn(function, functions)
        return process

    def test_crashed_process_is_that_which_called_halt(self):
        process = self.check("abort", signal.SIGABRT, "abort", "erlang:halt/2", "erlang:halt/1")
        self.assertRegex(process["thread"], "sched")

    def test_crashed_process_is_that_of_the_nif(self):
        process = self.check("nif", signal.SIGSEGV, "spin_nif:crash/0")
        self.assertRegex(process["functions"][0], CRASH)

    def test_crashed_process_is_that_of_the_dirty_nif(self):
        process = self.check("dirty_nif", signal.SIGSEGV, "spin_nif:dirty_crash/0")
        self.assertRegex(process["functions"][0], CRASH)
        self.assertRegex(process["thread"], "dio|dirty_io")


class CoreMusl25(Core, unittest.TestCase):
    release = "25-musl"
    # The executable has no build id, and its path is that of the host's own.
    test_other_executable_than_that_of_the_core_is_refused = None


class CrashMusl25(Crash, unittest.TestCase):
    """Here Erlang stacks are apart from the machine stack, and abort() does not return."""

    release = "25-musl"


class DebugFile(unittest.TestCase):
    def test_debug_file_is_found_by_build_id(self):
        """A core file is read by a process that can start no thread or process: it finds debug
        files all the same, and reads the distribution's name for its advice."""
        folder = beamflame.folder(self.addCleanup)
        exe = Path(os.path.realpath(nodes.emulator(25)))
        copy = folder / "root" / exe.relative_to("/")
        copy.parent.mkdir(parents=True)
        shutil.copy(exe, copy)
        with cores.Node(25, "request") as node:
            node.core(lambda: os.kill(node.pid, signal.SIGABRT), folder / "core")
        arguments = ("dump", "-v", "--core", folder / "core", "--exe", copy)
        said = beamflame.record(*arguments).stderr
        found = re.search(rf"debug file: of {re.escape(str(exe))}, build id ([0-9a-f]+): not found",
                          said)
        self.assertIsNotNone(found, said)
        build_id = found[1]
        debug = folder / "root/usr/lib/debug/.build-id" / build_id[:2] / f"{build_id[2:]}.debug"
        debug.parent.mkdir(parents=True)
        shutil.copy(exe, debug)
        said = beamflame.record(*arguments).stderr
        self.assertIn(f"debug file: of {exe}, build id {build_id}: {debug}\n", said)
        self.assertNotIn("no thread can be started", said)


class Errors(unittest.TestCase):
    """Files that are not a core of a BEAM."""

    def check(self, code, says, *arguments):
        done = beamflame.run("dump", *arguments)
        with self.subTest(arguments):
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
            self.assertIn(says, done.stderr)

    def test_options_that_conflict_are_refused(self):
        self.check(beamflame.USAGE, "not both", "--core", "core", "-p", 1)
        self.check(beamflame.USAGE, "needs --core", "--exe", "beam.smp")
        self.check(beamflame.USAGE, "nothing grows", "--core", "core", "--top", 5)

    def test_files_that_are_no_core_are_refused(self):
        folder = beamflame.folder(self.addCleanup)
        packed = folder / "core.zst"
        packed.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(100))
        empty = folder / "empty"
        empty.touch()
        self.check(beamflame.FAILED, "No such file", "--core", folder / "none")
        self.check(beamflame.FAILED, "is not a regular file", "--core", folder)
        self.check(beamflame.FAILED, "is not a core file", "--core", empty)
        self.check(beamflame.FAILED, "is not a core file", "--core", __file__)
        self.check(beamflame.FAILED, "is not a core file", "--core", "/bin/sh")
        self.check(beamflame.FAILED, "zstd -d", "--core", packed)

    def test_core_of_another_program_is_refused(self):
        folder = beamflame.folder(self.addCleanup)
        with cores.into_working_directory():
            subprocess.run(["sh", "-c", "ulimit -c unlimited && exec sh -c 'kill -ABRT $$'"],
                           cwd=folder, check=False)
        core, = folder.iterdir()
        self.check(beamflame.NO_PROCESS, "not an Erlang VM", "--core", core)


if __name__ == "__main__":
    unittest.main()
