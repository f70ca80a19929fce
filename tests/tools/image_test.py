# SPDX-License-Identifier: Apache-2.0
"""The image: what is in it, that it is the same each time, and that the program runs in it."""
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from commands import CommandCase, run
from seeds import BINARY, ROOT

VERSION = re.search(r"^VERSION := (\S+)", (ROOT / "Makefile").read_text(), re.M)[1]
MEGABYTES = 30  # of the image, compressed


class PackagesCase(CommandCase):
    @classmethod
    def setUpClass(cls):
        if not BINARY.exists():
            raise unittest.SkipTest("the program is not built (make)")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.out = Path(folder.name)


class Image(PackagesCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not os.path.exists("/etc/ssl/certs/ca-certificates.crt"):
            raise unittest.SkipTest("ca-certificates is not installed")
        cls.archives = []
        for name in ("first", "second"):
            folder = cls.out / name
            folder.mkdir()
            shutil.copy(BINARY, folder)
            subprocess.run([ROOT / "tools" / "image", folder, VERSION], check=True,
                           stdout=subprocess.DEVNULL)
            cls.archives.append(folder / "image" / f"beamflame-{VERSION}.tar")
        with tarfile.open(cls.archives[0]) as archive:
            cls.files = {each.name: archive.extractfile(each).read() for each in archive}
        cls.index = json.loads(cls.files["index.json"])
        cls.manifest = json.loads(cls.blob(cls.index["manifests"][0]))
        cls.config = json.loads(cls.blob(cls.manifest["config"]))
        cls.layers = [tarfile.open(fileobj=io.BytesIO(gzip.decompress(cls.blob(each))))
                      for each in cls.manifest["layers"]]
        cls.members = {member.name: member for layer in cls.layers for member in layer}

    @classmethod
    def blob(cls, descriptor):
        content = cls.files["blobs/" + descriptor["digest"].replace(":", "/")]
        assert len(content) == descriptor["size"]
        assert hashlib.sha256(content).hexdigest() == descriptor["digest"].partition(":")[2]
        return content

    def test_same_program_gives_the_same_bytes(self):
        first, second = (path.read_bytes() for path in self.archives)
        self.assertEqual(first, second)

    def test_image_is_small(self):
        size = sum(each["size"] for each in self.manifest["layers"])
        self.assertLess(size, MEGABYTES * 1000 * 1000)

    def test_image_has_no_shell_and_no_other_program(self):
        programs = [name for name, member in self.members.items()
                    if member.isfile() and member.mode & 0o111 and ".so" not in name]
        self.assertEqual(programs, ["usr/bin/beamflame"])
        self.assertFalse(any(member.mode & 0o6000 for member in self.members.values()))
        self.assertEqual({(member.uid, member.gid) for member in self.members.values()}, {(0, 0)})

    def test_configuration_starts_the_agent(self):
        self.assertEqual(self.config["config"]["Entrypoint"], ["/usr/bin/beamflame", "agent"])
        self.assertEqual(self.config["os"], "linux")
        labels = self.config["config"]["Labels"]
        self.assertEqual(labels, self.manifest["annotations"])
        self.assertEqual(labels["org.opencontainers.image.version"], VERSION)
        diffs = [f"sha256:{hashlib.sha256(gzip.decompress(self.blob(each))).hexdigest()}"
                 for each in self.manifest["layers"]]
        self.assertEqual(self.config["rootfs"]["diff_ids"], diffs)

    def test_umoci_unpacks_it_and_the_program_runs_in_it(self):
        """The program loads its libraries from the image, also those that it opens by name."""
        if os.geteuid() != 0:
            self.skipTest("needs root")
        if not shutil.which("umoci"):
            self.skipTest("umoci is not installed")
        with tarfile.open(self.archives[0]) as archive:
            archive.extractall(self.out / "layout")
        bundle = self.out / "bundle"
        self.done("umoci", "unpack", "--image", f"{self.out / 'layout'}:beamflame:{VERSION}", bundle)
        root = bundle / "rootfs"
        self.assertIn(VERSION, self.done("chroot", root, "/usr/bin/beamflame", "--version"))
        (root / "agent.yaml").write_text("http:\n  listen: 127.0.0.1:1\nspool:\n  directory: /nowhere\n"
                                         "push:\n  - protocol: otlp\n    url: https://127.0.0.1:1\n")
        self.done("chroot", root, "/usr/bin/beamflame", "agent", "--config", "/agent.yaml", "--check")
        for library in ("libcurl.so.4", "libmicrohttpd.so.12"):
            path = next(root.rglob(library)).relative_to(root)
            listed = self.done("chroot", root, "/usr/lib64/ld-linux-x86-64.so.2", "--list", f"/{path}")
            self.assertNotIn("not found", listed)
        self.assertGreater((root / "etc/ssl/certs/ca-certificates.crt").stat().st_size, 100000)


if __name__ == "__main__":
    unittest.main()
