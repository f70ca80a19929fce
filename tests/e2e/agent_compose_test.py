# SPDX-License-Identifier: Apache-2.0
"""The agent of deploy/docker-compose.yml, started by a container runtime with what that file says."""
import json
import os
import shutil
import subprocess
import unittest
from urllib.parse import urlsplit

from agent_delivery_test import UNIFIED, Delivered, deployed, held, unpack_image
from agent_test import Service

NEEDS = "all nodes"


class Compose(Delivered):
    """The service listens in the network of the container, under the name of the file. Docker answers
    such names by DNS; here /etc/hosts has it."""

    def setUp(self):
        super().setUp()
        if not shutil.which("ip"):
            raise unittest.SkipTest("iproute2 is not installed")
        self.agent = deployed("docker-compose.yml")["services"]["agent"]
        self.bundle = unpack_image(self.out)
        self.network = f"beamflame-test-{os.getpid()}"
        subprocess.run(["ip", "netns", "add", self.network], check=True)
        self.addCleanup(subprocess.run, ["ip", "netns", "delete", self.network], check=False)
        within = ("ip", "netns", "exec", self.network)
        subprocess.run([*within, "ip", "link", "set", "lo", "up"], check=True)
        url = urlsplit(self.agent["environment"]["BEAMFLAME_PUSH_0_URL"])
        self.service = Service(self, "pyroscope", port=url.port, within=within)
        self.hosts = self.out / "hosts"
        self.hosts.write_text(f"127.0.0.1 localhost {url.hostname}\n")

    def mounts(self):
        yield str(self.hosts), "/etc/hosts", "ro"
        for volume in self.agent["volumes"]:
            self.assertEqual(volume.partition(":")[0], "spool")
            yield str(self.spool), volume.partition(":")[2], "rw"

    def spec(self):
        """Return the runtime's specification of the container, as Docker makes it."""
        spec = json.loads((self.bundle / "config.json").read_text())
        given = held([f"CAP_{name}" for name in self.agent["cap_add"]])
        self.assertEqual(self.agent["cap_drop"], ["ALL"])
        self.assertIn("seccomp:unconfined", self.agent["security_opt"])
        spec["linux"].pop("seccomp", None)
        spec["process"].update(
            terminal=False, noNewPrivileges=False,
            capabilities={kind: given for kind in ("bounding", "effective", "permitted")})
        spec["process"]["env"] += [f"{name}={value}"
                                   for name, value in self.agent["environment"].items()]
        spec["root"]["readonly"] = self.agent["read_only"]
        shared = {kind for kind in ("pid", "uts") if self.agent.get(kind) == "host"}
        shared |= {"network"} | (set() if UNIFIED else {"cgroup"})
        spec["linux"]["namespaces"] = [space for space in spec["linux"]["namespaces"]
                                       if space["type"] not in shared]
        spec["linux"]["namespaces"].append({"type": "network",
                                            "path": f"/run/netns/{self.network}"})
        if "uts" in shared:
            spec.pop("hostname", None)
        spec["mounts"] += [{"destination": path, "source": "tmpfs", "type": "tmpfs",
                            "options": ["nosuid", "nodev", "mode=1777"]}
                           for path in self.agent["tmpfs"]]
        spec["mounts"] += [{"destination": path, "source": source, "type": "none",
                            "options": ["rbind", mode]} for source, path, mode in self.mounts()]
        return spec

    def test_agent_of_the_file_sends_profiles_to_its_service(self):
        self.start(self.bundle, self.spec())
        self.check_agent(listens=False)


if __name__ == "__main__":
    unittest.main()
