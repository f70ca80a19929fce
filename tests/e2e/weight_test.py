# SPDX-License-Identifier: Apache-2.0
"""Outputs weighted by metrics of processes: which process has most, and where it grows."""
import json

import beamflame
import nodes

NEEDS = "own nodes"


def of(stacks, *frames):
    """Return the sum of the stacks that contain all these frames."""
    return beamflame.weight_where(stacks, lambda stack: all(frame in stack for frame in frames))


@beamflame.each_release_and_clock
class Weight:
    release = None

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.folder = beamflame.folder(cls.addClassCleanup)
        cls.recording = cls.folder / "x.bfr"
        with nodes.Node(cls.release, "growth") as node:
            with beamflame.recording("-p", node.pid, "-F", 999, "-o", cls.recording):
                cls.truth = node.tell("work")["reductions"]

    def by(self, *options):
        return beamflame.folded(self.recording, "--weight", *options)

    def test_changes_add_up_to_the_reductions_of_the_process(self):
        """The changes of a process add up to the reductions that it reports."""
        stacks = self.by("reductions", "--delta")
        for name, used in self.truth.items():
            with self.subTest(name):
                seen = of(stacks, "[growth]", name)
                self.assertAlmostEqual(seen / used, 1, delta=0.05)
        # A sample between the writes of the two words that make up the number may count it twice.
        self.assertLess(of(stacks, "[release]"), of(stacks, "[growth]") / 100)
        self.assertGreater(of(stacks, "growth:count/2") / of(stacks, "growth_reductions"), 0.8)

    def test_growing_queue_belongs_to_its_process(self):
        """A growing queue is attributed to its process, and to the function that runs meanwhile."""
        stacks = self.by("msgq")
        self.assertGreater(of(stacks, "growth_messages", "growth:slow/1")
                           / sum(stacks.values()), 0.95)

    def test_binaries_grow_where_sub_binaries_are_made(self):
        """The binaries that a process holds by sub-binaries grow where the sub-binaries are made.
        Collections move them from one of the two heaps to the other."""
        net = 0
        for metric in ("bin_vheap", "bin_old_vheap"):
            path = self.folder / "binaries.folded"
            path.write_text("")  # kept if nothing changes
            beamflame.run("report", self.recording, "--weight", metric, "--delta", "-o", path)
            stacks = beamflame.read_folded(path)
            grown = of(stacks, "[growth]", "growth_binaries", "growth:leak/2")
            net += grown - of(stacks, "[release]", "growth_binaries")
            if metric == "bin_vheap":
                self.assertGreater(grown / of(stacks, "[growth]"), 0.7)
        self.assertAlmostEqual(net / (1500 * 20000 / 8), 1, delta=0.15)

    def test_heap_grows_where_terms_are_built(self):
        """The heap grows where terms are built and shrinks where they are released."""
        stacks = self.by("heap", "--delta")
        built = of(stacks, "[growth]", "growth:build/2")
        self.assertGreater(built, 3000000 * 5)
        self.assertGreater(of(stacks, "[release]", "growth_heap"), built / 2)

    def test_memory_of_a_process_is_read_about_once_a_second(self):
        """`memory` is read about once a second for a process, and stays its group until the next
        reading."""
        memory = self.by("memory", "--group-by", "name")
        self.assertGreater(of(memory, "growth_heap"), 0)
        groups = beamflame.folded(self.recording, "--group-by", "name,memory")
        known = of(groups, "growth_heap") - of(groups, "growth_heap", "[memory not known]")
        self.assertGreater(known / of(groups, "growth_heap"), 0.5)

    def test_few_samples_have_unknown_reductions(self):
        """All but a few samples have the reductions; samples without them are counted."""
        stats = self.folder / "x.json"
        done = beamflame.record("report", self.recording, "--weight", "memory", "--stats", stats)
        self.assertIn("samples without a known 'memory' do not count", done.stdout)
        beamflame.record("report", self.recording, "--weight", "reductions", "--stats", stats)
        counts = json.loads(stats.read_text(encoding="utf-8"))
        self.assertLess(counts["unknown_weight"] / counts["erlang_samples"], 0.05)

    def test_flame_graph_distinguishes_growth_from_release(self):
        path = self.folder / "x.svg"
        beamflame.record("report", self.recording, "--weight", "heap", "--delta", "-o", path)
        text = path.read_text(encoding="utf-8")
        for word in ("growth", "release", "change of heap"):
            self.assertIn(word, text)

    def test_cpu_samples_are_weighted_by_time_or_number(self):
        """CPU samples can be weighted by time, in ns, or by their number; other weights are
        refused."""
        stats = self.folder / "x.json"
        beamflame.record("report", self.recording, "--stats", stats)
        self.assertEqual(sum(self.by("samples").values()),
                         json.loads(stats.read_text(encoding="utf-8"))["samples"])
        periods = sum(beamflame.folded(self.recording).values())
        self.assertAlmostEqual(sum(self.by("cpu").values()) * 999 / 1e9 / periods, 1, delta=0.05)
        done = beamflame.run("report", self.recording, "--weight", "wall", "-o",
                             self.folder / "wall.svg")
        self.assertEqual(done.returncode, beamflame.NO_SAMPLES)
        self.assertIn("no event 'wall'; it has: cpu", done.stderr)

    def test_unknown_weight_is_refused(self):
        """An unknown weight is refused, and the message lists the weights."""
        for options in (["--weight", "redactions"], ["--weight", "time", "--delta"], ["--delta"]):
            with self.subTest(options=options):
                done = beamflame.run("report", self.recording, *options)
                self.assertEqual(done.returncode, beamflame.USAGE)
                self.assertIn("reductions, msgq, mbuf, heap, stack", done.stderr)
