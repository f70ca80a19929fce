# SPDX-License-Identifier: Apache-2.0
"""tools/citations prints the cited lines, and fails where a citation is not whole, or where it cites
what does not exist."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "citations"
PAGE = Path("docs", "contributing", "add-an-otp-release.md")
TAGS = "| tag | |\n|---|---|\n| `25.2.3` | cited |\n| `27.3.4` | cited |\n| `29.1` | cited |\n"

# Sources of the VM, below erts/emulator/beam, by release.
SOURCES = {
    "27.3.4": {
        "proc.h": "first\n    second\nthird\n",
        "jit/arm/proc.h": "of another JIT\n",
        "jit/x86/asm.hpp": "the emitter\n",
        "jit/x86/proc.h": "of the JIT\n",
        "jit/common.cpp": "common\n",
        "../utils/make_tables": "a script\n",
        "../../../lib/stdlib/src/proc_lib.erl": "an Erlang module\n",
        "../../preloaded/src/init.erl": "a preloaded module\n",
    },
    "29.1": {"proc.h": "new first\nnew second\n"},
}


class Citations(unittest.TestCase):
    def cite(self, comment, *arguments, path="src/beam/some.c"):
        """Run the tool on a project whose file `path` has this text. Returns its lines, its errors
        and its exit code. Arguments name releases; without any, all are given."""
        with tempfile.TemporaryDirectory(prefix="beamflame-test-") as folder:
            top = Path(folder)
            for release, files in SOURCES.items():
                for name, text in files.items():
                    source = top / release / "erts" / "emulator" / "beam" / name
                    source.parent.mkdir(parents=True, exist_ok=True)
                    source.write_text(text, encoding="utf-8")
            cites = top / "project" / path
            cites.parent.mkdir(parents=True)
            cites.write_text(comment, encoding="utf-8")
            page = top / "project" / PAGE
            page.parent.mkdir(parents=True)
            page.write_text(TAGS, encoding="utf-8")
            tool = top / "project" / "tools" / "citations"
            tool.parent.mkdir()
            shutil.copy(TOOL, tool)
            arguments = arguments or [f"{release}={top / release}" for release in SOURCES]
            done = subprocess.run([sys.executable, tool, *arguments], capture_output=True,
                                  text=True, timeout=20)
        return done.stdout.splitlines(), done.stderr, done.returncode

    def assert_cites(self, comment, *expected, path="src/beam/some.c"):
        lines, errors, code = self.cite(comment, path=path)
        self.assertEqual(lines, [f"{path}:{line}" for line in expected])
        self.assertEqual((errors, code), ("", 0))

    def test_cited_line_is_printed_without_its_indentation(self):
        self.assert_cites("/* proc.h 27.3.4:2 */\n", "1: proc.h 27.3.4:2 | second")

    def test_several_citations_may_follow_one_file(self):
        """Each line is in the release of its tag. A range is printed by its first line."""
        self.assert_cites("/* f() (proc.h 27.3.4:1-3, 29.1:2), g (asm.hpp 27.3.4:1) */",
                          "1: proc.h 27.3.4:1 | first", "1: proc.h 29.1:2 | new second",
                          "1: asm.hpp 27.3.4:1 | the emitter")

    def test_citation_may_span_several_lines(self):
        """A line break in a comment may be within a citation. The line of its tag is printed."""
        self.assert_cites("int x;\n/* f() (proc.h\n * 27.3.4:1, 29.1:1;\n *   asm.hpp 27.3.4:1) */",
                          "3: proc.h 27.3.4:1 | first", "3: proc.h 29.1:1 | new first",
                          "4: asm.hpp 27.3.4:1 | the emitter")
        self.assert_cites("// f(), proc.h\n// 27.3.4:3\n", "2: proc.h 27.3.4:3 | third")

    def test_cited_file_is_found(self):
        """A file is at its path, or below jit, or in any folder, or in that of another program."""
        for name, line in [("proc.h", "first"), ("x86/proc.h", "of the JIT"),
                           ("jit/x86/proc.h", "of the JIT"), ("common.cpp", "common"),
                           ("asm.hpp", "the emitter"), ("utils/make_tables", "a script"),
                           ("proc_lib.erl", "an Erlang module"),
                           ("init.erl", "a preloaded module")]:
            with self.subTest(name):
                self.assert_cites(f"/* {name} 27.3.4:1 */", f"1: {name} 27.3.4:1 | {line}")

    def test_each_folder_of_the_project_is_searched(self):
        for path in ["src/beam/some.h", "src/arch/x86_64/some.c", "bpf/some.bpf.c",
                     "include/some.h", "tests/unit/some.c"]:
            with self.subTest(path):
                self.assert_cites("/* proc.h 29.1:1 */", "1: proc.h 29.1:1 | new first", path=path)

    def test_other_releases_are_not_printed(self):
        self.assert_cites("/* proc.h 25.2.3:1, 29.1:1 */", "1: proc.h 29.1:1 | new first")

    def test_tag_that_is_not_in_the_table_is_refused(self):
        """A part of a tag may be that of several releases."""
        for tag in ("27", "27.3", "27.3.4.1", "26.2.1"):
            with self.subTest(tag):
                lines, _, code = self.cite(f"/* proc.h {tag}:1, 29.1:1 */")
                self.assertEqual(lines, [
                    f"src/beam/some.c:1: proc.h {tag}:1 | TAG that {PAGE} does not have",
                    "src/beam/some.c:1: proc.h 29.1:1 | new first"])
                self.assertEqual(code, 1)

    def test_citation_without_a_file_is_refused(self):
        """A file of another comment, or of an #include, does not count."""
        lines, _, code = self.cite("#include \"proc.h\"\n/* proc.h */ int x; /* f() (29.1:1) */")
        self.assertEqual(lines, ["src/beam/some.c:2: ? 29.1:1 | NO FILE before it in its comment"])
        self.assertEqual(code, 1)

    def test_other_text_is_no_citation(self):
        self.assert_cites("/* proc.h 127.3.4:1, 2:1, 20:30:00 */ const char *text = \"27.3.4:1\";")

    def test_missing_line_is_an_error(self):
        """A file or line that does not exist is printed, and the exit code is 1."""
        for citation in ["proc.h 27.3.4:4", "proc.h 27.3.4:0", "asm.hpp 29.1:1", "none.erl 29.1:1"]:
            with self.subTest(citation):
                lines, _, code = self.cite(f"/* {citation}; proc.h 29.1:2 */")
                self.assertEqual(lines, [f"src/beam/some.c:1: {citation} | MISSING",
                                         "src/beam/some.c:1: proc.h 29.1:2 | new second"])
                self.assertEqual(code, 1)

    def test_missing_end_of_a_range_is_an_error(self):
        lines, _, code = self.cite("/* proc.h 27.3.4:2-4 */")
        self.assertEqual((lines, code), (["src/beam/some.c:1: proc.h 27.3.4:2 | MISSING"], 1))

    def test_citations_of_the_project_are_whole(self):
        done = subprocess.run([sys.executable, TOOL], capture_output=True, text=True, timeout=20)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 0))

    def test_source_without_a_release_is_refused(self):
        for arguments in [["otp-29"], ["29.1=otp-29", "otp-27"]]:
            with self.subTest(arguments):
                lines, errors, code = self.cite("/* proc.h 29.1:1 */", *arguments)
                self.assertIn("usage: tools/citations [TAG=DIR...]", errors)
                self.assertEqual((lines, code), ([], 2))


if __name__ == "__main__":
    unittest.main()
