# SPDX-License-Identifier: Apache-2.0
"""The messages that docs/troubleshooting.md explains are those of the program, and it explains each
warning."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STRING = r'"(?:\\.|[^"\\])*"'
CONVERSION = re.compile(r"%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]")


ADJACENT = rf"{STRING}(?:\s*{STRING})*"
# A call of message_warning(), or of a warn_function that a struct has.
WARNING = re.compile(rf"(?:\bmessage_warning|->warn|\.warn)\(\s*({ADJACENT}|[A-Z]\w+)")
# Formats without words, and the files that print by them errors or texts that are elsewhere.
OTHERS = {("%s", "cli/render.c"), ("%s", "cli/shared_options.c"), ("%s", "session/targets.c")}


def joined(strings):
    return "".join(part[1:-1] for part in re.findall(STRING, strings))


def sources():
    """Yield (path below src, text) of the program's files."""
    for path in sorted((ROOT / "src").rglob("*.[ch]")):
        yield str(path.relative_to(ROOT / "src")), path.read_text(encoding="utf-8")


def formats():
    """Return the strings of the program's files; adjacent ones are one."""
    found = set()
    for _, text in sources():
        found.update(map(joined, re.findall(ADJACENT, text)))
    return found


def warnings():
    """Return {(format, path)} of all warnings. A format that is a macro is looked up."""
    texts = dict(sources())
    macros = dict(re.findall(rf"#define (\w+)[ \\\n]+({ADJACENT})", "\n".join(texts.values())))
    return {(joined(macros.get(found, found)), path)
            for path, text in texts.items() for found in WARNING.findall(text)}


def pattern(text):
    """Return a regular expression of what printf() makes of a format."""
    parts = CONVERSION.split(text.replace("%%", "\0"))
    return re.compile(".+".join(re.escape(part.replace("\0", "%")) for part in parts))


def explained():
    """Return the messages of the tables. A row may have several."""
    text = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(.+?)` \|", text.partition("## Messages")[2], re.M)
    return [message for row in rows for message in row.split("`, `")]


class Messages(unittest.TestCase):
    def test_each_documented_message_is_one_of_the_program(self):
        """A message that was changed in the program is changed in the document too."""
        # A format of mere conversions would match anything.
        patterns = [pattern(text) for text in formats()
                    if len(CONVERSION.sub("", text).strip()) > 8]
        messages = explained()
        self.assertGreater(len(messages), 50)
        for message in messages:
            with self.subTest(message):
                self.assertTrue(any(each.fullmatch(message) for each in patterns))

    def test_each_warning_is_documented(self):
        found = warnings()
        self.assertGreater(len(found), 20)
        self.assertLessEqual(OTHERS, found)
        messages = explained()
        for text, path in found - OTHERS:
            with self.subTest(text, path=path):
                self.assertTrue(any(map(pattern(text).fullmatch, messages)))


if __name__ == "__main__":
    unittest.main()
