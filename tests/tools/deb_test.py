# SPDX-License-Identifier: Apache-2.0
"""The Debian packages: what is in them, that lintian finds nothing, and that the program runs."""
import re
import shutil
import unittest

from commands import run
from image_test import VERSION, PackagesCase
from seeds import BUILD, ROOT


class Deb(PackagesCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for program in ("dh", "lintian", "dpkg-buildpackage"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"{program} is not installed (tools/install-deps package)")
        if BUILD != ROOT / "build":
            raise unittest.SkipTest("packages are made of the usual build alone")
        done = run(ROOT / "tools" / "deb", BUILD, VERSION)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        cls.folder = BUILD / "deb"

    def package(self, name):
        path, = self.folder.glob(f"{name}_{VERSION}_*.deb")
        return path

    def test_packages_have_their_files(self):
        for name, expected in (
                ("beamflame", ("./usr/bin/beamflame", "./usr/share/man/man1/beamflame-agent.1.gz",
                               "./usr/share/man/man1/beamflame.1.gz",
                               "./usr/share/bash-completion/completions/beamflame",
                               "./usr/share/zsh/vendor-completions/_beamflame",
                               "./usr/share/fish/vendor_completions.d/beamflame.fish")),
                ("beamflame-agent", ("./etc/beamflame/agent.yaml",
                                     "./lib/systemd/system/beamflame-agent.service"))):
            listed = self.done("dpkg", "-c", self.package(name))
            for path in expected:
                self.assertRegex(listed, rf"root/root .* {re.escape(path)}\n")

    def test_configuration_is_kept_at_upgrades(self):
        shown = self.done("dpkg", "-I", self.package("beamflame-agent"), "conffiles")
        self.assertEqual(shown.split(), ["/etc/beamflame/agent.yaml"])

    def test_installation_starts_nothing(self):
        script = self.done("dpkg", "-I", self.package("beamflame-agent"), "postinst")
        self.assertNotRegex(script, r"deb-systemd-invoke|systemctl (?:start|enable)")

    def test_packaged_program_runs(self):
        for name in ("beamflame", "beamflame-agent"):
            self.done("dpkg", "-x", self.package(name), self.out / "root")
        program = self.out / "root" / "usr" / "bin" / "beamflame"
        self.assertIn(VERSION, self.done(program, "--version"))
        self.done(program, "agent", "--check", "--config",
                  self.out / "root" / "etc" / "beamflame" / "agent.yaml")

    def test_lintian_finds_nothing(self):
        done = run("lintian", "--allow-root", "--fail-on", "error,warning", "--no-tag-display-limit",
                   *self.folder.glob("*.changes"))
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_nothing_of_it_is_in_the_repository(self):
        """debhelper writes into debian/."""
        known = set(self.done("git", "ls-files", "debian", cwd=ROOT).split())
        found = {str(path.relative_to(ROOT)) for path in (ROOT / "debian").rglob("*") if path.is_file()}
        self.assertEqual(found, known)


if __name__ == "__main__":
    unittest.main()
