# SPDX-License-Identifier: Apache-2.0
"""Files of deploy/ agree with each other, with docs/security.md and with the program; systemd takes
the unit."""
import re
import shutil
import unittest

from commands import run
from deploy_files import CHART, DEPLOY, KUBERNETES, DeployCase, pod, yaml
from seeds import BINARY, ROOT

UNIT = DEPLOY / "systemd" / "beamflame-agent.service"
VERSION = re.search(r"^VERSION := (\S+)", (ROOT / "Makefile").read_text(), re.M)[1]
ADMIN = "SYS_ADMIN"
EXPOSURE = 3.3  # systemd's exposure of the unit; 0 is none, 10 all. 9.6 without any restriction


def documented():
    """Return the capabilities of docs/security.md."""
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    table = text.partition("| capability | for | not needed for |")[2].partition("\n\n")[0]
    return set(re.findall(r"^\| CAP_(\w+) \|", table, re.M))


def kept_by_the_program():
    """Return the capabilities that the program keeps to record, but for those for files."""
    text = (ROOT / "src" / "os" / "privileges.c").read_text(encoding="utf-8")
    sets = re.findall(r"^static const uint64_t (?:RECORD|START) =(.*?);", text, re.M | re.S)
    return set(re.findall(r"CAPABILITY\(CAP_(\w+)\)", "".join(sets))) | {"DAC_READ_SEARCH"}


class Rights(DeployCase):
    """What is listed in deploy/ is what the docs and the program have."""

    def test_docs_have_the_program_s_list(self):
        self.assertEqual(documented(), kept_by_the_program())

    def test_daemon_set_has_all_but_sys_admin(self):
        text = (KUBERNETES / "base" / "daemonset.yaml").read_text(encoding="utf-8")
        held = pod([yaml.safe_load(text)])["containers"][0]["securityContext"]["capabilities"]
        self.assertEqual(held["drop"], ["ALL"])
        self.assertEqual(sorted(held["add"]), sorted(documented() - {ADMIN}))

    def test_compose_has_all(self):
        agent = compose()["agent"]
        self.assertEqual(agent["cap_drop"], ["ALL"])
        self.assertEqual(sorted(agent["cap_add"]), sorted(documented()))
        self.check_configuration("", **agent["environment"])

    def test_unit_has_all(self):
        lines = UNIT.read_text(encoding="utf-8").splitlines()
        for key in ("CapabilityBoundingSet", "AmbientCapabilities"):
            held = re.findall(r"CAP_(\w+)", " ".join(
                line for line in lines if line.startswith(key)))
            self.assertEqual(sorted(held), sorted(documented()), key)


class Unit(DeployCase):
    def setUp(self):
        super().setUp()
        if not shutil.which("systemd-analyze"):
            raise unittest.SkipTest("systemd-analyze is not installed")
        self.done("make", "-s", "install-agent", f"DESTDIR={self.out}", f"prefix={self.out}/usr",
                  "unitdir=/units", cwd=ROOT)
        self.unit = next(self.out.rglob("beamflame-agent.service"))

    def test_systemd_takes_the_unit(self):
        program = self.out / "usr" / "bin" / "beamflame"
        program.parent.mkdir(parents=True)
        shutil.copy(BINARY, program)
        done = run("systemd-analyze", "verify", "--man=no", self.unit)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_unit_is_exposed_no_more_than_it_must(self):
        self.done("systemd-analyze", "security", "--offline=true", "--no-pager",
                  f"--threshold={EXPOSURE * 10:.0f}", self.unit)

    def test_example_configuration_is_taken_and_not_replaced(self):
        path = self.out / "etc" / "beamflame" / "agent.yaml"
        self.check_configuration(path.read_text(encoding="utf-8"))
        path.write_text("mine")
        self.done("make", "-s", "install-agent", f"DESTDIR={self.out}", cwd=ROOT)
        self.assertEqual(path.read_text(), "mine")

    def test_commented_keys_of_the_example_are_taken(self):
        text = (DEPLOY / "agent.yaml").read_text(encoding="utf-8")
        self.check_configuration(re.sub(r"^#(?! )", "", text, flags=re.M))


class Names(DeployCase):
    def test_versions_are_the_program_s(self):
        chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
        self.assertEqual((chart["version"], chart["appVersion"]), (VERSION, VERSION))
        changelog = (ROOT / "debian" / "changelog").read_text(encoding="utf-8")
        self.assertIn(f"beamflame ({VERSION})", changelog.splitlines()[0])
        for path in DEPLOY.rglob("*"):
            if path.is_file():
                for version in re.findall(r"beamflame:(?:\$\{\w+:-)?([\d.]+\d)|newTag: (\S+)", path.read_text()):
                    self.assertIn(VERSION, version, path)

    def test_images_name_no_registry(self):
        """Before the first slash of an image's name a dot or a port would be a host."""
        found = 0
        for path in (path for path in DEPLOY.rglob("*") if path.suffix in (".yaml", ".yml")):
            for image in re.findall(r"^\s*(?:image|newName|repository): *\"?([\w./:-]+)",
                                    path.read_text(encoding="utf-8"), re.M):
                found += 1
                self.assertNotRegex(image, r"^[^/]*[.:][^/]*/", path)
        self.assertGreater(found, 4)


def compose():
    return yaml.safe_load((DEPLOY / "docker-compose.yml").read_text(encoding="utf-8"))["services"]


if __name__ == "__main__":
    unittest.main()
