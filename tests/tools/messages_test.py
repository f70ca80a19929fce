# SPDX-License-Identifier: Apache-2.0
"""The messages that docs/troubleshooting.md explains are those of the program."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STRING = r'"(?:\\.|[^"\\])*"'
CONVERSION = re.compile(r"%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]")


def formats():
    """Return the strings of the program's files; adjacent ones are one."""
    found = set()
    for path in (ROOT / "src").rglob("*.[ch]"):
        text = path.read_text(encoding="utf-8")
        for strings in re.findall(rf"{STRING}(?:\s*{STRING})*", text):
            found.add("".join(part[1:-1] for part in re.findall(STRING, strings)))
    return found


def pattern(text):
    """Return a regular expression of what printf() makes of a format."""
    parts = CONVERSION.split(text.replace("%%", "\0"))
    return re.compile(".+".join(re.escape(part.replace("\0", "%")) for part in parts))


def explained():
    """Return the messages of the tables."""
    text = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `(.+?)` \|", text.partition("## Messages")[2], re.M)


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


if __name__ == "__main__":
    unittest.main()
