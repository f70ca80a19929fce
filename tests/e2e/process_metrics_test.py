# SPDX-License-Identifier: Apache-2.0
"""The metrics read from outside are those that process_info returns."""
import subprocess
import unittest

import nodes

NEEDS = "own nodes"
PROCESS_LIST = nodes.BUILD / "tests" / "process_list"
METRICS = ("reductions", "msgq", "mbuf", "heap", "stack", "young", "old", "bin_vheap", "minor_gcs",
           "memory", "binaries", "bin_old_vheap")


def processes(pid):
    """Return {pid: metrics} of the processes of a node."""
    done = subprocess.run([PROCESS_LIST, str(pid)], stdout=subprocess.PIPE, text=True, check=True)
    lines = (line.split() for line in done.stdout.splitlines())
    return {line[0]: {name: int(value) for name, value in (word.split("=") for word in line[1:])}
            for line in lines}


@nodes.each_release
class ProcessMetrics:
    release = None

    @classmethod
    def setUpClass(cls):
        with nodes.Node(cls.release, "measured") as node:
            # Twice: when a process answers process_info, it first moves new messages into its inner
            # queue.
            cls.rounds = [(processes(node.pid), node.report()) for _ in range(2)]

    def test_all_metrics_are_those_of_process_info(self):
        """Each metric of each process is equal, and none is unknown."""
        for number, (found, report) in enumerate(self.rounds):
            for process in report["processes"]:
                with self.subTest(round=number, kind=process["kind"]):
                    said = {metric: process[metric] for metric in METRICS}
                    self.assertEqual(found[process["pid"]], said)

    def test_each_process_of_the_load_has_its_data(self):
        """Each process of the load has the data that its kind is for."""
        _, report = self.rounds[1]
        kinds = {process["kind"]: process for process in report["processes"]}
        self.assertEqual(kinds["heap_queue"]["msgq"], 3000)
        self.assertEqual(kinds["off_heap_queue"]["msgq"], 3000)
        self.assertGreater(kinds["off_heap_queue"]["memory"],
                           8 * kinds["off_heap_queue"]["heap"] + 3000 * 88)
        self.assertGreater(kinds["fragments"]["mbuf"], 1000)
        self.assertGreater(kinds["fragment_binaries"]["binaries"], 3000)
        self.assertGreater(kinds["binaries"]["binaries"], 100000)
        self.assertLess(kinds["binaries"]["binaries"], 200000)  # the parts are of one binary
        self.assertGreater(kinds["related"]["memory"], kinds["idle"]["memory"] + 60 * 40)
        self.assertGreater(kinds["dictionary"]["memory"],
                           8 * kinds["dictionary"]["heap"] + 300 * 8)
        self.assertGreater(kinds["old_heap"]["old"], 1000)
        self.assertGreater(kinds["old_heap"]["minor_gcs"], 0)
        self.assertLess(kinds["hibernated"]["young"], 3000)
        self.assertGreaterEqual(kinds["marked"]["msgq"], 51)

    def test_memory_with_saved_calls_is_unknown(self):
        """The size of saved calls is unknown, so `memory` is unknown too."""
        for found, report in self.rounds:
            self.assertNotIn("memory", found[report["saved"]])
            self.assertIn("binaries", found[report["saved"]])


class ProcessMetricsMusl25(ProcessMetrics, unittest.TestCase):
    release = "25-musl"
