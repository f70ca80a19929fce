# SPDX-License-Identifier: Apache-2.0
"""Messages of Protocol Buffers, encoded and decoded by protoc with the schemas of proto/."""
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OTLP = ("opentelemetry.proto.profiles.v1development.ProfilesData",
        "opentelemetry/proto/profiles/v1development/profiles.proto")
PPROF = ("perftools.profiles.Profile", "pprof/profile.proto")

TOKEN = re.compile(r'\s*(?:(\w+): ("(?:[^"\\]|\\.)*"|\S+)|(\w+) \{|(\}))')


class Refused(Exception):
    """The bytes are not a message of the schema."""


def run(option, schema, data):
    """Run protoc, and return what it writes. Raise FileNotFoundError if it is not installed."""
    if not shutil.which("protoc"):
        raise FileNotFoundError("protoc is not installed (tools/install-deps test)")
    message, path = schema
    done = subprocess.run(["protoc", f"-I{ROOT / 'proto'}", f"--{option}={message}", path],
                          input=data, capture_output=True)
    if done.returncode or b"UTF-8" in done.stderr:
        raise Refused(done.stderr.decode(errors="replace").strip())
    return done.stdout


def value_of(text):
    """Return a value of the text form: a number, or a text, whose bytes must be UTF-8."""
    if text in ("true", "false"):
        return text == "true"
    if not text.startswith('"'):
        return int(text)
    data = text[1:-1].encode().decode("unicode_escape").encode("latin-1")
    return data.decode("utf-8", errors="surrogateescape")


def decode(schema, data):
    """Return a message as {field: [value, ...]}, by the schema."""
    stack = [{}]
    for field, value, message, _ in TOKEN.findall(run("decode", schema, data).decode()):
        if field:
            stack[-1].setdefault(field, []).append(value_of(value))
        elif message:
            stack.append({})
            stack[-2].setdefault(message, []).append(stack[-1])
        else:
            stack.pop()
    return stack[0]
