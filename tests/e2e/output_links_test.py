# SPDX-License-Identifier: Apache-2.0
"""What another user has prepared in a folder that all can write is neither followed nor used."""
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import beamflame
import nodes
from beamflame import DONE, FAILED

NEEDS = "own nodes"
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

    def test_planted_links_to_folders_are_refused(self):
        """A planted link in the middle of a path is refused for each output, also in a folder
        without the sticky bit, where the kernel would follow it."""
        self.shared.chmod(0o777)
        target = self.victim.parent / "target"
        target.mkdir()
        as_nobody("ln", "-s", target, self.shared / "link")
        out, stats = self.shared / "link" / "x.svg", self.shared / "link" / "s.json"
        for arguments in ("-o", out), ("-o", self.shared / "y.svg", "--stats", stats):
            done = beamflame.run("report", self.input, *arguments)
            self.assertEqual(done.returncode, FAILED, done.stderr)
            self.assertIn(f"{arguments[-1]} leads through 'link', a symbolic link that another user "
                          "may have made", done.stderr)
        self.assertEqual(os.listdir(target), [])

    def test_own_links_to_folders_are_followed(self):
        """Links of root are followed, also in folders that all can write, and several of them."""
        target = self.victim.parent / "target"
        target.mkdir()
        (self.shared / "first").symlink_to("second/.")
        (self.shared / "second").symlink_to(target)
        beamflame.record("report", self.input, "-o", self.shared / "first" / "x.svg")
        self.assertEqual(os.listdir(target), ["x.svg"])

    def test_loop_refuses_a_planted_link_at_the_start(self):
        """A link with the name that segments have without a time and node is refused at the start,
        and one to their folder too."""
        beamflame.require()
        link = self.plant_link("x.folded")
        with nodes.Node(25, "identity") as node:
            done = beamflame.run("-p", node.pid, "--loop", 1, "-d", 3, "-o", link)
            self.assert_refused(done, link)
            as_nobody("ln", "-s", self.victim.parent, self.shared / "link")
            done = beamflame.run("-p", node.pid, "--loop", 1, "-d", 3, "-o",
                                 self.shared / "link" / "x.bfr")
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertIn("leads through 'link', a symbolic link", done.stderr)

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

    def test_link_with_the_name_of_split_outputs_is_not_used(self):
        """Outputs of one event each lie beside an own link with the name that they have without the
        event. No folder here is one that beamflame may always write to."""
        beamflame.require()
        out, link = self.linked_folder()
        recording = out / "in.bfr"
        with nodes.Node(25, "request") as node:
            beamflame.record("-p", node.pid, "-d", 1, "-e", "cpu,wall", "-o", recording, "-o", link)
        self.assertEqual(sorted(os.listdir(out)),
                         ["in.bfr", "x.cpu.folded", "x.folded", "x.wall.folded"])
        for name in "x.cpu.folded", "x.wall.folded":
            (out / name).unlink()
        beamflame.record("report", recording, "-o", link)
        self.assertTrue((out / "x.wall.folded").exists())

    def test_segments_do_not_need_the_name_without_a_time(self):
        """A link that another user makes while beamflame runs stops no segment."""
        beamflame.require()
        out, _ = self.linked_folder()
        with nodes.Node(25, "request") as node:
            profiler = beamflame.start("-p", node.pid, "-F", 199, "--loop", 1, "-o", out / "y.folded")
            self.addCleanup(profiler.kill)
            while not list(out.glob("y-*.folded")) and profiler.poll() is None:
                time.sleep(0.1)
            out.chmod(0o1777)
            (out / "y.folded").symlink_to(self.victim)
            os.lchown(out / "y.folded", 65534, 65534)
            time.sleep(3)
            profiler.send_signal(signal.SIGINT)
            said = profiler.communicate(timeout=20)[1]
        self.assertEqual(profiler.returncode, DONE, said)
        self.assertGreater(len(list(out.glob("y-*.folded"))), 2)
        self.assert_untouched()

    def linked_folder(self):
        """Make a folder outside /tmp, with an own link x.folded into another folder."""
        made = tempfile.TemporaryDirectory(dir=nodes.BUILD)
        self.addCleanup(made.cleanup)
        out = Path(made.name) / "out"
        out.mkdir()
        (Path(made.name) / "elsewhere").mkdir()
        (out / "x.folded").symlink_to("../elsewhere/x.folded")
        return out, out / "x.folded"

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
