# SPDX-License-Identifier: Apache-2.0
"""`record --node-metrics`: metrics of a whole VM over time, compared with dumps of the VM at rest and
with what the node says."""
import json
import time

import beamflame
import nodes

NEEDS = "own nodes"


def dump(node, sections):
    return json.loads(beamflame.record("dump", "--json", "--list", sections, "-p", node.pid).stdout)


def read(path):
    """Return the lines with metrics, and the processes by id."""
    done = beamflame.record("report", path, "-q", "--format", "json", "-o", "-")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return ([line for line in lines if line["type"] == "node_metric"],
            {line["id"]: line for line in lines if line["type"] == "process"})


@nodes.each_release
class NodeMetrics:
    """The tests for each release."""

    release = None

    def setUp(self):
        beamflame.require()
        self.path = beamflame.folder(self.addCleanup) / "x.bfr"

    def record(self, node, sections, meanwhile):
        with beamflame.recording("-p", node.pid, "--node-metrics", sections, "-o", self.path):
            meanwhile()
        self.metrics, self.processes = read(self.path)

    def values(self, metric, of=None):
        """Return the values of the only series of this metric and thing."""
        found = [line for line in self.metrics
                 if line["metric"] == metric and line.get("of") == of]
        self.assertEqual(len(found), 1, (metric, of))
        self.owner = self.processes.get(found[0].get("owner"))
        return [value for _, value in found[0]["readings"]]

    def grow_and_drop(self, node):
        """Fill the tables, wait until they were read, and delete one."""
        time.sleep(1)
        node.send("tell grow")
        while self.table(node, "big").get("size") != 100000:
            time.sleep(0.1)
        self.brief = self.table(node, "brief")
        time.sleep(1.2)
        node.send("tell drop")
        time.sleep(0.2)

    @staticmethod
    def table(node, name):
        return next(table for table in dump(node, "tables")["tables"] if table["name"] == name)

    def test_memory_and_tables_are_those_of_dumps_over_time(self):
        """A table that grows has readings from 0 to its size, one that is made and deleted goes back
        to 0. The last readings are those of a dump after the recording, at rest."""
        with nodes.Node(self.release, "tables") as node:
            node.report()
            self.record(node, "memory,tables", lambda: self.grow_and_drop(node))
            after = dump(node, "memory,tables")
            big = self.table(node, "big")
        self.assertEqual(self.values("table_bytes", "big")[0], 0)
        self.assertEqual(self.values("table_bytes", "big")[-1], big["memory"])
        self.assertEqual(self.owner["name"], "keeper")
        self.assertEqual(self.values("table_objects", "big")[-1], 100000)
        brief = self.values("table_bytes", "brief")
        self.assertEqual((brief[0], max(brief), brief[-1]), (0, self.brief["memory"], 0))
        self.compare_wholes(after)
        self.compare_allocators(after["memory"])
        self.check_summary()

    def compare_wholes(self, after):
        tables, memory = after["tables"], after["memory"]
        self.assertEqual(self.values("tables")[-1], len(tables))
        self.assertEqual(self.values("table_bytes")[-1], sum(table["memory"] for table in tables))
        self.assertEqual(self.values("table_objects")[-1], sum(table["size"] for table in tables))
        for metric in ("atoms", "processes", "ports"):
            self.assertEqual(self.values(metric)[-1], memory[metric]["count"])
        self.assertLess(abs(self.values("rss")[-1] - memory["resident"]), 0.1 * memory["resident"])

    def compare_allocators(self, memory):
        for allocator in memory["allocators"]:
            carriers = sum(allocator[key] for key in ("multi_block_carriers",
                                                      "single_block_carriers", "pooled_carriers"))
            # A node at rest still frees the last messages and timers.
            self.assertAlmostEqual(self.values("blocks", allocator["name"])[-1],
                                   allocator["blocks"], delta=4096)
            self.assertEqual(self.values("carriers", allocator["name"])[-1], carriers)
        grown = self.values("blocks", "ets_alloc")
        self.assertGreater(grown[-1] - grown[0], 100000 * 80)

    def check_summary(self):
        text = beamflame.record("report", self.path).stdout
        self.assertRegex(text, r"\nmetrics of nonode@nohost, pid \d+, .*\n +start +end +change +"
                               r"highest\n(.*\n)* +0 B +[\d.]+ MB +\+[\d.]+ MB +[\d.]+ MB  "
                               r"table big, <[\d.]+> keeper\n")

    def test_queue_of_a_port_is_what_the_node_says(self):
        """The port whose data nobody reads has a series, ports with empty queues have none."""
        with nodes.Node(self.release, "sockets") as node:
            node.report()
            self.record(node, "ports", lambda: time.sleep(0.5))
            said = {port["id"]: port for port in node.report()["ports"]}
        queue = self.values("port_queue", "tcp_inet")[-1]
        series = next(line for line in self.metrics if "id" in line)
        self.assertEqual(said[series["id"]]["kind"], "full")
        self.assertEqual(queue, said[series["id"]]["queue_size"])
        self.assertEqual(self.values("port_queue")[-1], queue)
        self.assertEqual({line["metric"] for line in self.metrics}, {"port_queue"})

    def test_sections_that_a_recording_does_not_have_are_refused(self):
        """The message lists the sections that there are."""
        done = beamflame.run("-p", "1", "--node-metrics", "memory,processes")
        self.assertEqual(done.returncode, beamflame.USAGE)
        self.assertIn("there is no section 'processes'; separate by commas: tables, ports, memory",
                      done.stderr)
