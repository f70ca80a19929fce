# SPDX-License-Identifier: Apache-2.0
"""The microstates of threads, derived from CPU samples, are those of the node's own accounting."""
import json
import time

import beamflame
import nodes
import rounds
import traps

SECONDS = 10
POINTS = 0.02
COLLECTING = 5  # seconds
HERTZ = 1999  # while collecting
FRESH_MEMORY = ("+MMmcs", "0")  # released memory is not used again, so that a major collection
                                # takes long for its work other than the sweep

# The states of erlang:statistics(microstate_accounting), and our states that belong to each.
STATES = {"aux": ["aux"], "check_io": ["check_io"],
          "emulator": ["emulator", "bif", "nif", "gc_hibernate"],
          "gc": ["gc_minor", "gc_major", "gc"], "other": ["other", "busy_wait"],
          "port": ["port"], "sleep": ["sleep"]}


def by_thread(rows):
    return {(row["type"], row["id"]): row for row in rows}


def accounted(before, after):
    """Return the share of each state in each thread's time, from the node's counters in two
    reports."""
    before, after = by_thread(before["threads"]), by_thread(after["threads"])
    return {thread: nodes.shares(nodes.difference(after[thread], before[thread], "counters"))
            for thread in after}


@beamflame.each_release_and_clock
class Microstates:
    release = None

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.out = beamflame.folder(cls.addClassCleanup)
        with nodes.Node(cls.release, "states") as node:
            node.take_precedence()
            time.sleep(1)
            before = node.report()
            cls.recorded = beamflame.record("-p", node.pid, "-d", SECONDS, "-F", 999,
                                            "-o", cls.out / "x.bfr", "--stats", cls.out / "s.json",
                                            "--summary", "full")
            cls.truth = accounted(before, node.report())
        cls.stats = json.loads((cls.out / "s.json").read_text())
        cls.rows = by_thread(cls.stats["microstates"])

    def shares(self, thread):
        row = self.rows[thread]
        return {name: sum(row["states_ms"][part] for part in parts) / row["span_ms"]
                for name, parts in STATES.items()}

    def test_every_thread_of_the_accounting_has_a_row(self):
        """Each thread in the node's accounting has a row, even if it never ran."""
        self.assertEqual(set(self.rows) - set(self.truth), set())
        self.assertEqual(set(self.truth) - set(self.rows), set())

    def test_microstates_of_a_thread_add_up_to_its_time(self):
        """The states of a thread add up to all of its time, except for the time it waited for a
        CPU."""
        for thread, row in self.rows.items():
            with self.subTest(thread):
                self.assertAlmostEqual(row["span_ms"], self.stats["duration_ms"], delta=2000)
                self.assertAlmostEqual(sum(row["states_ms"].values()) + row["no_cpu_ms"],
                                       row["span_ms"], delta=1)

    def test_microstates_agree_with_the_nodes_accounting(self):
        """Each state of work is within 2 points of the accounting, and so is the sum of all others.
        The exact share of sleep in that sum is unknown: a thread also waits for a CPU when it wakes
        up or yields while it spins, and samples miss the work just before it sleeps. On a machine
        with other users, the wait for a CPU may fall into any state, in proportion to its time."""
        for thread, truth in self.truth.items():
            row, found = self.rows[thread], self.shares(thread)
            missed = (row["no_cpu_ms"] + row["states_ms"]["unknown"]) / row["span_ms"]
            idle = found["sleep"] + found["other"]
            busy = 1 - missed - found["sleep"]
            slack = {state: share * 2 * missed / max(busy, missed, POINTS)
                     for state, share in found.items() if state not in ("sleep", "other")}
            missed_at_work = min(missed, sum(slack.values()))
            slack |= {"sleep": missed, "other": missed}
            for state, share in truth.items():
                with self.subTest(f"{thread} {state}"):
                    self.assertGreaterEqual(share, found[state] - POINTS)
                    self.assertLessEqual(share, found[state] + slack[state] + POINTS)
            with self.subTest(f"{thread} idle"):
                true_idle = truth["sleep"] + truth["other"]
                self.assertGreaterEqual(true_idle, idle + missed - missed_at_work - POINTS)
                self.assertLessEqual(true_idle, idle + missed + POINTS)

    def test_load_reaches_each_microstate(self):
        """The load reaches all states, or the comparison would show little."""
        spent = {state: sum(row["states_ms"][state] for row in self.rows.values())
                 for state in self.rows["scheduler", 1]["states_ms"]}
        for state in ("emulator", "bif", "nif", "gc_minor", "gc_major", "gc_hibernate", "port",
                      "check_io", "aux", "other", "sleep"):
            with self.subTest(state):
                self.assertGreater(spent[state], 0)
        self.assertEqual(spent["gc"], 0)

    def test_minor_and_major_collections_have_their_shares(self):
        """The shares of minor and major collections are those of the node's own trace, within the
        sum of three errors: 4 standard deviations of so many samples; the time that threads waited
        for a CPU, which the trace counts and samples do not; and one point."""
        traps.require_fast()
        for part in ("collections", "major"):
            with self.subTest(part), nodes.Node(self.release, "states", f"parts={part}",
                                                "trace=on", flags=FRESH_MEMORY) as node:
                node.take_precedence()
                off = rounds.median(lambda node=node, part=part: self.off_by(node, part),
                                    lambda off: abs(off) <= 1)
                self.assertLessEqual(abs(off), 1, "of what is allowed")

    def off_by(self, node, part):
        """Return the error of the share of major collections, divided by the allowed error."""
        out = self.out / f"{part}.json"
        with beamflame.recording("-p", node.pid, "-F", HERTZ, "--stats", out,
                                 "-o", self.out / f"{part}.bfr"):
            before = node.report()
            time.sleep(COLLECTING)
            after = node.report()
        rows = json.loads(out.read_text())["microstates"]
        minor, major, unknown = (sum(row["states_ms"][state] for row in rows)
                                 for state in ("gc_minor", "gc_major", "gc"))
        waited = sum(row["no_cpu_ms"] for row in rows) / (minor + major)
        found, samples = major / (minor + major), (minor + major) * HERTZ / 1000
        truth = nodes.shares(nodes.difference(after, before, "collections"))["major"]
        self.assertLess(unknown, (minor + major) / 100)
        self.assertGreater(samples, 500)
        if part == "collections":  # both kinds occur, or the comparison would show little
            self.assertGreater(truth * (1 - truth), 0.05)
        chance = 4 * (truth * (1 - truth) / samples) ** 0.5
        return (found - truth) / (chance + waited + 0.01)

    def test_report_makes_the_same_rows(self):
        """The report command makes the same rows from the recording alone."""
        again = self.out / "again.json"
        beamflame.record("report", self.out / "x.bfr", "--stats", again)
        self.assertEqual(json.loads(again.read_text())["microstates"], self.stats["microstates"])

    def test_summary_has_a_line_for_each_scheduler(self):
        """The summary on the terminal has the table."""
        said = self.recorded.stdout + self.recorded.stderr
        self.assertIn("what threads did", said)
        for number in range(1, self.stats["target"]["schedulers"] + 1):
            self.assertRegex(said, rf"\n  scheduler {number} +[\d., ]+\n")
