# SPDX-License-Identifier: Apache-2.0
"""The heatmap of a long recording: scales, and the overview above it."""
import re
import unittest

import beamflame
import viewer

NEEDS = "no nodes"
HEATMAP = "#heatmap canvas"


class LongRecording(unittest.TestCase):
    """The page of an hour and ten minutes, with two samples a second, and 20 more in one second."""

    SECONDS, BUSY = 4200, 2000

    @classmethod
    def setUpClass(cls):
        viewer.require()
        folder = beamflame.folder(cls.addClassCleanup)
        cls.page = folder / "x.html"
        cls.times = sorted([half / 2 for half in range(2 * cls.SECONDS)]
                           + [cls.BUSY + i / 21 for i in range(1, 21)])
        (folder / "x.perf").write_text("".join(
            f"beam 20/21 [000] {10 + time:.6f}: 1 cycles:\n\t 10 f{i % 2} (/x)\n\n"
            for i, time in enumerate(cls.times)), "utf-8")
        beamflame.record("report", "-q", folder / "x.perf", "-o", cls.page)
        cls.viewer = viewer.Viewer()
        cls.addClassCleanup(cls.viewer.close)

    def show(self, fragment="lanes=none"):
        self.viewer.open(self.page, fragment)
        return self.viewer

    def scale(self):
        """Return the text of the chosen scale."""
        return self.viewer.text("#scales [aria-checked=true]")

    def window(self):
        """Return the seconds in the frame of the overview: [start, end]."""
        start, text = (self.viewer.step("attribute", ["#overview canvas", f"aria-value{name}"])
                       for name in ("now", "text"))
        return [int(start), int(start) + float(re.search(r"\((\d+\.\d+) s\)", text)[1])]

    def assert_selected_between(self, start, end):
        """Check the number of selected samples, in seconds on the axis."""
        expected = sum(start <= time < end for time in self.times)
        self.assertRegex(self.viewer.status, rf"in {expected:,} samples|: {expected:,}\b")

    def test_a_click_selects_a_minute_or_a_second_by_scale(self):
        """The page opens with columns of a minute, of which a click selects one. With columns of a
        second it selects a second; buttons and keys change the scale, Back changes it back."""
        page = self.show()
        self.assertEqual(page.texts("#scales button"), ["20 ms \u00d7 1 s", "1 s \u00d7 1 min"])
        self.assertEqual(self.scale(), "1 s \u00d7 1 min")
        self.assertIn("a column is a minute", page.step("attribute", [HEATMAP, "aria-label"]))
        page.drag_heatmap((0.5, 0.3), (0.5, 0.3))
        start, end = map(int, re.search(r"range=(\d+)-(\d+)", page.fragment).groups())
        self.assertEqual([end - start, start % 60000], [60000, 0])
        self.assert_selected_between(start / 1000, end / 1000)
        page.press("+")
        self.assertEqual(self.scale(), "20 ms \u00d7 1 s")
        self.assertIn("scale=second", page.fragment)
        page.step("drag", {"on": HEATMAP, "from": [0.5, 0.3], "to": [0.5, 0.3]})
        start, end = map(int, re.search(r"range=(\d+)-(\d+)", page.fragment).groups())
        self.assertEqual(end - start, 1000)
        self.assert_selected_between(start / 1000, end / 1000)
        page.press("u", "u")
        self.assertEqual(self.scale(), "1 s \u00d7 1 min")
        page.click("#scales button >> nth=0")
        self.assertEqual(self.scale(), "20 ms \u00d7 1 s")
        page.press("-")
        self.assertEqual(self.scale(), "1 s \u00d7 1 min")
        self.assertEqual(page.step("complaints"), [])

    def test_the_overview_moves_the_heatmap_and_a_link_keeps_that(self):
        """The frame of the overview has the time that the heatmap shows. A drag and keys move it. The
        link has its place, without a step to undo."""
        page = self.show("lanes=none&scale=second")
        self.assertEqual(self.window()[0], 0)
        size = self.window()[1]
        self.assertLess(size, self.SECONDS / 4)
        page.step("drag", {"on": "#overview canvas", "from": [0.1, 0.5], "to": [0.5, 0.5]})
        middle = sum(self.window()) / 2
        self.assertAlmostEqual(middle, self.SECONDS / 2, delta=5)
        page.step("focus", "#overview canvas")
        page.press("ArrowRight")
        self.assertAlmostEqual(sum(self.window()) / 2 - middle, size / 10, delta=2)
        page.step("wait", 600)
        at = int(re.search(r"\bat=(\d+)", page.fragment)[1])
        self.assertAlmostEqual(at / 1000, self.window()[0], delta=1)
        self.assertFalse(page.texts("[aria-label=undo]:not([disabled])"))
        shown, fragment = self.window(), page.fragment
        page.open(self.page, fragment)
        self.assertEqual(self.window(), shown)
        page.press("b")
        self.assertEqual(self.window(), shown)

    def test_a_link_to_a_time_shows_that_time(self):
        """A selected time is in the middle of the heatmap when the page opens, and after a change of the
        scale."""
        page = self.show(f"lanes=none&scale=second&range={self.BUSY}000-{self.BUSY + 1}000")
        self.assert_selected_between(self.BUSY, self.BUSY + 1)
        self.assertAlmostEqual(sum(self.window()) / 2, self.BUSY, delta=5)
        page.press("-", "+")
        self.assertAlmostEqual(sum(self.window()) / 2, self.BUSY, delta=5)

    def test_a_phone_has_scales_and_overview(self):
        """On a narrow page scales and overview fit. There and on a wide page axe finds nothing wrong."""
        page = self.show("lanes=none")
        self.assertEqual(page.step("wrong"), [])
        page.step("resize", [390, 844])
        self.addCleanup(page.step, "resize", [1600, 1000])
        for place in ("#overview", "#scales"):
            box = page.step("box", place)
            self.assertTrue(box["x"] >= 0 and box["x"] + box["width"] <= 390, (place, box))
        self.assertGreater(page.step("box", "#flamegraph")["height"], 200)
        self.assertEqual(page.step("wrong"), [])
        page.step("touch", {"on": "#overview", "from": [0.1, 0.5], "to": [0.9, 0.5]})
        self.assertAlmostEqual(self.window()[1], self.SECONDS, delta=120)

    def test_a_short_recording_has_neither(self):
        """A recording of ten minutes has one scale and no overview."""
        folder = beamflame.folder(self.addCleanup)
        (folder / "x.perf").write_text("".join(
            f"beam 20/21 [000] {time}.000000: 1 cycles:\n\t 10 f (/x)\n\n" for time in (10, 609)))
        beamflame.record("report", "-q", folder / "x.perf", "-o", folder / "x.html")
        self.viewer.open(folder / "x.html", "scale=minute")
        self.assertFalse(self.viewer.step("visible", "#whole"))
        self.assertIn("scale=minute", self.viewer.text("#notice"))


if __name__ == "__main__":
    unittest.main()
