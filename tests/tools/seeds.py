# SPDX-License-Identifier: Apache-2.0
"""Recordings in which something is absent or extreme, made by tests/fuzz/seeds.c, for tests."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BEAMFLAME_BUILD", ROOT / "build")).resolve()
BINARY, MAKER = BUILD / "beamflame", BUILD / "tests" / "seeds"


class SeedCase(unittest.TestCase):
    """A test case with a folder of its own, and the paths of the recordings."""

    @classmethod
    def setUpClass(cls):
        if not (BINARY.exists() and MAKER.exists()):
            raise unittest.SkipTest("the program is not built (make all unit-tests)")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        subprocess.run([MAKER, cls.folder], check=True)
        cls.paths = sorted((cls.folder / "files").glob("*.bfr"))
