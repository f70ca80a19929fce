# SPDX-License-Identifier: Apache-2.0
"""The intervals of rows hold the truth in many recordings, on each release (e2e/rows_test.py). Takes
six minutes."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
import rows_test  # noqa: E402


class RowsOf25(rows_test.Rows):
    release = 25
    recordings = 20


class RowsOf27(rows_test.Rows):
    recordings = 20


class RowsOf29(rows_test.Rows):
    release = 29
    recordings = 20


if __name__ == "__main__":
    unittest.main()
