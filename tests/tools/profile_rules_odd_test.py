# SPDX-License-Identifier: Apache-2.0
"""Services accept the profiles of recordings in which something is absent or extreme."""
import subprocess
import unittest

import profile_rules as rules
import protoc
from seeds import BINARY, SeedCase

EVENTS = ("cpu", "wall", "gc", "alloc", "sched", "msg")
NO_SAMPLES = 6  # exit code


class OddProfiles(SeedCase):
    def outputs(self, path, event, *options):
        """Return the profiles of an event, {suffix: bytes}; none if it has no samples."""
        paths = [self.folder / f"out.{suffix}" for suffix in ("pb", "otlp")]
        done = subprocess.run([BINARY, "report", path, "-q", "--event", event, *options,
                               *(part for output in paths for part in ("-o", output))],
                              capture_output=True, text=True, check=False, timeout=60)
        if done.returncode == NO_SAMPLES or "has no event" in done.stderr:
            return {}
        self.assertEqual(done.returncode, 0, done.stderr)
        return {output.suffix: output.read_bytes() for output in paths}

    def check(self, path, event, *options):
        made = self.outputs(path, event, *options)
        if not made:
            return 0
        pushed = "none" in options
        with self.subTest(path=path.name, event=event, options=options):
            self.assertEqual(rules.pprof_findings(made[".pb"], pushed), [])
            self.assertEqual(rules.otlp_findings(made[".otlp"], event, pushed), [])
        return 1

    def test_each_odd_recording_gives_accepted_profiles(self):
        """All events, with and without labels and times."""
        try:
            protoc.run("encode", protoc.PPROF, b"")
        except FileNotFoundError as error:
            self.skipTest(str(error))
        checked = 0
        for path in self.paths:
            for event in EVENTS:
                checked += self.check(path, event)
                checked += self.check(path, event, "--labels", "none")
                checked += self.check(path, event, "--timestamps", "--group-by", "pid,status")
        self.assertGreater(checked, 200)


if __name__ == "__main__":
    unittest.main()
