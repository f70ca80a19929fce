# SPDX-License-Identifier: Apache-2.0
"""Names of C functions of stripped VMs: of builds that beamflame knows (symbols/README.md), and of a
build whose debug file is there."""
import json
import re
import subprocess
import time
import unittest
from collections import Counter, defaultdict
from pathlib import Path

import beamflame
import nodes
from hooks_test import hook_list

NEEDS = "own nodes"
SYMBOLS = Path(__file__).resolve().parents[2] / "symbols"
# What spends half of its time or more in C functions of the VM.
PHASES = "bignums,bifs,garbage,ets,matching,maps,bit_syntax,selective_receive,compare"
# Functions that these phases spend time in, and that a stripped VM does not export.
HOT = {"do_minor", "match_traverse.constprop.0", "D_mul", "sweep_new_heap"}
# The compiler puts each process into a run queue by one of these (hooks/scheduling_hooks.c).
SAME_HOOK = {"add2runq": "select_enqueue_run_queue"}
# What the compiler adds to the name of a C++ function, and of a function that it made a copy of.
MANGLED = re.compile(r"^_Z\d+([a-z_]+)P7process.*$")
COPY = re.compile(r"(\.(isra|constprop|part)\.\d+)+$")


def build_id(emulator):
    notes = subprocess.run(["readelf", "-n", emulator], capture_output=True, text=True,
                           check=True).stdout
    return notes.partition("Build ID: ")[2].split()[0]


def known(release):
    """Return {start: name} of the table of this release's build. The test is skipped without one:
    the distribution has another build now."""
    table = SYMBOLS / build_id(nodes.emulator(release))
    if not table.exists():
        raise unittest.SkipTest(f"no table of the build of OTP {release} that is installed")
    lines = [line.split() for line in table.read_text("ascii").splitlines()[2:]]
    return {int(start, 16): name for start, _, name in lines}


def make_debug_file(release, names, path):
    """Make a debug file of a stripped build that has these functions: {start: name}."""
    arguments = path.with_suffix(".arguments")
    arguments.write_text("".join(f"--add-symbol {name}={start:#x},function,local\n"
                                 for start, name in names.items()), "ascii")
    subprocess.run(["objcopy", "--only-keep-debug", nodes.emulator(release), path], check=True)
    subprocess.run(["objcopy", f"@{arguments}", path], check=True)


def bias(pid):
    """Return where the executable of the process begins in its memory."""
    executable = Path(f"/proc/{pid}/exe").readlink().name
    for line in Path(f"/proc/{pid}/maps").read_text("utf-8").splitlines():
        addresses, _, offset, *_, path = line.split(maxsplit=5)
        if path.endswith(executable) and int(offset, 16) == 0:
            return int(addresses.split("-")[0], 16)
    raise AssertionError("the executable is not mapped")


def native_leaves(path):
    """Read a JSON recording; return the number of all samples, and [(frame, samples)] of the C
    functions of the VM that ran."""
    known_of = {}
    leaves = Counter()
    for line in map(json.loads, path.read_text("utf-8").splitlines()):
        if "id" in line:
            known_of[line["type"], line["id"]] = line
        if line["type"] == "sample" and "stack" in line:
            leaves[known_of["stack", line["stack"]]["frame"]] += 1
    frames = [(known_of["frame", frame], count) for frame, count in leaves.items()]
    return sum(leaves.values()), [
        (frame, count) for frame, count in frames if frame["kind"] == "native" and
        known_of["module", frame["module"]]["path"].endswith("/beam.smp")]


@nodes.each_of((25, 27, 29))
class NativeNames:
    release = None

    def setUp(self):
        beamflame.require()
        nodes.require(self.release)
        self.names = known(self.release)

    def test_c_functions_have_the_names_of_their_build(self):
        """At least 90 % of the time in C functions of the VM has a name: that of the table at the
        address where the function starts."""
        with nodes.Node(self.release, "phases", f"phases={PHASES}") as node:
            time.sleep(0.5)
            path = beamflame.folder(self.addCleanup) / "x.json"
            beamflame.record("-p", node.pid, "-d", 5, "-F", 499, "-o", path)
            start = bias(node.pid)
        total, native = native_leaves(path)
        time_in_c = sum(count for _, count in native)
        self.assertGreater(time_in_c / total, 0.4)
        named = [(frame, count) for frame, count in native if not frame.get("unresolved")]
        self.assertGreater(sum(count for _, count in named) / time_in_c, 0.9)
        compared = [(frame["symbol"], self.names.get(int(frame["address"], 16) - start, "_Z"))
                    for frame, _ in named]
        compared = [(shown, name) for shown, name in compared if "_Z" not in name]
        self.assertGreater(len(compared), 20)
        for shown, name in compared:
            self.assertEqual(shown.lstrip("~"), name.lstrip("~"))
        self.assertGreaterEqual(len(HOT & {frame["symbol"] for frame, _ in named}), 3)

    def test_names_agree_with_the_hooks_that_are_found_without_them(self):
        """Each hook, found by what code does, is on the function that has its name in the table."""
        with nodes.Node(self.release, "hooked") as node:
            found, unexported = hook_list(node.pid)
            start = bias(node.pid)
        by_code = {name: address for name, (way, address) in found.items()
                   if way not in ("refused", "symbol")}
        by_code.update((name, addresses[0]) for name, addresses in unexported.items()
                       if len(addresses) == 1)
        self.assertGreater(len(by_code), 10)
        for hook, address in by_code.items():
            with self.subTest(hook):
                name = COPY.sub("", MANGLED.sub(r"\1", self.names[address - start].lstrip("~")))
                self.assertEqual(SAME_HOOK.get(name, name), hook)

    def test_names_in_a_debug_file_agree_with_the_hooks_that_are_found_without_them(self):
        """Each hook whose name only the debug file has is found by it, at the only function that
        its code leads to."""
        debug_file = beamflame.folder(self.addCleanup) / "x.debug"
        names = {start: name for start, name in self.names.items() if name[0] != "~"}
        make_debug_file(self.release, names, debug_file)
        with nodes.Node(self.release, "hooked") as node:
            found, unexported = hook_list(node.pid, debug_file=debug_file)
            start = bias(node.pid)
        starts = {name: address for address, name in names.items()}
        self.assertNotIn("refused", [way for way, _ in found.values()])
        by_name = {name: address for name, (way, address) in found.items() if way == "debug"}
        self.assertIn("garbage_collect", by_name)
        self.assertEqual(set(by_name), {name for name, (way, _) in found.items()
                                        if way != "symbol" and name in starts})
        for name, address in by_name.items():
            with self.subTest(name):
                self.assertEqual(address - start, starts[name])
                self.assertEqual(unexported[name], [address])

    def test_doctor_does_not_ask_for_debug_symbols(self):
        with nodes.Node(self.release, "identity") as node:
            done = beamflame.run("doctor", "-p", node.pid)
        self.assertRegex(done.stdout, rf"(?m)^ok +vm {node.pid} symbols +those of this build")
        self.assertNotIn("erlang-base-dbgsym", done.stdout)


class DebugFile(unittest.TestCase):
    """A stripped VM in no table, whose debug file is in a place that --symbols names."""

    @classmethod
    def setUpClass(cls):
        """Record the VM without the debug file, and with it as a file and in a directory. `runs` has
        the C functions of the VM that ran, and what the program has said."""
        beamflame.require()
        unstripped = nodes.emulator("27-usdt-dwarf")
        cls.names = defaultdict(set)
        for line in subprocess.run(["nm", "--defined-only", unstripped], capture_output=True,
                                   text=True, check=True).stdout.splitlines():
            start, _, name = line.split(maxsplit=2)
            cls.names[int(start, 16)].add(name)
        out = beamflame.folder(cls.addClassCleanup)
        wanted = build_id(unstripped)
        debug_file = out / ".build-id" / wanted[:2] / f"{wanted[2:]}.debug"
        debug_file.parent.mkdir(parents=True)
        subprocess.run(["objcopy", "--only-keep-debug", unstripped, debug_file], check=True)
        cls.runs = {}
        with nodes.Node("27-usdt", "phases", f"phases={PHASES}") as node:
            cls.start = bias(node.pid)
            for name, places in ("none", ()), ("file", (debug_file,)), ("directory", (out,)):
                said = beamflame.record(
                    "-v", "-p", node.pid, "-d", 3, "-F", 499, "-e", "cpu,gc", "-o",
                    out / f"{name}.json", *(f"--symbols={place}" for place in places)).stderr
                cls.runs[name] = native_leaves(out / f"{name}.json")[1], said
            cls.said = {(command, bool(place)): cls.places(node.pid, command, *place)
                        for command in ("probes", "doctor", "calls")
                        for place in ((), ("--symbols", out))}

    @staticmethod
    def places(pid, command, *options):
        """Return what a command says of the places of its probes."""
        more = {"calls": ("-v", "-d", 1, "--split", "lists:map/2")}.get(command, ())
        done = beamflame.run(command, "-p", pid, *more, *options)
        return done.stdout + done.stderr

    def test_all_c_functions_have_the_names_in_the_debug_file(self):
        """Without the file, some have none. With it, each one has the name that the compiler gave
        to its start. Stubs of the PLT and C++ functions have names in another form."""
        self.assertTrue(any(frame.get("unresolved") for frame, _ in self.runs["none"][0]))
        for run in "file", "directory":
            with self.subTest(run):
                native, _ = self.runs[run]
                compared = 0
                for frame, _ in native:
                    self.assertNotIn("unresolved", frame)
                    names = self.names[int(frame["address"], 16) - self.start]
                    if names and not any(name.startswith("_Z") for name in names):
                        self.assertIn(frame["symbol"], names)
                        compared += 1
                self.assertGreater(compared, 20)

    def test_other_commands_place_probes_by_it(self):
        for command, says in (("probes", r"(?m)^gc +entry +\w+ +debug .* garbage_collect$"),
                              ("doctor", r"(?m)^ok +vm \d+ gc .*garbage_collect \(debug\)"),
                              ("calls", r"symbols: of \S+/beam.smp: those of its debug file\n")):
            with self.subTest(command):
                self.assertRegex(self.said[command, True], says)
                self.assertNotRegex(self.said[command, False], says)

    def test_hooks_are_found_by_the_debug_file_and_do_not_depend_on_it(self):
        """The place of a probe is the function with that name, with the debug file or without it."""
        hooks = {run: {name: int(address, 16) - self.start for name, address in re.findall(
            r"hooks: (\w+) at 0x([0-9a-f]+): (?:by symbol|by the debug file|no symbol)", said)}
            for run, (_, said) in self.runs.items()}
        self.assertGreater(len(hooks["none"]), 10)
        self.assertIn("garbage_collect", hooks["none"])
        for name, address in hooks["none"].items():
            self.assertIn(name, {COPY.sub("", MANGLED.sub(r"\1", symbol))
                                 for symbol in self.names[address]})
        self.assertEqual(hooks["file"], hooks["none"])
        self.assertEqual(hooks["directory"], hooks["none"])
        for run, is_there in ("none", False), ("file", True), ("directory", True):
            self.assertEqual(bool(re.search(r"garbage_collect at \w+: by the debug file\n",
                                            self.runs[run][1])), is_there, run)


if __name__ == "__main__":
    unittest.main()
