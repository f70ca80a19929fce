# SPDX-License-Identifier: Apache-2.0
"""Applications in pods: containerd runs them as it does for a kubelet, with the same cgroups, the same
annotations, and the same files of its own. There is no kubelet, so there are no logs of one."""
import hashlib
import shutil
import subprocess
import time
import unittest
import uuid
from pathlib import Path

import applications
import beamflame

STATE = Path("/run/containerd")  # where the agent looks
TASKS = STATE / "io.containerd.runtime.v2.task" / "k8s.io"
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
CONFIGURATION = """
version = 2
root = "{folder}/root"
state = "{state}"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt"]
[grpc]
address = "{folder}/socket"
"""


class Containerd:
    """containerd: that of the host, or one that runs until the end of the test."""

    def __init__(self, test):
        if not shutil.which("containerd") or not shutil.which("ctr"):
            raise unittest.SkipTest("containerd is not installed")
        self.address = STATE / "containerd.sock"
        if not self.answers():
            self.start(test)

    def start(self, test):
        test.addCleanup(shutil.rmtree, STATE, ignore_errors=True)
        folder = beamflame.folder(test.addCleanup)
        self.address = folder / "socket"
        config = folder / "config.toml"
        config.write_text(CONFIGURATION.format(folder=folder, state=STATE))
        with open(folder / "log", "wb") as log:
            process = subprocess.Popen(["containerd", "--config", config], stdout=log, stderr=log)
        test.addCleanup(process.wait)
        test.addCleanup(process.terminate)
        deadline = time.monotonic() + 60
        while not self.answers():
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError((folder / "log").read_text()[-2000:])
            time.sleep(0.1)

    def answers(self):
        return self.ctr("version").returncode == 0

    def command(self, *arguments):
        return ["ctr", "--address", self.address, "--namespace", "k8s.io", *arguments]

    def ctr(self, *arguments):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False)


class Pod:
    """A pod with one container."""

    def __init__(self, containerd, name_space, name, container, annotations=()):
        self.containerd = containerd
        self.name_space, self.name, self.container = name_space, name, container
        self.uid = str(uuid.uuid4())
        self.id = hashlib.sha256(self.uid.encode()).hexdigest()
        self.annotations = {  # github.com/containerd/containerd v2.1.0, internal/cri/annotations
            "io.kubernetes.cri.container-type": "container",
            "io.kubernetes.cri.sandbox-namespace": name_space,
            "io.kubernetes.cri.sandbox-name": name,
            "io.kubernetes.cri.sandbox-uid": self.uid,
            "io.kubernetes.cri.container-name": container,
            **dict(annotations)}

    def command(self, release, lab, pid_file, environment):
        """Return the command that runs erl in the container."""
        given = [f"--annotation={key}={value}" for key, value in self.annotations.items()]
        given += [f"--env={key}={value}" for key, value in
                  {"PATH": "/usr/bin:/bin", **environment}.items()]
        root = applications.root(release)
        (root / "lab").mkdir(exist_ok=True)
        return self.containerd.command(
            "run", "--rm", "--rootfs", "--read-only", "--net-host", f"--pid-file={pid_file}",
            f"--cgroup=/kubepods/burstable/pod{self.uid}/{self.id}", *given,
            f"--mount=type=bind,src={lab},dst=/lab,options=rbind:ro",
            "--mount=type=tmpfs,src=tmpfs,dst=/tmp,options=mode=1777", root, self.id,
            "/usr/lib/erlang/bin/erl")


class SilentPod(Pod):
    """The same of a runtime whose files are not known: only the pod itself has its names."""

    def __init__(self, test, containerd, name_space, name):
        super().__init__(containerd, name_space, name, None)
        self.annotations = {}
        self.account = beamflame.folder(test.addCleanup)
        (self.account / "..data").mkdir()  # as the kubelet mounts a token
        (self.account / "..data" / "namespace").write_text(name_space)
        (self.account / "namespace").symlink_to("..data/namespace")

    def command(self, release, lab, pid_file, environment):
        *options, root, name, erl = super().command(release, lab, pid_file, environment)
        mount = f"--mount=type=bind,src={self.account},dst={ACCOUNT},options=rbind:ro"
        # In the host's network, ctr sets HOSTNAME itself.
        return [*options, mount, root, name, "/usr/bin/env", f"HOSTNAME={self.name}", erl]


class InPod:
    """An application of a pod: class RabbitMQInPod(InPod, RabbitMQ)."""

    def __init__(self, pod):
        self.pod = pod
        super().__init__()

    def launcher(self, release, lab, pid_file, environment):
        return self.pod.command(release, lab, pid_file, environment), {}

    def kill(self):
        self.pod.containerd.ctr("task", "kill", "--signal", "KILL", self.pod.id)
        self.process.wait(30)
        self.folder.cleanup()
