# SPDX-License-Identifier: Apache-2.0
"""`beamflame calls --args`: calls are counted by their arguments, on each release."""
import unittest

import beamflame
import breakpoints
import nodes
from call_counts import counting

NEEDS = "own nodes"
EACH, PROCESSES = 500, 2
ROWS = 2048  # that the kernel has; one is the trial's
ELEMENTS = ",".join(str(n) for n in range(1, 17))
CELLS = ",".join(str(n) for n in range(1, 64))
HUNDRED = "0123456789" * 6 + "0123"
GROWN = "ab" * 32
WHOLE = ("(ok)", "('an atom')", "([])", "(42)", "(-7)", "(1180591620717411303424)",
         "(-4611686018427387904)", "(1.5)", '("text")', "([a|b])", "({})", "(<<>>)", '(<<"bytes">>)',
         "(<<1,2,3>>)", '(<<"23456">>)', "(#Fun<...>)", "(#Ref<...>)")
CUT = (f'(<<"{HUNDRED}"...>>)', f'(<<"{GROWN}"...>>)', f"([{CELLS}|...])", f"({{{ELEMENTS},...}})",
       "(#{...})", "(<<...>>)")
SHAPES = {
    "(integer)": 4, "(binary of 5 bytes)": 2, "(ok)": 1, "('an atom')": 1, "([])": 1, "(float)": 1,
    "(binary of 0 bytes)": 1, "(binary of 3 bytes)": 1, "(binary of 100 bytes)": 1,
    "(binary of 126 bytes)": 1, "(bitstring of 3 bits)": 1, "(fun)": 1, "(reference)": 1,
    "(list of 1)": 1, "(list of 2)": 1, "(list of 4)": 1, "(list of 32+)": 1, "(map of 1)": 1,
    "(map of 40)": 1, "({})": 1, "({ok,{deep,tuple of 2}})": 1,
    f"({{{','.join(16 * ['integer'])},...}})": 1,
}


@nodes.each_release
class Arguments:
    release = None

    @classmethod
    def setUpClass(cls):
        breakpoints.require()
        cls.node = nodes.Node(cls.release, "arguments", f"each={EACH}")
        cls.addClassCleanup(cls.node.kill)

    def count(self, work, *arguments):
        """Return the only function, and what was said."""
        with counting(self.node, *arguments) as counted:
            self.node.tell(work)
        return counted["functions"][0], counted

    def check(self, function, expected):
        """Each arguments have as many calls, `expected` times the turns of both processes."""
        found = {row["text"]: row["calls"] for row in function["arguments"]}
        self.assertEqual(found, {text: n * EACH * PROCESSES for text, n in expected.items()})
        self.assertEqual(function["calls"], sum(found.values()))
        self.assertEqual(function["calls_without_arguments"], 0)

    def test_terms_of_all_kinds(self):
        """Numbers, texts, lists, tuples, maps, binaries of each form."""
        function, counted = self.count("terms", "--args", 8, "arguments:one/1")
        deep = ("({ok,{deep,{deeper,{deepest}}}})", "([1,{a,b}])", "(#{a => [x]})")
        self.check(function, dict.fromkeys(WHOLE + CUT + deep, 1))
        self.assertEqual(function["calls_with_cut_arguments"], len(CUT) * EACH * PROCESSES)
        self.assertIn(f"{len(CUT) * EACH * PROCESSES:,} of {function['calls']:,} calls have "
                      "arguments of which a part is shown as ...", counted["said"])

    def test_depth(self):
        """Terms below the depth are shown as `...`."""
        function, _ = self.count("terms", "--args", 2, "arguments:one/1")
        cut = CUT + ("({ok,{...}})", "([1,{...}])", "(#{a => [...]})")
        self.check(function, dict.fromkeys(WHOLE + cut, 1))
        self.assertEqual(function["calls_with_cut_arguments"], len(cut) * EACH * PROCESSES)

    def test_shapes_have_no_contents(self):
        function, _ = self.count("terms", "--args", "sizes", "arguments:one/1")
        self.check(function, SHAPES)

    def test_several_arguments(self):
        function, _ = self.count("triples", "--args", 3, "arguments:three/3")
        self.check(function, dict.fromkeys((
            '({ok,1}, 42, <<"x">>)', '({ok,two}, 42, <<"xyz">>)', '({error,1}, 42, <<"x">>)',
            '({ok,1,2}, 42, <<"x">>)', "(ok, 43, [1])", "([a,b], 43, [])", '([a|b], 44, "str")',
            '(<<"x">>, 42.0, -5)'), 1))

    def test_more_arguments_than_rows(self):
        """Those of later calls are counted together."""
        function, _ = self.count("many", "--args", 1, "arguments:one/1")
        self.assertEqual(function["calls"], 5000)
        self.assertEqual(len(function["arguments"]), ROWS - 1)
        self.assertEqual(function["calls_without_arguments"], 5000 - ROWS + 1)

    def test_slow_calls_have_their_arguments(self):
        """Their caller is followed from its second call on, so the first round may miss some."""
        with counting(self.node, "--args", 2, "--slow", "5ms", "arguments:slow/2") as counted:
            self.node.tell("slow")
            self.node.tell("slow")
        self.assertEqual(counted["functions"][0]["calls"], 8)
        texts = [call["arguments"] for call in counted["slow_calls"]]
        self.assertEqual(set(texts), {"(40, {job,40})", "(30, {job,30})", "(20, {job,20})"})
        for call in counted["slow_calls"]:
            slept = int(call["arguments"].split(",")[0][1:])
            self.assertGreater(call["took_ns"], slept * 1_000_000)

    def test_table(self):
        """The table has the arguments with the most calls, and one row of the others."""
        process = beamflame.start("calls", "-p", self.node.pid, "--budget", 100, "-d", 2, "--top", 3,
                                  "--args", 3, "arguments:three/3")
        self.assertIn("counting", process.stderr.readline())
        self.node.tell("triples")
        out, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, beamflame.DONE, said)
        rows = [line.split(None, 2)[2] for line in out.splitlines() if "  with " in line]
        self.assertEqual(rows, ['with (<<"x">>, 42.0, -5)', "with ([a,b], 43, [])",
                                'with ([a|b], 44, "str")', "with 5 other arguments"])


class Refusals(unittest.TestCase):
    def test_depth_out_of_range(self):
        for depth in ("0", "9", "all"):
            done = beamflame.run("calls", "--args", depth, "lists:map/2")
            self.assertEqual(done.returncode, beamflame.USAGE, done.stderr)
            self.assertIn("the depth of arguments", done.stderr)


if __name__ == "__main__":
    unittest.main()
