# SPDX-License-Identifier: Apache-2.0
"""Outputs by what processes hold and have done: who it is that has most, and where it grows."""
import json

import beamflame
import nodes


def of(stacks, *frames):
    """Sum of the stacks that hold all these frames."""
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

    def test_reductions(self):
        """The changes of a process add up to what it says that it has used."""
        stacks = self.by("reductions", "--delta")
        for name, used in self.truth.items():
            with self.subTest(name):
                seen = of(stacks, "[growth]", name)
                self.assertAlmostEqual(seen / used, 1, delta=0.05)
        # A sample that falls between the two words that make up the number may have it twice.
        self.assertLess(of(stacks, "[release]"), of(stacks, "[growth]") / 100)
        self.assertGreater(of(stacks, "growth:count/2") / of(stacks, "growth_reductions"), 0.8)

    def test_message_queue(self):
        """A queue that builds up: the process, and what it does meanwhile."""
        stacks = self.by("msgq")
        self.assertGreater(of(stacks, "growth_messages", "growth:slow/1")
                           / sum(stacks.values()), 0.95)

    def test_binaries(self):
        """What a process keeps by parts of binaries grows where they are made. Collections move
        it from one of the two heaps to the other."""
        net = 0
        for metric in ("bin_vheap", "bin_old_vheap"):
            path = self.folder / "binaries.folded"
            path.write_text("")  # stays, where nothing changes
            beamflame.run("report", self.recording, "--weight", metric, "--delta", "-o", path)
            stacks = beamflame.read_folded(path)
            grown = of(stacks, "[growth]", "growth_binaries", "growth:leak/2")
            net += grown - of(stacks, "[release]", "growth_binaries")
            if metric == "bin_vheap":
                self.assertGreater(grown / of(stacks, "[growth]"), 0.7)
        self.assertAlmostEqual(net / (1500 * 20000 / 8), 1, delta=0.15)

    def test_heap(self):
        """What was built and given back, in both directions."""
        stacks = self.by("heap", "--delta")
        built = of(stacks, "[growth]", "growth:build/2")
        self.assertGreater(built, 3000000 * 5)
        self.assertGreater(of(stacks, "[release]", "growth_heap"), built / 2)

    def test_memory(self):
        """It is known about once a second of a process, and shown as a group until the next
        time."""
        memory = self.by("memory", "--group-by", "name")
        self.assertGreater(of(memory, "growth_heap"), 0)
        groups = beamflame.folded(self.recording, "--group-by", "name,memory")
        known = of(groups, "growth_heap") - of(groups, "growth_heap", "[memory not known]")
        self.assertGreater(known / of(groups, "growth_heap"), 0.5)

    def test_few_are_unknown(self):
        """All but a few samples know the reductions; those that do not are counted."""
        stats = self.folder / "x.json"
        done = beamflame.record("report", self.recording, "--weight", "memory", "--stats", stats)
        self.assertIn("samples do not count: 'memory' of their process is not known", done.stdout)
        beamflame.record("report", self.recording, "--weight", "reductions", "--stats", stats)
        counts = json.loads(stats.read_text(encoding="utf-8"))
        self.assertLess(counts["unknown_weight"] / counts["erlang_samples"], 0.05)

    def test_graph_has_two_colours(self):
        """In a picture, what grows is told from what is released."""
        path = self.folder / "x.svg"
        beamflame.record("report", self.recording, "--weight", "heap", "--delta", "-o", path)
        text = path.read_text(encoding="utf-8")
        for word in ("growth", "release", "change of heap"):
            self.assertIn(word, text)

    def test_time_and_samples(self):
        """Samples of the CPU by their time, in ns, and by their number; there are no others."""
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

    def test_bad_weight(self):
        """What there is not is told with what there is."""
        for options in (["--weight", "redactions"], ["--weight", "time", "--delta"], ["--delta"]):
            with self.subTest(options=options):
                done = beamflame.run("report", self.recording, *options)
                self.assertEqual(done.returncode, beamflame.USAGE)
                self.assertIn("reductions, msgq, mbuf, heap, stack", done.stderr)
