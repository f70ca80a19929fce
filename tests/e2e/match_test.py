# SPDX-License-Identifier: Apache-2.0
"""`beamflame calls --match`: only calls whose arguments match are counted, on each release."""
import unittest

import beamflame
import breakpoints
import nodes
from call_counts import counting

NEEDS = "own nodes"
EACH, PROCESSES = 300, 2
TURNS = EACH * PROCESSES
TERMS, TRIPLES = 26, 8  # of the load
ROUNDS = 8  # of the load's slow calls; their caller is followed from the second on
HUNDRED = "0123456789" * 10
# Patterns of one/1, and how many of the load's terms match.
ONE = {
    "_": TERMS, "ok": 1, "'an atom'": 1, "[]": 1, "42": 1, "16#2a": 1, "-7": 1,
    "$*": 1, '"text"': 1, '"texts"': 0, "[_ | _]": 4, "[_, _]": 1, "[_, {a, b}]": 1, "[a|b]": 1,
    "[a|_]": 1, "{}": 1, "{ok, _}": 1, "{ok, {deep, {deeper, {deepest}}}}": 1,
    "{ok, {deep, {deeper, {ok}}}}": 0, "{_, _, _}": 0, "<<>>": 1, '<<"bytes">>': 1, "<<1,2,3>>": 1,
    '<<"23456">>': 1, "<<_/binary>>": 6, '<<"b", _/binary>>': 1, '<<"0123", _/binary>>': 1,
    f'<<"{HUNDRED[:64]}", _/binary>>': 1, '<<"23", _/binary>>': 1, '<<"ab", _/binary>>': 1,
    '<<"byte", 115>>': 1, "Any": TERMS, "{ok, Value}": 1, "[_Head, Next]": 1, '"te" ++ _': 1,
    '"te" ++ Tail': 1, '<<"b", Rest/binary>>': 1, "{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}": 0,
}
# Patterns of three/3, and how many of the load's triples match.
THREE = {
    '{ok, _}, 42, <<"x">>': 1, '{ok, _}, 42, <<"x", _/binary>>': 2, '{_, _}, 42, <<"x">>': 2,
    "_, 43, _": 2, "[a, b], _, []": 1, '[a | b], 44, "str"': 1, '<<"x">>, _, -5': 1, "_, 42, _": 4,
}
VALUES = 25
TWENTY = ",".join(map(str, range(1, 21)))
# Patterns of value/1, how many of the load's values match, and of how many that is not known.
VALUE = {
    "#{}": (12, 0), "#{id := _}": (4, 1), "#{id := 1}": (2, 1), "#{id := #{id := 1}}": (1, 1),
    "#{id := #{}}": (1, 1), '#{name := <<"b">>, id := 2}': (1, 1), '#{name := <<"b">>, id := 1}': (0, 1),
    '#{<<"id">> := 1}': (2, 1), '#{<<"user">> := #{id := 1}}': (1, 1), "#{{k, 1} := a}": (2, 1),
    '#{"key" := b}': (1, 1), "#{1.5 := c}": (1, 1), "#{2.5 := _}": (0, 1),
    f"#{{{1 << 70} := a}}": (1, 1), "#{[] := c}": (1, 1), "#{1 := {value, 1}}": (4, 1),
    "#{32 := {value, 32}, 1 := _}": (4, 1), "#{40 := {value, 40}, 1 := {value, 2}}": (0, 1),
    "#{40 := _}": (3, 1), "#{300 := {_, 300}}": (1, 1), "#{301 := _}": (0, 1),
    "[#{id := 1} | #{id := 1}]": (1, 0), "[#{id := 1} | #{id := 2}]": (0, 0),
    "1.5": (1, 0), "-0.25": (1, 0), "1.0e300": (1, 0), "2.5e-1": (0, 0), "0.0": (1, 0), "-1.5": (0, 0),
    str(1 << 63): (1, 0), str((1 << 63) - 1): (1, 0), f"16#{(1 << 63) - 1:x}": (1, 0),
    str(-(1 << 63)): (1, 0), str(1 << 500): (1, 0), str((1 << 500) + 1): (0, 0), "<0.0.0>": (1, 0),
    f"{{{TWENTY}}}": (1, 0), f'<<"{HUNDRED * 2}">>': (1, 0), f'<<"{HUNDRED}1", _/binary>>': (0, 0),
    f'<<"{HUNDRED}0", _/binary>>': (1, 0),
}


@nodes.each_release
class Match:
    release = None

    @classmethod
    def setUpClass(cls):
        breakpoints.require()
        cls.node = nodes.Node(cls.release, "arguments", f"each={EACH}")
        cls.addClassCleanup(cls.node.kill)

    def matched(self, work, pattern, *arguments):
        with counting(self.node, "--match", pattern, *arguments) as counted:
            self.node.tell(work)
        return counted["functions"][0]

    def check(self, function, pattern, matching, of_all):
        self.assertEqual((function["calls"], function["unmatched"], function["unchecked"]),
                         (matching * TURNS, (of_all - matching) * TURNS, 0), pattern)
        for key in ("callers", "processes"):
            self.assertEqual(sum(row["calls"] for row in function[key]), function["calls"], key)

    def test_terms_of_all_kinds(self):
        for pattern, matching in ONE.items():
            function = self.matched("terms", f"arguments:one({pattern})")
            self.check(function, pattern, matching, TERMS)

    def test_several_arguments(self):
        for pattern, matching in THREE.items():
            function = self.matched("triples", f"arguments:three({pattern})")
            self.check(function, pattern, matching, TRIPLES)

    def test_maps_and_large_terms(self):
        """Counts are exact, except that a map of 5,000 keys is too large to search: its calls may
        match, or not."""
        for pattern, (matching, unknown) in VALUE.items():
            function = self.matched("values", f"arguments:value({pattern})")
            self.assertEqual((function["calls"], function["unchecked"], function["unmatched"]),
                             tuple(count * TURNS for count in (matching, unknown,
                                                               VALUES - matching - unknown)), pattern)

    def test_a_pid_is_known_by_its_text(self):
        with counting(self.node, "arguments:value/1", "--args", 1) as counted:
            self.node.tell("values")
        pids = [row["text"] for row in counted["functions"][0]["arguments"]
                if row["text"].startswith("(<0.") and row["text"] != "(<0.0.0>)"]
        self.assertEqual(len(pids), 1)
        for pattern, matching in ((pids[0], 1), (f"(#{{{pids[0][1:-1]} := b}})", 1), ("(<0.1.7>)", 0)):
            function = self.matched("values", f"arguments:value{pattern}")
            self.assertEqual(function["calls"], matching * TURNS, pattern)

    def test_arguments_of_calls_that_match(self):
        """Only their arguments have rows."""
        function = self.matched("triples", "arguments:three({_, 1}, _, _)", "--args", 3)
        self.check(function, "{_, 1}", 2, TRIPLES)
        self.assertEqual({row["text"]: row["calls"] for row in function["arguments"]},
                         {'({ok,1}, 42, <<"x">>)': TURNS, '({error,1}, 42, <<"x">>)': TURNS})

    def test_another_function_without_a_pattern(self):
        with counting(self.node, "--match", "arguments:one(42)", "arguments:three/3") as counted:
            self.node.tell("terms")
            self.node.tell("triples")
        by_name = {function["function"]: function for function in counted["functions"]}
        self.check(by_name["arguments:one/1"], "42", 1, TERMS)
        self.check(by_name["arguments:three/3"], "none", TRIPLES, TRIPLES)

    def test_times_are_those_of_calls_that_match(self):
        """A call that does not match is not followed."""
        pattern = "arguments:slow(_, {job, 30})"
        with counting(self.node, "--match", pattern, "--slow", "1ms") as counted:
            for _ in range(ROUNDS):
                self.node.tell("slow")
        function, = counted["functions"]
        self.assertEqual((function["calls"], function["unmatched"]), (ROUNDS, 3 * ROUNDS))
        self.assertGreaterEqual(function["latency"]["returned"], ROUNDS / 2)
        self.assertEqual(len(counted["slow_calls"]), function["latency"]["returned"])
        self.assertGreater(function["latency"]["p50_ns"], 29_000_000)
        self.assertLess(function["latency"]["p50_ns"], 39_000_000)

    def printed(self, pattern, request):
        """Return what is printed on standard output and on stderr of the calls of a request."""
        process = beamflame.start("calls", "-p", self.node.pid, "--budget", 100, "-d", 2,
                                  "--match", pattern)
        self.assertIn("counting", process.stderr.readline())
        self.node.tell(request)
        out, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, beamflame.DONE, said)
        return out, said

    def test_table(self):
        out, _ = self.printed('arguments:three({ok, _}, 42, <<"x">>)', "triples")
        rows = [line.split(None, 2) for line in out.splitlines()]
        self.assertEqual((rows[1][0], rows[1][2]), (f"{TURNS:,}", "arguments:three/3"))
        self.assertEqual((rows[-1][0], rows[-1][2]),
                         (f"{(TRIPLES - 1) * TURNS:,}", "not counted: did not match"))

    def test_interval_if_some_calls_may_match(self):
        out, said = self.printed("arguments:value(#{id := _})", "values")
        matching, unknown = (count * TURNS for count in VALUE["#{id := _}"])
        self.assertIn(f"between {matching:,} and {matching + unknown:,} calls of arguments:value/1 "
                      f"match: it is not known of {unknown:,} calls", said)
        row = out.splitlines()[-1].split(None, 2)
        self.assertEqual((row[0], row[2]), (f"{unknown:,}", "not counted: may have matched"))


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.node = nodes.Node(27, "arguments")
        cls.addClassCleanup(cls.node.kill)

    def refused(self, *arguments):
        done = beamflame.run("calls", "-p", self.node.pid, "-d", 1, *arguments)
        self.assertEqual(done.returncode, beamflame.USAGE, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_parts_that_the_kernel_cannot_match(self):
        """Each is named."""
        for pattern, what in (("{X, X}", "a variable that occurs twice"), ("<1.1.0>", "a pid of another node"),
                              ("#Ref<0.1.2.3>", "a record, fun, port or reference"),
                              ("fun lists:map/2", "a fun"),
                              ("#{_ := 1}", "_ or a variable in the key of a map"),
                              ("<<1:4>>", "the size or type of a segment")):
            said = self.refused("--match", f"arguments:one({pattern})")
            self.assertIn(f"the kernel can't match {what}, from '", said)

    def test_patterns_that_cannot_be_read(self):
        for pattern in ("arguments:one", "arguments:one(", "arguments:one({)", "one(1)",
                        "arguments:one(1) x", "arguments:one([1|])", "arguments:_(1)", "arguments:one/1(1)",
                        "arguments:one('a)", "arguments:one(#{a => 1})", 'arguments:one(<<"a)'):
            self.refused("--match", pattern)

    def test_atom_that_the_vm_does_not_have(self):
        breakpoints.require()
        self.assertIn("the VM has no atom 'never_seen': no call can match",
                      self.refused("--match", "arguments:one(never_seen)"))

    def test_two_patterns_of_a_function(self):
        breakpoints.require()
        self.assertIn("'arguments:one/1' has two patterns",
                      self.refused("--match", "arguments:one(1)", "--match", "arguments:one(2)"))

    def test_wrong_number_of_arguments(self):
        self.assertIn("arguments", self.refused("--match", "arguments:one(1, 2)"))


if __name__ == "__main__":
    unittest.main()
