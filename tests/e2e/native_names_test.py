# SPDX-License-Identifier: Apache-2.0
"""Names of C functions of stripped VMs whose build beamflame knows (symbols/README.md)."""
import json
import re
import subprocess
import time
import unittest
from collections import Counter
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


def bias(pid):
    """Return where the executable of the process begins in its memory."""
    executable = Path(f"/proc/{pid}/exe").readlink().name
    for line in Path(f"/proc/{pid}/maps").read_text("utf-8").splitlines():
        addresses, _, offset, *_, path = line.split(maxsplit=5)
        if path.endswith(executable) and int(offset, 16) == 0:
            return int(addresses.split("-")[0], 16)
    raise AssertionError("the executable is not mapped")


@nodes.each_of((25, 27, 29))
class NativeNames:
    release = None

    def setUp(self):
        beamflame.require()
        nodes.require(self.release)
        self.names = known(self.release)

    def native_leaves(self, node):
        """Record the node; return the number of all samples, and [(frame, samples)] of the C
        functions of the VM that ran."""
        path = beamflame.folder(self.addCleanup) / "x.json"
        beamflame.record("-p", node.pid, "-d", 5, "-F", 499, "-o", path)
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

    def test_c_functions_have_the_names_of_their_build(self):
        """At least 90 % of the time in C functions of the VM has a name: that of the table at the
        address where the function starts."""
        with nodes.Node(self.release, "phases", f"phases={PHASES}") as node:
            time.sleep(0.5)
            total, native = self.native_leaves(node)
            start = bias(node.pid)
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

    def test_doctor_does_not_ask_for_debug_symbols(self):
        with nodes.Node(self.release, "identity") as node:
            done = beamflame.run("doctor", "-p", node.pid)
        self.assertRegex(done.stdout, rf"(?m)^ok +vm {node.pid} symbols +those of this build")
        self.assertNotIn("erlang-base-dbgsym", done.stdout)


if __name__ == "__main__":
    unittest.main()
