# SPDX-License-Identifier: Apache-2.0
"""The summary of a real node begins with what to look at first, by the numbers of its tables."""
import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import termios
import time
import unittest

import applications
import applications_test
import beamflame
import nodes

NEEDS = "own nodes"
SECONDS = 5


def verdict(summary):
    """Return {label: text} of the lines before the first empty one."""
    lines = summary.partition("\n\n")[0].splitlines()
    return {line.split()[0]: line[10:] for line in lines}


def on_terminal(columns, *arguments, **environment):
    """Run beamflame on a terminal of so many columns; return what it prints."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen([beamflame.BINARY, *map(str, arguments)], stdin=slave, stdout=slave,
                               stderr=slave, env={**os.environ, **environment})
    os.close(slave)
    said = b""
    try:
        while data := os.read(master, 1 << 16):
            said += data
    except OSError:  # the end
        pass
    os.close(master)
    assert process.wait(timeout=60) == beamflame.DONE, said
    return said.decode().replace("\r\n", "\n")


class Verdict(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()

    def record(self, *options, pids):
        """Record nodes, and return the summary and its verdict."""
        path = beamflame.folder(self.addCleanup) / "x.bfr"
        targets = [option for pid in pids for option in ("-p", pid)]
        said = beamflame.record(*targets, "-d", SECONDS, "-o", path, *options).stdout
        self.assertLessEqual(len(said.partition("\n\n")[0].splitlines()), 5, said)
        return said, verdict(said)

    def assert_next_works(self, found):
        """The command can be copied: it ends well, and has the process of the verdict."""
        command = shlex.split(found["next"], comments=True)
        if command[0] == "sudo":
            command.pop(0)
        self.assertEqual(command.pop(0), "beamflame")
        done = beamflame.run(*command, cwd=beamflame.folder(self.addCleanup))
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        return done.stdout

    def test_numbers_are_those_of_the_tables(self):
        with nodes.Node(27, "request", flags=nodes.NO_BUSY_WAIT) as node:
            said, found = self.record(pids=[node.pid])
        busy, schedulers = re.match(r"([\d.]+) % of the time of (\d+) schedulers", found["busy"]).groups()
        self.assertRegex(said, rf"\n  {schedulers} schedulers .* {busy} +[\d,]+\n")
        for label, heading in (("process", "processes with most CPU time"),
                               ("function", "Erlang functions with most CPU time, with the BIFs and C "
                                            "functions they call")):
            share, value, samples, name = re.match(
                r"([\d.]+) % of the CPU time \(([\d.]+ \w+), ([\d,]+) samples\): ([^;]+)",
                found[label]).groups()
            row = said.partition(f"\n{heading}\n")[2].splitlines()[0].split()
            self.assertEqual(row, [*value.split(), share, "%", samples, "samples", *name.split()])

    def test_summary_fits_the_terminal(self):
        """A terminal gets styles unless they are refused, and its width; a pipe gets neither."""
        path = beamflame.folder(self.addCleanup) / "x.bfr"
        with nodes.Node(27, "request") as node:
            said = beamflame.record("-p", node.pid, "-d", 2, "-o", path).stdout
        self.assertNotIn("\033", said)
        styled = on_terminal(200, "report", path, TERM="xterm", NO_COLOR="")
        self.assertIn("\033[1mprocesses with most CPU time\033[0m", styled)
        self.assertEqual(re.sub(r"\033\[[\d;]*m", "", styled), beamflame.record("report", path).stdout)
        for environment in ({"TERM": "dumb", "NO_COLOR": ""}, {"TERM": "xterm", "NO_COLOR": "1"}):
            with self.subTest(environment):
                plain = on_terminal(80, "report", path, **environment)
                self.assertNotIn("\033", plain)
                rows = plain.partition("\nprocesses with most CPU time\n")[2].partition("\n\n")[0]
                self.assertLessEqual(max(map(len, rows.splitlines())), 80, rows)
                self.assertLessEqual(len(plain.splitlines()[0]), 80)

    def test_growing_queue_is_named(self):
        with nodes.Node(27, "troubles", "what=buildup") as node:
            for event in ("cpu", "wall"):
                with self.subTest(event):
                    _, found = self.record("-e", event, pids=[node.pid])
                    self.assertRegex(found["grows"], r"^message queue of <[\d.]+> slow: ")
                    self.assertIn(" slow ", self.assert_next_works(found))

    def test_elixir_server_with_a_mailbox_storm_is_named(self):
        with applications.Elixir(applications_test.SHOP) as node:
            time.sleep(1)
            _, found = self.record("-e", "cpu,wall", pids=[node.pid])
            self.assertRegex(found["grows"], r"^message queue of <[\d.]+> Shop.Stock: ")
            self.assertIn(" Shop.Stock ", self.assert_next_works(found))

    def test_process_that_keeps_binaries_is_named(self):
        with nodes.Node(27, "troubles", "what=leak") as node:
            _, found = self.record("-e", "wall", "--node-metrics", "memory", pids=[node.pid])
            self.assertRegex(found["grows"], r"^blocks of binary_alloc: .*; binaries of <[\d.]+> hoarder: ")
            self.assertIn(" hoarder ", self.assert_next_works(found))

    def test_table_that_grows_is_named_with_its_owner(self):
        with nodes.Node(27, "tables") as node:
            path = beamflame.folder(self.addCleanup) / "x.bfr"
            with beamflame.recording("-p", node.pid, "-e", "wall", "--node-metrics", "tables", "-o", path):
                time.sleep(2)
                node.send("tell grow")
                time.sleep(3)
            found = verdict(beamflame.record("report", path).stdout)
        self.assertRegex(found["grows"], r"table big, <[\d.]+> keeper: ")

    def test_heap_that_is_released_does_not_grow(self):
        """Each job fills a large heap, and leaves it as garbage."""
        with nodes.Node(27, "ordinary", "what=batch") as node:
            _, found = self.record(pids=[node.pid])
        self.assertNotIn("grows", found)
        self.assertRegex(found["process"], r": <[\d.]+> ordinary:job/2$")

    def test_idle_node_has_no_busy_process(self):
        with nodes.Node(27, "request", "clients=0") as node:
            _, found = self.record("-e", "wall", pids=[node.pid])
            self.assertEqual(set(found), {"status", "function", "next"})
            self.assert_next_works(found)

    def test_processes_of_two_vms_name_their_node(self):
        with nodes.Node(27, "request") as first, nodes.Node(25, "request") as other:
            said, found = self.record(pids=[first.pid, other.pid])
        table = said.partition("\nprocesses with most CPU time\n")[2].partition("\n\n")[0]
        for row in table.splitlines():
            self.assertRegex(row, rf"  <[\d.]+>  \S.*  beam ({first.pid}|{other.pid})$")
        for pid in (first.pid, other.pid):
            self.assertIn(f"beam {pid}: ", found["busy"])


if __name__ == "__main__":
    unittest.main()
