# SPDX-License-Identifier: Apache-2.0
"""The viewer shows what `beamflame report` computes for the same choice."""
import json
import math
import re
import subprocess
import unittest
from collections import Counter
from xml.etree import ElementTree

import beamflame
import nodes
import viewer
from viewer import number, seconds

NEEDS = "own nodes"
RELEASE = 27
HEATMAP = "#heatmap canvas"
WEIGHT = ".field:has-text('weight') select"
INCLUDE = "input[aria-label='only stacks with\u2026']"
EXCLUDE = "input[aria-label='no stacks with\u2026']"


LANE = 35  # px from one lane to the next
HZ = 199
PERIOD = 1000000000 // HZ  # ns


def rounded(amount):
    return math.floor(amount + 0.5)


def total_of(stacks):
    return rounded(sum(stacks.values()))


def functions_of(stacks):
    """Return {function: [self, total]}, rounded. A stack counts once for a function, however often
    it contains it."""
    functions = {}
    for stack, count in stacks.items():
        for name in set(stack):
            functions.setdefault(name, [0, 0])[1] += count
        functions[stack[-1]][0] += count
    return {name: [rounded(own), rounded(total)] for name, (own, total) in functions.items()}


def call_sites(lines, weight):
    """Return {function: sum} of the Erlang functions nearest to the leaves, else of the leaves."""
    tables = {kind: {line["id"]: line for line in lines if line["type"] == kind}
              for kind in ("frame", "stack")}
    sites = Counter()
    for line in lines:
        if line["type"] == "sample" and "stack" in line:
            frames = []
            stack = line["stack"]
            while stack:
                frames.append(tables["frame"][tables["stack"][stack]["frame"]])
                stack = tables["stack"][stack].get("parent")
            site = next((frame for frame in frames if frame["kind"] == "erlang"), frames[0])
            sites[site["symbol"]] += line["values"][weight]
    return sites


class Viewer(unittest.TestCase):
    """One recording of a node under load; each test reloads its page."""

    @classmethod
    def setUpClass(cls):
        viewer.require()
        beamflame.require()
        folder = beamflame.folder(cls.addClassCleanup)
        cls.recording, cls.page = folder / "load.bfr", folder / "load.html"
        with nodes.Node(RELEASE, "families") as node:
            beamflame.record("-p", node.pid, "-d", 8, "-F", HZ, "-e", "cpu,gc,wall",
                             "--node-metrics", "memory,tables", "-o", cls.recording, timeout=300)
        beamflame.record("report", cls.recording, "--weight", "time", "-o", cls.page, timeout=300)
        cls.viewer = viewer.Viewer()
        cls.addClassCleanup(cls.viewer.close)

    def lines(self, *options):
        made = self.recording.with_suffix(".lines.json")
        beamflame.record("report", "-q", self.recording, *options, "--format", "json", "-o", made)
        return [json.loads(line) for line in made.read_text("utf-8").splitlines()]

    def folded(self, *options):
        """Return the stacks of event cpu in periods of the clock, not rounded: the page rounds sums
        once, and lines of report that are rounded add up to a sum that may differ by 1."""
        stacks = beamflame.folded(self.recording, "--event", "cpu", "--weight", "cpu", *options)
        return {stack: time / PERIOD for stack, time in stacks.items()}

    def show(self, fragment=""):
        self.viewer.open(self.page, fragment)
        return self.viewer

    def assert_selected(self, expected):
        self.assertEqual(number(self.viewer.status), expected, self.viewer.status)

    def assert_call_sites(self, event):
        """Check that the table begins with the call sites; return how many have at least 1 %."""
        sites = call_sites(self.lines("-e", event), "time")
        expected = {name: f"{100 * time / sum(sites.values()):.1f} %"
                    for name, time in sites.items() if time >= 0.01 * sum(sites.values())}
        rows = self.viewer.rows()[:len(expected)]
        self.assertEqual({name: share for name, _, share, *_ in rows}, expected)
        return len(expected)

    def test_page_opens_without_errors_or_requests(self):
        """The page loads without errors, warnings or network requests; the head describes the
        recording."""
        page, stats = self.show(), self.recording.with_suffix(".json")
        self.assertEqual(page.step("complaints"), [])
        beamflame.record("report", self.recording, "--stats", stats, "-o",
                         self.recording.with_suffix(".folded"), "--event", "cpu")
        told, about = json.loads(stats.read_text()), page.text("#about")
        self.assertIn(f"OTP {told['target']['otp_release']}", about)
        held = [line for line in self.lines() if line["type"] == "sample"]
        self.assertIn(f"{len(held):,} samples", about)
        self.assertEqual("none lost" in about, not any(told["losses"].values()), told["losses"])
        summary = beamflame.record("report", self.recording).stdout
        stacks, _, frames = re.search("coverage  (.*)", summary)[1].partition("; ")
        self.assertIn(stacks, about)
        self.assertIn(frames, about)
        self.assertFalse(page.step("visible", "#warnings"))

    def test_event_and_weight_fields_give_the_sums_of_report(self):
        page = self.show()
        for event, weight in (("cpu", "time"), ("cpu", "samples"), ("cpu", "reductions"),
                              ("gc", "reclaimed"), ("wall", "samples"), ("wall", "heap")):
            with self.subTest(event=event, weight=weight):
                page.choose_event(event)
                page.choose(WEIGHT, weight)
                self.assert_selected(total_of(beamflame.folded(
                    self.recording, "--event", event, "--weight", weight)))

    def test_each_event_has_a_tab_with_its_total_and_coverage(self):
        """The total of a tab is that of all hits, which JSON has; the keyboard moves between tabs."""
        page, sums = self.show(), {"cpu": sum(self.folded().values()) * PERIOD}
        sums |= {line["event"]: line["sums"]["time"] for line in self.lines()
                 if line["type"] == "counted"}
        tabs = dict(zip(page.texts("#events b"), page.texts("#events [role=tab]")))
        self.assertEqual(sorted(tabs), ["cpu", "gc", "wall"])
        self.assertRegex(tabs["cpu"], r"\n(all|[\d.]+ %) of the time")
        self.assertRegex(tabs["gc"], r"\u00b1 [\d.?]+.*\n.*\d % of the time")
        self.assertIn("% of the processes", tabs["wall"])
        for name, tab in tabs.items():
            amount, unit = re.search(r"([\d.]+) (m?s)\b", tab).groups()
            total = sums[name] / {"ms": 1e6, "s": 1e9}[unit]
            self.assertAlmostEqual(float(amount), total, delta=max(0.06, 0.01 * total), msg=tab)
        page.step("focus", "#events [aria-selected=true]")
        page.press("End")
        self.assertEqual([page.event] * 2, [list(tabs)[-1], *page.texts("#events :focus b")])
        page.press("ArrowLeft", "ArrowLeft", "ArrowLeft")
        self.assertEqual(page.event, "cpu")
        self.assertEqual(page.step("complaints"), [])

    def test_events_open_in_their_own_way(self):
        """A page shows CPU time in seconds, garbage collections by call site, and waiting by
        status."""
        page, path = self.viewer, self.page.with_name("plain.html")
        beamflame.record("report", "-q", self.recording, "-o", path)
        page.open(path)
        self.assertRegex(page.status, r"^Selected CPU time: [\d.]+ s in [\d,]+ samples")
        page.choose_event("gc")
        self.assert_call_sites("gc")
        page.open(path, "event=wall&form=callers&group=none&erlang=1&idle=1&panel=functions"
                        "&foldwaiting=0&lanes=none")  # which leave more rows in sight
        self.assertGreater(self.assert_call_sites("wall"), 3)
        page.open(path)
        page.choose_event("wall")
        page.step("focus", "#flamegraph canvas")
        page.press("ArrowUp")
        self.assertRegex(page.said, r"^\[(running|runnable|waiting|blocked)\]: total")
        self.assertEqual(page.fragment, "event=wall")

    def test_page_of_an_event_counts_what_it_holds(self):
        """A page of one event has no others, and says of how many samples it has some."""
        gc, part = self.page.with_name("gc.html"), self.page.with_name("part.html")
        beamflame.record("report", "-q", self.recording, "-e", "gc", "-o", gc)
        beamflame.record("report", "-q", self.recording, "-e", "cpu", "-e", "gc", "-I",
                         "families:burn", "-o", part)
        events = [line["event"] for line in self.lines() if line["type"] == "sample"]
        self.viewer.open(gc)
        self.assertIn(f"{events.count('gc'):,} of {len(events):,} samples",
                      self.viewer.text("#about"))
        self.assertEqual(self.viewer.texts("#events b"), ["gc"])
        self.viewer.open(part)
        self.assertEqual(self.viewer.texts("#events b"), ["cpu", "gc"])
        held = [line for line in self.lines("-e", "cpu,gc", "-I", "families:burn")
                if line["type"] == "sample"]
        self.assertIn(f"{len(held):,} of {len(events):,} samples", self.viewer.text("#about"))

    def test_fields_show_the_event_and_weight_of_a_link(self):
        """Tabs and field show the event and weight in effect, even if the link or the recording names a
        weight of another event, or an unknown one."""
        wall = self.page.with_name("wall.html")
        beamflame.record("report", self.recording, "--weight", "wall", "-o", wall, timeout=300)
        for path, fragment, event, weight in (
                (wall, "", "wall", "time"), (self.page, "event=gc&weight=cpu", "cpu", "CPU time"),
                (self.page, "weight=zzz", "cpu", "clock periods")):
            with self.subTest(fragment):
                self.viewer.open(path, fragment)
                self.assertEqual([self.viewer.event, *self.viewer.texts(f"{WEIGHT} option:checked")],
                                 [event, weight])

    def test_dragging_the_heatmap_selects_a_range(self):
        page = self.show()
        page.drag_heatmap((0.1, 0.3), (0.45, 0.6))
        expected = total_of(self.folded(*seconds(page.status)))
        self.assert_selected(expected)
        self.assertLess(expected, total_of(self.folded()))
        page.press("u")
        self.assert_selected(total_of(self.folded()))

    def test_lanes_are_aligned_with_the_heatmap_and_select_a_time(self):
        """Below the heatmap are lanes, which a key hides. A drag over a lane selects a time within a
        second; the pointer says what the lane has. The lane of memory has RSS of the readings."""
        page = self.show()
        self.assertTrue(page.step("visible", "button:text-is('Lanes')"))
        tall = page.step("box", HEATMAP)["height"]
        page.drag_heatmap((0.03, 0.95), (0.26, 0.95))
        expected = total_of(self.folded(*seconds(page.status)))
        self.assert_selected(expected)
        start, end = (float(part) for part in seconds(page.status)[1::2])
        self.assertAlmostEqual(start, 0.03 * page.columns, delta=0.06)
        self.assertAlmostEqual(end, 0.26 * page.columns, delta=0.06)
        rss = next(line["readings"][-1][1] for line in self.lines()
                   if line["type"] == "node_metric" and line["metric"] == "rss")
        told, = [text for text in self.lane_texts(page, tall) if "memory" in text]
        self.assertAlmostEqual(float(re.search(r"([\d.]+) MB", told)[1]), rss / 1e6,
                               delta=0.1 * rss / 1e6)
        page.press("l")
        self.assertLess(page.step("box", HEATMAP)["height"], tall - 40)
        page.press("u", "u")
        self.assertEqual([page.step("box", HEATMAP)["height"], page.fragment], [tall, ""])
        self.assertEqual(page.step("complaints"), [])

    def test_marks_of_collections_select_their_time(self):
        """The pointer says of a mark which process collected, how long and how. A click selects the
        time of the collection."""
        collections = [line for line in self.lines() if line["type"] == "sample" and line["event"] == "gc"]
        page = self.show("event=gc")
        told, at = self.find_mark(page)
        text, unit, kind = re.search(r"GC pause of ([\d.]+) (\S+): .*<[\d.]+>, (major|minor)", told).groups()
        page.drag_heatmap(at, at)
        first, last = (round(float(part) * 1000) for part in seconds(page.status)[1::2])
        self.assertLess(last - first, 500)
        found = [line for line in collections if first <= line["time_ns"] // 1000000 < last
                 and line["values"]["count"]]
        longest = max(found, key=lambda line: line["values"]["time"] / line["values"]["count"])
        pause = longest["values"]["time"] / longest["values"]["count"] / 1e6
        self.assertAlmostEqual(float(text) / {"ms": 1, "us": 1000}[unit], pause, delta=pause / 20)
        self.assertEqual(kind, "minor" if longest["metrics"]["old"] else "major")

    def find_mark(self, page):
        """Move the pointer over the lane of collections; return what it says of a mark, and where."""
        box = page.step("box", "#heatmap .spacer")
        for y in range(int(box["height"]) - 12, 170, -LANE):
            for x in range(4, 600, 4):
                at = [x / box["width"], y / box["height"]]
                page.step("hover", {"on": "#heatmap .spacer", "at": at})
                told = page.text("#tooltip")
                if "GC pause of" in told:
                    return told, at
                if x == 4 and "longest GC pause" not in told:
                    break
        self.fail("no lane has marks")

    def lane_texts(self, page, tall):
        """Return what the pointer says of each lane at a time."""
        texts = []
        for y in range(int(tall) - 12, 170, -LANE):
            page.step("hover", {"on": "#heatmap .spacer", "at": [0.2, y / tall]})
            texts.append(page.text("#tooltip"))
        return texts

    def test_include_and_exclude_fields_filter_stacks(self):
        page = self.show()
        page.fill(INCLUDE, "families:burn")
        self.assert_selected(total_of(self.folded("-I", "families:burn")))
        page.fill(EXCLUDE, "erts_mul_add|big_band$")
        both = total_of(self.folded("-I", "families:burn", "-X", "erts_mul_add|big_band$"))
        self.assert_selected(both)
        self.assertGreater(both, 0)
        page.fill(INCLUDE, "(")
        self.assertEqual(page.texts(f"{INCLUDE}[aria-invalid=true]"), [""])
        self.assert_selected(both)

    def test_status_filter_selects_samples(self):
        page = self.show("event=wall&weight=samples")
        page.click("summary:has-text('status')")
        page.click("label:has-text('waiting')")
        self.assert_selected(total_of(beamflame.folded(
            self.recording, "--event", "wall", "--weight", "samples", "--status", "waiting")))

    def test_idle_processes_are_left_out_until_shown(self):
        """Graphs of event wall leave out idle processes; a chip says how much that is, and a box
        and the chip's button show them."""
        shown, whole = (total_of(beamflame.folded(self.recording, "--event", "wall", "--weight",
                                                  "samples", *options))
                        for options in ((), ("--idle",)))
        self.assertLess(shown, whole)
        page = self.show("event=wall&weight=samples")
        self.assert_selected(shown)
        self.assertRegex(page.text("#chips"), r"without idle: \d+\.\d % of the time")
        page.click("label:has-text('show idle')")
        self.assert_selected(whole)
        page.press("u")
        self.assert_selected(shown)
        page.click("[aria-label^='without: without idle']")
        self.assert_selected(whole)

    def test_scheduler_filter_selects_samples(self):
        page, expected = self.show(), self.folded("--group-by", "scheduler")
        page.click("summary:has-text('scheduler')")
        page.click("details[open] label:has-text('scheduler 1') >> nth=0")
        self.assert_selected(rounded(beamflame.weight_where(
            expected, lambda stack: stack[0] == "[scheduler 1]")))

    def test_widest_root_frame_is_right_for_each_grouping(self):
        """The widest frame next to the root is right for each grouping."""
        page = self.viewer
        for key in ("status", "pid", "scheduler", "none"):
            with self.subTest(key):
                page.open(self.page, f"group={key}")
                page.step("focus", "#flamegraph canvas")
                page.press("ArrowUp")
                roots = Counter()
                for stack, count in self.folded("--group-by", key).items():
                    roots[stack[0]] += count
                name, _, said = page.said.partition(": total ")
                self.assertEqual(roots[name], max(roots.values()), page.said)
                self.assertEqual(number(said), rounded(roots[name]))

    def test_search_shows_the_matched_share(self):
        page, stacks = self.show(), self.folded()
        page.press("/")
        page.step("type", "burn|init")
        page.press("Enter")
        matched = beamflame.weight_where(
            stacks, lambda stack: any(re.search("burn|init", frame) for frame in stack))
        percent = f"{100 * matched / sum(stacks.values()):.1f} %"
        self.assertIn(f"matched {percent} ", page.text("#matched"))
        self.assertNotIn(percent, ("0.0 %", "100.0 %"))

    def test_comparison_of_two_ranges_has_their_changes(self):
        page = self.show("per=none&panel=functions")
        page.drag_heatmap((0.0, 0.5), (0.3, 0.5))
        page.drag_heatmap((0.6, 0.5), (0.8, 0.5), shift=True)
        a, b = (self.folded(*seconds(part)) for part in page.status.split(";")[:2])
        change = rounded(sum(b.values()) - sum(a.values()))
        self.assertEqual(number(page.status.split("change ")[1]), change)
        self.assertNotEqual(change, 0)
        self.assertEqual([head.rstrip(" \u2193") for head in page.texts("#panel [role=columnheader]")],
                         ["function", "A", "B", "change", "\u00b1 noise"])
        names = functions_of(a), functions_of(b)
        for name, in_a, in_b, told, _ in page.rows()[:12]:
            sides = [side.get(name, [0, 0])[1] for side in names]
            self.assertEqual([number(in_a), number(in_b)], sides, name)
            # The change is rounded once, too, and may differ by 1 from that of rounded sides.
            self.assertAlmostEqual(number(told), sides[1] - sides[0], delta=1, msg=name)
        self.assertRegex(page.text("#chips"), r"A [\d.]+ s to (?s:.*)B [\d.]+ s to ")

    def test_functions_table_has_self_and_total_sums(self):
        page = self.show("group=none&panel=functions")
        functions = functions_of(self.folded("--group-by", "none"))
        rows = page.rows()
        self.assertGreater(len(rows), 10)
        for name, own, _, total, _ in rows:
            self.assertEqual([number(own), number(total)], functions[name], name)
        self.assertEqual(number(rows[0][1]), max(own for own, _ in functions.values()))

    def test_processes_table_has_sums_and_selects_a_process(self):
        """Each row has the sum that report has for its process; a click selects that process."""
        page = self.show("panel=processes")
        for row in page.rows()[:4]:
            pid = re.search(r"<[\d.]+>", row[0])[0]
            expected = total_of(self.folded("--process", pid))
            self.assertEqual(number(row[1]), expected, row[0])
        first = page.rows()[0]
        page.click("#panel [data-index='0']")
        self.assert_selected(number(first[1]))
        page.press("u")
        self.assert_selected(total_of(self.folded()))

    def test_table_of_the_vm_has_its_metrics(self):
        """Counts at the start, at the end, and the highest, of the whole time and of a range, are
        those of the readings; so is the size of a table, with its owner."""
        readings = {(line["metric"], line.get("of")): line["readings"] for line in self.lines()
                    if line["type"] == "node_metric"}
        for fragment, until in (("", 1e12), ("range=0-4000&", 4.001e9)):
            page = self.show(f"{fragment}panel=vm")
            for metric in ("atoms", "processes"):
                values = [value for time, value in readings[metric, None] if time < until]
                page.fill("#panel input", metric)
                change, start, end, highest, _ = page.rows()[0][1:]
                self.assertEqual([number(start), number(end), number(highest)],
                                 [values[0], values[-1], max(values)], metric)
                self.assertEqual(number(change) if change else 0, values[-1] - values[0], metric)
        page.fill("#panel input", "table code_server")
        self.assertIn("table code_server, <0.50.0> code_server",
                      [name for name, *_ in page.rows()])
        self.assertEqual(page.step("complaints"), [])

    def test_search_covers_the_table_that_is_shown(self):
        """The search covers the table that is shown, and a table that is shown later."""
        page = self.show("panel=processes")
        page.fill("#panel input", "<0.")
        self.assertEqual(page.step("complaints"), [])
        self.assertGreater(len(page.rows()), 1)
        page.fill("#panel input", "burn")
        page.click("text=Functions")
        self.assertTrue(page.rows())
        for name, *_ in page.rows():
            self.assertIn("burn", name)

    def test_all_columns_of_a_wide_table_can_be_reached(self):
        """All columns of a table that is wider than its panel can be reached."""
        page = self.show("panel=processes")
        first, last = ("[role=gridcell] >> nth=0", "[role=gridcell] >> nth=8")
        self.assertGreaterEqual(page.step("box", first)["width"], 200)
        head = page.step("box", "[role=columnheader] >> nth=8")
        self.assertEqual(page.step("box", last)["x"], head["x"])
        page.step("scroll", last)
        self.assertLess(page.step("box", last)["x"], head["x"])
        self.assertEqual(page.step("box", "[role=columnheader] >> nth=8")["x"],
                         page.step("box", last)["x"])

    def test_heads_of_columns_fit(self):
        """No head of a column is cut, whatever column the table is sorted by, at each width."""
        self.addCleanup(self.viewer.step, "resize", [1600, 1000])
        for size in ([1440, 900], [1024, 768], [390, 844]):
            for state in ("functions", "functions&range=0-3000&against=3000-6000", "lines&event=gc",
                          "tree&event=wall", "processes", "processes&event=gc", "vm"):
                page = self.show(f"panel={state}")
                page.step("resize", size)
                for column in range(len(page.texts("#panel [role=columnheader] button"))):
                    page.click(f"#panel [role=columnheader] button >> nth={column}")
                    for part in ("", " > *"):
                        self.assertEqual(page.step("clipped", f"#panel [role=columnheader]{part}"),
                                         [], (size, state))

    def test_clearing_the_selection_keeps_the_comparison(self):
        """Removing a part of the selection leaves the comparison."""
        compared = self.page.with_name("compared.html")
        beamflame.record("diff", self.recording, self.recording, "-o", compared, timeout=300)
        page = self.viewer
        page.open(compared)
        opened = page.status
        self.assertIn("; B ", opened)
        # Each side has its own clock: both begin at its start.
        self.assertRegex(page.text("#chips"), r"A 0\.\d\d s to (?s:.*)B 0\.\d\d s to ")
        page.fill(INCLUDE, "burn")
        self.assertNotEqual(page.status, opened)
        page.click("text=Clear all")
        self.assertEqual([page.status, page.fragment], [opened, ""])
        page.step("focus", HEATMAP)
        page.press("Escape")
        self.assertEqual([page.status, page.fragment], [opened, ""])

    def test_link_and_undo_restore_a_view(self):
        """A view is restored from its fragment; undo and redo restore each step."""
        page = self.show()
        page.fill(INCLUDE, "burn")
        page.drag_heatmap((0.1, 0.5), (0.5, 0.5))
        page.press("b", "r")
        page.click("#flamegraph canvas")
        fragment, status, chips = page.fragment, page.status, page.text("#chips")
        self.assert_selected(total_of(self.folded(*seconds(status), "-I", "burn",
                                                  "--fold-recursion")))
        page.open(self.page, fragment)
        self.assertEqual([page.status, page.text("#chips"), page.fragment],
                         [status, chips, fragment])
        page.click("text=Clear all")
        self.assert_selected(total_of(self.folded()))
        page.press("u")
        self.assertEqual(page.fragment, fragment)
        page.press("v")
        self.assertNotEqual(page.fragment, fragment)
        page.press("u")
        self.assertEqual(page.fragment, fragment)
        page.press("U")
        self.assertNotEqual(page.fragment, fragment)

    def test_the_browsers_back_undoes_a_step(self):
        """Back and Forward of the browser move between steps; typed text is one step."""
        page = self.show()
        page.press("b")
        page.step("focus", "#search")
        page.step("type", "bu")
        page.press("Enter")
        page.step("type", "rn")
        page.press("Enter")
        page.choose_event("gc")
        fragments = [page.fragment]
        for steps in (-1, -1, -1, 2):
            page.step("travel", steps)
            fragments.append(page.fragment)
        self.assertEqual(fragments, ["event=gc&search=burn", "form=callers&search=burn",
                                     "form=callers", "", "form=callers&search=burn"])
        self.assertRegex(page.text("#matched"), r"matched \d")

    def test_a_link_with_nonsense_is_shown_without_it(self):
        """What a link has and the recording does not is named, and left out of view and address."""
        page = self.show("weight=zzz&range=9-1&process=123456&group=name,colour&form=cube&focus=no:f/1"
                         "&include=(&zoom=7,a&sight=1&fold=yes&search=burn&panel=%E0%A4%A")
        notice = page.text("#notice")
        for value in ("weight=zzz", "range=9-1", "process=123456", "group=name,colour", "form=cube",
                      "focus=no:f/1", "include=(", "zoom=7,a", "sight=1", "fold=yes", "panel="):
            self.assertIn(value, notice)
        self.assertNotIn("search", notice)
        self.assertEqual(page.fragment, "search=burn")
        self.assert_selected(total_of(self.folded()))
        page.press("b")
        self.assertFalse(page.step("visible", "#notice"))
        self.assertEqual(page.step("complaints"), [])

    def test_the_path_shows_and_changes_the_zoom(self):
        """The path has each frame from the root to the zoomed one, with the zoomed one's share."""
        page = self.show()
        page.step("focus", "#flamegraph canvas")
        page.press("ArrowUp", "ArrowUp", "ArrowUp", "Enter")
        name, _, said = page.said.partition(": total ")
        self.assertEqual(len(page.texts("#path button")), 5)
        self.assertEqual(page.texts("#path [aria-current=true]"), [name])
        amount = page.text("#path .amount")
        self.assertEqual(number(amount), number(said))
        self.assertIn(re.search(r"[\d.]+ %", said)[0], amount)
        outer = page.texts("#path button")[1]
        page.click("#path button >> nth=1")
        self.assertEqual(page.texts("#path [aria-current=true]"), [outer])
        page.click("#path [aria-label='zoom out']")
        self.assertEqual(page.texts("#path button"), ["all"])
        self.assertEqual(page.fragment, "")

    def test_a_phone_shows_graph_and_tables_and_selects_by_touch(self):
        """On a narrow page the tables leave the heatmap in sight and can be closed, the graph has
        room, and a finger selects a time."""
        page = self.show("panel=processes")
        page.step("resize", [390, 844])
        self.addCleanup(page.step, "resize", [1600, 1000])
        heatmap, panel = page.step("box", "#heatmap"), page.step("box", "#panel")
        self.assertLessEqual(heatmap["y"] + heatmap["height"], panel["y"] + 1)
        page.click("[aria-label='close the tables']")
        self.assertFalse(page.step("visible", "#panel"))
        self.assertGreater(page.step("box", "#flamegraph")["height"], 200)
        self.assertTrue(page.step("visible", "#hint"))
        page.step("touch", {"on": "#heatmap", "from": [0.1, 0.3], "to": [0.5, 0.3]})
        self.assert_selected(total_of(self.folded(*seconds(page.status))))
        self.assertIn("range=", page.fragment)
        self.assertFalse(page.step("visible", "#hint"))
        selected = page.fragment
        page.click("#chips .compare")
        self.assertEqual(page.step("attribute", ["#chips .compare", "aria-pressed"]), "true")
        page.step("touch", {"on": "#heatmap", "from": [0.6, 0.3], "to": [0.9, 0.3]})
        self.assertIn("against=", page.fragment)
        self.assertIn(re.search("range=[0-9-]+", selected)[0], page.fragment)
        self.assertRegex(page.text("#chips"), r"A [\d.]+ s to (?s:.*)B [\d.]+ s to ")
        self.assertEqual(page.texts("#chips .compare"), [])

    def test_what_is_shown_can_be_saved(self):
        """Folded stacks are those of report; the picture has the frames in sight; the text has the
        selection and its functions."""
        page = self.show("include=burn")
        made = self.recording.with_suffix(".burn.folded")
        beamflame.record("report", "-q", self.recording, "--event", "cpu", "-I", "burn", "-o", made)
        self.assertEqual(page.save("p", "f"), ("beamflame-cpu.folded", made.read_bytes()))
        name, data = page.save("p", "s")
        self.assertEqual(name, "beamflame-cpu.svg")
        picture = ElementTree.fromstring(data)
        titles = {title.text for title in picture.iter("{http://www.w3.org/2000/svg}title")}
        self.assertIn("all", titles)
        self.assertIn("families:burn/1", titles)
        self.assertTrue({fill.get("fill") for fill in picture.iter("{http://www.w3.org/2000/svg}rect")}
                        > {"#fdfdfc"})
        self.assertTrue(page.save("p", "p")[1].startswith(b"\x89PNG"))
        text = page.save("p", "t")[1].decode()
        self.assertIn(page.status, text)
        self.assertIn("with burn", text)
        self.assertRegex(text, r"(?m)^ +[\d.]+ %  +[\d.]+ %  .* families:burn/1$")
        self.assertEqual(page.step("pages"), 2)  # with the table of functions
        self.assertEqual(page.step("complaints"), [])

    def test_typed_text_is_one_undo_step(self):
        """Text typed into a field is one undo step, and clearing the field another."""
        page = self.show()
        for selector in (INCLUDE, "#search"):
            page.step("focus", selector)
            for letter in "burn":
                page.step("type", letter)
                page.press("Enter")
            page.step("focus", HEATMAP)
            typed = page.fragment
            self.assertRegex(typed, "=burn$")
            page.press("u")
            self.assertEqual(page.fragment, "")
        page.fill(INCLUDE, "burn")
        page.click("#chips [title=remove]")
        page.step("focus", HEATMAP)
        page.press("u")
        self.assertEqual(page.fragment, "include=burn")

    def test_hiding_frames_and_folding_recursion_keep_the_sums(self):
        page = self.show("group=none&panel=functions")
        page.press("o")
        names = {row[0] for row in page.rows()}
        self.assertFalse([name for name in names if re.match("proc_lib:|gen_server:", name)])
        self.assert_selected(total_of(self.folded()))
        page.press("o")
        page.press("r")
        functions = functions_of(self.folded("--group-by", "none", "--fold-recursion"))
        for name, own, _, total, _ in page.rows():
            self.assertEqual([number(own), number(total)], functions[name], name)
        page.press("u", "u", "u")
        self.assertEqual(page.fragment, "group=none&panel=functions")

    def test_sandwich_has_all_stacks_with_the_function(self):
        """The sandwich view has all stacks with the function, above and below it."""
        page = self.show("panel=functions")
        name = page.rows()[0][0]
        page.click("#panel [data-index='0']")
        expected = beamflame.weight_of(self.folded("--group-by", "none"), name)
        self.assert_selected(rounded(expected))

    def test_the_root_stays_in_sight(self):
        """In a window lower than the graph, the root is at the edge wherever the graph is scrolled to,
        and a click on it zooms out."""
        page = self.show("panel=none&fold=0")
        page.step("resize", [1600, 500])
        self.addCleanup(page.step, "resize", [1600, 1000])
        page.step("focus", "#flamegraph canvas")
        page.press("ArrowUp", "ArrowUp", "Enter")
        self.assertIn("zoom=", page.fragment)
        lowest = {"on": "#flamegraph canvas", "at": [0.5, 0.97]}
        page.step("hover", lowest)
        page.step("wheel", -3000)
        page.step("hover", {"on": "#flamegraph canvas", "at": [0.5, 0.1]})
        page.step("hover", lowest)
        self.assertRegex(page.text("#tooltip"), r"^all\b")
        page.step("drag", {"on": "#flamegraph canvas", "from": [0.5, 0.97], "to": [0.5, 0.97]})
        self.assertNotIn("zoom=", page.fragment)

    def rows_at_edges(self, page, pixels):
        """Scroll the graph by pixels; return what the pointer says of its first two and last two rows."""
        graph = "#flamegraph canvas"
        page.step("hover", {"on": graph, "at": [0.5, 0.5]})
        page.step("wheel", pixels)
        height, said = page.step("box", graph)["height"], []
        for y in (8, 26, height - 26, height - 8):
            page.step("hover", {"on": graph, "at": [0.3, 0.5]})
            page.step("hover", {"on": graph, "at": [0.3, y / height]})
            said.append(page.text("#tooltip").partition("\n")[0])
        return said

    def test_the_function_of_a_sandwich_stays_in_sight(self):
        """It is at the edge wherever the graph is scrolled to, and a click on it zooms to it."""
        stacks, path = self.page.with_name("deep.folded"), self.page.with_name("deep.html")
        callers, callees = ([f"m:{side}{i}/1" for i in range(80)] for side in ("caller", "callee"))
        stacks.write_text(";".join(["a", *callers, "m:focus/1", *callees]) + " 5\n"
                          + ";".join(["b", *callers, "m:focus/1"]) + " 5\n", "ascii")
        beamflame.record("report", "-q", stacks, "-o", path)
        page = self.viewer
        page.open(path, "form=sandwich&focus=m:focus/1&panel=none")
        first, _, before, last = self.rows_at_edges(page, -9000)
        self.assertRegex(last, r"^m:focus/1\b")
        self.assertRegex(first + before, "^[ab] .*m:caller")
        page.step("drag", {"on": "#flamegraph canvas", "from": [0.5, 0.985], "to": [0.5, 0.985]})
        self.assertIn("focus", page.fragment.partition("zoom=")[2])
        first, second, *_, last = self.rows_at_edges(page, 9000)
        self.assertRegex(first, r"^m:focus/1\b")
        self.assertRegex(second + last, "^m:callee.*m:callee79/1")

    def test_the_roots_of_two_times_stay_in_sight(self):
        page = self.show("form=time&range=3000-5000&against=500-2500&panel=none&lanes=none&fold=0")
        page.step("resize", [1600, 540])
        self.addCleanup(page.step, "resize", [1600, 1000])
        *_, a, b = self.rows_at_edges(page, -9000)
        self.assertEqual((a[:2], b[:2]), ("A ", "B "))
        a, b, *_ = self.rows_at_edges(page, 9000)
        self.assertEqual((a[:2], b[:2]), ("A ", "B "))

    def test_axe_finds_nothing_wrong(self):
        """Names, roles and contrasts are right by axe, on a wide page and on a narrow one, in the
        light and in the dark, with each table, a menu and the help."""
        states = ("", "panel=processes&process=1&range=1000-2000", "panel=tree&event=gc",
                  "panel=lines&form=time&lanes=shown", "panel=vm&event=wall&zzz=1")
        self.addCleanup(self.viewer.step, "resize", [1600, 1000])
        self.addCleanup(lambda: self.viewer.press(*["d"] * len(self.viewer.texts(
            "html[data-theme=dark]"))))  # the page keeps it
        for size in ([1440, 900], [390, 844]):
            for number, state in enumerate(states):
                page = self.show(state)
                page.step("resize", size)
                page.press(*(["d"] if number % 2 else []), *(["p"] if number == 2 else []),
                           *(["?"] if number == 3 else []))
                self.assertEqual(page.step("wrong"), [], (size, state))

    def test_the_call_tree_opens_to_the_sums_of_the_stacks(self):
        """Rows of the tree have the totals of the stacks that begin as they do. Keys open and close
        rows; a search shows the rows with its text, and their callers."""
        page, stacks = self.show("group=none&panel=tree"), self.folded("--group-by", "none")

        totals = Counter()
        for stack, count in stacks.items():
            totals[stack[0]] += count
        page.step("focus", "#panel [role=treegrid]")
        page.press("Home", "ArrowLeft")
        self.assertEqual([(row[0], number(row[1])) for row in page.rows()],
                         [("\u25b8all", total_of(stacks))])
        page.press("ArrowRight")
        first = page.texts("#panel [aria-level='2'] [role=gridcell]")
        shown = {name.lstrip("\u25b8\u25be"): number(total) for name, total in
                 zip(first[::len(page.heads())], first[1::len(page.heads())])}
        self.assertGreater(len(shown), 1)
        self.assertEqual(shown, {name: rounded(totals[name]) for name in shown})
        page.fill("#panel input", "families:burn")
        names = [row[0].lstrip("\u25b8\u25be") for row in page.rows()]
        self.assertTrue(any("families:burn" in name for name in names), names)
        self.assertTrue(all(row[0].startswith("\u25be") or "families:burn" in row[0]
                            for row in page.rows()), names)
        self.assertEqual(page.step("complaints"), [])

    def test_the_order_of_time_is_that_of_a_process(self):
        """In order of time the graph has all samples of a process, and its own axis. A click selects
        the time of a frame."""
        page = self.show("panel=processes")
        pid = re.search(r"<[\d.]+>", page.rows()[0][0])[0]
        page.click("#panel [data-index='0']")
        page.press("w")
        expected = total_of(beamflame.folded(self.recording, "--event", "cpu", "--weight", "samples",
                                             "--process", pid))
        self.assertIn(f"{pid} in order of time: ", page.status)
        self.assertRegex(page.status, rf"s of [\d.]+ s seen in {expected:,} samples$")
        page.step("focus", "#flamegraph canvas")
        page.press("ArrowUp", "Enter")
        start, end = (int(ms) for ms in re.search(r"range=(\d+)-(\d+)", page.fragment).groups())
        self.assertLess(end - start, 8000)
        inside = total_of(beamflame.folded(
            self.recording, "--event", "cpu", "--weight", "samples", "--process", pid,
            "--from", start / 1000, "--to", end / 1000))
        self.assertEqual(number(page.status.split("seen in ")[1]), inside)
        self.assertEqual(page.step("complaints"), [])

    def test_the_order_of_time_compares_two_times(self):
        """In order of time A is above B, both of the same process. A click on a frame of A selects its
        time as A, and B stays."""
        page = self.show("panel=processes&form=time&range=4000-7000&against=1000-3000")
        pid = re.search(r"<[\d.]+>", page.rows()[0][0])[0]
        page.click("#panel [data-index='0']")
        for side, start, end in zip(page.status.split("; "), (1, 4), (3, 7)):
            expected = total_of(beamflame.folded(
                self.recording, "--event", "cpu", "--weight", "samples", "--process", pid,
                "--from", start, "--to", end))
            self.assertRegex(side, rf"^[AB]: .*{pid} in order of time from {start}\.00 s to {end}"
                                   rf"\.00 s .* seen in {expected:,} samples$")
        page.step("focus", "#flamegraph canvas")
        self.assertRegex(page.said, rf"^B .*{pid}: ")
        page.press("ArrowUp")
        self.assertRegex(page.said, rf"^A .*{pid}: ")
        page.press("ArrowUp", "Enter")
        start, end = (int(ms) for ms in re.search(r"against=(\d+)-(\d+)", page.fragment).groups())
        self.assertTrue(1000 <= start < end <= 3000 and end - start < 2000, page.fragment)
        self.assertIn("range=4000-7000", page.fragment)
        self.assertEqual(page.step("complaints"), [])

    def test_keyboard_alone_selects_and_searches(self):
        """The keyboard alone selects a range, a frame and a zoom, and searches."""
        page = self.show()
        for _ in range(40):
            if page.texts(f"{HEATMAP}:focus"):
                break
            page.press("Tab")
        page.press("ArrowRight", "ArrowRight", "Enter", "ArrowRight", "ArrowRight", "Enter")
        self.assert_selected(total_of(self.folded(*seconds(page.status))))
        for _ in range(40):
            if page.texts("#flamegraph canvas:focus"):
                break
            page.press("Tab")
        self.assertTrue(page.said.startswith("all: "), page.said)
        page.press("ArrowUp", "ArrowUp", "Enter")
        self.assertIn("zoom=", page.fragment)
        page.press("Backspace")
        self.assertNotIn("zoom=", page.fragment)
        page.press("f")
        self.assertRegex(page.text("#matched"), r"matched \d")

    def test_page_of_a_cut_recording_has_a_warning(self):
        """The page of a cut recording says that its end is missing."""
        cut = self.recording.with_name("cut.bfr")
        data = self.recording.read_bytes()
        cut.write_bytes(data[:len(data) * 2 // 3])
        beamflame.record("report", cut, "-o", cut.with_suffix(".html"))
        self.viewer.open(cut.with_suffix(".html"))
        self.assertIn("cut off", self.viewer.text("#warnings"))

    def test_planted_code_does_nothing(self):
        """The page runs and loads nothing but its own code, whatever gets into it."""
        planted = self.recording.with_name("planted.html")
        run = "document.body.dataset.planted = 1"
        planted.write_text(self.page.read_text("utf-8").replace("</body>", f"""
            <script>{run}</script>
            <script type="module" src="data:text/javascript,{run}"></script>
            <script src="data:text/javascript,{run}"></script>
            <img src="http://127.0.0.1:1/" onerror="{run}">
            <iframe src="data:text/html,<p>"></iframe>
            <style>#status {{ display: none }}</style></body>"""), "utf-8")
        browser = viewer.Viewer()
        self.addCleanup(browser.close)
        browser.open(planted)
        self.assertRegex(browser.status, r"\d")
        self.assertTrue(browser.step("visible", "#status"))
        self.assertEqual(browser.texts("body[data-planted]"), [])
        refused = [text for text in browser.step("complaints") if "Content Security" in text]
        self.assertGreaterEqual(len(refused), 6, refused)


class Hits(unittest.TestCase):
    """Hits of event sched, which have a sample for each part of their time."""

    def test_hits_count_once_in_page_picture_and_summary(self):
        viewer.require()
        beamflame.require()
        folder = beamflame.folder(self.addCleanup)
        recording, page, picture = (folder / f"x.{suffix}" for suffix in ("bfr", "html", "svg"))
        with nodes.Node(RELEASE, "request") as node:
            beamflame.record("-p", node.pid, "-d", 2, "-e", "sched", "-o", recording)
        summary = beamflame.record("report", recording, "-o", page, "-o", picture).stdout
        lines = beamflame.record("report", "-q", recording, "--format", "json", "-o", "-").stdout
        hits = number(re.search("event sched: ([0-9,]+) samples", summary)[1])
        self.assertGreater(hits, 20)
        self.assertGreater(lines.count('"type": "sample"'), 1.2 * hits)
        browser = viewer.Viewer()
        self.addCleanup(browser.close)
        browser.open(page)
        self.assertIn(f" in {hits:,} samples", browser.status)
        self.assertIn(f"{hits:,} samples", browser.text("#about"))
        self.assertIn(f" in {hits:,} samples", picture.read_text("utf-8"))


class Waiting(unittest.TestCase):
    """Processes of event wall that wait, in loops of their own."""

    def test_waiting_processes_are_one_frame_until_opened(self):
        """They are one row, with their time. A click on the row of either table, a key and the button
        show their functions; a link keeps that."""
        viewer.require()
        beamflame.require()
        folder = beamflame.folder(self.addCleanup)
        recording, path = folder / "x.bfr", folder / "x.html"
        with nodes.Node(RELEASE, "alarms") as node:
            node.tell("tick")
            beamflame.record("-p", node.pid, "-d", 3, "-e", "wall", "-o", recording, "-o", path)
        stacks = beamflame.folded(recording, "--weight", "samples", "--group-by", "status")
        waiting = beamflame.weight_where(stacks, lambda stack: stack[0] == "[waiting]")
        page = viewer.Viewer()
        self.addCleanup(page.close)
        page.open(path, "weight=samples&panel=functions&lanes=none")
        selected = page.status

        def names():
            return {row[0] for row in page.rows()}

        self.assertEqual([number(row[1]) for row in page.rows() if row[0] == "[waiting]"],
                         [rounded(waiting)])
        self.assertNotIn("alarms:patient/0", names())
        page.click("#panel [role=row]:has-text('[waiting]')")
        self.assertIn("alarms:patient/0", names())
        self.assertNotIn("[waiting]", names())
        self.assertEqual(page.status, selected)
        self.assertIn("foldwaiting=0", page.fragment)
        page.press("g")
        self.assertNotIn("alarms:patient/0", names())
        self.assertNotIn("foldwaiting", page.fragment)
        page.click("button:text-is('Fold waiting')")
        self.assertIn("alarms:patient/0", names())
        page.press("u")
        page.click("#panel button:text-is('Tree')")
        page.click("#panel [role=row]:has-text('[waiting]')")
        self.assertIn("foldwaiting=0", page.fragment)
        self.assertIn("patient", "".join(page.texts(
            "#panel [aria-level='2'][aria-expanded=true]:has-text('[waiting]') ~ [aria-level='3']")))
        self.assertEqual(page.step("complaints"), [])


class ForeignNames(unittest.TestCase):
    """A page whose names contain elements, scripts and what ends a script."""

    def test_names_are_only_text(self):
        viewer.require()
        folder = beamflame.folder(self.addCleanup)
        subprocess.run([nodes.BUILD / "tests" / "seeds", folder], check=True)
        page = viewer.Viewer()
        self.addCleanup(page.close)
        scripts = []
        for name in ("00", "18"):  # with plain and with foreign names
            beamflame.record("report", folder / "files" / f"{name}.bfr", "-o", folder / f"{name}.html")
            for panel in ("functions", "processes"):
                page.open(folder / f"{name}.html", f"panel={panel}")
                self.assertGreater(len(page.rows()), 1)
                self.assertEqual(page.texts("img"), [])
                scripts.append(len(page.texts("script")))
        self.assertEqual(len(set(scripts)), 1, scripts)
        self.assertIn("<img src=x onerror=foreign()>", page.text("#panel"))
        self.assertEqual(page.step("complaints"), [])


if __name__ == "__main__":
    unittest.main()
