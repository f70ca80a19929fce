# SPDX-License-Identifier: Apache-2.0
"""Debug files that servers of debuginfod send while a recording runs: `--symbols URL`."""
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

import beamflame
import nodes
from applications import free_port

NEEDS = "own nodes"
SPIN = "F = fun L() -> spin_nif:spin(20000), L() end, F()."
NIF = "spin_nif.so"
UNNAMED = re.compile(r"^spin_nif\.so\+0x[0-9a-f]+$")
DELAY = 4  # seconds
LARGEST = 256 << 20  # bytes of a debug file that is fetched


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True,
                           check=True).stdout
    return notes.partition("Build ID: ")[2].split()[0]


def environment(cache, **variables):
    """Return the environment of a recording whose debug files stay in the folder `cache`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DEBUGINFOD")}
    return {**kept, "DEBUGINFOD_CACHE_PATH": str(cache), **variables}


class Debuginfod:
    """A real server of debuginfod, which serves the files of a folder. It runs when it has the
    debug file with this build id."""

    def __init__(self, folder, served):
        if not shutil.which("debuginfod"):
            raise unittest.SkipTest("debuginfod is not installed")
        port = free_port()
        self.process = subprocess.Popen(
            ["debuginfod", "-d", ":memory:", "-p", str(port), "-F", folder],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(folder))
        self.url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 60
        while not self.serves(served):
            if time.monotonic() > deadline:
                self.end()
                raise AssertionError("debuginfod does not have the debug file")
            time.sleep(0.1)

    def serves(self, served):
        try:
            with urllib.request.urlopen(f"{self.url}/buildid/{served}/debuginfo"):
                return True
        except OSError:
            return False

    def end(self):
        self.process.terminate()
        self.process.wait()


class Nif:
    """Mixin for unittest.TestCase: a node of OTP 25 that runs a stripped NIF, whose debug file is
    `debug_file`. Each test has a folder `out` and its own cache of debug files."""

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        nodes.require(25)
        cls.built = beamflame.folder(cls.addClassCleanup)
        library = cls.built / NIF
        cls.debug_file = cls.built / "debug" / "spin_nif.debug"
        cls.debug_file.parent.mkdir()
        for command in (
                ["erlc", "-o", cls.built, nodes.LOADS / "spin_nif.erl"],
                ["gcc", "-g", "-std=c11", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC",
                 "-Wl,--build-id", "-I/usr/lib/erlang/usr/include", "-o", library,
                 nodes.LOADS / "spin_nif.c"],
                ["objcopy", "--only-keep-debug", library, cls.debug_file],
                ["strip", "--strip-all", library]):
            subprocess.run(command, check=True)
        cls.build_id = build_id(library)
        cls.node = subprocess.Popen(["erl", "-noshell", "-pa", cls.built, "-eval", SPIN],
                                    stdin=subprocess.DEVNULL)
        cls.addClassCleanup(cls.node.wait)
        cls.addClassCleanup(cls.node.kill)
        deadline = time.monotonic() + 30
        while NIF not in Path(f"/proc/{cls.node.pid}/maps").read_text("utf-8"):
            if time.monotonic() > deadline:
                raise AssertionError("the node has not loaded the NIF")
            time.sleep(0.1)

    def setUp(self):
        self.out = beamflame.folder(self.addCleanup)
        self.cache = self.out / "cache"

    def new_cache(self):
        """Libdebuginfod keeps empty files there for what servers do not have."""
        shutil.rmtree(self.cache, ignore_errors=True)

    def cached(self):
        """Return the debug files in the cache."""
        return [path for path in self.cache.glob("*/debuginfo") if path.stat().st_size]

    def environment(self, **variables):
        return environment(self.cache, **variables)

    def record(self, *options, seconds=3, **variables):
        """Record the node. Return the functions of the NIF that ran, with their samples, and what
        the program has written to standard error."""
        path = self.out / "x.folded"
        done = beamflame.run("-p", self.node.pid, "-d", seconds, "-F", 199, "-o", path, *options,
                             env=self.environment(**variables))
        self.assertEqual(done.returncode, 0, done.stderr)
        functions = {}
        for stack, samples in beamflame.read_folded(path).items():
            leaf = stack[stack.index("beam_jit_call_nif") + 1:] if "beam_jit_call_nif" in stack else ()
            if leaf:
                functions[leaf[0]] = functions.get(leaf[0], 0) + samples
        return functions, done.stderr

    def check_unnamed(self, functions):
        self.assertGreater(sum(functions.values()), 10)
        self.assertTrue(all(map(UNNAMED.match, functions)), functions)


class RealServer(Nif, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.server = Debuginfod(self.debug_file.parent, self.build_id)
        self.addCleanup(self.server.end)
        self.url = self.server.url

    def test_functions_have_names_while_recording_and_from_the_cache_later(self):
        """The first recording fetches the debug file. The next one takes it from the cache, without
        a server. Both have the name in all samples."""
        functions, _ = self.record()
        self.check_unnamed(functions)
        functions, said = self.record("--symbols", self.url, seconds=5)
        self.assertEqual(set(functions), {"spin"})
        self.assertNotIn(NIF, said)
        self.server.end()
        functions, said = self.record("--symbols", "debuginfod", DEBUGINFOD_URLS=self.url)
        self.assertEqual(set(functions), {"spin"})

    def test_inlined_functions_and_lines(self):
        """With --inline, burn() stands above spin(), into which it was inlined, and each line is
        one of its function."""
        source = (nodes.LOADS / "spin_nif.c").read_text("ascii").splitlines()
        call = 1 + next(i for i, line in enumerate(source) if "return burn(env" in line)
        burn = 1 + next(i for i, line in enumerate(source) if "ERL_NIF_TERM burn(" in line)
        self.record("--symbols", self.url)  # now it is in the cache
        path = self.out / "x.json"
        done = beamflame.run("-p", self.node.pid, "-d", 3, "-F", 199, "-o", path, "--symbols",
                             self.url, "--inline", env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        known = {}
        above = 0
        for line in map(json.loads, path.read_text("utf-8").splitlines()):
            known[line["type"], line.get("id")] = line
            if line["type"] == "stack" and line.get("parent"):
                frame, caller = (known["frame", of["frame"]]
                                 for of in (line, known["stack", line["parent"]]))
                if frame["symbol"] == "burn":
                    self.assertEqual((caller["symbol"], caller["line"]), ("spin", call))
                    self.assertTrue(frame["file"].endswith("spin_nif.c"), frame)
                    self.assertIn(frame["line"], range(burn, burn + 14))
                    above += 1
        self.assertGreater(above, 0)


class Server:
    """A server that answers each request for a debug file by `answer(handler)`."""

    def __init__(self, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                try:
                    answer(self)
                except OSError:
                    pass  # the client has ended

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()


def send(content, size=None):
    """Return an answer with this content, and a length that can be a lie."""
    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content) if size is None else size))
        handler.end_headers()
        handler.wfile.write(content)
    return answer


def send_without_end(handler):
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(bytes(1 << 20))


class SlowServer(unittest.TestCase):
    """A stripped VM whose build is in no table."""

    def test_samples_before_the_debug_file_have_names_too(self):
        """The debug file of the VM arrives some seconds after the first samples. In the recording,
        in the output that is made at its end, and in a report, 100 % of the samples that are in
        native code of the VM have a name."""
        beamflame.require()
        out = beamflame.folder(self.addCleanup)
        unstripped = nodes.emulator("27-usdt-dwarf")
        (out / "served").mkdir()
        shutil.copy(unstripped, out / "served" / "beam.smp.debug")
        wanted = build_id(unstripped)
        real = Debuginfod(out / "served", wanted)
        self.addCleanup(real.end)
        sent = []  # when the debug file was sent

        def answer(handler):
            if wanted in handler.path:
                time.sleep(DELAY)
            try:
                with urllib.request.urlopen(real.url + handler.path) as got:
                    send(got.read())(handler)
            except urllib.error.HTTPError as error:
                handler.send_error(error.code)
            if wanted in handler.path:
                sent.append(time.time_ns())

        slow = Server(answer)
        self.addCleanup(slow.end)
        with nodes.Node("27-usdt", "request") as node:
            done = beamflame.run("-p", node.pid, "-d", 3 * DELAY, "-F", 199, "-o", out / "x.bfr",
                                 "-o", out / "x.json", "--symbols", slow.url,
                                 env=environment(out / "cache"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(sent), 1)
        done = beamflame.run("report", out / "x.bfr", "-o", out / "y.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        for made in (out / "x.json", out / "y.json"):
            with self.subTest(made.name):
                self.check(made, sent[0])

    def check(self, path, arrived):
        known = {}
        before, after = set(), set()
        for line in map(json.loads, path.read_text("utf-8").splitlines()):
            known[line["type"], line.get("id")] = line
            if line["type"] != "sample" or "stack" not in line:
                continue
            frame = known["frame", known["stack", line["stack"]]["frame"]]
            module = known.get(("module", frame.get("module")), {"path": ""})
            if frame["kind"] == "native" and module["path"].endswith("/beam.smp"):
                self.assertNotIn("unresolved", frame)
                self.assertNotIn("+0x", frame["symbol"])
                time_ns = known["header", None]["start_realtime_ns"] + line["time_ns"]
                (before if time_ns < arrived else after).add(frame["symbol"])
        self.assertGreater(len(before), 5)
        self.assertGreater(len(before & after), 5)


class BadServers(Nif, unittest.TestCase):
    def served(self, answer, **options):
        """Record with a server. Return what was written to standard error; no function has a
        name."""
        server = Server(answer)
        self.addCleanup(server.end)
        functions, said = self.record("--symbols", server.url, **options)
        self.check_unnamed(functions)
        return said

    def assert_reason(self, said, reason):
        self.assertRegex(said, rf"warning: no debug files of [^:]*{re.escape(NIF)}[^:]*: {reason}")

    def test_server_that_does_not_answer_delays_neither_the_start_nor_the_end(self):
        """The samples of all of the time are there, and the recording ends within its time and the
        second that ending a transfer may take."""
        end = threading.Event()
        self.addCleanup(end.set)
        began = time.monotonic()
        self.record()
        without = time.monotonic() - began
        began = time.monotonic()
        said = self.served(lambda handler: end.wait())
        self.assertLess(time.monotonic() - began, without + 3)
        self.assert_reason(said, "the recording ended before they arrived")

    def test_server_without_the_file(self):
        self.assert_reason(self.served(lambda handler: handler.send_error(404)),
                           "the servers do not have them")

    def test_file_of_another_build_is_not_used_and_leaves_the_cache(self):
        """Its names would be wrong, and debuggers use the same cache."""
        other = self.out / "other.debug"
        subprocess.run(["gcc", "-g", "-shared", "-fPIC", "-Wl,--build-id", "-x", "c", "-o", other,
                        "-"], input=b"int spin(void) { return 1; }", check=True)
        for content in (other.read_bytes(), b"no ELF file"):
            with self.subTest(content[:4]):
                self.new_cache()
                self.assert_reason(self.served(send(content)),
                                   "the servers sent a file of another build")
                self.assertNotIn(self.build_id, [path.parent.name for path in self.cached()])

    def test_file_that_is_too_large_is_not_fetched(self):
        """By its length, or, if the server does not say it, by what has come."""
        for answer in (send(bytes(1 << 20), LARGEST + 1), send_without_end):
            with self.subTest(answer.__name__):
                self.new_cache()
                self.assertRegex(self.served(answer, seconds=8),
                                 "warning: no debug files of .*: they have more than 256 MB")
                self.assertEqual(self.cached(), [])

    def test_server_that_ends_the_transfer_early(self):
        """A part of a file is no file."""
        content = self.debug_file.read_bytes()
        said = self.served(send(content[:len(content) // 2], len(content)))
        self.assert_reason(said, ".+")
        self.assertEqual(self.cached(), [])

    def test_server_that_can_not_be_reached(self):
        functions, said = self.record("--symbols", f"http://127.0.0.1:{free_port()}")
        self.check_unnamed(functions)
        self.assert_reason(said, "Connection refused")


class Fetcher(Nif, beamflame.Profilers, unittest.TestCase):
    """The process that fetches, and what is refused before it starts."""

    def test_process_has_no_rights(self):
        """No capability, and a filter of system calls. It ends with the recorder, also if that is
        killed."""
        end = threading.Event()
        self.addCleanup(end.set)
        server = Server(lambda handler: end.wait())
        self.addCleanup(server.end)
        profiler = self.start("-p", self.node.pid, "-o", self.out / "x.folded", "--symbols",
                              server.url, env=self.environment())
        beamflame.read_until(profiler, "sampling")
        children = Path(f"/proc/{profiler.pid}/task/{profiler.pid}/children").read_text("ascii")
        found = [child for child in children.split()
                 if Path(f"/proc/{child}/comm").read_text("ascii") == "beamflame-fetch\n"]
        self.assertEqual(len(found), 1)
        deadline = time.monotonic() + 10
        while "Seccomp:\t2" not in Path(f"/proc/{found[0]}/status").read_text("ascii"):
            self.assertLess(time.monotonic(), deadline, "the process has not begun to fetch")
            time.sleep(0.1)
        status = Path(f"/proc/{found[0]}/status").read_text("ascii")
        for field in ("CapPrm", "CapEff", "CapBnd"):
            self.assertRegex(status, rf"{field}:\s0+\n")
        profiler.kill()
        profiler.wait()
        deadline = time.monotonic() + 5
        while Path(f"/proc/{found[0]}").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse(Path(f"/proc/{found[0]}").exists())

    def test_what_is_refused(self):
        """No server is known; the cache is another user's; commands that need debug files at their
        start."""
        url = "http://127.0.0.1:1"
        other = self.out / "other"
        other.mkdir()
        os.chown(other, 12345, 12345)
        for command, variables, says in (
                ((), {}, "DEBUGINFOD_URLS is not set (sudo removes it): name the server"),
                ((), {"DEBUGINFOD_URLS": url, "DEBUGINFOD_CACHE_PATH": str(other / "cache")},
                 "another user owns it"),
                *(((command,), {"DEBUGINFOD_URLS": url}, "only record fetches debug files")
                  for command in ("dump", "probes", "doctor"))):
            with self.subTest(says):
                done = beamflame.run(*command, "-p", self.node.pid, "--symbols", "debuginfod",
                                     env=self.environment(**variables))
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(says, done.stderr)
        self.assertFalse(list(other.iterdir()))


if __name__ == "__main__":
    unittest.main()
