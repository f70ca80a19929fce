# SPDX-License-Identifier: Apache-2.0
"""Pipes, devices and links in the root of a VM where files are expected: nothing waits for them."""
import os
import re
import subprocess
import unittest

import beamflame
import nodes

NEEDS = "own nodes"
# Replaces files of the node's own mount namespace. Arguments: the executable, its build id, the
# device or pipe to put there.
PLANT = """set -e
bad=$3
[ "$bad" ] || { mount -t tmpfs tmpfs /mnt; bad=/mnt/pipe; mkfifo $bad; }
if [ -d /usr/lib/debug ]; then
    mount -t tmpfs tmpfs /usr/lib/debug
    folder=/usr/lib/debug/.build-id/$(echo $2 | cut -c1-2)
    mkdir -p $folder
    ln -s $bad $folder/$(echo $2 | cut -c3-).debug
fi
mount --bind $bad /etc/os-release || mount --bind $bad /usr/lib/os-release
mount --bind $bad $1
"""


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True,
                           check=True).stdout
    return re.search("Build ID: ([0-9a-f]+)", notes)[1]


class HostileRoot(unittest.TestCase):
    def setUp(self):
        beamflame.require()
        self.out = beamflame.folder(self.addCleanup)

    def check(self, bad):
        program = nodes.emulator(25)
        with nodes.Node(25, "request", ns=True) as node:
            subprocess.run(["nsenter", "-t", str(node.pid), "-m", "sh", "-c", PLANT, "plant",
                            program.resolve(), build_id(program), bad], check=True)
            for command in (("ps",), ("dump", "-p", node.pid), ("doctor", "-p", node.pid),
                            ("probes", "-p", node.pid),
                            ("-p", node.pid, "-d", 1, "-e", "cpu,gc", "-o", self.out / "x.bfr")):
                with self.subTest(command=command):
                    done = beamflame.run(*command, timeout=20)
                    self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        stacks = beamflame.folded(self.out / "x.bfr", "--event", "cpu")
        self.assertGreater(beamflame.weight_where(
            stacks, lambda stack: any("request:" in frame for frame in stack)), 10)

    def test_pipes_where_files_are_expected(self):
        self.check("")

    def test_devices_where_files_are_expected(self):
        self.check("/dev/zero")


if __name__ == "__main__":
    unittest.main()
