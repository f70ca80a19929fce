# SPDX-License-Identifier: Apache-2.0
"""What another user has prepared in a folder that all can write is neither followed nor used."""
import os
import subprocess
import unittest
from pathlib import Path

import beamflame
import nodes
from beamflame import DONE, FAILED

SECRET = "only root may read and write this\n"


def as_nobody(*command):
    """Run a command as another user."""
    subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *command],
                   check=True)


class Planted(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        folder = beamflame.folder(self.addCleanup)
        folder.chmod(0o755)
        self.shared = folder / "shared"
        self.shared.mkdir()
        self.shared.chmod(0o1777)
        self.victim = folder / "victim"
        self.victim.write_text(SECRET)
        self.victim.chmod(0o600)
        self.input = folder / "input.folded"
        self.input.write_text("a;b 3\na;c 4\n")

    def plant_link(self, name):
        link = self.shared / name
        as_nobody("ln", "-s", self.victim, link)
        return link

    def assert_untouched(self):
        self.assertEqual(self.victim.read_text(), SECRET)
        self.assertEqual(self.victim.stat().st_mode & 0o7777, 0o600)

    def assert_refused(self, done, path):
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertIn(f"{path} is a symbolic link", done.stderr)
        self.assert_untouched()

    def test_report_refuses_planted_links(self):
        """A planted link is refused for each output; the message says what to do."""
        out, stats = self.plant_link("x.svg"), self.plant_link("s.json")
        self.assert_refused(beamflame.run("report", self.input, "-o", out), out)
        done = beamflame.run("report", self.input, "-o", self.shared / "y.svg", "--stats", stats)
        self.assert_refused(done, stats)
        self.assertEqual(sorted(os.listdir(self.shared)), ["s.json", "x.svg"])

    def test_record_refuses_planted_links_at_the_start(self):
        """The same for a recording and for the outputs of one, before anything is recorded."""
        beamflame.require()
        paths = [self.plant_link(name) for name in ("x.bfr", "x.svg", "x.json")]
        with nodes.Node(25, "identity") as node:
            for path in paths:
                with self.subTest(path.name):
                    done = beamflame.run("-p", node.pid, "-d", 1, "--stats" if "json" in path.name
                                         else "-o", path)
                    self.assert_refused(done, path)
            done = beamflame.run("-p", node.pid, "-d", 1, "--stats", self.shared / "s.json",
                                 "-o", self.shared / "y.bfr")
            self.assertEqual(done.returncode, DONE, done.stderr)

    def test_own_link_of_the_operator_is_followed(self):
        """An operator's own link, where nobody else can make one, leads to the file behind it,
        which keeps its owner and mode."""
        link = self.victim.parent / "latest.folded"
        link.symlink_to("victim")
        os.chown(self.victim, 65534, 65534)
        done = beamflame.run("report", self.input, "-o", link)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertTrue(link.is_symlink())
        self.assertIn("a;b 3\n", self.victim.read_text())
        self.assertEqual(self.victim.stat().st_mode & 0o7777, 0o600)
        self.assertEqual(self.victim.stat().st_uid, 65534)

    def test_planted_pipe_and_file_get_nothing(self):
        """A pipe or file of another user gets nothing."""
        pipe, file = self.shared / "x.svg", self.shared / "y.svg"
        as_nobody("mkfifo", "-m", "666", pipe)
        as_nobody("touch", file)
        for path in (pipe, file):
            with self.subTest(path.name):
                done = beamflame.run("report", self.input, "-o", path, timeout=20)
                self.assertEqual(done.returncode, FAILED)
                self.assertIn("belongs to another user", done.stderr)
        self.assertEqual(file.read_text(), "")

    def test_log_file_is_no_planted_link(self):
        """The file of BEAMFLAME_LOG is no link either; the command works without it."""
        log = self.plant_link("log")
        done = beamflame.run("report", self.input, "-o", self.shared / "y.svg",
                             env=dict(os.environ, BEAMFLAME_LOG=str(log)))
        self.assertEqual(done.returncode, DONE)
        self.assertIn("nothing is logged", done.stderr)
        self.assert_untouched()

    def test_ctrl_c_ends_the_wait_for_a_reader(self):
        """Waiting for the reader of a pipe ends with Ctrl-C."""
        pipe = Path(self.shared / "x.svg")
        os.mkfifo(pipe)
        process = beamflame.start("report", self.input, "-o", pipe)
        self.addCleanup(process.kill)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        process.send_signal(2)
        process.communicate(timeout=10)
        self.assertNotEqual(process.returncode, DONE)

    def test_devices_stay_what_they_are(self):
        """Standard output by its name in /dev, and /dev/null, stay what they are."""
        target = self.shared / "out"
        with target.open("w") as out:
            subprocess.run([beamflame.BINARY, "report", self.input, "-q", "--format", "folded",
                            "-o", "/dev/stdout"], stdout=out, check=True)
        self.assertIn("a;b 3\n", target.read_text())
        done = beamflame.run("report", self.input, "-q", "--format", "folded", "-o", "/dev/stdout")
        self.assertIn("a;b 3\n", done.stdout)
        done = beamflame.run("report", self.input, "--format", "folded", "-o", "/dev/null")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertTrue(Path("/dev/null").is_char_device())


if __name__ == "__main__":
    unittest.main()
