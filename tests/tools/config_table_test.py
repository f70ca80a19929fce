# SPDX-License-Identifier: Apache-2.0
"""docs/agent.md has the keys of the agent's configuration as the program has them, and an example
of a file with what the program prints for it."""
import os
import re
import subprocess
import tempfile
import unittest

from seeds import BUILD, ROOT

PROGRAM = BUILD / "tests" / "config_keys"
TEXT = (ROOT / "docs" / "agent.md").read_text(encoding="utf-8")
HEAD = "| key | variable | value | default | what it is |"


def program(*arguments):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("BEAMFLAME_")}
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=20,
                          check=False, env=environment)


def examples():
    """Return the blocks of YAML."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.M | re.S)
    return [text for language, text in blocks if language == "yaml"]


@unittest.skipUnless(PROGRAM.exists(), "config_keys is not built (make unit-tests)")
class ConfigTable(unittest.TestCase):
    maxDiff = None

    def test_table_has_each_key(self):
        table = TEXT.partition(HEAD + "\n")[2].partition("\n\n")[0]
        self.assertEqual(table.splitlines()[1:], program().stdout.splitlines())

    def test_first_example_is_printed_as_the_second(self):
        """The file is /etc/beamflame/agent.yaml there."""
        written, printed = examples()
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
            file.write(written)
            file.flush()
            result = program(file.name)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.replace(file.name, "/etc/beamflame/agent.yaml"), printed)


if __name__ == "__main__":
    unittest.main()
