# SPDX-License-Identifier: Apache-2.0
"""The states of the page at three widths. Each leaves a picture in build/screenshots, to look at."""
import unittest

import beamflame
import nodes
import viewer

NEEDS = "own nodes"
RELEASE = 27
EVENTS = "cpu,gc,alloc,sched,msg,wall"
SIZES = ([1440, 900], [1024, 768], [390, 844])
COMPARED = "range=3000-5000&against=500-2500"
# By name, the fragment and the keys that are pressed.
STATES = {
    "first": ("", ()), "wall": ("event=wall", ()), "unfolded": ("event=wall&foldwaiting=0", ()),
    "gc": ("event=gc", ()), "alloc": ("event=alloc", ()), "sched": ("event=sched", ()),
    "msg": ("event=msg", ()), "selected": ("range=1000-3000&panel=processes&process=1", ()),
    "functions": ("panel=functions", ()), "lines": ("panel=lines", ()), "tree": ("panel=tree", ()),
    "vm": ("panel=vm", ()), "compared": (f"{COMPARED}&panel=functions", ()),
    "bottom-up": ("form=callers", ()), "search": ("search=burn", ()), "sandwich": ("", ("ArrowUp",
    "ArrowUp", "s")), "time": ("form=time", ()), "times": (f"form=time&{COMPARED}", ()),
    "dark": (COMPARED, ("d",)), "help": ("", ("?",)), "save": ("", ("p",)),
    "menu": ("", ("ArrowUp", "m")), "nonsense": ("zzz=1&event=none", ()),
    "nothing": ("include=zzz", ()),
}


class States(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        viewer.require()
        beamflame.require()
        folder = beamflame.folder(cls.addClassCleanup)
        cls.page, cls.diff = folder / "x.html", folder / "diff.html"
        recordings = [folder / "old.bfr", folder / "new.bfr"]
        for recording in recordings:
            with nodes.Node(RELEASE, "families") as node:
                beamflame.record("-p", node.pid, "-d", 6, "-e", EVENTS, "--node-metrics",
                                 "memory,tables", "-o", recording, timeout=300)
        beamflame.record("report", "-q", recordings[0], "-o", cls.page, timeout=300)
        beamflame.record("diff", "-q", *recordings, "-o", cls.diff, timeout=300)
        cls.pictures = nodes.BUILD / "screenshots"
        cls.pictures.mkdir(exist_ok=True)
        cls.viewer = viewer.Viewer()
        cls.addClassCleanup(cls.viewer.close)

    def look(self, name, path, fragment, keys):
        """Check a state at each width, and leave a picture."""
        for size in SIZES:
            with self.subTest(state=name, width=size[0]):
                self.viewer.open(path, fragment)
                self.viewer.step("resize", size)
                self.viewer.step("reload")  # what is shown first depends on the size
                self.viewer.step("focus", "#flamegraph canvas")
                self.viewer.press(*keys)
                self.viewer.step("shot", str(self.pictures / f"{name}-{size[0]}.png"))
                self.assertLessEqual(self.viewer.step("excess"), 0)
                self.assertEqual(self.viewer.step("cutPlaceholders"), [])
                graph = self.viewer.step("box", "#flamegraph canvas")
                self.assertGreater(graph["height"], 100)
                self.assertLessEqual(graph["y"] + graph["height"], size[1])
                self.viewer.press(*["d"] * len(self.viewer.texts("html[data-theme=dark]")))

    def test_states_fit_each_width(self):
        """No state is wider than the window, cuts the texts of fields, or leaves the graph without
        room, and none complains."""
        for name, (fragment, keys) in STATES.items():
            self.look(name, self.page, fragment, keys)
        self.look("diff", self.diff, "", ())
        self.look("diff-times", self.diff, "form=time", ())
        self.assertEqual(self.viewer.step("complaints"), [])
