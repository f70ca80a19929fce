# SPDX-License-Identifier: Apache-2.0
"""The page has exactly the values of the recording."""
import json
import re
import shutil
import subprocess
import unittest
from html.parser import HTMLParser

import beamflame
import nodes

NEEDS = "own nodes"
SUMS = nodes.ROOT / "tests" / "web" / "sums.js"
STACKS = nodes.ROOT / "tests" / "web" / "stacks.js"
FUNCTIONS = nodes.ROOT / "tests" / "web" / "functions.js"
METRICS = ("reductions", "msgq", "mbuf", "heap", "stack", "young", "old", "bin_vheap", "minor_gcs",
           "memory", "binaries", "bin_old_vheap")
# Choices in a page, and the options that make the same choices.
CHOICES = [
    *(({"event": event, "groupBy": keys}, ["-e", event, "--group-by", ",".join(keys)])
      for event in ("cpu", "wall", "gc")
      for keys in (["name"], ["none"], ["pid"], ["status", "scheduler"], ["node", "label"],
                   ["initial_call", "application"], ["ancestors", "name"], ["memory", "msgq"])),
    *(({"event": event, "weight": weight}, ["-e", event, "--weight", weight])
      for event, weight in (("cpu", "samples"), ("cpu", "cpu"), ("cpu", "reductions"),
                            ("wall", "wall"), ("wall", "memory"), ("wall", "msgq"),
                            ("gc", "reclaimed"), ("gc", "count"), ("gc", "heap"))),
    *(({"event": event, "weight": weight, "change": True, "groupBy": keys},
       ["-e", event, "--weight", weight, "--delta", "--group-by", ",".join(keys)])
      for event, weight in (("cpu", "reductions"), ("wall", "heap"), ("wall", "msgq"),
                            ("gc", "minor_gcs"))
      for keys in (["name"], ["status", "pid"], ["msgq", "memory"])),
    *(({"event": "cpu", **choice}, ["-e", "cpu", *options])
      for choice, options in (
          ({"foldRecursion": True}, ["--fold-recursion"]),
          ({"include": "^lists:"}, ["-I", "^lists:"]),
          ({"exclude": "(gc|beam)[[:alpha:]_.]+"}, ["-X", "(gc|beam)[[:alpha:]_.]+"]),
          ({"include": "/[12]$", "exclude": "^proc_lib"}, ["-I", "/[12]$", "-X", "^proc_lib"]),
          ({"range": {"from": 500, "to": 1540}}, ["--from", "0.5", "--to", "1.54"]))),
    ({"event": "wall", "statuses": [1, 3]}, ["-e", "wall", "--status", "running,waiting"]),
    ({"event": "wall", "statuses": [8]}, ["-e", "wall", "--status", "idle"]),
    ({"event": "wall", "idle": True}, ["-e", "wall", "--idle"]),
]
# A row of the table of functions of a text report: "  1.31 s +- 0.12 s  99.8 % ... 11 name".
FUNCTION = re.compile(r"^ +[\d.,]+(?: (?P<unit>\w+))?(?: \+- (?P<half>[\d.,]+|\?)(?: \w+)?)? +[\d.]+ % .* % +"
                      r"(?P<samples>[\d,]+)  (?P<name>\S.*)$", re.M)
UNITS = {"times": 1, "words": 1, "B": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
VALUES = {"cpu": ("cpu",), "wall": ("time", "count"),
          "gc": ("time", "count", "reclaimed", "binaries", "heap-before", "heap-after")}


@nodes.each_release
class Page:
    release = None

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        if not shutil.which("node"):
            raise unittest.SkipTest("there is no Node.js here")
        folder = beamflame.folder(cls.addClassCleanup)
        cls.recording = folder / "x.bfr"
        with nodes.Node(cls.release, "request") as node:
            beamflame.record("-q", "-p", node.pid, "-d", 3, "-e", "cpu,wall,gc", "--budget", 5,
                             "-o", cls.recording)
        cls.folder = folder
        beamflame.record("report", "-q", cls.recording, "-o", folder / "x.html")
        cls.sums = json.loads(subprocess.run(["node", SUMS, folder / "x.html"], check=True,
                                             capture_output=True, text=True).stdout)

    def reported(self, event, weight):
        try:
            return sum(beamflame.folded(self.recording, "--event", event, "--weight", weight,
                                        "--idle").values())
        except AssertionError as error:
            self.assertIn("no sample counts", str(error))
            return 0

    def test_sums_of_the_page_are_exact(self):
        """The sums of each event are exact, for all values and metrics."""
        for event, values in VALUES.items():
            for weight in {*values, *METRICS}:
                with self.subTest(event=event, weight=weight):
                    of = self.sums[event]["time" if weight == "cpu" else weight]
                    self.assertEqual(of, self.reported(event, weight))
        self.assertGreater(self.sums["cpu"]["reductions"], 0)
        self.assertGreater(self.sums["gc"]["reclaimed"], 0)

    def report(self, options):
        """Return folded stacks, or an empty string if no sample counts."""
        path = self.folder / "y.folded"
        done = beamflame.run("report", "-q", self.recording, *options, "-o", path)
        if done.returncode == beamflame.NO_SAMPLES:
            return ""
        self.assertEqual(done.returncode, beamflame.DONE, done.stderr)
        return path.read_text(encoding="utf-8")

    def test_stacks_of_the_page_are_those_of_report(self):
        """For each choice, the page has the stacks and sums of report."""
        choices = json.dumps([choice for choice, _ in CHOICES])
        pages = json.loads(subprocess.run(["node", STACKS, self.folder / "x.html"], check=True,
                                          capture_output=True, text=True, input=choices).stdout)
        self.assertEqual(len(pages), len(CHOICES))
        for shown, (choice, options) in zip(pages, CHOICES):
            with self.subTest(json.dumps(choice)):
                self.assertEqual(shown, self.report(options))
        self.assertGreater(sum(1 for shown in pages if shown.count("\n") > 5), 20)

    def test_intervals_of_the_page_are_those_of_report(self):
        """Totals of functions have the same interval and number of samples as in the text report,
        which rounds both up to two digits of the interval."""
        choices = [({"event": "gc"}, ["-e", "gc"]), ({"event": "wall"}, ["-e", "wall"]),
                   ({"event": "gc", "weight": "count"}, ["-e", "gc", "--weight", "count"]),
                   ({"event": "gc", "range": {"from": 500, "to": 2500}},
                    ["-e", "gc", "--from", "0.5", "--to", "2.5"]),
                   ({"event": "wall", "include": "serve"}, ["-e", "wall", "-I", "serve"])]
        pages = json.loads(subprocess.run(
            ["node", FUNCTIONS, self.folder / "x.html"], check=True, capture_output=True, text=True,
            input=json.dumps([choice for choice, _ in choices])).stdout)
        known = 0
        for shown, (_, options) in zip(pages, choices):
            with self.subTest(options=options):
                known += self.check_intervals(shown, options)
        self.assertGreater(known, 10)

    def check_intervals(self, shown, options):
        """Return the number of known intervals. `shown` is a list of [name, total, half, samples],
        half None where it is unknown."""
        text = beamflame.record("report", "-q", self.recording, *options, "--group-by", "none",
                                "--format", "text", "-o", "-").stdout
        rows = {name: rest for name, *rest in shown}
        found = 0
        for row in FUNCTION.finditer(text.partition("\nfunctions of ")[2]):
            total, half, samples, _ = rows[row["name"]]
            said = row["half"] and (float(row["half"].replace(",", "")) if row["half"] != "?" else None)
            unit = UNITS[row["unit"] or "times"]
            self.assertEqual(int(row["samples"].replace(",", "")), samples, row["name"])
            if said is None or half is None or half == 0:
                self.assertEqual(said, None if half is None or half == 0 else half, row["name"])
            else:
                self.assertTrue(0.999 * half <= said * unit <= 1.11 * half + unit, (row[0], half))
                found += 1
        return found

    def test_stacks_of_other_formats_keep_their_root_frames(self):
        """A profile from another format has its root frames in its stacks. A sample of perf-script
        has a whole weight of at least 1, so its sums are others."""
        def stacks(text):
            return {line.rpartition(" ")[0] for line in text.splitlines()}

        for suffix in (".perf", ".folded"):
            made, page = self.folder / f"z{suffix}", self.folder / f"z{suffix}.html"
            beamflame.record("report", "-q", self.recording, "-e", "cpu", "-o", made)
            beamflame.record("report", "-q", made, "-o", page)
            shown = subprocess.run(["node", STACKS, page], check=True, capture_output=True,
                                   text=True, input="[{}]").stdout
            with self.subTest(suffix):
                if suffix == ".folded":
                    self.assertEqual(json.loads(shown)[0], self.report(["-e", "cpu"]))
                else:
                    self.assertEqual(stacks(json.loads(shown)[0]),
                                     stacks(self.report(["-e", "cpu", "--weight", "samples"])))


class Elements(HTMLParser):
    """The elements of a page, in their order: (name, attributes)."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


class Policy(unittest.TestCase):
    """The content security policy of a page."""

    DATA = ("application/json", "application/octet-stream")  # scripts that are not run

    def page(self, name):
        """Return the elements of a new page, whose frames are code."""
        folder = beamflame.folder(self.addCleanup)
        stacks, page = folder / "x.folded", folder / name
        stacks.write_text("</script><script>foreign()</script>;<img src=x onerror=foreign()> 3\n")
        beamflame.record("report", "-q", stacks, "-o", page)
        return Elements(page.read_text("utf-8")).found

    def policy(self, elements):
        """Return the number of the only policy among the elements, and its directives."""
        (at, text), = ((number, given["content"]) for number, (name, given) in enumerate(elements)
                       if name == "meta"
                       and given.get("http-equiv", "").lower() == "content-security-policy")
        return at, dict(directive.split(" ", 1) for directive in text.split("; "))

    def test_policy_permits_the_code_of_the_page_alone(self):
        """Nothing is loaded, and a script or a style is run only with the page's nonce of 128 bits,
        which those of beamflame have. The policy stands before all of them, and no element has
        code in an attribute, which it would forbid."""
        elements = self.page("x.html")
        at, policy = self.policy(elements)
        source = policy["script-src"]
        self.assertRegex(source, r"^'nonce-[0-9a-f]{32}'$")
        self.assertEqual(policy, {"default-src": "'none'", "script-src": source, "style-src": source,
                                  "base-uri": "'none'", "form-action": "'none'"})
        code = [(number, given) for number, (name, given) in enumerate(elements)
                if name in ("script", "style") and given.get("type") not in self.DATA]
        self.assertEqual(len(code), 3)  # the style, the modules, and what starts them
        for number, given in code:
            self.assertGreater(number, at)
            self.assertEqual(f"'nonce-{given['nonce']}'", source)
        self.assertEqual({name for name, given in elements for attribute in given
                          if attribute.startswith("on") or attribute == "style"}, set())

    def test_each_page_has_its_own_nonce(self):
        """Who knows a page can't write code that another page would run."""
        sources = {self.policy(self.page(f"{name}.html"))[1]["script-src"] for name in "ab"}
        self.assertEqual(len(sources), 2)


if __name__ == "__main__":
    unittest.main()
