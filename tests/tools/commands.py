# SPDX-License-Identifier: Apache-2.0
"""Commands that tests run."""
import subprocess
import unittest


def run(*command, **options):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True,
                          timeout=55, check=False, **options)


class CommandCase(unittest.TestCase):
    def done(self, *command, **options):
        """Run a command that must succeed; return its output."""
        done = run(*command, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout
