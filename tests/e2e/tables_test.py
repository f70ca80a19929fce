# SPDX-License-Identifier: Apache-2.0
"""The ETS tables of `beamflame dump`, compared with what ets:info/1 says on the node."""
import json
import unittest

import beamflame
import nodes

NEEDS = "own nodes"


def dump(node, *options):
    return json.loads(beamflame.record("dump", "--json", "-p", node.pid, "--list", "tables",
                                       *options).stdout)


def described(table):
    """Return a table of a dump as tests/loads/tables.erl describes it."""
    return {**table, "owner": table["owner"]["pid"]}


@nodes.each_release
class Tables:
    """The tests for each release."""

    release = None

    def setUp(self):
        beamflame.require()

    def check(self, node, uncounted=False):
        """Compare all tables; return them by identifier. Each report reads decentralized counters,
        which moves them to new memory."""
        node.report()
        says = {table["id"]: table for table in node.report()["tables"]}
        got = dump(node)
        tables = {table["id"]: table for table in got["tables"]}
        self.assertEqual((got["tables_lost"], got["tables_deleted"]), (0, 0))
        self.assertEqual(set(tables), set(says))
        for identifier, said in says.items():
            table = described(tables[identifier])
            if uncounted and "size" not in table:
                table |= {"size": said["size"], "memory": said["memory"]}
            self.assertEqual(table, said)
        self.assertGreater(len(says), 60)
        self.assertEqual({t["write_concurrency"] for t in says.values()}, {False, True, "auto"})
        memory = [table.get("memory", 0) for table in got["tables"]]
        self.assertEqual(memory, sorted(memory, reverse=True))
        return tables

    def check_growth(self, node, count):
        node.send("tell grow")
        while not (big := next(table for table in dump(node)["tables"]
                               if table["name"] == "big"))["size"] == 100000:
            pass
        self.assertTrue(big["fixed"])
        self.assertEqual(big["owner"]["name"], "keeper")
        self.assertGreater(big["memory"], 100000 * 80)
        text = beamflame.record("dump", "-p", node.pid).stdout
        self.assertRegex(text, rf"\n\n{count} ETS tables: [\d.]+ MB; the 10 largest:\n"
                               r" +[\d.]+ MB  big +100,000 objects  set +public +<[\d.]+> keeper\n"
                               r"( +[\d.]+ kB  .* objects .*\n){9}\n\d+ ports, ")

    def check_churn(self, node, at_rest):
        node.send("tell churn")
        for _ in range(5):
            got = dump(node)
            missing = at_rest - {table["id"] for table in got["tables"]}
            self.assertLessEqual(len(missing), got["tables_lost"])

    def test_tables_are_as_the_node_says(self):
        """All tables have the name, owner, size, memory and type that the node says, to the byte. A
        table that grows becomes the first of the text. Tables at rest are found beside those that
        come and go."""
        with nodes.Node(self.release, "tables") as node:
            tables = self.check(node)
            self.check_growth(node, len(tables) + 1)  # `brief` is new
            self.check_churn(node, set(tables))

    def test_offline_schedulers_and_counter_groups_change_nothing(self):
        """The number of counters of a table depends on both. If it can't be known, the size of the
        table is not known."""
        for *flags, uncounted in (("+S", "5:2", False), ("+S", "5:5", "+dcg1", False),
                                  ("+S", "5:2", "+dcg1", True)):
            with self.subTest(flags), nodes.Node(self.release, "tables", flags=flags) as node:
                self.check(node, uncounted)


class TablesMusl25(Tables, unittest.TestCase):
    release = "25-musl"


if __name__ == "__main__":
    unittest.main()
