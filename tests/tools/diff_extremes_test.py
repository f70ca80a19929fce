# SPDX-License-Identifier: Apache-2.0
"""Comparisons of recordings in which something is absent or extreme are written, and valid."""
import re
import subprocess
import unittest

from seeds import BINARY, SeedCase

OTHER_CLOCK = "18.bfr"  # its clock has a foreign name, so it can't be compared with the others
TOO_LONG = "49 days"  # pages show no more


class DiffExtremes(SeedCase):
    def diff(self, base, other, event):
        """Return the finished program and the outputs that it wrote."""
        outputs = [self.folder / f"out.{suffix}" for suffix in ("txt", "folded", "html")]
        for output in outputs:
            output.unlink(missing_ok=True)
        done = subprocess.run([BINARY, "diff", "-q", "--event", event, base, other,
                               *(part for output in outputs for part in ("-o", output))],
                              capture_output=True, text=True, check=False, timeout=20)
        return done, [output for output in outputs if output.exists()]

    def check(self, base, other, event):
        done, outputs = self.diff(base, other, event)
        if OTHER_CLOCK in (base.name, other.name) and base != other:
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "^beamflame: .* such files can't be joined\n$")
            return False
        if TOO_LONG in done.stderr:
            return False
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(outputs), 3)
        for line in outputs[1].read_text("utf-8").splitlines():
            self.assertTrue(re.fullmatch(r".* \d+ \d+", line), line)
        return True

    def test_each_extreme_is_compared_with_an_ordinary_recording(self):
        """As the base and as the other side; two events."""
        compared = 0
        for path in self.paths:
            for event in ("cpu", "sched"):
                for pair in ((self.paths[0], path), (path, self.paths[0])):
                    with self.subTest(pair=[part.name for part in pair], event=event):
                        compared += self.check(*pair, event)
        self.assertGreater(compared, 4 * (len(self.paths) - 3))


if __name__ == "__main__":
    unittest.main()
