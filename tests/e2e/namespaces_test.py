# SPDX-License-Identifier: Apache-2.0
"""beamflame in a user namespace, in a pid namespace and in containers: what works there works, and
all else ends with a message that names what forbids it and what helps."""
import json
import os
import subprocess
import unittest

import beamflame
import nodes
from beamflame import DONE, FAILED, NO_PROCESS, PERMISSION, UNSUPPORTED

NEEDS = "own nodes"
USER = ["unshare", "--user", "--map-root-user"]
USER_AND_PID = [*USER, "--pid", "--fork", "--mount-proc", "--kill-child"]
PID = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
OUTSIDE = "beamflame is in a user namespace, whose root can't read processes outside of it (run " \
    "as root of the host)"
HOST_ONLY = "beamflame is in a user namespace, and the kernel permits this to root of the host " \
    "only (run as root of the host)"
HOST_PIDS = "host's pid namespace (docker: --pid host, Kubernetes: hostPID: true)"


class Inside(unittest.TestCase):
    """Base: runs beamflame in namespaces."""

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.node = nodes.Node(25, "request")
        cls.addClassCleanup(cls.node.kill)
        cls.folder = beamflame.folder(cls.addClassCleanup)

    def run_in(self, inside, *arguments, timeout=60):
        return subprocess.run([*inside, beamflame.BINARY, *map(str, arguments)], text=True,
                              capture_output=True, timeout=timeout, cwd=self.folder)

    def refused(self, code, message, inside, *arguments):
        """The command ends with this code and this message, and nothing else."""
        with self.subTest(" ".join(map(str, arguments))):
            done = self.run_in(inside, *arguments)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(done.stderr.strip(), f"beamflame: {message}")
            self.assertEqual(os.listdir(self.folder), [])

    def findings(self, inside, *arguments):
        done = self.run_in(inside, "doctor", "--json", *arguments)
        self.assertEqual(done.stderr, "")
        return done.returncode, {f["check"]: f for f in json.loads(done.stdout)}


class UserNamespace(Inside):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if subprocess.run([*USER, "true"], capture_output=True, check=False).returncode:
            raise unittest.SkipTest("this kernel has no user namespaces, or permits none")

    def test_vms_outside_may_not_be_read(self):
        """Root of a user namespace may read no VM outside of it; the message says so, and names no
        capability: none would help."""
        pid = self.node.pid
        message = f"not permitted to read the executable of process {pid}: {OUTSIDE}"
        for command in ("-p", pid, "-d", 1, "-o", "x.bfr"), ("dump", "-p", pid), \
                ("probes", "-p", pid), ("-p", pid, "-e", "wall,gc", "--loop", 1, "-o", "x.bfr"):
            self.refused(PERMISSION, message, USER, *command)

    def test_hidden_vms_are_not_said_to_be_missing(self):
        """Without -p, the message is not that there is no VM."""
        message = "no Erlang VM is visible: not permitted to examine the processes of this " \
            f"host: {OUTSIDE}"
        self.refused(PERMISSION, message, USER, "-a", "-d", 1, "-o", "x.bfr")
        self.refused(PERMISSION, message, USER, "-d", 1, "-o", "x.bfr")

    def test_ps_lists_vms_with_the_reason(self):
        """ps lists the VM with the reason why it may not be read."""
        done = self.run_in(USER, "ps", "--json")
        self.assertEqual(done.returncode, PERMISSION)
        row = {row["pid"]: row for row in json.loads(done.stdout)}[self.node.pid]
        self.assertTrue(row["error"].endswith(OUTSIDE), row)
        self.assertTrue(done.stderr.strip().endswith(OUTSIDE), done.stderr)

    def test_doctor_names_the_user_namespace(self):
        """Each check that fails names the user namespace."""
        code, found = self.findings(USER, "-p", self.node.pid)
        self.assertEqual(code, PERMISSION)
        self.assertIn("user namespace", found["capabilities"]["found"])
        self.assertTrue(found[f"vm {self.node.pid}"]["found"].endswith(OUTSIDE))
        for check in "BPF program of samples", "PMU", "probes":
            self.assertTrue(found[check]["found"].endswith(HOST_ONLY), found[check])
        _, found = self.findings(USER)
        self.assertEqual(found["VMs"]["status"], "missing", found["VMs"])
        self.assertIn("root of a user namespace may not read", found["VMs"]["found"])

    def test_vm_of_the_namespace_is_listed_and_dumped(self):
        """A VM that runs in the namespace can be read there, and sampling names what forbids it."""
        script = f"""
            (sleep 30; kill $$) & killer=$!
            mkfifo in; exec 3<>in
            erl -noshell -eval 'io:put_chars("ready\\n")' <in >said & node=$!
            until grep -q ready said; do sleep 0.1; done
            {beamflame.BINARY} ps --json >ps.json 2>/dev/null
            {beamflame.BINARY} dump -p $node --json >dump.json 2>dump.said; echo $? >dump.code
            {beamflame.BINARY} -p $node -d 1 -o x.bfr 2>record.said; echo $? >record.code
            kill -KILL $node $killer"""
        folder = beamflame.folder(self.addCleanup)
        for inside in USER, USER_AND_PID:
            with self.subTest(inside):
                for path in folder.iterdir():
                    path.unlink()
                subprocess.run([*inside, "sh", "-c", script], timeout=60, cwd=folder, check=False,
                               env={**os.environ, "HOME": str(folder)})
                said = {path.name: path.read_text() for path in folder.iterdir()
                        if path.name != "in"}
                rows = [row for row in json.loads(said["ps.json"]) if "error" not in row]
                self.assertEqual([row["otp_release"] for row in rows], ["25"])
                self.assertEqual(said["dump.code"].strip(), str(DONE), said["dump.said"])
                self.assertGreater(len(json.loads(said["dump.json"])["processes"]), 20)
                self.assertNotIn("x.bfr", said)
                self.check_refusal(inside, said)

    def check_refusal(self, inside, said):
        if inside is USER:
            self.assertEqual(said["record.code"].strip(), str(PERMISSION))
            self.assertIn(f"not permitted to load BPF programs: {HOST_ONLY}", said["record.said"])
        else:
            self.assertEqual(said["record.code"].strip(), str(FAILED))
            self.assertIn("this container does not know the host's process ids",
                          said["record.said"])

    def test_reports_and_diffs_work(self):
        """report and diff read recordings, with the same result as outside."""
        folder = beamflame.folder(self.addCleanup)
        recording = folder / "x.bfr"
        beamflame.record("-p", self.node.pid, "-d", 1, "-e", "wall", "-o", recording)
        outside = beamflame.record("report", recording, "--format", "folded", "-o", "-").stdout
        for inside in USER, USER_AND_PID:
            done = self.run_in(inside, "report", recording, "--format", "folded", "-o", "-")
            self.assertEqual((done.returncode, done.stdout), (DONE, outside), done.stderr)
            done = self.run_in(inside, "diff", recording, recording, "--format", "text", "-o", "-")
            self.assertEqual(done.returncode, DONE, done.stderr)


class PidNamespace(Inside):
    def test_host_pids_are_unknown(self):
        """In a pid namespace a VM outside is not there, and the message says what shows it."""
        pid = self.node.pid
        for inside in USER_AND_PID, PID:
            message = f"there is no process {pid} in this pid namespace"
            for command in ("-p", pid, "-o", "x.bfr"), ("dump", "-p", pid), ("probes", "-p", pid):
                self.refused(NO_PROCESS, message, inside, *command)
            self.refused(NO_PROCESS, "no Erlang VM is running in this container: to see those "
                         f"outside, run beamflame in the {HOST_PIDS}", inside, "-a", "-d", 1,
                         "-o", "x.bfr")
            self.refused(DONE, "only processes of this container are visible: to see others, run "
                         f"beamflame in the {HOST_PIDS}", inside, "ps")
            code, found = self.findings(inside)
            self.assertEqual(code, UNSUPPORTED)
            self.assertIn(HOST_PIDS, found["pid namespace"]["advice"])
            self.assertEqual(found["VMs"]["found"], "none runs in this pid namespace")


if __name__ == "__main__":
    unittest.main()
