# SPDX-License-Identifier: Apache-2.0
"""The stub server refuses each request that a service would refuse, and takes correct ones."""
import base64
import gzip
import http.client
import json
import unittest
import uuid

import profile_rules as rules
import protoc
from push_case import PushCase

PYROSCOPE, PARCA, OTLP = ("/push.v1.PusherService/Push", "/api/profiles/writeraw",
                          "/v1development/profiles")
HEADERS = {PYROSCOPE: {"Content-Type": "application/proto"},
           PARCA: {"Content-Type": "application/json"},
           OTLP: {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}}
LABELS = [("__name__", "process_cpu"), ("service_name", "shop")]


def field(number, value):
    """Return a field of protobuf with bytes or a text."""
    value = value.encode() if isinstance(value, str) else value
    size, head = len(value), bytes([number << 3 | 2])
    while size > 0x7f:
        head, size = head + bytes([size & 0x7f | 0x80]), size >> 7
    return head + bytes([size]) + value


def pyroscope(profile, labels=(), name=None, more=b""):
    series = b"".join(field(1, field(1, key) + field(2, value)) for key, value in labels or LABELS)
    sample = field(1, profile) + field(2, name if name is not None else str(uuid.uuid4()))
    return field(1, series + field(2, sample + more))


def parca(profile, labels=(), **more):
    return json.dumps({"series": [{
        "labels": {"labels": [{"name": key, "value": value} for key, value in labels or LABELS]},
        "samples": [{"rawProfile": base64.b64encode(profile).decode(), **more}]}]})


class StubRules(PushCase):
    def setUp(self):
        self.server = self.stub()
        self.profile = (self.folder / "a.pb").read_bytes()
        self.otlp = (self.folder / "a.otlp").read_bytes()

    def post(self, path, body, headers=None):
        """Return the status of an answer, and the findings."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        connection.request("POST", path, body, headers or HEADERS[path])
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status, self.server.requests()[-1]["findings"]

    def check(self, path, cases):
        for word, body in cases:
            with self.subTest(word):
                status, findings = self.post(path, body)
                self.assertEqual(status, 400)
                self.assertTrue(any(word in finding for finding in findings), findings)

    def encoded(self, old, new):
        """Return the profile with an extra part, which replaces fields or adds to them."""
        text = protoc.run("decode", protoc.PPROF, self.profile).decode()
        self.assertIn(old, text)
        return protoc.run("encode", protoc.PPROF, text.replace(old, new).encode())

    def test_correct_requests_are_accepted(self):
        for path, body in ((PYROSCOPE, pyroscope(self.profile)),
                           (PYROSCOPE, pyroscope(gzip.compress(self.profile))),
                           (PARCA, parca(self.profile)), (PARCA, parca(gzip.compress(self.profile))),
                           (OTLP, gzip.compress(self.otlp))):
            self.assertEqual(self.post(path, body), (200, []))

    def test_each_defect_of_a_push_is_refused(self):
        many = LABELS + [(f"label{i}", "x") for i in range(29)]
        self.check(PYROSCOPE, (
            ("no profiles", b""), ("cut off", pyroscope(self.profile)[:-1]),
            ("unknown field 3", pyroscope(self.profile, more=field(3, "x"))),
            ("no UUID", pyroscope(self.profile, name="1")), ("no UUID", pyroscope(self.profile, name="")),
            ("not gzip", pyroscope(gzip.compress(self.profile)[:-9])),
            ("no __name__", pyroscope(self.profile, LABELS[1:])),
            ("service name", pyroscope(self.profile, LABELS[:1])),
            ("duplicate", pyroscope(self.profile, LABELS + LABELS[:1])),
            ("invalid label name", pyroscope(self.profile, [*LABELS, ("a-b", "x")])),
            ("too long", pyroscope(self.profile, [*LABELS, ("a", "x" * 2049)])),
            ("UTF-8", pyroscope(self.profile, [*LABELS, ("a", b"\xff")])),
            ("31 label names", pyroscope(self.profile, many)),
            ("no profile", pyroscope(b"\xff" * 9)),
            ("no period", pyroscope(self.encoded("period: 10000000", ""))),
            ("ingestion window", pyroscope(self.encoded("time_nanos: 1", "time_nanos: 2"))),
            ("ingestion window", pyroscope(self.encoded("time_nanos: ", "time_nanos: 1763697012000000000 #")))))

    def test_each_defect_of_json_is_refused(self):
        self.check(PARCA, (
            ("bad JSON", "{"), ("not an object", "[]"), ("no profiles", "{}"),
            ("not an object", parca(self.profile, raw_bytes="")),
            ("bad JSON", parca(self.profile).replace('"rawProfile": "', '"rawProfile": "!')),
            ("no __name__", parca(self.profile, LABELS[1:])),
            ("invalid label name", parca(self.profile, [*LABELS, ("a.b", "x")])),
            ("duplicate", parca(self.profile, LABELS + LABELS[:1]))))

    def test_each_defect_of_otlp_is_refused(self):
        self.check(OTLP, (("not gzip", gzip.compress(self.otlp)[:-9]),
                          ("no dictionary", gzip.compress(b""))))
        for headers in ({**HEADERS[OTLP], "Content-Type": "application/proto"},
                        {"Content-Type": "application/x-protobuf"}):
            self.assertEqual(self.post(OTLP, gzip.compress(self.otlp), headers)[0], 400)

    def test_limits_of_a_tenant_and_of_a_request_are_known(self):
        """Bursts of 2 MB are taken, and no request of more than 2 MB, however well compressed."""
        (self.server.folder / "mode").write_text("limited")
        large = self.profile + protoc.run(
            "encode", protoc.PPROF, "".join(f'string_table: "{i}{"x" * 60000}"\n'
                                           for i in range(40)).encode())
        self.assertEqual(self.post(PYROSCOPE, pyroscope(self.profile))[0], 200)
        self.assertEqual(self.post(PYROSCOPE, pyroscope(large))[0], 429)
        (self.server.folder / "mode").write_text("accept")
        self.assertEqual(self.post(PYROSCOPE, pyroscope(gzip.compress(large)))[0], 413)
        self.assertEqual(self.post(PYROSCOPE, pyroscope(self.profile))[0], 200)


if __name__ == "__main__":
    unittest.main()
