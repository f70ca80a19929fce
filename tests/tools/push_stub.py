#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A service that takes profiles as Pyroscope, Parca and OpenTelemetry's collector do, for tests.

usage: push_stub.py --port PORT --dir DIR [--tls CERTIFICATE KEY] [--mode MODE] [--redirect URL]
                    [--authorization VALUE]

Listens on 127.0.0.1; the first line of output is the port (--port 0: any that is free). It refuses
what the services would refuse: requests by the rules below, profiles by profile_rules.py. Each
request is a line of DIR/requests.jsonl before it is answered:

    number, connection (requests over one have the same), protocol, path, headers, bytes, status,
    findings, and profiles: file (in DIR, not compressed), id, labels, types, samples, time,
    duplicate (of one that was accepted before)

DIR/mode changes the mode while it runs:

    accept       refuse with 413 what is larger than 2 MB, also without its compression, and with
                 400 what has findings
    unchecked    accept all, without reading profiles: for many requests
    limited      as accept, with Pyroscope's limit for a tenant: 4 MB/s, bursts of 2 MB
    STATUS [SECONDS|date]  answer with it, and Retry-After: in seconds, or as the time in 20 s
    error        400 with words that a terminal must not get
    partial      accept, but "reject" 2 profiles (OpenTelemetry)
    warn         accept, with a warning (OpenTelemetry)
    page         200 with a page for browsers
    redirect     307 to URL
    huge         200 with an answer that does not end
    slow         a byte of the answer each half second
    silent       no answer
    close        close the connection within the answer
    drop         close it before the answer

--authorization: answer 401 to all that do not have this header. Findings are those of Pyroscope
2.2.0 (pkg/validation/validate.go, limits.go), Parca 0.28.0 (pkg/normalizer/normalizer.go) and
OTLP 1.11.0 (docs/specification.md).
"""
import argparse
import base64
import binascii
import gzip
import hashlib
import json
import re
import socketserver
import ssl
import sys
import threading
import time
import uuid
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import profile_rules as rules
import protoc

LABELS, NAME_BYTES, VALUE_BYTES = 30, 1024, 2048
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*\Z")
OLDEST, NEWEST = 3600, 600  # seconds before and after now
RATE, BURST = 4 << 20, 2 << 20  # bytes
LARGEST = 2 << 20  # bytes of a request, also without its compression
HOSTILE = "bad \x1b[31mlabel\x07 in {a=\"<b>\"}\nsee https://x/\u202e and more " + "é" * 300


class Bad(Exception):
    """The request is not of the protocol's form."""


# ---- protocols: each reads a request as [{"data": bytes, "labels": {}, "id": text}] ----

def fields(data):
    """Return the fields of a protobuf message: [(number, value)]. All of ours have bytes."""
    found, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            if at >= len(data) or shift > 63:
                raise Bad("a number is cut off")
            value |= (data[at] & 0x7f) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                return value

    while at < len(data):
        key = varint()
        size = varint()
        if key & 7 != 2 or at + size > len(data):
            raise Bad(f"field {key >> 3} has the type {key & 7}, or is cut off")
        found.append((key >> 3, data[at:at + size]))
        at += size
    return found


def message(data, **repeated):
    """Return a message as {name: [value, ...]}: its fields are repeated=number."""
    known, values = {number: name for name, number in repeated.items()}, {}
    for number, value in fields(data):
        if number not in known:
            raise Bad(f"unknown field {number}")
        values.setdefault(known[number], []).append(value)
    return values


def text(data):
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Bad("a text is not UTF-8") from error


def unpacked(data):
    try:
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError) as error:
        raise Bad(f"not gzip: {error}") from error


def pairs(labels):
    """Return [(name, value)] as a dictionary."""
    if len(dict(labels)) != len(labels):
        raise Bad("duplicate label name")
    return dict(labels)


def read_pyroscope(body):
    profiles = []
    for data in message(body, series=1).get("series", []):
        series = message(data, labels=1, samples=2)
        labels = []
        for label in series.get("labels", []):
            label = message(label, name=1, value=2)
            labels.append(tuple(text(b"".join(label.get(key, []))) for key in ("name", "value")))
        for sample in series.get("samples", []):
            sample = message(sample, raw_profile=1, ID=2)
            profiles.append({"data": unpacked(b"".join(sample.get("raw_profile", []))),
                             "labels": pairs(labels), "id": text(b"".join(sample.get("ID", [])))})
    return profiles


def exactly(value, *keys):
    """Return an object of JSON, which may have no other keys."""
    if not isinstance(value, dict) or set(value) - set(keys):
        raise Bad(f"not an object with {keys}: {str(value)[:200]}")
    return value


def read_parca(body):
    profiles = []
    try:
        request = exactly(json.loads(body), "series", "normalized")
        for series in request.get("series", []):
            series = exactly(series, "labels", "samples")
            labels = [(exactly(label, "name", "value")["name"], label["value"])
                      for label in exactly(series["labels"], "labels").get("labels", [])]
            for sample in series.get("samples", []):
                raw = base64.b64decode(exactly(sample, "rawProfile")["rawProfile"], validate=True)
                profiles.append({"data": unpacked(raw), "labels": pairs(labels), "id": ""})
    except (ValueError, KeyError, TypeError, binascii.Error) as error:
        raise Bad(f"bad JSON: {error!r}") from error
    return profiles


def read_otlp(body):
    return [{"data": unpacked(body), "labels": {}, "id": ""}]


def connect_error(status, words):
    codes = {400: "invalid_argument", 401: "unauthenticated", 404: "not_found", 500: "internal",
             429: "resource_exhausted", 503: "unavailable"}
    return {"code": codes.get(status, "unknown"), "message": words}


def gateway_error(status, words):
    codes = {400: 3, 401: 16, 404: 5, 429: 8, 500: 13, 503: 14}
    return {"code": codes.get(status, 2), "message": words, "details": []}


def protobuf_text(number, value):
    """Return a field with bytes of less than 16 KB."""
    size = len(value)
    return bytes([number << 3 | 2, size & 0x7f | 0x80, size >> 7]) + value


# Path: (name, content type and encoding of a request, of an answer and of an error, reader).
PROTOCOLS = {
    "/push.v1.PusherService/Push":
        ("pyroscope", "application/proto", None, "application/proto", read_pyroscope),
    "/api/profiles/writeraw":
        ("parca", "application/json", None, "application/json", read_parca),
    "/v1development/profiles":
        ("otlp", "application/x-protobuf", "gzip", "application/x-protobuf", read_otlp),
}


def error_body(protocol, status, words):
    """Return (content type, body) of an error."""
    if protocol == "otlp":
        return "application/x-protobuf", protobuf_text(2, words.encode()[:16000])
    form = gateway_error if protocol == "parca" else connect_error
    return "application/json", json.dumps(form(status, words)).encode()


# ---- rules of services ----

def label_findings(protocol, profile):
    labels = profile["labels"]
    if protocol == "otlp":
        return
    if not labels.get("__name__"):
        yield "no __name__"
    for name, value in labels.items():
        if not LABEL.match(name) or len(name) > NAME_BYTES:
            yield f"invalid label name: {name}"
        if len(value.encode()) > VALUE_BYTES:
            yield f"label value too long: {name}"
    if protocol == "parca":
        return
    if not labels.get("service_name"):
        yield "service name is not provided"
    if len(labels) > LABELS:
        yield f"{len(labels)} label names; limit {LABELS}"
    try:
        if str(uuid.UUID(profile["id"])) != profile["id"].lower():
            yield "the ID is no UUID"
    except ValueError:
        yield "the ID is no UUID"


def times_of(protocol, decoded):
    """Return the times of the profiles in a message, in ns."""
    if protocol != "otlp":
        return [rules.one(decoded, "time_nanos")]
    return [rules.one(profile, "time_unix_nano")
            for resource in decoded.get("resource_profiles", [])
            for scope in resource.get("scope_profiles", []) for profile in scope.get("profiles", [])]


def check_profile(protocol, profile):
    """Return findings; add what the profile says to its description."""
    kind, schema = (rules.Otlp, protoc.OTLP) if protocol == "otlp" else (rules.Pprof, protoc.PPROF)
    try:
        decoded = protoc.decode(schema, profile["data"])
    except protoc.Refused as error:
        return [f"no profile: {error}"]
    applied = kind(decoded, len(profile["data"]))
    applied.run(*([None, True] if protocol == "otlp" else [True]))
    times = times_of(protocol, decoded)
    profile["time"] = min(times, default=0)
    if protocol != "otlp":
        profile["samples"] = len(decoded.get("sample", []))
        profile["types"] = ["/".join(applied.type_of(part))
                            for part in decoded.get("sample_type", [])]
    now = time.time()
    outside = any(not now - OLDEST < at / 1e9 < now + NEWEST for at in times)
    return applied.findings + ["outside of ingestion window"] * outside


class Service:
    """What is kept of all requests."""

    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.requests = 0
        self.accepted = set()
        self.tokens, self.filled = BURST, time.monotonic()

    def mode(self):
        path = self.options.dir / "mode"
        return (path.read_text().strip() if path.exists() else "") or self.options.mode

    def take_number(self):
        with self.lock:
            self.requests += 1
            return self.requests

    def is_within_limit(self, size):
        with self.lock:
            now = time.monotonic()
            self.tokens = min(BURST, self.tokens + (now - self.filled) * RATE)
            self.filled = now
            if size > self.tokens:
                return False
            self.tokens -= size
            return True

    def keep(self, request, profiles):
        """Write the files of a request and its line."""
        number = request["number"]
        for index, profile in enumerate(profiles):
            data = profile.pop("data")
            suffix = "otlp" if request["protocol"] == "otlp" else "pb"
            profile["file"] = f"{number:06}-{index}.{suffix}"
            profile["id"] = profile["id"] or hashlib.sha256(data).hexdigest()
            (self.options.dir / profile["file"]).write_bytes(data)
        with self.lock:
            for profile in profiles:
                profile["duplicate"] = profile["id"] in self.accepted
            if request["status"] == 200:
                self.accepted |= {profile["id"] for profile in profiles}
            with (self.options.dir / "requests.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps({**request, "profiles": profiles}) + "\n")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    disable_nagle_algorithm = True  # headers and body are written one after the other

    def setup(self):
        options = self.server.service.options
        if options.tls:
            self.request = self.server.context.wrap_socket(self.request, server_side=True)
        super().setup()

    def finish(self):
        super().finish()
        if self.server.service.options.tls:  # the server closes only what is below
            self.request.close()

    def log_message(self, *_):
        pass

    def do_POST(self):
        service = self.server.service
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        name, *form, answer_type, read = PROTOCOLS.get(
            self.path, ("none", None, None, "text/plain", lambda _: []))
        mode = service.mode()
        profiles, findings = [], []
        if mode != "unchecked":
            profiles, findings = self.read(name, form, read, body)
        size = max(len(body), sum(len(profile["data"]) for profile in profiles))
        status, words, after = self.verdict(name, mode, findings, size)
        service.keep({"number": service.take_number(), "connection": self.client_address[1],
                      "protocol": name, "path": self.path, "bytes": len(body), "mode": mode,
                      "headers": {key.lower(): value for key, value in self.headers.items()},
                      "status": status, "findings": findings}, profiles)
        misbehave = getattr(self, "answer_" + mode, None)
        if misbehave and status in (200, 307):
            misbehave(name, answer_type)
        elif status == 200:
            self.answer(200, answer_type, b"{}" if name == "parca" else b"")
        else:
            self.answer(status, *error_body(name, status, words), after)

    def read(self, name, form, read, body):
        """Return the profiles of a request, and the findings."""
        findings = []
        kind, encoding = self.headers.get("Content-Type"), self.headers.get("Content-Encoding")
        if (kind, encoding) != tuple(form):
            findings.append(f"content {kind}, {encoding} instead of {form}")
        try:
            profiles = read(body)
        except Bad as error:
            return [], [*findings, str(error)]
        if not profiles:
            findings.append("no profiles received")
        for profile in profiles:
            findings += label_findings(name, profile)
            findings += check_profile(name, profile)
        return profiles, findings

    def verdict(self, name, mode, findings, size):
        """Return status, words, and Retry-After or None."""
        service = self.server.service
        number, _, after = mode.partition(" ")
        wanted = service.options.authorization
        if wanted and self.headers.get("Authorization") != wanted:
            return 401, "no valid credentials", None
        if name == "none":
            return 404, "404 page not found", None
        if number.isdigit():
            after = formatdate(time.time() + 20, usegmt=True) if after == "date" else after
            return int(number), f"the mode is {mode}", after or None
        if mode == "error":
            return 400, HOSTILE, None
        if mode == "redirect":
            return 307, "", None
        if findings:
            return 400, "; ".join(findings), None
        if mode == "limited" and not service.is_within_limit(size):
            return 429, "push rate limit (4.0 MiB) exceeded", None
        if size > LARGEST and mode != "unchecked":
            return 413, f"{size} bytes", None
        return 200, "", None

    def answer(self, status, kind, body, after=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if after:
            self.send_header("Retry-After", after)
        self.end_headers()
        self.wfile.write(body)

    def answer_partial(self, _, kind):
        words = b"\x08\x02" + protobuf_text(2, b"two were bad")
        self.answer(200, kind, protobuf_text(1, words))

    def answer_warn(self, _, kind):
        self.answer(200, kind, protobuf_text(1, protobuf_text(2, b"deprecated")))

    def answer_page(self, *_):
        self.answer(200, "text/html; charset=utf-8", b"<html>Log in</html>")

    def answer_redirect(self, *_):
        self.send_response(307)
        self.send_header("Location", self.server.service.options.redirect + self.path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer_huge(self, _, kind):
        self.wfile.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode())
        end = time.monotonic() + 60
        while time.monotonic() < end:
            self.wfile.write(bytes(1 << 16))

    def answer_slow(self, *_):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        for _ in range(120):
            time.sleep(0.5)
            self.wfile.write(b"x")

    def answer_silent(self, *_):
        time.sleep(60)

    def answer_close(self, _, kind):
        self.wfile.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n"
                         "Content-Length: 1000\r\n\r\nxx".encode())
        self.close_connection = True

    def answer_drop(self, *_):
        self.close_connection = True


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, options):
        super().__init__(("127.0.0.1", options.port), Handler)
        self.service = Service(options)
        if options.tls:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*options.tls)

    def server_bind(self):
        """Bind, and ask no name server for the name of 127.0.0.1."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--tls", nargs=2)
    parser.add_argument("--mode", default="accept")
    parser.add_argument("--redirect", default="http://elsewhere.invalid")
    parser.add_argument("--authorization")
    options = parser.parse_args()
    options.dir.mkdir(parents=True, exist_ok=True)
    with Server(options) as server:
        print(server.server_port, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
