# SPDX-License-Identifier: Apache-2.0
"""The command behind `--` runs as the user who called sudo, with nothing of beamflame's rights and
state."""
import os
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

import beamflame
import nodes

NEEDS = "own nodes"
UID, GID, EXTRA = 54321, 54322, 54323
PASSWD = f"caller:x:{UID}:{GID}::/home/of-caller:/bin/dash\n"
GROUPS = f"caller:x:{GID}:\nextra:x:{EXTRA}:caller\n"
AS_SUDO = {"SUDO_UID": str(UID), "SUDO_GID": str(GID), "SUDO_USER": "caller",
           "SUDO_COMMAND": "/usr/bin/beamflame", "MAIL": "/var/mail/root", "HOME": "/root",
           "USER": "root", "LOGNAME": "root", "SHELL": "/bin/bash"}
# Report what the command finds itself with, then become a node.
COMMAND = """
cat /proc/self/status >status
ls /proc/self/fd >fds
env >env
exec timeout -s KILL 30 erl -noshell -pa "$1" -s request start -extra seconds=2
"""
# Add the users of this test to the databases that the rest of this shell's namespace sees.
WITH_USERS = """
mount --bind "$1/passwd" /etc/passwd && mount --bind "$1/group" /etc/group || exit 99
shift
exec "$@"
"""


def ignore_and_block():
    """What a careless caller leaves to its children, besides descriptor 9."""
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
    os.dup2(0, 9, inheritable=True)


class Command(unittest.TestCase):
    def setUp(self):
        beamflame.require()
        nodes.require(25)
        self.out = beamflame.folder(self.addCleanup)
        self.out.chmod(0o777)
        etc = beamflame.folder(self.addCleanup)
        for name, more in (("passwd", PASSWD), ("group", GROUPS)):
            Path(etc, name).write_text(Path("/etc", name).read_text() + more)
        self.as_sudo = ["unshare", "--mount", "sh", "-c", WITH_USERS, "sh", etc]

    def run_command(self, *options, environment=None, code=beamflame.DONE):
        """Profile the command; return (its status, its environment, its descriptors)."""
        # Of the standard input the command gets one end, and ends when the other end is closed.
        keyboard, silent = os.pipe()
        self.addCleanup(os.close, keyboard)
        self.addCleanup(os.close, silent)
        with tempfile.TemporaryDirectory(prefix="beamflame-test-") as loads:
            os.chmod(loads, 0o755)
            for pattern in ("*.beam", "*.so"):
                for file in nodes.compiled_loads(25).glob(pattern):
                    shutil.copy(file, loads)
            done = subprocess.run(
                [*self.as_sudo, beamflame.BINARY, *options, "-q", "-o", self.out / "x.bfr",
                 "--", "sh", "-c", COMMAND, "sh", loads],
                env={**os.environ, **(environment or {})}, stdin=keyboard, capture_output=True,
                text=True, timeout=60, cwd=self.out, preexec_fn=ignore_and_block, close_fds=False)
        self.assertEqual(done.returncode, code, done.stderr)
        if code != beamflame.DONE:
            return done
        status = dict(line.split(":\t", 1) for line in
                      Path(self.out, "status").read_text().splitlines() if ":\t" in line)
        variables = dict(line.split("=", 1) for line in
                         Path(self.out, "env").read_text().splitlines() if "=" in line)
        return status, variables, Path(self.out, "fds").read_text().split()

    def check_no_rights(self, status):
        for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            self.assertEqual(int(status[kind], 16), 0, kind)

    def check_clean(self, status, descriptors):
        ignored = int(status["SigIgn"], 16)
        for number in 32, 33:  # of the C library alone, which whoever started us may have ignored
            ignored &= ~(1 << number - 1)
        self.assertEqual(ignored, 0)
        self.assertEqual(int(status["SigBlk"], 16), 0)
        self.assertEqual(descriptors, ["0", "1", "2", "3"])  # 3: the folder that ls reads

    def test_command_runs_as_the_caller_of_sudo(self):
        """Under sudo, the command has the caller's ids, groups and environment, and no
        capabilities. It may still become root, by sudo."""
        status, variables, descriptors = self.run_command(environment=AS_SUDO)
        self.assertEqual(status["Uid"].split(), 4 * [str(UID)])
        self.assertEqual(status["Gid"].split(), 4 * [str(GID)])
        self.assertEqual(sorted(map(int, status["Groups"].split())), [GID, EXTRA])
        self.check_no_rights(status)
        self.check_clean(status, descriptors)
        self.assertEqual(status["NoNewPrivs"], "0")
        self.assertEqual({name: variables.get(name) for name in ("HOME", "USER", "LOGNAME", "SHELL")},
                         {"HOME": "/home/of-caller", "USER": "caller", "LOGNAME": "caller",
                          "SHELL": "/bin/dash"})
        self.assertEqual([name for name in variables if name.startswith("SUDO_")], [])
        self.assertNotIn("MAIL", variables)
        self.assertGreater(sum(beamflame.folded(self.out / "x.bfr").values()), 20)

    def test_caller_without_an_entry_has_only_ids(self):
        """A user without an entry has his number, his group, and no others."""
        self.as_sudo = []
        status, variables, _ = self.run_command(environment=AS_SUDO)
        self.assertEqual(status["Uid"].split(), 4 * [str(UID)])
        self.assertEqual(status["Groups"].split(), [str(GID)])
        self.check_no_rights(status)
        self.assertEqual(variables["HOME"], "/")
        self.assertNotIn("USER", variables)

    def test_user_root_keeps_root(self):
        """--user root keeps root and the environment. Signals and descriptors are clean."""
        status, variables, descriptors = self.run_command("--user", "root", environment=AS_SUDO)
        self.assertEqual(status["Uid"].split(), 4 * ["0"])
        self.assertNotEqual(int(status["CapEff"], 16), 0)
        self.check_clean(status, descriptors)
        self.assertEqual(variables["HOME"], "/root")

    def test_root_without_sudo_starts_commands_of_root(self):
        """Root without sudo starts a command of root."""
        plain = {name: "" for name in ("SUDO_UID", "SUDO_GID", "PKEXEC_UID", "DOAS_USER")}
        status, _, descriptors = self.run_command(environment=plain)
        self.assertEqual(status["Uid"].split(), 4 * ["0"])
        self.check_clean(status, descriptors)

    def test_option_user_precedes_the_caller_of_sudo(self):
        """--user NAME takes precedence over the caller of sudo."""
        status, variables, _ = self.run_command("--user", "nobody", environment=AS_SUDO)
        self.assertEqual(status["Uid"].split(), 4 * ["65534"])
        self.assertEqual(status["Groups"].split(), ["65534"])
        self.check_no_rights(status)
        self.assertEqual(variables["USER"], "nobody")

    def test_capabilities_of_a_user_end_with_beamflame(self):
        """A user who runs beamflame with ambient capabilities does not pass them to the command."""
        folder = beamflame.folder(self.addCleanup)
        folder.chmod(0o755)
        binary = shutil.copy(beamflame.BINARY, folder)
        caps = ",".join(f"+{name}" for name in ("bpf", "perfmon", "sys_ptrace", "dac_read_search",
                                                "sys_admin"))
        done = subprocess.run(
            ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
             "--inh-caps", f"-all,{caps}", "--ambient-caps", f"-all,{caps}", binary, "-q",
             "-o", self.out / "x.bfr", "--", "sh", "-c", "cat /proc/self/status"],
            capture_output=True, text=True, timeout=60)
        status = dict(line.split(":\t", 1) for line in done.stdout.splitlines() if ":\t" in line)
        self.assertEqual(status["Uid"].split(), 4 * ["65534"], done.stderr)
        self.check_no_rights(status)

    def test_bad_users_are_usage_errors(self):
        """A user who does not exist, and --user without a command, are usage errors. A user without
        root can't become another one."""
        done = self.run_command("--user", "no-such-user", code=beamflame.USAGE)
        self.assertIn("there is no user 'no-such-user'", done.stderr)
        done = beamflame.run("--user", "nobody", "-p", "1")
        self.assertEqual(done.returncode, beamflame.USAGE)
        self.assertIn("--user is for a command", done.stderr)
        self.as_sudo = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        done = self.run_command("--user", "root", code=beamflame.PERMISSION)
        self.assertIn("as user root: Operation not permitted (run as root)", done.stderr)


if __name__ == "__main__":
    unittest.main()
