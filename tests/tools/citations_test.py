# SPDX-License-Identifier: Apache-2.0
"""tools/citations prints the cited lines, and fails where there are none, or where a tag may be that
of several releases."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "citations"
PAGE = Path("docs", "contributing", "add-an-otp-release.md")
SHORT_TAGS = "| short tag | tag |\n|---|---|\n| `25` | `25.2.3` |\n| `27` | `27.3.4` |\n| `29` | `29.10` |\n"

# Sources of the VM, below erts/emulator/beam, by release.
SOURCES = {
    "27.3.4": {
        "proc.h": "first\n    second\nthird\n",
        "jit/arm/proc.h": "of another JIT\n",
        "jit/x86/asm.hpp": "the emitter\n",
        "jit/x86/proc.h": "of the JIT\n",
        "jit/common.cpp": "common\n",
    },
    "29.10": {"proc.h": "new first\nnew second\n"},
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
            page.write_text(SHORT_TAGS, encoding="utf-8")
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

    def test_release_is_cited_by_the_start_of_its_tag(self):
        """A release is cited by its short tag, or by the start of its tag, in whole numbers."""
        self.assert_cites("/* proc.h 27:1, 27.3:3, 27.3.4.1:1, 29.1:1, 2:1 */",
                          "1: proc.h 27:1 | first", "1: proc.h 27.3:3 | third")

    def test_several_citations_may_follow_one_file(self):
        """Each line is in the release of its tag. A range is cited by its first line."""
        self.assert_cites("/* f() (proc.h 27:1-3, 29:2), g (asm.hpp 27:1) */",
                          "1: proc.h 27:1 | first", "1: proc.h 29:2 | new second",
                          "1: asm.hpp 27:1 | the emitter")

    def test_citation_may_span_several_lines(self):
        """A line break in a comment may be within a citation. The line of its tag is printed."""
        self.assert_cites("int x;\n/* f() (proc.h\n * 27:1, 29:1;\n *   asm.hpp 27:1) */",
                          "3: proc.h 27:1 | first", "3: proc.h 29:1 | new first",
                          "4: asm.hpp 27:1 | the emitter")
        self.assert_cites("// f(), proc.h\n// 27:3\n", "2: proc.h 27:3 | third")

    def test_cited_file_is_found_below_jit_or_in_any_folder(self):
        """A file is at its path, or below jit, or in any folder."""
        for name, line in [("proc.h", "first"), ("x86/proc.h", "of the JIT"),
                           ("jit/x86/proc.h", "of the JIT"), ("common.cpp", "common"),
                           ("asm.hpp", "the emitter")]:
            with self.subTest(name):
                self.assert_cites(f"/* {name} 27:1 */", f"1: {name} 27:1 | {line}")

    def test_each_folder_of_the_project_is_searched(self):
        for path in ["src/beam/some.h", "src/arch/x86_64/some.c", "bpf/some.bpf.c",
                     "include/some.h"]:
            with self.subTest(path):
                self.assert_cites("/* proc.h 29:1 */", "1: proc.h 29:1 | new first", path=path)

    def test_short_tag_is_one_release(self):
        """Sources of another release than that of the table are not cited by the short tag."""
        with tempfile.TemporaryDirectory(prefix="beamflame-test-") as other:
            lines, _, code = self.cite("/* proc.h 27:1 */", f"27.3.5={other}")
        self.assertEqual((lines, code), ([], 0))

    def test_short_tag_that_is_not_in_the_table_is_refused(self):
        for tag in ("24", "26"):
            with self.subTest(tag):
                lines, _, code = self.cite(f"/* proc.h {tag}:1, 29:1 */")
                self.assertEqual(lines, [
                    f"src/beam/some.c:1: proc.h {tag}:1 | SHORT TAG that {PAGE} does not have",
                    "src/beam/some.c:1: proc.h 29:1 | new first"])
                self.assertEqual(code, 1)

    def test_short_tags_of_the_project_are_in_the_table(self):
        done = subprocess.run([sys.executable, TOOL, "0.0=/"], capture_output=True, text=True,
                              timeout=20)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 0))

    def test_other_text_is_no_citation(self):
        """Erlang sources are not below erts/emulator/beam; other releases were not given."""
        self.assert_cites("/* 27:1, proc.h 25:1, init.erl 27:1, proc.h 127:1 */")

    def test_missing_line_is_an_error(self):
        """A file or line that does not exist is printed, and the exit code is 1."""
        for citation in ["proc.h 27:4", "proc.h 27:0", "asm.hpp 29:1"]:
            with self.subTest(citation):
                lines, _, code = self.cite(f"/* {citation}; proc.h 29:2 */")
                self.assertEqual(lines, [f"src/beam/some.c:1: {citation} | MISSING",
                                         "src/beam/some.c:1: proc.h 29:2 | new second"])
                self.assertEqual(code, 1)

    def test_source_without_a_release_is_refused(self):
        for arguments in [["otp-29"], ["29.10=otp-29", "otp-27"]]:
            with self.subTest(arguments):
                lines, errors, code = self.cite("/* proc.h 29:1 */", *arguments)
                self.assertIn("usage: tools/citations TAG=DIR", errors)
                self.assertEqual((lines, code), ([], 2))


if __name__ == "__main__":
    unittest.main()
