# SPDX-License-Identifier: Apache-2.0
"""Each caller in a stack is a real one, even if the stack contains words that look like callers."""
import json
import shlex
import subprocess
import time
import unittest

import beamflame
import nodes

NEEDS = "own nodes"
CHECK_CALLERS = nodes.ROOT / "tools" / "check-callers"
LEAF_DEPTHS = nodes.BUILD / "tests" / "leaf_depths"
MODULES = ("callers", "lists", "gen", "gen_server", "supervisor", "string", "erl_parse", "erl_lint",
           "erlang", "maps", "io_lib_format", "beam_call_types", "beam_ssa_opt", "ets", "global",
           "v3_core", "beam_validator", "unicode_util", "code_server", "application_controller")


@nodes.each_release
class Callers:
    release = None
    flags = ()
    known = 0.995

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.node = nodes.Node(cls.release, "callers", flags=nodes.NO_BUSY_WAIT + cls.flags)
        cls.addClassCleanup(cls.node.kill)
        while cls.node.report()["compiled"] < 2:  # wait until the code that it runs is loaded
            time.sleep(0.2)

    def test_each_caller_can_have_called_its_callee(self):
        """No stack shows a caller that cannot have called its callee."""
        folded = beamflame.folder(self.addCleanup) / "x.folded"
        run = beamflame.run("-p", self.node.pid, "-d", 10, "-F", 999, "-o", folded)
        self.assertEqual(run.returncode, 0, run.stderr)
        erl = shlex.join([str(nodes.OTP_LAB), "run", str(self.release), "--pa",
                          str(nodes.compiled_loads(self.release)), "--"])
        check = subprocess.run([CHECK_CALLERS, "--erl", erl, folded], capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        checked = int(check.stdout.split()[0])
        self.assertGreater(checked, 10000, check.stdout)
        total = marked = 0
        for line in folded.read_text().splitlines():
            count = int(line.rpartition(" ")[2])
            total += count
            marked += count * ("[frames missing]" in line)
        self.assertLess(marked / total, 0.01)

    def test_nearly_all_instructions_have_a_known_frame_size(self):
        """Nearly all instructions have a known frame size, and no two paths to an instruction give
        different sizes."""
        done = subprocess.run([LEAF_DEPTHS, str(self.node.pid)], input="\n".join(MODULES) + "\n",
                              capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        self.assertGreater(found["functions"], 1000)
        self.assertGreater(found["known"] / found["instructions"], self.known)
        self.assertEqual((found["contradictions"], found["unreadable"]), (0, 0))


class CallersMusl25(Callers, unittest.TestCase):
    """The same tests with Erlang stacks that are apart from the machine stack."""

    release = "25-musl"


class CallersWithFramePointers(Callers, unittest.TestCase):
    """The same tests with frame pointers, which change the code of functions and of fragments."""

    release = 29
    flags = ("+JPperf", "fp")
    known = 0.98  # dead code after the jump of a BIF looks like other code
