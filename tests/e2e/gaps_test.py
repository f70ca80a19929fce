# SPDX-License-Identifier: Apache-2.0
"""The page tells what did not happen from what could not be seen."""
import os
import re
import signal
import time
import unittest

import beamflame
import nodes
import viewer

HEATMAP = "#heatmap canvas"
ROWS, ROW_HEIGHT, CELL_MS = 50, 3, 20  # px; of all events but wall


class Gaps(unittest.TestCase):
    """One recording. In its middle the node is stopped, then beamflame too for some seconds."""

    @classmethod
    def setUpClass(cls):
        viewer.require()
        beamflame.require()
        folder = beamflame.folder(cls.addClassCleanup)
        cls.recording, cls.page = folder / "gaps.bfr", folder / "gaps.html"
        with nodes.Node(27, "request") as node:
            with beamflame.recording("-p", node.pid, "-e", "cpu,wall,alloc,gc",
                                     "-o", cls.recording) as profiler:
                time.sleep(3)
                os.kill(node.pid, signal.SIGSTOP)
                time.sleep(2)
                profiler.send_signal(signal.SIGSTOP)
                time.sleep(4)
                profiler.send_signal(signal.SIGCONT)
                time.sleep(2)
                os.kill(node.pid, signal.SIGCONT)
                time.sleep(1)
        beamflame.record("report", "-q", cls.recording, "-o", cls.page)
        cls.viewer = viewer.Viewer()
        cls.addClassCleanup(cls.viewer.close)

    def cells(self, event, first, count, step=1):
        """Return what the page says of `count` cells, from that of `first` ms on."""
        page = self.viewer
        page.open(self.page, f"event={event}&panel=none")
        page.step("focus", HEATMAP)
        page.press("Home")
        page.press(*["ArrowRight"] * (first // 1000), *["ArrowUp"] * (first % 1000 // CELL_MS))
        said = [page.said]
        for _ in range(count - 1):
            page.press(*["ArrowUp"] * step)
            said.append(page.said)
        return said

    def colours(self, second, cell):
        """Return how many colours a cell of a second has."""
        width = self.viewer.step("box", "#heatmap .spacer")["width"] / self.viewer.columns
        top, left = (ROWS - 1 - cell) * ROW_HEIGHT, second * width + 2
        return self.viewer.step("colours", {"on": HEATMAP, "from": [left, top],
                                            "to": [left + 30, top + ROW_HEIGHT]})

    def test_unseen_cells_are_hatched(self):
        """In the third second all is seen, in the eighth nothing is."""
        self.cells("cpu", 0, 1)
        self.viewer.press("ArrowRight")  # the cursor leaves the column
        self.assertEqual([self.colours(2, cell) for cell in (10, 30)], [1, 1])
        for cell in (10, 30):
            self.assertGreater(self.colours(7, cell), 1)

    def test_cells_of_wall_are_as_long_as_the_time_between_sweeps(self):
        """Nearly each cell has a sweep, and no cell is as short as those of event cpu."""
        said = self.cells("wall", 1000, 20)
        unseen = [text for text in said if "not seen" in text]
        self.assertLess(len(unseen), len(said) // 3, said)
        starts = [float(text.partition(" s:")[0]) for text in said]
        self.assertGreaterEqual(round(starts[1] - starts[0], 3), 0.04)

    def test_cells_outside_of_windows_are_not_zero(self):
        """Words that CPU samples show are there outside of windows too: so of event gc."""
        said = self.cells("gc", 0, ROWS) + self.cells("gc", 2000, ROWS)
        self.assertRegex("\n".join(said), "not seen: (outside of windows|not attached yet)")
        self.assertFalse([text for text in said if re.search(r": 0 ns, 0\.0 %", text)], said)

    def test_a_node_that_does_nothing_is_seen(self):
        """CPU time of 0 while only the node was stopped."""
        for text in self.cells("cpu", 4000, 5, 3):
            self.assertRegex(text, r" s: 0 ns(;|$)")

    def test_time_without_the_recorder_is_not_seen(self):
        for event in ("cpu", "wall", "alloc"):
            with self.subTest(event):
                for text in self.cells(event, 7000, 5, 4):
                    self.assertIn("not seen: the recording was paused, or the recorder or the "
                                  "machine stood still", text)

    def test_the_total_has_its_error_and_the_share_that_was_covered(self):
        self.viewer.open(self.page, "event=alloc")
        self.assertRegex(self.viewer.text("#events [aria-selected=true]"),
                         r"alloc [\d,]+ words \u00b1 ([\d,]+|\?)\n[\d.]+ % of the time")
        self.assertRegex(self.viewer.status, r"words \u00b1 .* of the time covered in \d+ windows")
        self.viewer.open(self.page, "event=cpu")
        self.assertNotIn("\u00b1", self.viewer.text("#events [aria-selected=true]"))
        self.assertNotIn("\u00b1", self.viewer.status)

    def test_rows_have_their_number_of_samples(self):
        self.viewer.open(self.page, "event=alloc&panel=functions&group=none")
        rows = self.viewer.rows()
        self.assertGreater(len(rows), 3)
        for *_, plus_minus, samples in rows:
            self.assertRegex(plus_minus, r"^([\d,]+|\?)$")
            self.assertGreater(viewer.number(samples), 0)


if __name__ == "__main__":
    unittest.main()
