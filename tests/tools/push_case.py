# SPDX-License-Identifier: Apache-2.0
"""A stub server (push_stub.py), its certificates, and a client that sends to it, for tests."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import profile_rules as rules
import profile_rules_test as good
import protoc

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BEAMFLAME_BUILD", ROOT / "build")).resolve()
SENDER, STUB = BUILD / "tests" / "push_send", ROOT / "tests" / "tools" / "push_stub.py"
LABELS = ("label=__name__=process_cpu", "label=service_name=shop", "label=pod=shop-1")
REPLY = re.compile(r"(\w+) status=(\d+) retry_after=(\S+) sent=(\d+) rejected=(\d+) "
                   r"seconds=(\S+) reason=(.*)")
# The proxy variables of this machine are not for 127.0.0.1.
ENVIRONMENT = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}


class Reply:
    def __init__(self, line):
        found = REPLY.fullmatch(line)
        assert found, line
        self.outcome, self.reason = found[1], found[7]
        self.status, self.sent, self.rejected = (int(found[i]) for i in (2, 4, 5))
        self.retry_after, self.seconds = float(found[3]), float(found[6])

    def __repr__(self):
        return str(self.__dict__)


class Stub:
    """A running stub server."""

    def __init__(self, folder, *options, mode="accept"):
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, STUB, "--port", "0", "--dir", folder, "--mode", mode, *options],
            stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.url = f"http{'s' if '--tls' in options else ''}://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def requests(self):
        path = self.folder / "requests.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def make_ca(folder, name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem", "-subj",
            f"/CN={name}", "-days", "2")


def make_certificate(folder, name, ca, host, days=2):
    """Make NAME.pem and NAME.key for a host, signed by a CA."""
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.csr", "-subj", "/CN=host")
    (folder / f"{name}.ext").write_text(f"subjectAltName={host}\n")
    openssl("x509", "-req", "-in", folder / f"{name}.csr", "-CA", folder / f"{ca}.pem", "-CAkey",
            folder / f"{ca}.key", "-CAcreateserial", "-days", str(days), "-extfile",
            folder / f"{name}.ext", "-out", folder / f"{name}.pem")


def send(protocol, url, *arguments, environment=(), count=1):
    """Send, and return the replies, one for each of `count` requests."""
    ended = subprocess.run([SENDER, protocol, url, *arguments], capture_output=True, text=True,
                           env={**ENVIRONMENT, **dict(environment)}, timeout=50)
    assert ended.returncode == 0 and not ended.stderr, ended.stderr
    replies = [Reply(line) for line in ended.stdout.splitlines()]
    assert len(replies) == count, ended.stdout
    return replies[0] if count == 1 else replies


class PushCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not SENDER.exists():
            raise unittest.SkipTest("the program is not built (make unit-tests)")
        if not shutil.which("protoc"):
            raise unittest.SkipTest("protoc is not installed (tools/install-deps test)")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        now = str(time.time_ns() - 10 ** 10)
        pprof = good.PPROF.replace("label { key: 7 str: 8 }", "")
        otlp = good.OTLP.replace(" attribute_indices: 3", "").replace(
            '  string_table: "beam.process.pid"\n', "").replace(
            '  attribute_table { key_strindex: 9 value { string_value: "<0.1.0>" } }\n', "")
        for name, schema, text in (("a.pb", protoc.PPROF, pprof), ("a.otlp", protoc.OTLP, otlp)):
            text = text.replace("1763697012000000000", now)
            (cls.folder / name).write_bytes(protoc.run("encode", schema, text.encode()))
        other = (cls.folder / "a.pb").read_bytes() + protoc.run(
            "encode", protoc.PPROF, b'string_table: "other"')
        (cls.folder / "b.pb").write_bytes(other)

    def stub(self, *options, mode="accept"):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        stub = Stub(Path(folder.name), *options, mode=mode)
        self.addCleanup(stub.__exit__)
        return stub

    def file(self, protocol):
        return self.folder / ("a.otlp" if protocol == "otlp" else "a.pb")

    def secret(self, text):
        path = self.folder / f"secret-{time.monotonic_ns()}"
        path.write_text(text)
        return path

    def send(self, protocol, url, *arguments, **options):
        """Send the protocol's profile, with labels."""
        return send(protocol, url, *arguments, *(LABELS if protocol != "otlp" else ()),
                    self.file(protocol), **options)
