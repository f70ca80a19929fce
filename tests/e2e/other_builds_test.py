# SPDX-License-Identifier: Apache-2.0
"""C functions without a name, recognized in other builds by what they call and what calls them."""
import re
import subprocess
import time
import unittest
from pathlib import Path

import beamflame
import nodes
from diff_test import changes
from native_names_test import COPY, known

NEEDS = "own nodes"
LIKENESS_LIST = nodes.BUILD / "tests" / "likeness_list"
NIF = "spin_nif.so"
SPIN = "F = fun L() -> spin_nif:spin(20000), L() end, F()."
# The same code at other places; and code in which what calls the busy function has no name.
MOVED, SPLIT = ("-falign-functions=256",), ("-fno-inline",)
# Functions without a name in .dynsym, and what calls them.
LIBRARY = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define APART static __attribute__((noipa))
APART int few(const char *a) { return atoi(a) + (int)strlen(a); }
APART int enough(const char *a) { return atoi(a) + (int)strlen(a) + puts(a); }
APART int copy(const char *a) { return puts(a) + atoi(a) + rand(); }
APART int other_copy(const char *a) { return puts(a) + atoi(a) + rand(); }
int one(const char *a) { return few(a) + enough(a) + copy(a); }
int two(const char *a) { return few(a) + enough(a) + other_copy(a); }
"""


def likenesses(emulator):
    """Return {likeness: start} of the functions of a file."""
    lines = subprocess.run([LIKENESS_LIST, emulator], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    found = dict(reversed(line.split()) for line in lines)
    assert len(found) == len(lines), "two functions have one likeness"
    return {likeness: int(start, 16) for likeness, start in found.items()}


def symbols(path):
    """Return {start: name} of the functions in .symtab."""
    lines = subprocess.run(["nm", path], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return {int(line.split()[0], 16): line.split()[2] for line in lines
            if re.match(r"[0-9a-f]+ [tTiW] ", line)}


class Wrappers(unittest.TestCase):
    def test_small_functions_and_copies_have_no_likeness(self):
        """A compiler may put a function into a wrapper, and call that one instead: it has the same
        links, and another name. It does so with functions that refer to little, and with functions
        of headers, of which each source has a copy. Callers alone make none of them known."""
        path = beamflame.folder(self.addCleanup) / "library.so"
        subprocess.run(["gcc", "-O2", "-fno-builtin", "-shared", "-fPIC", "-x", "c", "-", "-o", path],
                       input=LIBRARY, text=True, check=True)
        names = symbols(path)
        self.assertLessEqual({"few", "enough", "copy", "other_copy"}, set(names.values()))
        self.assertEqual({names.get(start) for start in likenesses(path).values()}, {"enough"})


class VmBuilds(unittest.TestCase):
    def pairs(self, one, other):
        """Return the names of the functions of two builds that are taken for the same one, without
        what the compiler adds for a copy."""
        ours, theirs = self.builds[one], self.builds[other]
        return [tuple(COPY.sub("", names.get(starts[likeness], "").lstrip("~"))
                      for starts, names in (ours, theirs))
                for likeness in ours[0].keys() & theirs[0].keys()]

    def test_functions_of_other_releases_and_compilers_are_recognized_without_an_error(self):
        """Of the 1,900 functions that a VM does not export, an eighth or more is recognized in a VM
        of another release, and in one that was built with other flags. None is another function
        than it was taken for. The names are those of the tables of known builds and of DWARF."""
        beamflame.require()
        self.builds = {release: (likenesses(nodes.emulator(release)), known(release))
                       for release in (25, 27)}
        self.builds["27-usdt"] = (likenesses(nodes.emulator("27-usdt")),
                                  symbols(nodes.emulator("27-usdt-dwarf")))
        for one, other, least in ((25, 27, 340), (27, "27-usdt", 390), (25, "27-usdt", 235)):
            pairs = self.pairs(one, other)
            self.assertGreater(len(pairs), least, (one, other))
            self.assertEqual([pair for pair in pairs if all(pair) and pair[0] != pair[1]], [],
                             (one, other))


class NifBuilds(unittest.TestCase):
    """Recordings of stripped builds of one NIF, which has no names but those that it imports."""

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        nodes.require(25)
        cls.built = beamflame.folder(cls.addClassCleanup)
        cls.starts = {name: cls.record(name, seconds, flags) for name, seconds, flags in
                      (("plain", 1, ()), ("moved", 3, MOVED), ("split", 1, SPLIT))}

    @classmethod
    def record(cls, name, seconds, flags):
        """Record a node that runs the NIF, built with these flags, to NAME.bfr. Return the offset
        of its function spin()."""
        folder = cls.built / name
        folder.mkdir()
        for command in (["erlc", "-o", folder, nodes.LOADS / "spin_nif.erl"],
                        ["gcc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", *flags,
                         "-Wl,--build-id", "-I/usr/lib/erlang/usr/include", "-o", folder / NIF,
                         nodes.LOADS / "spin_nif.c"]):
            subprocess.run(command, check=True)
        start = {name: start for start, name in symbols(folder / NIF).items()}["spin"]
        subprocess.run(["strip", "--strip-all", folder / NIF], check=True)
        node = subprocess.Popen(["erl", "-noshell", "-pa", folder, "-eval", SPIN],
                                stdin=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 30
            while NIF not in Path(f"/proc/{node.pid}/maps").read_text("utf-8"):
                if time.monotonic() > deadline:
                    raise AssertionError("the node has not loaded the NIF")
                time.sleep(0.1)
            beamflame.record("-q", "-p", node.pid, "-d", seconds, "-F", 499, "-o",
                             cls.built / f"{name}.bfr")
        finally:
            node.kill()
            node.wait()
        return start

    def diff(self, one, other, *options):
        done = beamflame.run("diff", self.built / f"{one}.bfr", self.built / f"{other}.bfr",
                             *options)
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        return done.stdout

    def test_function_of_another_build_is_one_row_with_its_offset_in_the_second(self):
        """The busy function has another offset in the second build. It is one row of the table, and
        one frame of the graph, and no native function of the NIF is left over."""
        self.assertNotEqual(self.starts["plain"], self.starts["moved"])
        text = self.diff("plain", "moved", "--normalize", "none")
        name = f"~{NIF}+0x{self.starts['moved']:x}"
        before, after = changes(text)[name][:2]
        self.assertGreater(before, 1e8)
        self.assertGreater(after, before)
        self.assertIn("with ~: inferred from what calls the function, and what it calls\n", text)
        folded = self.built / "both.folded"
        self.diff("plain", "moved", "-o", folded)
        rows = [line.split() for line in folded.read_text("utf-8").splitlines() if name in line]
        self.assertGreater(sum(int(row[-2]) for row in rows), 100)
        self.assertGreater(sum(int(row[-1]) for row in rows), 100)
        self.assertNotIn(f"{NIF}+", folded.read_text("utf-8").replace(name, ""))

    def test_function_that_is_not_recognized_is_not_compared(self):
        """In the other build the busy code is a function of its own, whose caller has no name. It
        is taken for no other, and counted."""
        text = self.diff("plain", "split")
        self.assertNotIn("~", text)
        self.assertNotIn(f"{NIF}+", text)
        self.assertRegex(text, r"native functions? (is|are) not compared: only the offset is known")

    def test_function_of_the_same_build_keeps_its_offset(self):
        text = self.diff("plain", "plain", "--sort", "total")
        self.assertNotIn("~", text)
        self.assertNotIn("not compared", text)


if __name__ == "__main__":
    unittest.main()
