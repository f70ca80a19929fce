# SPDX-License-Identifier: Apache-2.0
"""While an exception is raised and caught, a stack shows the function that raised it, or says that
a frame is missing."""
import re
import unittest
from collections import Counter

import beamflame
import nodes

NEEDS = "own nodes"
CATCHES = re.compile(r"raises:catch_(\w+)/1")
RAISES = re.compile(r"raises:raise_(\w+)/1")


@nodes.each_release
class Raises:
    release = None
    known = 0.75  # of the stacks in the VM's handler; in its end, the stack is that of the catcher

    def test_function_that_raises_is_the_one_that_the_catcher_called(self):
        """No stack shows another function, and nearly all show it."""
        beamflame.require()
        out = beamflame.folder(self.addCleanup) / "x.folded"
        with nodes.Node(self.release, "raises", flags=nodes.NO_BUSY_WAIT) as node:
            beamflame.record("-p", node.pid, "-d", 10, "-F", 999, "-o", out)
        raising, known, seen = 0, 0, Counter()
        for line in out.read_text(encoding="utf-8").splitlines():
            stack, _, count = line.rpartition(" ")
            catches, raises = CATCHES.findall(stack), RAISES.findall(stack)
            if "[frames missing]" in stack:
                self.assertLessEqual(set(raises), set(catches), line)
            elif raises:
                self.assertEqual(raises, catches, line)
            if "handle_error" in stack:
                raising += int(count)
                known += int(count) * bool(raises)
            seen.update(raises)
        self.assertGreater(raising, 100)
        self.assertGreater(known / raising, self.known)
        self.assertEqual(len(seen), 15, seen)


class RaisesMusl25(Raises, unittest.TestCase):
    release = "25-musl"
    known = 0.85


if __name__ == "__main__":
    unittest.main()
