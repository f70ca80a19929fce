# SPDX-License-Identifier: Apache-2.0
"""One mixed stack: Erlang callers with the BIFs, NIFs and C code they call, at any depth."""
import json
import re
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

import beamflame
import nodes

NEEDS = "own nodes"
TRUNCATED = re.compile(r"^\[\d+ words truncated\]$")


@beamflame.each_release_and_clock
class Stacks:
    release = None

    def record(self, phase, *report_options):
        """Record a node that runs this phase only; return numbers of samples by stack, and
        statistics."""
        return self.record_load("phases", f"phases={phase}", report_options=report_options)

    def record_load(self, load, *options, report_options=()):
        beamflame.require()
        with tempfile.TemporaryDirectory(prefix="beamflame-test-") as folder, \
                nodes.Node(self.release, load, *options) as node:
            recording, stats = Path(folder, "x.bfr"), Path(folder, "s.json")
            time.sleep(0.5)
            beamflame.record("-p", node.pid, "-d", 3, "-F", 499, "-o", recording, "--stats", stats)
            views = [beamflame.folded(recording, "--weight", "samples", *view)
                     for view in [(), *report_options]]
            return (*views, json.loads(stats.read_text()))

    def share(self, stacks, predicate):
        total = sum(stacks.values())
        self.assertGreater(total, 80)
        return beamflame.weight_where(stacks, predicate) / total

    def assert_called(self, stacks, function, runtime):
        """Check that between a NIF and its C function there is only the VM's function that calls
        it, without the frames that started the scheduler's thread."""
        native = Counter()
        for stack, count in stacks.items():
            if function in stack[:-1]:
                native[stack[stack.index(function) + 1:]] += count
        self.assertGreater(self.share(native, lambda s: s[0] == runtime), 0.95)
        self.assertEqual(beamflame.weight_of(native, "erts_dirty_process_main"), 0)

    def test_deep_stack_has_its_leaf_and_root_frames(self):
        """A stack that is too deep to copy has its leaf and root frames, and a frame for the
        missing ones."""
        stacks, folded, stats = self.record("deep_recursion", ("--fold-recursion",))
        self.assertGreater(stats["truncated_stacks"], 20)
        self.assertGreaterEqual(stats["complete_stacks"] / stats["erlang_samples"], 0.98)
        cut = {s: n for s, n in stacks.items() if any(map(TRUNCATED.match, s))}
        self.assertEqual(sum(cut.values()), stats["truncated_stacks"])
        for stack in cut:
            self.assertEqual(sum(1 for f in stack if TRUNCATED.match(f)), 1)
        self.assertGreater(self.share(cut, lambda s: "phases:phase_deep_recursion/1" in s), 0.95)
        self.assertEqual(sum(folded.values()), sum(stacks.values()))
        deepest = max(stack.count("phases:deep/1") for stack in stacks)
        self.assertGreater(deepest, 100)
        for stack in folded:  # at most once on either side of the cut
            self.assertLessEqual(stack.count("phases:deep/1"), 2)

    def test_stack_of_a_process_that_exits_is_complete(self):
        """A process that has returned from its first function has an empty stack."""
        stacks, stats = self.record_load("shortlived")
        exiting = {s: n for s, n in stacks.items() if "erts_beamasm:normal_exit/0" in s}
        self.assertGreater(sum(exiting.values()), 5)
        self.assertFalse([s for s in exiting if "[frames missing]" in s])
        self.assertGreater(stats["complete_stacks"] / stats["erlang_samples"], 0.99)

    def test_shallow_stack_is_copied_whole_anywhere_in_jit_code(self):
        """A shallow stack is copied whole, wherever in the JIT's code its process is
        interrupted."""
        _, stats = self.record("bignums")
        self.assertGreater(stats["erlang_samples"], 80)
        self.assertLess(stats["truncated_stacks"], 2 + stats["erlang_samples"] / 200)

    def test_bifs_stand_under_their_callers(self):
        stacks, _ = self.record("bifs")
        for bif in ("erlang:binary_to_term/1", "erlang:term_to_binary/1", "lists:keyfind/3"):
            with self.subTest(bif):
                calls = {s: n for s, n in stacks.items() if bif in s}
                self.assertGreater(sum(calls.values()), 2)
                called = beamflame.weight_where(
                    calls, lambda s, b=bif: "phases:bifs/1" in s[:s.index(b)])
                self.assertGreater(called / sum(calls.values()), 0.95)

    def test_match_specification_has_its_caller(self):
        """A sample of a match specification has the process that called it, and its stack. (The VM
        runs it as another process, whose pid has only ones.)"""
        stacks, _ = self.record("matching")
        called = {s: n for s, n in stacks.items() if "ets:select_count/2" in s}
        self.assertGreater(self.share(stacks, called.__contains__), 0.9)
        self.assertGreater(self.share(called, lambda s: "phases:phase_matching/1" in s), 0.99)

    def test_nif_stands_under_its_erlang_function(self):
        """A NIF's C function stands under the Erlang function that it implements."""
        stacks, _ = self.record("nif")
        nif = {s: n for s, n in stacks.items() if "spin_nif:spin/1" in s}
        self.assertGreater(self.share(nif, lambda s: "burn" in s or "spin" in s), 0.9)
        self.assertGreater(self.share(nif, lambda s: "phases:phase_nif/1" in s), 0.98)
        self.assert_called(nif, "spin_nif:spin/1", "beam_jit_call_nif")

    def test_dirty_nif_has_the_stack_of_its_process(self):
        """A dirty NIF runs on a dirty scheduler, with the stack of its calling process."""
        _, stacks, _ = self.record("dirty_nif", ("--group-by", "scheduler"))
        dirty = {s: n for s, n in stacks.items() if s[0].startswith("[dirty cpu ")}
        # The rest is the scheduler's own: it waits for work and is woken.
        nif = {s: n for s, n in dirty.items() if "burn" in s or "spin" in s}
        self.assertGreater(self.share(dirty, nif.__contains__), 0.9)
        self.assertGreater(self.share(nif, lambda s: "phases:phase_dirty_nif/1" in s), 0.98)
        self.assert_called(dirty, "spin_nif:dirty_spin/1", "erts_call_dirty_nif")


class StacksMusl25(Stacks, unittest.TestCase):
    release = "25-musl"
