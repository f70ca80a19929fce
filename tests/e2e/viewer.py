# SPDX-License-Identifier: Apache-2.0
"""The viewer in Chromium, driven as a user would."""
import base64
import json
import math
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import nodes

DRIVER = nodes.ROOT / "tests" / "web" / "page.js"


def require():
    for program in ("node", "chromium"):
        if not shutil.which(program):
            raise unittest.SkipTest(f"{program} is not installed (tools/install-deps test)")
    if not (DRIVER.parent / "node_modules" / "playwright-core").exists():
        raise unittest.SkipTest("playwright-core is not installed (tools/install-deps test)")


class Viewer:
    """A browser with a page. Each step waits until the page has settled."""

    def __init__(self):
        self.process = subprocess.Popen(["node", DRIVER], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.path = None

    def close(self):
        self.process.communicate(timeout=60)

    def step(self, name, argument=None):
        self.process.stdin.write(json.dumps({name: argument}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise AssertionError(f"{name} {argument}: {answer['error']}")
        return answer["value"]

    def open(self, path, fragment=""):
        self.path = path
        self.step("open", f"file://{path}" + (f"#{fragment}" if fragment else ""))

    def press(self, *keys):
        for key in keys:
            self.step("press", key)

    def click(self, selector, *modifiers):
        self.step("click", {"on": selector, "modifiers": modifiers})

    def fill(self, selector, text):
        self.step("fill", {"on": selector, "text": text})

    def choose(self, selector, value):
        self.step("choose", {"on": selector, "value": value})

    def choose_event(self, name):
        self.click(f"#events [role=tab]:has(b:text-is('{name}'))")

    @property
    def event(self):
        """Return the name of the chosen event."""
        return self.text("#events [aria-selected=true] b")

    def drag_heatmap(self, start, end, shift=False):
        """Drag from `start` to `end`, given as fractions of its width and height."""
        self.step("drag", {"on": "#heatmap .spacer", "from": start, "to": end, "shift": shift})

    def save(self, *keys):
        """Press keys that save a file; return its name and bytes."""
        name, data = self.step("save", keys)
        return name, base64.b64decode(data)

    def text(self, selector):
        return self.step("text", selector)

    def texts(self, selector):
        return self.step("texts", selector)

    @property
    def status(self):
        return self.text("#status")

    @property
    def said(self):
        """Return the text of the live region about the focused frame or cell."""
        return self.step("texts", "#said")[0]

    @property
    def fragment(self):
        return self.step("url").partition("#")[2]

    @property
    def columns(self):
        """Return how many seconds the heatmap has: each is a column."""
        page = Path(self.path).read_text("utf-8")
        header = json.loads(re.search(r'id="header">([^<]*)<', page)[1])
        return math.ceil(header["parts"][-1]["to"] / 1000)

    def heads(self):
        """Return the heads of the columns of the table that is shown."""
        return self.texts("#panel [role=columnheader]")

    def rows(self):
        """Return the cells of the visible rows of the table that is shown."""
        cells = self.texts("#panel [role=gridcell]")
        width = len(self.heads())
        return [cells[i:i + width] for i in range(0, len(cells), width)]


def number(text):
    """Return the first number in a text, with its sign: "+1,234 samples" is 1234. What is less than
    1 sample is shown so, and rounds to 0."""
    if text.startswith("< 1") or "less than 1 sample" in text:
        return 0
    found = re.search(r"([-+\u2212]?)(\d[\d,]*)", text)
    value = int(found[2].replace(",", ""))
    return value if found[1] in ("", "+") else -value


def seconds(text):
    """Return the range in a text as options of report: "from 3.20 s to 5.00 s" is ["--from",
    "3.20", ...]."""
    found = re.search(r"(\d[\d.]*) s to (\d[\d.]*) s", text)
    return ["--from", found[1], "--to", found[2]]
