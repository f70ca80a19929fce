# SPDX-License-Identifier: Apache-2.0
"""Comments of the page's code name files of this project where they are."""
import re
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
# A path from the top of the project, such as src/view/view.c; or the name of a file of the page.
PATH = re.compile(r"(?<![\w/.])(?:src|web|docs|tests|tools|bpf)/[\w./-]*\w")
NAME = re.compile(r"(?<![\w/.#-])\w+\.(?:js|css)\b")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def files():
    return [path for pattern in ("*.js", "*.ts", "*.css", "*/*.js")
            for path in (TOP / "web").glob(pattern)]


def comments():
    """Yield (file and line, text) of each line of a comment."""
    for path in files():
        text = path.read_text(encoding="utf-8")
        for comment in COMMENT.finditer(text):
            first = text.count("\n", 0, comment.start()) + 1
            for number, line in enumerate(comment[0].splitlines(), first):
                yield f"{path.relative_to(TOP)}:{number}", line


class Paths(unittest.TestCase):
    def test_named_files_exist(self):
        names, found = {path.name for path in files()}, 0
        for place, line in comments():
            for path in PATH.findall(line):
                found += 1
                self.assertTrue((TOP / path).exists(), f"{place}: there is no {path}")
            for name in NAME.findall(line):
                found += 1
                self.assertIn(name, names, place)
        self.assertGreater(found, 20)


if __name__ == "__main__":
    unittest.main()
