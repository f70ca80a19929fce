# SPDX-License-Identifier: Apache-2.0
"""beamflame works on hosts that lack what others have: descriptors, processes, disks that can be
written, all of /proc, tracefs, an environment."""
import json
import os
import subprocess
import time
import unittest
from pathlib import Path

import beamflame
from beamflame import DONE, FAILED, PERMISSION, UNSUPPORTED

READ_ONLY = """
mount --make-rprivate / && mount -o remount,ro,bind / || exit 99
for folder in /tmp /var /run /dev/shm; do
    ! mountpoint -q $folder || mount -o remount,ro,bind $folder || exit 99
done
! touch /tmp/beamflame-test /var/tmp/beamflame-test 2>/dev/null || exit 98
exec "$@"
"""
# A proc of its own: another mount of the same one would change that of the host.
HIDDEN = 'mount -t proc -o hidepid={} proc /proc || exit 99; exec "$@"'
NO_TRACEFS = """
for folder in tracing debug; do
    ! test -d /sys/kernel/$folder || mount -t tmpfs tmpfs /sys/kernel/$folder || exit 99
done
exec "$@"
"""


class PoorHost(beamflame.OneNode, unittest.TestCase):
    def expect(self, code, *command, **options):
        done = subprocess.run([*map(str, command)], capture_output=True, timeout=60, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout, done.stderr.decode()

    def within(self, script, *command):
        """The command in a mount namespace that the script changes."""
        return ["unshare", "--mount", "sh", "-c", script, "sh", *command]

    def own(self, *options):
        return [beamflame.BINARY, "-q", "-p", self.node.pid, "-d", 0.4, "-F", 499, *options]

    def check(self, stacks):
        path = self.out / "stdout.folded"
        path.write_bytes(stacks)
        self.assertGreater(sum(beamflame.read_folded(path).values()), 10)

    def test_few_descriptors_are_enough(self):
        """On a host with few CPUs, a hard limit of 64 descriptors is enough, with events 80. With
        fewer, the message says so."""
        if os.cpu_count() > 4:
            self.skipTest("descriptors are needed for each CPU")
        events = self.own("-e", "cpu,gc,alloc,sched,msg", "--budget", 100, "-o", self.out / "x.bfr")
        for limit, command in ((64, self.own("-o", self.out / "y.bfr")),
                               (64, [beamflame.BINARY, "ps"]),
                               (64, [beamflame.BINARY, "dump", "-p", self.node.pid]),
                               (80, events)):
            with self.subTest(command):
                self.assertNotIn("open files", self.expect(
                    DONE, "prlimit", f"--nofile={limit}:{limit}", *command)[1])
        said = self.expect(FAILED, "prlimit", "--nofile=32:32", *events)[1]
        self.assertIn("open files", said)

    @staticmethod
    def remove_group(group):
        """Processes that end leave their group a moment after their parent has been notified."""
        end = time.monotonic() + 10
        while (group / "cgroup.procs").read_text() and time.monotonic() < end:
            time.sleep(0.05)
        group.rmdir()

    def group_of_processes(self, most):
        """Return a new control group that may have `most` processes and threads."""
        for root in (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup")):  # versions 1, 2
            group = root / f"beamflame-test-{os.getpid()}-{most}"
            if not (root / "cgroup.procs").exists():
                continue
            try:
                group.mkdir()
            except OSError:
                continue
            self.addCleanup(self.remove_group, group)
            if (group / "pids.max").exists():
                (group / "pids.max").write_text(str(most))
                return group
        self.skipTest("no control group can limit processes here")
        return None

    def test_limit_of_processes_is_named(self):
        """With two processes, no command works, and each says what to raise. No VM is blamed. With
        16, all work."""
        for most, code in ((2, FAILED), (16, DONE)):
            inside = ["sh", "-c", 'echo $$ >"$0" && exec "$@"',
                      self.group_of_processes(most) / "cgroup.procs", beamflame.BINARY]
            for command in (["ps"], ["dump", "-p", self.node.pid], ["probes", "-p", self.node.pid],
                            ["doctor"], [*self.own("-o", self.out / f"{most}.bfr")[1:]]):
                with self.subTest(most=most, command=command):
                    # The code of `doctor` is that of what is missed most.
                    wanted = code if code == DONE or command != ["doctor"] else UNSUPPORTED
                    stdout, stderr = self.expect(wanted, *inside, *command)
                    said = stdout.decode() + stderr
                    self.assertEqual("raise the limit of processes" in said, code != DONE)
                    self.assertNotIn("holds back", said)
                    self.assertNotIn("file server", said)

    def test_read_only_disks_are_enough_for_standard_output(self):
        """The recording is in memory, which a warning says; ps and dump write no file."""
        stacks, said = self.expect(DONE, *self.within(
            READ_ONLY, *self.own("--format", "folded", "-o", "-")))
        self.check(stacks)
        self.assertIn("the recording is in memory", said)
        for command in (["ps"], ["dump", "-p", self.node.pid]):
            with self.subTest(command):
                self.expect(DONE, *self.within(READ_ONLY, beamflame.BINARY, *command))

    def test_folder_of_temporary_files_may_be_missing(self):
        """Without a usable TMPDIR, other folders are used; HOME and PATH are not needed."""
        for environment in ({}, {"TMPDIR": "/proc"}):
            with self.subTest(environment):
                stacks, said = self.expect(DONE, *self.own("--format", "folded", "-o", "-"),
                                           env=environment)
                self.check(stacks)
                self.assertEqual(said, "")
        again, _ = self.expect(DONE, beamflame.BINARY, "report", self.out / "stdout.folded",
                               "--format", "folded", "-o", "-", env={"TMPDIR": "/proc"})
        self.check(again)

    def test_root_sees_hidden_processes(self):
        stacks, _ = self.expect(DONE, *self.within(HIDDEN.format(2), *self.own(
            "--format", "folded", "-o", "-")))
        self.check(stacks)

    def test_user_is_told_that_processes_are_hidden(self):
        """Where /proc hides the processes of other users, messages say so, and do not say that
        there is none."""
        user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        binary = self.out / "beamflame"
        binary.write_bytes(beamflame.BINARY.read_bytes())
        binary.chmod(0o755)
        self.out.chmod(0o755)
        for hidepid in (1, 2):
            for command in (["ps"], ["dump", "-p", self.node.pid]):
                with self.subTest(hidepid=hidepid, command=command):
                    _, said = self.expect(PERMISSION, *self.within(
                        HIDDEN.format(hidepid), *user, binary, *command))
                    self.assertIn("/proc hides the processes of other users (hidepid)", said)
        _, said = self.expect(beamflame.NO_PROCESS, *user, binary, "dump", "-p", 2 ** 22)
        self.assertNotIn("hidepid", said)

    def test_events_need_no_tracefs(self):
        stats = self.out / "x.json"
        self.expect(DONE, *self.within(NO_TRACEFS, *self.own(
            "-e", "gc,sched", "--budget", 100, "-o", self.out / "x.bfr", "--stats", stats)))
        events = json.loads(stats.read_text(encoding="utf-8"))["events"]
        self.assertGreater(events["sched"]["hits"], 10)


if __name__ == "__main__":
    unittest.main()
