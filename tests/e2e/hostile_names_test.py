# SPDX-License-Identifier: Apache-2.0
"""Names that a VM's owner chooses, with characters that change a terminal: no command prints them,
and no output contains them."""
import json
import os
import re
import stat
import subprocess
import time
import unittest
import urllib.request
from pathlib import Path
from unittest import mock

import breakpoints
import nodes
from applications import free_port
from beamflame import BINARY, DONE, folder, formats, require, start

NEEDS = "own nodes"
TITLE = "a\x1b]0;title\x07\x9b31m\u202eb\ufffe"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
                    "\ufffe\uffff]")
RELEASE = "27-usdt"
BOLD = b"\x1b[1m"
# Formats that are no text; of a page, tests/tools/names_test.py reads what is text.
BYTES = ("bfr", "pprof", "otlp", "html")
# A number of processes, a frame, a process of a group, how many more there are, an empty line, the
# number of tables, a table, the number of ports, a port.
DUMP_LINE = (r"^(?:\d+ [a-z_]+|    \S.*|  <\d+\.\d+\.\d+> .* reductions [\d,]+.*|  and [\d,]+ more|"
             r"|\d+ ETS tables: .*|  +[\d.]+ [kM]B  .* objects .*"
             r"|\d+ ports, \d+ sockets without a port; .*|  (?:#Port<0\.\d+>|no port) .*)$")
# What the end of a hostile name is written as.
SAFE = "\ufffd[31m\ufffd\ufffd\ufffd[2J\ufffd\ufffd\ufffd\ufffd\"';<script>foreign()</script>]]>%s, (1)"
# A process that runs, with such a name, in a module and a function with such names, and one that waits
# with such a label and has a large ETS table and a port with such names.
PROCESSES = r"""
    Text = "\"';<script>foreign()</script>]]>%s, (1)",
    Bad = "\e[31m\x{202e}\n\e[2J\x{85}\x{2066}\t" ++ [16#fffe] ++ Text,
    Module = list_to_atom("module" ++ Text), % the compiler refuses controls in it
    [Function, Name, Label, Table, Port] =
        [list_to_atom(Kind ++ Bad) || Kind <- ["function", "named", "label", "table", "port"]],
    Call = fun(M, F) -> {call, 1, {remote, 1, {atom, 1, M}, {atom, 1, F}}, [{var, 1, 'A'}]} end,
    {ok, _, Code} = compile:forms([
        {attribute, 1, module, Module}, {attribute, 1, export, [{Function, 1}]},
        {function, 1, Function, 1, [
            {clause, 1, [{var, 1, 'A'}], [],
             [Call(erlang, md5), Call(base64, encode), Call(Module, Function)]}]}]),
    {module, _} = code:load_binary(Module, "file" ++ Bad, Code),
    spawn(fun() -> register(Name, self()), Module:Function(<<1>>) end),
    spawn(fun() ->
        proc_lib:set_label(Label),
        register(Port, open_port({spawn_driver, "ram_file_drv driver\e[31m\n" ++ Text}, [])),
        ets:insert(ets:new(Table, []), {key, lists:seq(1, 50000)}),
        receive stop -> ok end
    end).
"""


def cgroup_of(pid):
    """Move a process into a new cgroup of a container with a hostile name; return its folder."""
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text("utf-8").splitlines()
              if line.split()[2] in ("cgroup", "cgroup2")]
    for mount in mounts:
        group = Path(mount) / f"lxc.payload.{TITLE}"
        try:
            group.mkdir()
            (group / "cgroup.procs").write_text(str(pid), "utf-8")
            return group
        except OSError:
            if group.is_dir():
                group.rmdir()
    raise unittest.SkipTest("no cgroup can be made here")


def remove_cgroup(group):
    """The kernel removes a cgroup only when its processes are gone."""
    for _ in range(100):
        try:
            group.rmdir()
            return
        except OSError:
            time.sleep(0.05)


class HostileNamesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require()
        cls.folder = folder(cls.addClassCleanup)
        own = cls.folder / TITLE
        own.mkdir()
        # The executable's path, and the name of a USDT probe.
        emulator = own / "beam.smp"
        program = nodes.emulator(RELEASE).read_bytes()
        assert b"\0process__spawn\0" in program
        emulator.write_bytes(program.replace(b"\0process__spawn\0", b"\0proc\x1b[31m\xe2\x80\xae\nx\0"))
        emulator.chmod(emulator.stat().st_mode | stat.S_IXUSR)
        # The names that labels of profiles and metrics have.
        names = {"OTEL_SERVICE_NAME": f"service{TITLE}",
                 "OTEL_RESOURCE_ATTRIBUTES": f"service.version={TITLE},k8s.pod.name=pod%1B[31m%0A"}
        with mock.patch.dict(os.environ, names):
            cls.node = nodes.Node(RELEASE, "request", ns=False, emulator=emulator,
                                  flags=("-eval", PROCESSES))
        cls.addClassCleanup(cls.node.kill)
        group = cgroup_of(cls.node.pid)
        cls.addClassCleanup(remove_cgroup, group)
        cls.addClassCleanup(cls.node.kill)

    def check_text(self, data, what):
        found = UNSAFE.search(data.decode("utf-8"))
        self.assertIsNone(found, f"{what}: {ascii(data)[:2000]}")

    def check(self, *arguments, status=DONE):
        """Run a command; what it prints is text. Return it."""
        done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, timeout=60,
                              check=False)
        for printed in (done.stdout, done.stderr):
            self.check_text(printed, arguments)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode() + done.stderr.decode()

    def test_commands_print_safe_names(self):
        """The names are there, and safe."""
        pid = self.node.pid
        self.assertIn("a\ufffd]0;title", self.check("ps"))
        self.assertIn("a\ufffd]0;title", self.check("ps", "--json"))
        self.check("doctor", "-p", pid, status=None)
        self.check("doctor", "--json", status=None)
        self.assertRegex(self.check("probes", "-p", pid), "proc\ufffd\\[31m\ufffd")

    def with_banner(self):
        """Start a node whose executable states a version with controls."""
        emulator = self.folder / "banner.smp"
        program = nodes.emulator(RELEASE).read_bytes()
        program, count = re.subn(rb"(?<=%s \[erts-)\d\d\.\d\.\d\]", b"15\x1b[1m]", program)
        self.assertEqual(count, 1)
        emulator.write_bytes(program)
        emulator.chmod(0o755)
        node = nodes.Node(RELEASE, "waiting", ns=False, emulator=emulator)
        self.addCleanup(emulator.unlink)
        self.addCleanup(node.kill)
        return node

    def test_banner_is_printed_safely(self):
        node = self.with_banner()
        for command in (("ps",), ("ps", "--json"), ("doctor", "-p", node.pid),
                        ("dump", "-p", node.pid)):
            self.assertIn("15\ufffd[1m", self.check(*command, status=None))

    def test_calls_have_safe_names(self):
        """Callers, and processes that call."""
        breakpoints.require()
        counted = ("calls", "-p", self.node.pid, "-d", "1", "--budget", "100", "base64:encode/1")
        for options in (), ("--json",):
            text = self.check(*counted, *options)
            self.assertIn("foreign()</script>]]>%s, (1)'/1", text)
            self.assertIn("named\ufffd[31m", text)

    def test_agent_has_safe_names(self):
        """Its answers and its log."""
        port = free_port()
        config = self.folder / "agent.yaml"
        # Without probes, which would be attached to the nodes of other tests.
        config.write_text("record: {interval: 1, events: ''}\n"
                          f"http: {{listen: '127.0.0.1:{port}'}}\n"
                          f"spool: {{directory: {self.folder / 'spool'}}}\n")
        self.with_banner()
        agent = start("agent", "-vv", "--config", config)
        try:
            for path in "/nodes", "/metrics":
                self.check_text(self.answer(f"http://127.0.0.1:{port}{path}", b"service"), path)
        finally:
            agent.terminate()
            _, log = agent.communicate(timeout=60)
        self.assertEqual(agent.returncode, DONE, log)
        self.assertIn("15\ufffd[1m", log)
        self.check_text(log.encode(), "log")

    @staticmethod
    def answer(url, wanted):
        """Ask until the answer contains the text; return it."""
        end, text = time.monotonic() + 120, b""
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(url, timeout=30) as answer:
                    if wanted + b"a\xef\xbf\xbd]0;title" in (text := answer.read()):
                        return text
            except OSError:
                pass  # it does not listen yet
            time.sleep(0.2)
        raise AssertionError(f"no name in {url}: {text[:2000]}")

    def test_dumps_have_safe_names(self):
        """A name begins no line of its own, and no other part of JSON. The section memory has no
        names of the VM."""
        text = self.check("dump", "-p", self.node.pid, "--list", "processes,tables,ports")
        self.assertIn("named\ufffd[31m", text)
        self.assertIn("label", text)
        self.assertIn("table\ufffd[31m", text)
        for line in text.splitlines()[2:]:
            self.assertRegex(line, DUMP_LINE)
        made = json.loads(self.check("dump", "-p", self.node.pid, "--json"))
        names = [process["name"] for process in made["processes"] if process["name"]]
        labels = [process["label"] for process in made["processes"] if process["label"]]
        self.assertEqual([name for name in names if "named" in name], [f"named{SAFE}"])
        self.assertEqual(len([label for label in labels if "foreign()" in label]), 1, labels)
        self.assertEqual(made["tables"][0]["name"], f"table{SAFE}")
        port, = (port for port in made["ports"] if port["driver"] == "ram_file_drv")
        self.assertEqual(port["registered_name"], f"port{SAFE}")
        self.assertIn("driver\ufffd[31m\ufffd\"';<script>", port["name"])
        functions = [frame["function"] for stack in made["stacks"] for frame in stack]
        self.assertTrue(any("foreign()" in function for function in functions))

    def test_outputs_of_a_recording_have_safe_names(self):
        """Progress, the log, the summary and files for readers have no unsafe character."""
        made = self.folder / "made"
        made.mkdir()
        outputs = [part for form in formats() if form not in BYTES
                   for part in ("--format", form, "-o", made / f"x.{form}")]
        recording = self.folder / "x.bfr"
        # With messages, without which there is no graph of these.
        self.check("-p", self.node.pid, "-d", "1", "-e", "cpu,msg", "-vv", "-o", recording,
                   "--stats", made / "stats.json")
        self.check("report", "-v", recording, *outputs)
        self.check("report", recording, "--format", "json", "-o", "-")
        self.assertGreater(len(os.listdir(made)), len(formats()) - len(BYTES))
        for path in made.iterdir():
            self.check_text(path.read_bytes(), path.name)

    def test_messages_have_safe_paths(self):
        """Paths in messages are safe too."""
        absent = self.folder / TITLE / "absent"
        text = self.check("report", absent, status=None)
        self.assertIn("a\ufffd]0;title", text)
        self.check("diff", absent, absent, status=None)
        self.check("dump", "--core", absent, status=None)
        self.check("report", self.folder / TITLE / "beam.smp", status=None)
        self.check("-p", "1", "-o", absent / "x.svg", status=None)
        self.check(f"--{TITLE}", status=None)
        self.check(TITLE, status=None)

    def test_terminal_gets_no_foreign_controls(self):
        """On a terminal only the line that shows progress is controlled, and the headings of the
        summary. No name has their controls."""
        master, slave = os.openpty()
        environment = {name: text for name, text in os.environ.items() if name != "NO_COLOR"}
        with subprocess.Popen([BINARY, "-p", str(self.node.pid), "-d", "2", "-v", "-o", "/dev/null",
                               "--format", "folded"], stdout=slave, stderr=slave,
                              env={**environment, "TERM": "xterm"}) as child:
            os.close(slave)
            printed = b""
            while True:
                try:
                    data = os.read(master, 1 << 16)
                except OSError:
                    break
                if not data:
                    break
                printed += data
            os.close(master)
            self.assertEqual(child.wait(), DONE, printed)
        self.assertIn(b"\r\x1b[K", printed)
        self.assertIn(BOLD, printed)
        for own in (b"\r\x1b[K", BOLD, b"\x1b[1;33m", b"\x1b[1;36m", b"\x1b[0m"):
            printed = printed.replace(own, b"")
        self.check_text(printed.replace(b"\r\n", b"\n"), "terminal")


if __name__ == "__main__":
    unittest.main()
