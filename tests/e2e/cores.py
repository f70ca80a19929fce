# SPDX-License-Identifier: Apache-2.0
"""Nodes that end with a core file, written by the kernel."""
import os
import resource
import subprocess
import tempfile
import unittest
from contextlib import contextmanager
from pathlib import Path

import nodes

PATTERN = Path("/proc/sys/kernel/core_pattern")


@contextmanager
def into_working_directory():
    """Inside the block, the kernel writes core files into the working directory of the process."""
    before = PATTERN.read_text(encoding="ascii").rstrip("\n")
    if before.startswith("|") or "/" in before:
        try:
            PATTERN.write_text("core", encoding="ascii")
        except OSError as error:
            raise unittest.SkipTest(f"cores go to '{before}', which can't be changed: {error}")
    try:
        yield
    finally:
        if PATTERN.read_text(encoding="ascii").rstrip("\n") != before:
            PATTERN.write_text(before, encoding="ascii")


class Node(nodes.Node):
    """A node that ends with a core. It has no pid namespace of its own, because signals do not end
    the first process of a namespace."""

    def __init__(self, release, load, *options):
        # The path as the node sees it. 27 and 29 have their own root, where /tmp is empty.
        self.folder = tempfile.TemporaryDirectory(prefix="beamflame-test-")
        in_host = release == 25 or nodes.OWN + str(release) in os.environ
        where = self.folder.name if in_host else "/tmp"
        super().__init__(release, load, *options, ns=False,
                         flags=("-eval", f'ok = file:set_cwd("{where}").'))
        resource.prlimit(self.pid, resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)

    def kill(self):
        super().kill()
        self.folder.cleanup()

    def core(self, end, to):
        """Call `end()`, which ends the node; copy the core to file `to`."""
        directory = os.open(f"/proc/{self.pid}/cwd", os.O_RDONLY)
        try:
            with into_working_directory():
                end()
                self.process.wait(60)
            core, = (name for name in os.listdir(directory) if name.startswith("core"))
            subprocess.run(["cp", "--sparse=always", f"/proc/{os.getpid()}/fd/{directory}/{core}",
                            to], check=True)
        finally:
            os.close(directory)
