# SPDX-License-Identifier: Apache-2.0
"""Each lie of tests/e2e/hostile_test.py on each release."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

import hostile_test  # noqa: E402 pylint: disable=wrong-import-position

RELEASES = (25, 27, 29)


class HostileReleases(hostile_test.Liar, unittest.TestCase):
    pass


if hostile_test.HOSTILE.exists():
    hostile_test.add_tests(HostileReleases, hostile_test.lies(), lambda number: RELEASES)
