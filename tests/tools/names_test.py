# SPDX-License-Identifier: Apache-2.0
"""Names with controls, and with what formats are made of, change no output but its names: each output
has the parts that it has with plain names, and no character that changes a terminal."""
import ast
import json
import re
import shutil
import subprocess
import unittest
from html.parser import HTMLParser
from xml.etree import ElementTree

from seeds import BINARY, ROOT, SeedCase

PLAIN, FOREIGN = "00.bfr", "18.bfr"  # the same, with FULL_FOREIGN_TEXTS of tests/fuzz/full_profile.h
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
                    "\ufdd0-\ufdef\ufffe\uffff]")
EVENTS = ("cpu", "wall", "gc", "alloc", "msg", "sched", "bif:erlang:md5/1")
GROUPS = ("none", "name,pid,status,scheduler", "label,initial_call", "application,ancestors", "node")
# Readers of perf-script text take what is between the last " (" and ")", and no space, as the file.
FRAME = r"\t *[0-9a-f]+ [^(;\t]*[^(;\t ] \([^\s();]+\)"
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
RECORDING = re.compile('<script type="application/octet-stream" id="recording">[^<]*')  # of a page
SCHEMA = "opentelemetry/proto/profiles/v1development/profiles.proto"
MESSAGE = "opentelemetry.proto.profiles.v1development.ProfilesData"
VOID = ("meta", "link", "input", "br")


def kinds(text, patterns):
    """Return the kind of each line: the name of the pattern that the whole line matches."""
    found = []
    for line in text.split("\n"):
        kind = next((name for name, pattern in patterns.items() if re.fullmatch(pattern, line)), None)
        if kind is None:
            raise AssertionError(f"a line of no kind: {line!r}")
        found.append(kind)
    return found


def folded(text):
    """The number of frames of each stack, and its weight."""
    lines = text.splitlines()
    if not all(re.fullmatch(r"\S.* \d+", line) for line in lines):
        raise AssertionError("a line that is no stack")
    return sorted((line.count(";"), line.rpartition(" ")[2]) for line in lines)


def perf(text):
    return kinds(text, {
        "comment": r"#.*", "empty": "", "frame": FRAME,
        "sample": r"[a-zA-Z][^\s;()]+ \d+/\d+ \[\d{3}\] \d+\.\d{6}: +\d+ \S+:"})


def flame_prof(text):
    return kinds(text, {
        "comment": r"#.*", "empty": "", "frame": FRAME,
        "sample": r"(?:[a-z_ ]+)\t[^\t]+ \[\d{3}\] \d+\.\d{6}: \S+:(\tmetric_\w+: \d+, -?\d+)*"})


def callgrind(text):
    """A name that begins with "(2)" would be the second of a table of names."""
    name = r"(?!\(\d+\))\S.*"
    return kinds(text, {
        "empty": "", "comment": "#.*", "head": r"(?:version|creator|cmd|positions|event|events): .*",
        "summary": r"(?:summary|totals): \d+", "calls": r"calls=\d+ 0", "cost": r"\d+ \d+",
        **{key: f"{key}={name}" for key in ("ob", "fl", "fi", "fn", "cob", "cfl", "cfn")}})


def fprof(text):
    """Each line of a term has a name and its numbers, or what begins or ends a list of these."""
    quoted, number = r"'(?:[^'\\]|\\.)*'", r"\d+(?:\.\d+)?"
    atom = rf"(?:{quoted}|[a-z][\w@]*)"
    name = rf"(?:\{{{atom},{atom},\d+\}}|[a-z_]+|\"(?:[^\"\\]|\\.)*\")"
    return kinds(text, {
        "comment": r"%.*", "empty": "", "options": r"(?:\{  analysis_options,| \[\{callers.*|  \{\w+, \w+\}.*)",
        "start": rf" \{{ (?:spawned_by|initial_calls), \[?{name}\]?\}}(?:,|\]\.)",
        "none": r" \[\]\}\.",
        "cost": rf"(?:\{{\[\{{| \[\{{|\[\{{ |  \{{| \{{ ){name}, +\d+, (?:undefined|{number}), {number}"
                r"(?:\},|\}\],|\}\]\}\.|\}\]\.)(?: +%+)?"})


def without_strings(text):
    return STRING.sub('""', text)


def svg(text):
    return [(element.tag, sorted(element.attrib)) for element in ElementTree.fromstring(text).iter()]


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.header = [], [], ""
        self.feed(text)
        self.close()
        assert not self.open, self.open
        self.header = json.loads(self.header)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, [key for key, _ in attributes]))
        if tag not in VOID:
            self.open.append((tag, dict(attributes).get("id")))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop()[0] == tag, tag

    def handle_data(self, data):
        if self.open and self.open[-1] == ("script", "header"):
            self.header += data


def html(text):
    """Without the numbers of the recording, which names change by how they are packed."""
    page = Page(text)
    page.header["counts"]["strings"] = page.header["columns"] = None
    return page.tags, shape(page.header)


def shape(value):
    """A JSON value without its texts."""
    if isinstance(value, dict):  # names of events are keys, too
        return [(key if key.isidentifier() else "", shape(part)) for key, part in value.items()]
    if isinstance(value, list):
        return [shape(part) for part in value]
    return "" if isinstance(value, str) else value


def document(text):
    return shape(json.loads(text))


def lines_of_json(text):
    return [document(line) for line in text.splitlines()]


def lines(text):
    return text.count("\n")


def fields(data):
    """Return the fields of a message of Protocol Buffers: (number, value)."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                return value
    while at < len(data):
        key = varint()
        value = varint()
        if key & 7 == 2:
            at, value = at + value, data[at:at + value]
        else:
            assert key & 7 == 0, key
        yield key >> 3, value


def pprof(data):
    """The numbers of fields, and of different texts."""
    found = list(fields(data))
    texts = [value.decode("utf-8") for number, value in found if number == 6]
    assert len(texts) == len(set(texts)) and not any(map(UNSAFE.search, texts))
    return [number for number, _ in found if number != 6]


def otlp(data):
    if not shutil.which("protoc"):
        raise unittest.SkipTest("protoc is not installed (tools/install-deps test)")
    done = subprocess.run(["protoc", f"-I{ROOT / 'proto'}", f"--decode={MESSAGE}", SCHEMA],
                          input=data, capture_output=True, check=True)
    lines = done.stdout.decode().splitlines()
    texts = [ast.literal_eval("b" + line.split(": ", 1)[1]).decode("utf-8")
             for line in lines if "string_table:" in line]
    assert len(texts) == len(set(texts)) > 10 and not any(map(UNSAFE.search, texts))
    return [line.split()[0] for line in lines if "string_table:" not in line]


TEXTS = {"folded": folded, "perf": perf, "flame_prof": flame_prof, "callgrind": callgrind,
         "fprof": fprof,
         "svg": svg, "html": html, "speedscope": document, "json": lines_of_json, "text": lines}
BYTES = {"pprof": pprof, "otlp": otlp}


class Names(SeedCase):
    maxDiff = 2000

    def run_on(self, command, name, *arguments):
        files = [self.folder / "files" / name] * (2 if command == "diff" else 1)
        done = subprocess.run([BINARY, command, *files, *map(str, arguments)], capture_output=True,
                              check=True, timeout=20)
        self.safe(done.stderr.decode("utf-8"))
        return done.stdout

    def safe(self, text):
        found = UNSAFE.search(text)
        self.assertIsNone(found, found and text[max(0, found.start() - 100):found.end() + 20])

    def parts(self, read, written):
        if read in BYTES.values():
            return read(written)
        text = written.decode("utf-8")
        self.safe(RECORDING.sub("", text))
        return read(text)

    def compare(self, command, read, *arguments):
        """Compare the parts of what is printed with plain and with foreign names."""
        plain, foreign = (self.parts(read, self.run_on(command, name, *arguments))
                          for name in (PLAIN, FOREIGN))
        self.assertTrue(plain)
        self.assertEqual(plain, foreign)

    def formats(self, command, formats, *arguments):
        """Compare the parts of files in these formats, which one run writes."""
        for name in (PLAIN, FOREIGN):
            self.run_on(command, name, "-q", *arguments, *(
                part for form in formats
                for part in ("--format", form, "-o", self.folder / f"{name}.{form}")))
        for form, read in formats.items():
            with self.subTest(form, command=command, arguments=arguments):
                plain, foreign = (self.parts(read, (self.folder / f"{name}.{form}").read_bytes())
                                  for name in (PLAIN, FOREIGN))
                self.assertTrue(plain)
                self.assertEqual(plain, foreign)

    def test_each_event_has_its_parts(self):
        for event in EVENTS:
            self.formats("report", {**TEXTS, **BYTES}, "--event", event)

    def test_each_group_has_its_parts(self):
        for group in GROUPS:
            self.formats("report", {**TEXTS, **BYTES}, "--event", "cpu", "--group-by", group)

    def test_graphs_of_peers_have_their_parts(self):
        for event in ("msg", "sched"):
            self.formats("report", {"dot": without_strings}, "--event", event)

    def test_summary_and_statistics_have_their_parts(self):
        self.compare("report", lines)
        self.compare("report", document, "-q", "--stats", "/dev/stdout")

    def test_comparison_has_its_parts(self):
        self.formats("diff", {name: TEXTS[name] for name in ("text", "html")}, "-e", "cpu")
        done = self.run_on("diff", FOREIGN, "-q", "-e", "cpu", "--format", "folded", "-o", "-")
        for line in done.decode("utf-8").splitlines():
            self.assertRegex(line, r"^\S.* \d+ \d+$")

    def test_text_is_read_again(self):
        """What is written as text has the same stacks when it is read."""
        for name in ("perf", "folded"):
            written = self.folder / f"again.{name}"
            written.write_bytes(self.run_on("report", FOREIGN, "-q", "-e", "cpu", "--format", name,
                                            "-o", "-"))
            again = subprocess.run([BINARY, "report", "-q", written, "--format", name, "-o", "-"],
                                   capture_output=True, check=True, timeout=20).stdout
            samples = [[re.sub(r"perf-\d+\.map", "", line)  # of the thread's process, if known
                        for line in data.decode("utf-8").splitlines() if line[:1] != "#"]
                       for data in (written.read_bytes(), again)]
            self.assertGreater(len(samples[0]), 3)
            self.assertEqual(*samples)


if __name__ == "__main__":
    unittest.main()
