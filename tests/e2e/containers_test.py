# SPDX-License-Identifier: Apache-2.0
"""beamflame in a container, as a DaemonSet runs it (hostPID) and as a program beside the VM: with
the capabilities that docs/security.md lists it records VMs of the host and of other containers;
what is missing is named."""
import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

import beamflame
import nodes
from beamflame import DONE, FAILED, PERMISSION
from capabilities_test import NEEDED, TO_READ, TO_LOAD, missing, named, start_node

NEEDS = "all nodes"
PARANOID = int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) > 2
LISTED = (*NEEDED, "syslog", *(("sys_admin",) if PARANOID else ()))
# What Docker and containerd give to a container: github.com/moby/moby v27.0.0,
# oci/caps/defaults.go.
DEFAULT = ("chown", "dac_override", "fsetid", "fowner", "mknod", "net_raw", "setgid", "setuid",
           "setfcap", "setpcap", "net_bind_service", "sys_chroot", "kill", "audit_write")
OTHER = 65533  # the user of the host's VM


def all_capabilities():
    """Return the names of what this process has: a privileged container has no more."""
    shown = subprocess.run(["setpriv", "--dump"], stdout=subprocess.PIPE, text=True, check=True)
    line = next(line for line in shown.stdout.splitlines() if "bounding set" in line)
    return tuple(line.partition(": ")[2].split(","))


class Containers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        if not shutil.which("runc"):
            raise unittest.SkipTest("runc is not installed")
        cls.bundle = beamflame.folder(cls.addClassCleanup)
        cls.make_root(cls.bundle / "rootfs")
        subprocess.run(["runc", "spec"], cwd=cls.bundle, check=True)
        cls.spec = json.loads((cls.bundle / "config.json").read_text())
        cls.pid = start_node(cls, OTHER, "request")  # of the host

    def setUp(self):
        self.out = beamflame.folder(self.addCleanup)

    @staticmethod
    def make_root(root):
        root.mkdir()
        for name in ("bin", "sbin", "lib", "lib64"):
            (root / name).symlink_to(f"usr/{name}")

    def write_spec(self, command, capabilities, host_pids, filtered):
        """Write config.json (github.com/opencontainers/runtime-spec)."""
        spec = json.loads(json.dumps(self.spec))
        held = [f"CAP_{name.upper()}" for name in capabilities]
        spec["process"].update(
            terminal=False, args=[str(word) for word in command], cwd="/out",
            capabilities={kind: held for kind in ("bounding", "effective", "permitted")})
        bound = {"/usr": "ro", "/etc": "ro", str(beamflame.BINARY.parent): "ro",
                 "/out": "rw"}
        for path, mode in bound.items():
            source = str(self.out) if path == "/out" else path
            spec["mounts"].append({"destination": path, "source": source, "type": "none",
                                   "options": ["rbind", mode]})
        if host_pids:
            spec["linux"]["namespaces"] = [space for space in spec["linux"]["namespaces"]
                                           if space["type"] != "pid"]
        if filtered:
            spec["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
                {"names": filtered, "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]}
        (self.bundle / "config.json").write_text(json.dumps(spec))

    def run_in(self, command, capabilities=LISTED, host_pids=True, filtered=()):
        """Run a command in a new container to its end; return the finished process."""
        name = f"beamflame-test-{os.getpid()}"
        self.write_spec(command, capabilities, host_pids, filtered)
        # On a loaded machine runc warns that a cgroup is busy, and removes it later.
        runc = ["runc", "--log", str(self.bundle / "log"), "--root", str(self.bundle / "state")]
        try:
            return subprocess.run([*runc, "run", "--bundle", str(self.bundle), name], text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        finally:
            subprocess.run([*runc, "delete", "--force", name], capture_output=True, check=False)

    def beamflame(self, *arguments, **options):
        return self.run_in([beamflame.BINARY, *arguments], **options)

    def check_recording(self, pid, **options):
        done = self.beamflame("-q", "-p", pid, "-d", 1, "-F", 499, "-e", "cpu,wall,gc", "--budget",
                              100, "-o", "x.bfr", "--stats", "stats.json", **options)
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        stacks = beamflame.folded(self.out / "x.bfr", "-e", "cpu")
        erlang = beamflame.weight_where(stacks, lambda stack: any("request:" in f for f in stack))
        self.assertGreater(erlang, 20)
        names = {frame for stack in stacks for frame in stack}
        self.assertTrue(any(name.startswith("erts_") for name in names), names)
        stats = json.loads((self.out / "stats.json").read_text())
        self.assertGreater(stats["events"]["gc"]["hits"], 0)

    def check_all(self, pid, capabilities):
        """All commands work on a VM."""
        self.check_recording(pid, capabilities=capabilities)
        done = self.beamflame("ps", "--json", capabilities=capabilities)
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        row = {row["pid"]: row for row in json.loads(done.stdout)}[pid]
        self.assertNotIn("error", row)
        done = self.beamflame("dump", "-p", pid, "--json", capabilities=capabilities)
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        self.assertGreater(len(json.loads(done.stdout)["processes"]), 20)
        done = self.beamflame("probes", "-p", pid, capabilities=capabilities)
        self.assertEqual(done.returncode, DONE, done.stderr)
        done = self.beamflame("doctor", "-p", pid, "--json", capabilities=capabilities)
        self.assertEqual(done.returncode, DONE, done.stdout)

    def test_privileged_container_records_the_host(self):
        """A privileged container that sees the host's pids records a VM of the host."""
        self.check_all(self.pid, all_capabilities())

    def test_listed_capabilities_are_enough_for_vms_of_the_host(self):
        """Those that docs/security.md lists are enough."""
        self.check_all(self.pid, LISTED)

    def test_listed_capabilities_are_enough_for_vms_of_other_containers(self):
        """Files of the VM are those of its own root, which are not in this container."""
        with nodes.Node(27, "request", ns=True) as node:
            self.check_all(node.pid, LISTED)

    def test_missing_capabilities_are_named(self):
        """With those that a container has by default, or all but one, the message names what is
        missing, and nothing else."""
        for capabilities in DEFAULT, *(tuple(c for c in LISTED if c != left_out)
                                       for left_out in NEEDED):
            held = (*capabilities, *(("dac_read_search",) if "dac_override" in capabilities
                                     else ()))
            lacks = missing(TO_READ, held) or missing(TO_LOAD, held)
            with self.subTest(capabilities):
                done = self.beamflame("-q", "-p", self.pid, "-d", 1, "-o", "x.bfr",
                                      capabilities=capabilities)
                self.assertEqual(done.returncode, PERMISSION, done.stderr)
                self.assertEqual(named(done.stderr), lacks, done.stderr)
        done = self.beamflame("-a", "-d", 1, "-o", "x.bfr", capabilities=DEFAULT)
        self.assertEqual(done.returncode, PERMISSION, done.stderr)
        self.assertEqual(named(done.stderr), {"sys_ptrace"}, done.stderr)
        done = self.beamflame("ps", capabilities=DEFAULT)
        self.assertEqual((done.returncode, named(done.stderr)), (PERMISSION, {"sys_ptrace"}))

    def test_filter_of_system_calls_is_named(self):
        """Where the container's filter refuses bpf(), the message says what may have done it."""
        done = self.beamflame("-q", "-p", self.pid, "-d", 1, "-o", "x.bfr", filtered=["bpf"])
        self.assertEqual(done.returncode, PERMISSION, done.stderr)
        self.assertIn("not permitted to load BPF programs, although no capability is missing: a "
                      "security module or a filter of system calls (seccomp) forbids it",
                      done.stderr)

    def test_container_without_the_hosts_pids_reads_its_own_vm_only(self):
        """In a pid namespace of its own, beamflame lists and dumps VMs of its container; to record
        takes the pids of the host, and the message says how to get them."""
        command = f"""
            mkfifo in; exec 3<>in
            HOME=/out erl -noshell -eval 'io:put_chars("ready\\n")' <in >said & node=$!
            until grep -q ready said; do sleep 0.1; done
            {beamflame.BINARY} ps --json >ps.json 2>ps.said; echo $? >ps.code
            {beamflame.BINARY} dump -p $node --json >dump.json 2>dump.said; echo $? >dump.code
            {beamflame.BINARY} -p $node -d 1 -o x.bfr 2>record.said; echo $? >record.code
            kill -KILL $node"""
        self.run_in(["timeout", "40", "sh", "-c", command], host_pids=False)
        said = {path.name: path.read_text() for path in self.out.iterdir() if path.is_file()}
        self.assertEqual((said["ps.code"].strip(), said["ps.said"]), (str(DONE), ""))
        self.assertEqual([row.get("otp_release") for row in json.loads(said["ps.json"])], ["25"])
        self.assertEqual(said["dump.code"].strip(), str(DONE), said["dump.said"])
        self.assertGreater(len(json.loads(said["dump.json"])["processes"]), 20)
        self.assertEqual(said["record.code"].strip(), str(FAILED))
        self.assertIn("run beamflame in the host's pid namespace (hostPID: true)",
                      said["record.said"])
        self.assertNotIn("x.bfr", said)


if __name__ == "__main__":
    unittest.main()
