# SPDX-License-Identifier: Apache-2.0
"""Erlang nodes for tests: real releases, each running one of the loads of tests/loads."""
import json
import os
import select
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BEAMFLAME_BUILD", ROOT / "build")).resolve()
OTP_LAB = ROOT / "tools" / "otp-lab"
LOADS = ROOT / "tests" / "loads"
OWN = "BEAMFLAME_OTP_"  # OWN + release: where that release is (tools/otp-lab)
RELEASES = sorted({25, 27, 29, *(int(v[len(OWN):]) for v in os.environ if v.startswith(OWN))})
BUILDS = ["27-usdt", "27-usdt-dwarf"]  # of 27, with USDT probes; stripped and unstripped

# With these flags idle schedulers do not spin: the CPU time of a node is that of its processes.
NO_BUSY_WAIT = ("+sbwt", "none", "+sbwtdcpu", "none", "+sbwtdio", "none")


def require(release):
    """Skip the test if nodes of this release cannot run."""
    if os.geteuid() != 0:
        raise unittest.SkipTest("needs root")
    have = subprocess.run([OTP_LAB, "available"], capture_output=True, text=True, check=True)
    if str(release) not in have.stdout.split():
        raise unittest.SkipTest(f"OTP {release} is not installed (tools/otp-lab fetch {release})")


def otp(release):
    """Return the OTP release, as the VM has it, of a release or build."""
    return str(release).partition("-")[0]


def emulator(release):
    """Return the path of the beam.smp of a release."""
    require(release)
    done = subprocess.run([OTP_LAB, "emulator", str(release)], stdout=subprocess.PIPE, text=True,
                          check=True)
    return Path(done.stdout.rstrip("\n"))


def each_of(releases):
    """Class decorator: make a test case for each release or build, as its attribute `release`."""
    def make(tests):
        module = sys.modules[tests.__module__]
        for release in releases:
            name = f"{tests.__name__}{otp(release)}"
            case = type(name, (tests, unittest.TestCase), {"release": release})
            case.__module__ = tests.__module__
            setattr(module, name, case)
        return tests
    return make


each_release = each_of(RELEASES)


def compiled_loads(release):
    """Return the folder with the loads, compiled by that release."""
    out = BUILD / "loads" / str(release)
    sources = sorted(LOADS.glob("*.erl"))
    newest = max(p.stat().st_mtime for p in LOADS.iterdir())
    stamp = out / "stamp"
    if not stamp.exists() or stamp.stat().st_mtime < newest:
        out.mkdir(parents=True, exist_ok=True)
        subprocess.run([OTP_LAB, "compile", str(release), out, *sources], check=True)
        for source in LOADS.glob("*_nif.c"):
            subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra",
                            "-Werror", "-shared", "-fPIC", "-I/usr/lib/erlang/usr/include",
                            "-o", out / f"{source.stem}.so", source], check=True)
        stamp.touch()
    return out


class Node:
    """One running node. Use as a context manager: the node ends with the block.

    `pid` is the VM's pid on the host, `ready` the load's first report. 27 and 29 run in their own
    root and, unless `ns` is False, in their own pid and mount namespaces; 25 and the releases of
    the environment run as a process of the host unless `ns` is True. `emulator` is a beam.smp to
    run instead of the release's own.
    """

    def __init__(self, release, load, *options, ns=None, flags=(), emulator=None):
        require(release)
        code = compiled_loads(release)
        in_host = release == 25 or f"{OWN}{release}" in os.environ
        ns = not in_host if ns is None else ns
        self.release = release
        self._pending = b""
        with tempfile.NamedTemporaryFile("r", prefix="beamflame-pid-") as pid_file:
            self.process = subprocess.Popen(
                [OTP_LAB, "run", str(release), *(["--ns"] if ns else []), "--pa", code,
                 "--pid-file", pid_file.name,
                 *(["--emulator", emulator] if emulator else []),
                 "--", *flags, "-noshell", "-s", load, "start", "-extra", *options],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
            try:
                self.ready = self._next("ready")
                self.pid = int(pid_file.read())
            except BaseException:
                self.kill()
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        """Kill the node with kill -9; its namespace and port programs end with it."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def send(self, line):
        """Write a line to the load's standard input."""
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def tell(self, what):
        """Send a task to the load; return its report when it has done one more task."""
        before = self.report()["done"]
        self.send(f"tell {what}")
        deadline = time.monotonic() + 60
        while (report := self.report())["done"] == before:
            if time.monotonic() > deadline:
                raise AssertionError(f"node of OTP {self.release}: '{what}' takes too long")
            time.sleep(0.05)
        return report

    def take_precedence(self):
        """Give the node's threads real-time priority, so that they hardly wait for a CPU."""
        for tid in os.listdir(f"/proc/{self.pid}/task"):
            os.sched_setscheduler(int(tid), os.SCHED_RR, os.sched_param(1))

    def report(self):
        """Return the load's current report."""
        self.send("report")
        return self._next("report")

    def _next(self, event, timeout=60):
        deadline = time.monotonic() + timeout
        while b"\n" not in self._pending:
            ready, _, _ = select.select([self.process.stdout], [], [],
                                        max(0, deadline - time.monotonic()))
            data = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not data:
                problem = "it ended" if ready else f"none in {timeout} s"
                raise AssertionError(f"node of OTP {self.release}: no '{event}', {problem}; it "
                                     f"said {self._pending.decode(errors='replace')!r}")
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        message = json.loads(line)
        assert message["event"] == event, message
        return message


def difference(after, before, key):
    """Return how much each count under `key` grew between two reports."""
    return {name: after[key][name] - before[key][name] for name in after[key]}


def shares(amounts):
    """Return each amount as a share of their sum."""
    total = sum(amounts.values())
    return {name: amount / total for name, amount in amounts.items()}
