# SPDX-License-Identifier: Apache-2.0
"""The ETS table that a BIF works on is the BIF's callee in stacks."""
import unittest
from collections import Counter

import beamflame
import nodes

NEEDS = "own nodes"
SECONDS = 8
SHARES = {"north": 0.4, "south": 0.3, "east": 0.2, "west": 0.1}
ON = "busytables:on_"
# Functions of ets that take a table or a continuation, and spend time on it.
OF_TABLES = ("ets:lookup/2", "ets:select/2", "ets:insert/2", "ets:select_count/2", "ets:match/2",
             "ets:select_trap/1", "ets:select/1", "ets:select/3")


def table_of(stack):
    """Return (the ETS function, its table or None) of a stack, or None if there is no function."""
    for i, frame in enumerate(stack):
        if frame in OF_TABLES:
            below = stack[i + 1] if i + 1 < len(stack) else ""
            return frame, below[7:-1] if below.startswith("[table ") else None
    return None


@nodes.each_release
class BusyTables:
    release = None

    def stacks(self, process):
        """Return the stacks of this process of the load, which takes a CPU of its own."""
        beamflame.require()
        out = beamflame.folder(self.addCleanup) / "x.folded"
        with nodes.Node(self.release, "busytables", f"process={process}",
                        flags=nodes.NO_BUSY_WAIT) as node:
            node.take_precedence()
            beamflame.record("-p", node.pid, "-d", SECONDS, "-F", 999, "--process", process,
                             "-o", out)
        return beamflame.read_folded(out)

    def check_names(self, stacks):
        """Check that no table has another name than the function on the stack says. Return the
        samples in functions of tables, those among them that show a table, and the samples of each
        table."""
        seen, named, tables = 0, 0, Counter()
        for stack, count in stacks.items():
            on = [frame[len(ON):].partition("/")[0] for frame in stack if frame.startswith(ON)]
            shown = [frame[7:-1] for frame in stack if frame.startswith("[table ")]
            if on:
                self.assertIn(shown, ([], on), stack)
            tables.update(dict.fromkeys(shown, count))
            found = table_of(stack)
            seen += count * bool(found)
            named += count * bool(found and found[1])
        return seen, named, tables

    def test_shares_of_tables_are_those_of_the_work(self):
        """Two tables with names and two without have their shares of the time in ets, within three
        points. Nearly all samples in functions of tables show a table."""
        seen, named, tables = self.check_names(self.stacks("sharer"))
        self.assertGreater(seen, 2000)
        self.assertGreater(named / seen, 0.99)
        for name, share in SHARES.items():
            self.assertAlmostEqual(tables[name] / tables.total(), share, delta=0.03, msg=tables)
        self.assertEqual(set(tables), set(SHARES))

    def test_no_table_is_named_wrongly(self):
        """Functions are interrupted and continued, tables last for a moment, and functions take
        tables and do not work on them. No sample shows a table that the process does not work
        on."""
        stacks = self.stacks("mixer")
        seen, named, tables = self.check_names(stacks)
        self.assertGreater(seen, 1000)
        self.assertGreater(named / seen, 0.95)
        self.assertLessEqual(set(tables), {"large", "ordered", "brief"})
        self.assertGreater(min(tables["large"], tables["ordered"]), 500)
        self.assertLessEqual({"ets:select/1", "ets:select_trap/1", "ets:insert/2"},
                             {found[0] for found in map(table_of, stacks) if found and found[1]})


if __name__ == "__main__":
    unittest.main()
