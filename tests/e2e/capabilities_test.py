# SPDX-License-Identifier: Apache-2.0
"""Without root, beamflame works with the capabilities that the documents list, and names exactly
those that are missing."""
import json
import os
import re
import shutil
import subprocess
import time
import unittest
from pathlib import Path

import beamflame
import breakpoints
import nodes
from beamflame import DONE, PERMISSION
from hostile_test import patience

NEEDS = "all nodes"
OWN, OTHER, ROOT = 65534, 65533, 0
YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
NEEDED = ("bpf", "perfmon", "sys_ptrace", "dac_read_search")
TO_READ, TO_LOAD = {"sys_ptrace", "dac_read_search"}, {"bpf", "perfmon"}
# With ptrace_scope, a user may not read his own processes either.
TO_READ_OWN = {"sys_ptrace"} if YAMA.exists() and YAMA.read_text().strip() != "0" else set()
SETS = (NEEDED, *(tuple(c for c in NEEDED if c != left_out) for left_out in NEEDED),
        ("sys_admin",), ())
UNREADABLE = [held for held in SETS if len(TO_READ & set(held)) == 1]


def as_user(user, capabilities):
    """Return the start of a command that runs as the user with only these capabilities."""
    sets = [f"--{kind}=-all{''.join(',+' + c for c in capabilities)}"
            for kind in ("inh-caps", "ambient-caps", "bounding-set")]
    return ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups", *sets]


def named(text):
    """Return the capabilities that a text names."""
    return {name.lower() for name in re.findall(r"CAP_(\w+)", text)}


def missing(needed, capabilities):
    """Return which of `needed` a process with the capabilities lacks."""
    held = set(capabilities) | (TO_LOAD if "sys_admin" in capabilities else set())
    return needed - held


def let_users_sample(case):
    """Let CAP_PERFMON suffice to sample, until the test case ends. Debian's kernels want
    CAP_SYS_ADMIN where the setting is above 2."""
    before = PARANOID.read_text()
    if int(before) <= 2:
        return
    try:
        PARANOID.write_text("2")
    except OSError as error:
        raise unittest.SkipTest("this kernel lets only CAP_SYS_ADMIN sample") from error
    case.addClassCleanup(PARANOID.write_text, before)


def start_node(case, user, load="identity"):
    """Start a node of the user, which ends with the test case; return its pid."""
    read, write = os.pipe()  # the node ends when the test closes the other end
    case.addClassCleanup(os.close, write)
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "--reuid", str(user), "--regid", str(user),
         "--clear-groups", "erl", "-noshell", "-pa", nodes.compiled_loads(25), "-s", load,
         "start"], stdin=read, stdout=subprocess.PIPE, env={**os.environ, "HOME": "/"})
    os.close(read)
    case.addClassCleanup(process.communicate)
    case.addClassCleanup(process.kill)
    if b"ready" not in process.stdout.readline():
        raise AssertionError(f"no node of user {user}")
    return process.pid  # erl becomes the VM by exec()


class Capabilities(unittest.TestCase):
    RECORD = ("-q", "-e", "wall,gc", "--budget", "100")

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        let_users_sample(cls)
        cls.node = {user: start_node(cls, user) for user in (OWN, OTHER, ROOT)}
        cls.out = beamflame.folder(cls.addClassCleanup)
        cls.out.chmod(0o777)
        cls.binary = shutil.copy(beamflame.BINARY, cls.out)

    def run_as(self, capabilities, *arguments):
        return subprocess.run([*as_user(OWN, capabilities), self.binary, *map(str, arguments)],
                              capture_output=True, text=True, timeout=60, cwd=self.out)

    def check(self, done, lacks):
        """The command succeeds, or fails with exactly these capabilities in its message."""
        self.assertEqual(done.returncode, PERMISSION if lacks else DONE, done.stderr)
        if lacks:
            self.assertEqual(named(done.stderr), lacks, done.stderr)
            self.assertIn("missing (run as root)", done.stderr)

    def cases(self, users=(OWN, OTHER, ROOT), sets=SETS):
        """Yield (pid, capabilities, what reading takes, the parameters of a subtest)."""
        for user in users:
            for capabilities in sets:
                yield (self.node[user], capabilities, TO_READ_OWN if user == OWN else TO_READ,
                       {"user": user, "capabilities": capabilities})

    def check_probing(self, *command, users=(OTHER,)):
        """Reading another user's VM takes two capabilities, sampling and probes two others."""
        for pid, capabilities, to_read, case in self.cases(users):
            with self.subTest(**case):
                self.check(self.run_as(capabilities, *command, "-p", pid),
                           missing(to_read, capabilities) or missing(TO_LOAD, capabilities))

    def test_record_names_the_missing_capabilities(self):
        self.check_probing(*self.RECORD, "-d", "0.3", "-o", self.out / "record.bfr",
                           users=(OWN, OTHER, ROOT))

    def test_segments_name_the_missing_capabilities(self):
        self.check_probing(*self.RECORD, "-d", "0.3", "--loop", "1", "-o", self.out / "loop.bfr")

    def test_probes_name_the_missing_capabilities(self):
        self.check_probing("probes")

    def test_calls_name_the_missing_capabilities(self):
        breakpoints.require()
        self.check_probing("calls", "-d", "0.3", "lists:seq/2")

    def test_agent_names_the_missing_capabilities(self):
        """Without those to sample the agent ends. Without those to read it records the VMs of its
        own user, and warns that others are missing, or of each other one."""
        for left_out in NEEDED:
            with self.subTest(left_out):
                self.check_agent(left_out, tuple(c for c in NEEDED if c != left_out))

    def check_agent(self, left_out, capabilities):
        spool, log = self.out / f"spool-{left_out}", self.out / f"{left_out}.log"
        spool.mkdir(0o700)
        shutil.chown(spool, OWN)
        config = self.out / "agent.yaml"
        config.write_text(f"record: {{interval: 1h, events: '', beside_others: true}}\nspool: {{directory: {spool}}}\n")
        with open(log, "w", encoding="utf-8") as said, subprocess.Popen(
                [*as_user(OWN, capabilities), self.binary, "agent", "--config", config],
                stderr=said) as agent:
            try:
                self.wait_for(lambda: agent.poll() is not None or list(spool.glob("*.part")))
            finally:
                agent.terminate()
        lines = log.read_text().splitlines()
        self.assertEqual(agent.returncode, DONE if left_out in TO_READ else PERMISSION, lines)
        if left_out == "sys_ptrace":  # which processes are VMs is not known
            said = [line for line in lines if "VMs of other users may be missing" in line]
        elif left_out == "dac_read_search":
            said = [line for user in (OTHER, ROOT) for line in lines
                    if f"process {self.node[user]} is skipped: not permitted" in line]
        else:
            said = [line for line in lines if ": not permitted" in line]
        self.assertEqual(named("".join(said)), {left_out}, lines)
        self.assertEqual(len(said), 2 if left_out == "dac_read_search" else 1, lines)

    def wait_for(self, condition):
        deadline = time.monotonic() + 20 * patience()
        while not condition():
            self.assertLess(time.monotonic(), deadline, "not in time")
            time.sleep(0.1)

    def test_dump_needs_only_capabilities_to_read(self):
        """A dump needs only to read the VM; it says what sampling the running processes lacks."""
        for pid, capabilities, to_read, case in self.cases():
            with self.subTest(**case):
                done = self.run_as(capabilities, "dump", "-p", pid)
                if missing(to_read, capabilities):
                    self.check(done, missing(to_read, capabilities))
                else:
                    self.assertEqual(done.returncode, DONE, done.stderr)
                    self.assertEqual(named(done.stderr), missing(TO_LOAD, capabilities))

    def test_dac_override_opens_what_dac_read_search_does(self):
        """A VM whose executable only its own user may read is read with either capability."""
        executable = shutil.copy(nodes.emulator(25), self.out / "beam.smp")
        os.chmod(executable, 0o700)
        with nodes.Node(25, "waiting", emulator=executable) as node:
            for capability in "dac_read_search", "dac_override":
                with self.subTest(capability):
                    done = subprocess.run(
                        [*as_user(OWN, ("sys_ptrace", capability)), self.binary, "dump", "-p",
                         str(node.pid), "--list", "memory"], capture_output=True, text=True,
                        check=False)
                    self.assertEqual(done.returncode, DONE, done.stderr)

    def test_ps_lists_vms_that_may_not_be_read(self):
        """A VM that may not be read is listed, with the capabilities that this takes."""
        for capabilities in SETS:
            with self.subTest(capabilities):
                done = self.run_as(capabilities, "ps", "--json")
                self.check(done, missing(TO_READ, capabilities))
                rows = {row["pid"]: row for row in json.loads(done.stdout)}
                for user, pid in self.node.items():
                    lacks = missing(TO_READ_OWN if user == OWN else TO_READ, capabilities)
                    self.assertEqual(named(rows[pid].get("error", "")), lacks)

    def test_doctor_lists_the_missing_capabilities(self):
        """The capabilities that are missing are listed, each check names those that it takes, and
        the exit code is that of the worst finding."""
        for pid, capabilities, to_read, case in (*self.cases((OWN, OTHER)),
                                                 *self.cases((ROOT,), UNREADABLE)):
            with self.subTest(**case):
                self.check_doctor(pid, capabilities, to_read)

    def check_doctor(self, pid, capabilities, to_read):
        done = self.run_as(capabilities, "doctor", "--json", "-p", pid)
        found = {f["check"]: f for f in json.loads(done.stdout)}
        lacks = missing({*NEEDED, "syslog", "sys_admin"}, capabilities)
        self.assertEqual({n.lower() for n in re.findall(
            r"CAP_(\w+) \(", found["capabilities"]["found"])}, lacks)
        self.assertEqual(named(found["BPF program of samples"]["found"]),
                         missing(TO_LOAD, capabilities))
        self.assertEqual(named(found[f"vm {pid}"]["found"]), missing(to_read, capabilities))
        worst = missing(to_read | TO_LOAD, capabilities)
        self.assertEqual(done.returncode, PERMISSION if worst else DONE, found)

    def test_kernel_names_take_cap_syslog(self):
        """Names of kernel functions take CAP_SYSLOG where the kernel restricts their addresses."""
        if Path("/proc/sys/kernel/kptr_restrict").read_text().strip() == "2" or \
                int(PARANOID.read_text()) <= 1:
            self.skipTest("this kernel shows addresses to all, or to none")
        for capabilities, lacks in ((NEEDED, {"syslog"}), ((*NEEDED, "syslog"), set())):
            done = self.run_as(capabilities, "doctor", "--json", "-p", self.node[OWN])
            finding = {f["check"]: f for f in json.loads(done.stdout)}["kernel.kptr_restrict"]
            self.assertEqual(named(finding["found"]), lacks, finding)

    def test_report_needs_no_capability(self):
        """A report of a file that may be read needs no capability."""
        recording = self.out / "x.bfr"
        beamflame.record("-p", self.node[ROOT], "-d", 1, "-e", "wall", "-o", recording)
        recording.chmod(0o644)
        done = self.run_as((), "report", recording, "--format", "folded", "-o", "-")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertGreater(len(done.stdout), 100)

    def test_user_who_sees_no_vm_is_told_what_that_takes(self):
        """Without -p, the message says what a user lacks who can't see the VMs of others."""
        script = 'mount --bind "$1" /proc/$2 && shift 2 && exec "$@"'
        hide = beamflame.folder(self.addCleanup)
        command = [self.binary, "-q", "-d", "1", "-o", "/dev/null", "--format", "bfr"]
        for capabilities in ((), ("bpf", "perfmon")):
            done = subprocess.run(
                ["unshare", "--mount", "sh", "-c", script, "sh", hide, str(self.node[OWN]),
                 *as_user(OWN, capabilities), *command], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, PERMISSION, done.stderr)
            self.assertEqual(named(done.stderr), TO_READ, done.stderr)


if __name__ == "__main__":
    unittest.main()
