# SPDX-License-Identifier: Apache-2.0
"""The states of the page at three widths. Each leaves a picture in build/screenshots, to look at."""
import re
import unittest

import beamflame
import breakpoints
import nodes
import viewer

NEEDS = "own nodes"
RELEASE = 27
CALL = "call:gen_server:call/2"
EVENTS = "cpu,gc,alloc,sched,msg,wall"
SIZES = ([1440, 900], [1024, 768], [390, 844])
COMPARED = "range=3000-5000&against=500-2500"
TIMES = f"form=time&{COMPARED}"
STATUS = "#status"
PRESSED, RELEASED = (f"#graph-choices [aria-pressed={pressed}]" for pressed in ("true", "false"))
FORM = "#graph-choices [aria-checked=true]"
HEADS, CELLS = "#panel [role=columnheader]", "#panel [role=gridcell]"
SOME = r"in [1-9][\d,]* samples"  # of what is selected
# By name, the fragment, the keys that are pressed, and a text of elements that only this state has.
STATES = {
    "first": ("", (), "#hint", "Drag to select"),
    "wall": ("event=wall", (), PRESSED, "Fold waiting"),
    "unfolded": ("event=wall&foldwaiting=0", (), RELEASED, "Fold waiting"),
    "gc": ("event=gc", (), STATUS, SOME), "alloc": ("event=alloc", (), STATUS, SOME),
    "sched": ("event=sched", (), STATUS, SOME), "msg": ("event=msg", (), STATUS, SOME),
    "call": (f"event={CALL}&panel=functions", (), STATUS, SOME),
    "selected": ("range=1000-3000&panel=processes", ("Enter",), STATUS, SOME),
    "functions": ("panel=functions", (), HEADS, "calls"),
    "lines": ("panel=lines", (), CELLS, r"request\.erl:\d"),
    "tree": ("panel=tree", (), "#panel [role=treegrid]", "request_client,1"),
    "vm": ("panel=vm", (), CELLS, "MB"),
    "compared": (f"{COMPARED}&panel=functions", (), HEADS, "noise"),
    "bottom-up": ("form=callers", (), FORM, "Bottom-up"),
    "search": ("search=request", (), "#graph-choices", "matched [1-9]"),
    "sandwich": ("", ("ArrowUp", "ArrowUp", "s"), FORM, "Sandwich"),
    "time": ("form=time", (), STATUS, "in order of time.* seen in [1-9]"),
    "times": (TIMES, (), STATUS, "A: .* in order of time.*; B: .* in order of time"),
    "dark": (COMPARED, ("d",), "html[data-theme=dark]", ""),
    "help": ("", ("?",), "dialog[open]", "Keys"), "save": ("", ("p",), "[role=menu]", "SVG"),
    "menu": ("", ("ArrowUp", "m"), "[role=menu]", "Copy"),
    "nonsense": ("zzz=1&event=none", (), "#notice", "zzz=1, event=none"),
    "nothing": ("include=zzz", (), STATUS, "0 samples"),
}
UNSURE = r"A .* \u00b1 .*, [\d.]+ % of the time.*B .* \u00b1 .*, [\d.]+ % of the time"
COMPARISONS = {
    "diff": ("", (), "#events", UNSURE),
    "diff-alloc": ("event=alloc&panel=functions", (), HEADS, "noise"),
    "diff-times": ("form=time", (), STATUS, "A: .* in order of time.*; B: .* in order of time"),
}


class States(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        viewer.require()
        beamflame.require()
        folder = beamflame.folder(cls.addClassCleanup)
        cls.page, cls.diff = folder / "x.html", folder / "diff.html"
        recordings = [folder / "old.bfr", folder / "new.bfr"]
        events = f"{EVENTS},{CALL}" if breakpoints.work() else EVENTS
        for recording in recordings:
            with nodes.Node(RELEASE, "request", "clients=1") as node:
                beamflame.record("-p", node.pid, "-d", 6, "-e", events, "--node-metrics",
                                 "memory,tables", "-o", recording, timeout=300)
        beamflame.record("report", "-q", recordings[0], "-o", cls.page, timeout=300)
        beamflame.record("diff", "-q", *recordings, "-o", cls.diff, timeout=300)
        cls.pictures = nodes.BUILD / "screenshots"
        cls.pictures.mkdir(exist_ok=True)
        cls.viewer = viewer.Viewer()
        cls.addClassCleanup(cls.viewer.close)

    def look(self, name, path, state):
        """Check a state at each width, and leave a picture."""
        fragment, keys, selector, text = state
        for size in SIZES:
            with self.subTest(state=name, width=size[0]):
                self.viewer.step("resize", size)
                self.viewer.open(path, fragment)
                self.viewer.step("focus", "#flamegraph canvas" if name != "selected"
                                 else "#panel [role=grid]")
                self.viewer.press(*keys)
                self.viewer.step("shot", str(self.pictures / f"{name}-{size[0]}.png"))
                shown = self.viewer.texts(selector)
                self.assertTrue(shown)
                self.assertRegex("\n".join(shown), re.compile(text, re.S))
                self.assertLessEqual(self.viewer.step("excess"), 0)
                self.assertEqual(self.viewer.step("cutPlaceholders"), [])
                heatmap = self.viewer.step("box", "#heatmap .spacer")
                self.assertGreater(heatmap["width"], 0.9 * size[0])
                graph = self.viewer.step("box", "#flamegraph canvas")
                self.assertGreater(graph["height"], 100)
                self.assertLessEqual(graph["y"] + graph["height"], size[1])
                self.viewer.press(*["d"] * len(self.viewer.texts("html[data-theme=dark]")))

    def test_states_fit_each_width(self):
        """Each state shows what it is named for. None is wider than the window, cuts the texts of
        fields, or leaves the graph without room, and none complains. The heatmap of 6 s fills it."""
        for path, states in ((self.page, STATES), (self.diff, COMPARISONS)):
            for name, state in states.items():
                if name != "call" or breakpoints.work():
                    self.look(name, path, state)
        self.assertEqual(self.viewer.step("complaints"), [])
