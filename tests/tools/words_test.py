# SPDX-License-Identifier: Apache-2.0
"""tools/words finds what the glossary replaces: in comments, strings and documents."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
TOOL = TOP / "tools" / "words"


def check(top):
    done = subprocess.run([sys.executable, TOOL, top], capture_output=True, text=True, timeout=60)
    assert not done.stderr, done.stderr
    return done.stdout.splitlines(), done.returncode


class Words(unittest.TestCase):
    def findings(self, text, path="src/beam/some.c"):
        """Return the findings in a project whose only file has this text, without what to write."""
        with tempfile.TemporaryDirectory(prefix="beamflame-test-") as folder:
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            lines, code = check(folder)
        self.assertEqual(code, 1 if lines else 0)
        return [line.removeprefix(path + ":").partition(": write:")[0] for line in lines]

    def test_project_has_no_such_words(self):
        self.assertEqual(check(TOP), ([], 0))

    def test_each_word_is_found(self):
        for words in ("goes on", "told", "of which it is not known", "to who", "asked for",
                      "comes to", "is over"):
            with self.subTest(words):
                self.assertEqual(self.findings(f"int x;\n/* It {words}. */\n"), [f"2: '{words}'"])

    def test_comments_and_strings_of_c_are_read(self):
        self.assertEqual(self.findings('// Told: a\nput("told"); /* b told */\nint told;\n'),
                         ["1: 'Told'", "2: 'told'", "2: 'told'"])

    def test_phrase_may_span_lines(self):
        for text in ("/* It goes\n * on. */", "// It goes\n// on.", '"It goes "\n"on"'):
            with self.subTest(text):
                self.assertEqual(self.findings(text), ["1: 'goes on'"])

    def test_phrase_does_not_span_code(self):
        self.assertEqual(self.findings("/* It goes */\nint x; /* on */\n"), [])

    def test_other_words_are_allowed(self):
        self.assertEqual(self.findings("/* to whom, to whose, go once, an untold, comes together */"),
                         [])

    def test_code_in_documents_is_not_read(self):
        text = "# Told\n`told`\n```\ntold\n```\ntold\n"
        self.assertEqual(self.findings(text, "docs/some.md"), ["1: 'Told'", "6: 'told'"])
        self.assertEqual(self.findings(text, "docs/contributing/language.md"), [])

    def test_strings_of_tests_are_not_read_but_comments_are(self):
        text = 'def test():\n    """It is told."""\n    told = "told"  # is over\n'
        self.assertEqual(self.findings(text, "tests/e2e/some_test.py"), ["2: 'told'", "3: 'is over'"])


if __name__ == "__main__":
    unittest.main()
