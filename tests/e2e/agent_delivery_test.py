# SPDX-License-Identifier: Apache-2.0
"""The agent as it is delivered: the image with what the DaemonSet gives it, and the program with the
restrictions of systemd's unit. A container runtime applies both."""
import functools
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tarfile
import time
import unittest
from pathlib import Path

import beamflame
import nodes
from agent_test import EVENTS, INTERVAL, Service, named
from applications import free_port

NEEDS = "all nodes"
UNIFIED = Path("/sys/fs/cgroup/cgroup.controllers").exists()  # cgroup v2: each container sees its own
PARANOID = int(Path("/proc/sys/kernel/perf_event_paranoid").read_text(encoding="ascii")) > 2
DEPLOY = nodes.ROOT / "deploy"
VERSION = re.search(r"^VERSION := (\S+)", (nodes.ROOT / "Makefile").read_text(), re.M)[1]
IMAGE = nodes.BUILD / "image" / f"beamflame-{VERSION}.tar"
DYNAMIC_USER = 61184  # the first that systemd gives to DynamicUser= (systemd 252, UIDS-GIDS.md)
CAP_SYS_RESOURCE = 24  # linux/capability.h
EPERM = "SCMP_ACT_ERRNO"
WRITE, EXECUTE = 2, 4  # PROT_WRITE, PROT_EXEC
NAMESPACES = 0x7E020000  # all CLONE_NEW* flags but that of time
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}


def made_image():
    """Make the image, unless it is newer than the program."""
    if not IMAGE.exists() or IMAGE.stat().st_mtime < beamflame.BINARY.stat().st_mtime:
        subprocess.run([nodes.ROOT / "tools" / "image", nodes.BUILD, VERSION], check=True,
                       stdout=subprocess.DEVNULL)
    return IMAGE


def unpack_image(folder):
    """Unpack the image for a container runtime; return the folder of its bundle."""
    if not shutil.which("umoci"):
        raise unittest.SkipTest("umoci is not installed")
    with tarfile.open(made_image()) as archive:
        archive.extractall(folder / "layout")
    subprocess.run(["umoci", "unpack", "--image", f"{folder / 'layout'}:beamflame:{VERSION}",
                    folder / "bundle"], check=True, capture_output=True)
    return folder / "bundle"


def deployed(path):
    """Return what a YAML file of deploy/ says."""
    try:
        import yaml
    except ImportError as error:
        raise unittest.SkipTest("python3-yaml is not installed") from error
    return yaml.safe_load((DEPLOY / path).read_text(encoding="utf-8"))


def held(capabilities):
    """Return those of the capabilities that this machine can give. CAP_SYS_RESOURCE may be missing:
    only kernels before Linux 5.11 need it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    bounding = int(re.search(r"^CapBnd:\s*(\w+)", status, re.M)[1], 16)
    if bounding >> CAP_SYS_RESOURCE & 1:
        return capabilities
    return [name for name in capabilities if name != "CAP_SYS_RESOURCE"]


class Delivered(unittest.TestCase):
    def setUp(self):
        beamflame.require()
        nodes.require(27)
        if not shutil.which("runc"):
            raise unittest.SkipTest("runc is not installed")
        self.out = beamflame.folder(self.addCleanup)
        self.out.chmod(0o755)
        self.spool = self.out / "spool"
        self.spool.mkdir()

    def configure(self):
        """Start a service, and write a configuration that names it."""
        self.config = self.out / "etc"
        self.config.mkdir()
        self.port = free_port()
        self.service = Service(self, "pyroscope")
        (self.config / "agent.yaml").write_text(
            f"record:\n  interval: {INTERVAL}\n  cpu: 99\nhttp:\n  listen: 127.0.0.1:{self.port}\n"
            f"push:\n  - protocol: pyroscope\n    url: {self.service.url}\n")

    def start(self, bundle, spec):
        """Start the container; the end of the test kills it."""
        (bundle / "config.json").write_text(json.dumps(spec))
        name = f"beamflame-test-{os.getpid()}"
        runc = ["runc", "--root", str(self.out / "state")]
        self.process = subprocess.Popen([*runc, "run", "--bundle", str(bundle), name], text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.addCleanup(subprocess.run, [*runc, "delete", "--force", name], capture_output=True,
                        check=False)

    def answer(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except ConnectionRefusedError:
            return 0
        finally:
            connection.close()

    def check_agent(self, listens=True):
        """The agent profiles a VM of another container by all events, with names of the kernel's
        functions, answers probes if it listens, and ends in time."""
        with nodes.Node(27, "request", flags=named("shop")) as node:
            deadline = time.monotonic() + 120  # other VMs of the host are profiled too
            while not EVENTS <= self.service.names("shop"):
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.process.terminate()
                    self.fail(f"only {self.service.names('shop')}: {self.process.communicate()[0]}")
                time.sleep(0.2)
            if listens:
                self.assertEqual((self.answer("/healthz"), self.answer("/readyz")), (200, 200))
            self.process.send_signal(signal.SIGTERM)
            said, _ = self.process.communicate(timeout=30)
            self.assertIsNone(node.process.poll())
        self.assertEqual(self.process.returncode, 0, said)
        self.assertNotIn("not permitted", said)
        self.assertNotIn("shop", said, "a warning about the VM")
        recordings = sorted(self.spool.glob("*.bfr"))
        done = beamflame.run("report", *recordings, "--node", "shop", "-e", "cpu", "-o", "-",
                             "--format", "folded")
        frames = {frame for line in done.stdout.splitlines()
                  for frame in line.rpartition(" ")[0].split(";")}
        self.assertTrue(any("request:" in frame for frame in frames), frames)
        self.assertTrue(any(frame.startswith("erts_") for frame in frames), frames)
        symbols = Path("/proc/kallsyms").read_text(encoding="ascii")
        self.assertTrue(frames & {line.split()[2] for line in symbols.splitlines()}, frames)
        return said


class DaemonSet(Delivered):
    """The image is unpacked, and `self.pod` is what the DaemonSet says of its pod."""

    def setUp(self):
        super().setUp()
        self.configure()
        self.pod = deployed("kubernetes/base/daemonset.yaml")["spec"]["template"]["spec"]
        unpack_image(self.out)

    def spec(self, admin):
        """Return the runtime's specification of the DaemonSet's container, as containerd makes it."""
        container = self.pod["containers"][0]
        context = container["securityContext"]
        given = [f"CAP_{name}" for name in context["capabilities"]["add"]]
        given = held(given + (["CAP_SYS_ADMIN"] if admin else []))
        spec = json.loads((self.out / "bundle" / "config.json").read_text())
        spec["process"].update(
            terminal=False, args=[*spec["process"]["args"], *container["args"]],
            noNewPrivileges=not context["allowPrivilegeEscalation"],
            user={"uid": context["runAsUser"], "gid": context["runAsGroup"]},
            capabilities={kind: given for kind in ("bounding", "effective", "permitted")})
        spec["root"]["readonly"] = context["readOnlyRootFilesystem"]
        # A pod with the host's network has the host's name too.
        own = {"pid": self.pod["hostPID"], "network": self.pod["hostNetwork"],
               "uts": self.pod["hostNetwork"], "cgroup": not UNIFIED}
        spec["linux"]["namespaces"] = [space for space in spec["linux"]["namespaces"]
                                       if not own.get(space["type"])]
        spec["linux"].pop("seccomp", None)
        spec.pop("hostname", None)
        sources = {"config": self.config, "spool": self.spool}
        for mount in container["volumeMounts"]:
            source = sources.get(mount["name"], self.out / mount["name"])
            source.mkdir(exist_ok=True)
            mode = "ro" if mount.get("readOnly") else "rw"
            spec["mounts"].append({"destination": mount["mountPath"], "source": str(source),
                                   "type": "none", "options": ["rbind", mode]})
        return spec


class Image(DaemonSet):
    def test_image_runs_with_what_the_daemon_set_has(self):
        self.start(self.out / "bundle", self.spec(PARANOID))
        self.check_agent()


def unit_settings():
    """Return {key: [values]} of systemd's unit."""
    settings = {}
    text = (DEPLOY / "systemd" / "beamflame-agent.service").read_text(encoding="utf-8")
    for key, value in re.findall(r"^(\w+)=(.*)$", text, re.M):
        settings.setdefault(key, []).append(value)
    return settings


@functools.cache
def calls_of(group):
    """Return the system calls of a group of systemd."""
    if not group.startswith("@"):
        return {group}
    done = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", group], text=True,
                          capture_output=True, check=True)
    words = [line.split()[0] for line in done.stdout.splitlines()[1:]
             if line.strip() and not line.strip().startswith("#")]
    return set().union(*(calls_of(word) for word in words))


def permitted_calls(settings):
    """Return the system calls that the unit permits."""
    permitted = set()
    for value in settings["SystemCallFilter"]:
        calls = set().union(*map(calls_of, value.lstrip("~").split()))
        permitted = permitted - calls if value.startswith("~") else permitted | calls
    return permitted | calls_of("@default")


def argument(index, value, op, mask=0):
    return {"index": index, "op": op, **({"value": mask, "valueTwo": value} if mask else
                                         {"value": value})}


def seccomp(settings):
    """Return the filter of the unit in the form of the runtime."""
    def rule(names, *args):
        return {"names": sorted(names), "action": "SCMP_ACT_ALLOW", "args": list(args)}

    permitted = permitted_calls(settings)
    special = {"socket", "mmap", "mprotect", "pkey_mprotect", "clone", "unshare", "setns", "clone3"}
    families = settings["RestrictAddressFamilies"][0].split()
    equal, masked = "SCMP_CMP_EQ", "SCMP_CMP_MASKED_EQ"
    rules = [rule(permitted - special)]
    rules += [rule({"socket"}, argument(0, FAMILIES[name], equal)) for name in families]
    # MemoryDenyWriteExecute=, and RestrictNamespaces=
    rules += [rule({"mmap"}, argument(2, value, masked, WRITE | EXECUTE))
              for value in (0, WRITE, EXECUTE)]
    rules += [rule({"mprotect", "pkey_mprotect"}, argument(2, 0, masked, EXECUTE)),
              rule({"clone"}, argument(0, 0, masked, NAMESPACES))]
    rules.append({"names": ["clone3"], "action": EPERM, "errnoRet": 38})
    return {"defaultAction": EPERM, "defaultErrnoRet": 1, "syscalls": rules}


class Unit(Delivered):
    def setUp(self):
        super().setUp()
        self.configure()
        if not shutil.which("systemd-analyze"):
            raise unittest.SkipTest("systemd-analyze is not installed")

    def spec(self, settings):
        """Return the runtime's specification of what the unit has: a user, capabilities, the filter
        of system calls, files that can be read and written, namespaces."""
        bundle = self.out / "bundle"
        (bundle / "rootfs").mkdir(parents=True)
        for name in ("bin", "sbin", "lib", "lib64"):
            (bundle / "rootfs" / name).symlink_to(f"usr/{name}")
        subprocess.run(["runc", "spec"], cwd=bundle, check=True)
        spec = json.loads((bundle / "config.json").read_text())
        program = self.out / "program"
        program.mkdir()
        shutil.copy(beamflame.BINARY, program)
        command = settings["ExecStart"][0].replace("/usr/bin/", f"{program}/").replace(
            "/etc/beamflame/", f"{self.config}/").split()
        bounding, ambient = (" ".join(settings[key]).split() for key in
                             ("CapabilityBoundingSet", "AmbientCapabilities"))
        self.assertEqual(sorted(bounding), sorted(ambient))
        os.chown(self.spool, DYNAMIC_USER, DYNAMIC_USER)
        spec["process"].update(
            terminal=False, args=command, cwd="/", noNewPrivileges=True,
            user={"uid": DYNAMIC_USER, "gid": DYNAMIC_USER, "umask": 0o077},
            rlimits=[{"type": "RLIMIT_CORE", "soft": 0, "hard": 0}],
            capabilities={kind: held(bounding) for kind in
                          ("bounding", "effective", "permitted", "inheritable", "ambient")})
        spec["mounts"].append({"destination": "/tmp", "source": "tmpfs", "type": "tmpfs",
                               "options": ["nosuid", "nodev", "mode=1777"]})
        for path, source, mode in (("/usr", "/usr", "ro"), ("/etc", "/etc", "ro"),
                                   (str(program), str(program), "ro"),
                                   (str(self.config), str(self.config), "ro"),
                                   ("/var/lib/beamflame", str(self.spool), "rw")):
            spec["mounts"].append({"destination": path, "source": source, "type": "none",
                                   "options": ["rbind", mode]})
        spec["root"]["readonly"] = True
        spec["linux"]["namespaces"] = [{"type": kind} for kind in ("mount", "ipc", "uts")]
        spec["linux"]["seccomp"] = seccomp(settings)
        spec["linux"]["maskedPaths"] = []
        spec["linux"]["readonlyPaths"] = settings["ReadOnlyPaths"][0].split()
        return bundle, spec

    def test_program_works_with_the_restrictions_of_the_unit(self):
        self.start(*self.spec(unit_settings()))
        self.check_agent()


if __name__ == "__main__":
    unittest.main()
