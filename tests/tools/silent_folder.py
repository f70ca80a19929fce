#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""silent_folder.py DIRECTORY [CALL [COUNT]]: mount a FUSE file system with an empty folder there, in
which files can be written and renamed.

From a line on standard input, or from the call CALL (lookup, create, write, flush, rename) after
COUNT such calls, nothing is answered any more. Prints "ready", and "stalls" when that begins. Ends at
the end of standard input; then all who wait continue with an error."""
import ctypes
import errno
import os
import select
import stat
import struct
import sys

CALLS = {"lookup": 1, "create": 35, "write": 16, "flush": 25, "rename": 12}
LOOKUP, FORGET, GETATTR, SETATTR, UNLINK, RENAME, OPEN, READ, WRITE = 1, 2, 3, 4, 10, 12, 14, 15, 16
RELEASE, FSYNC, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR = 18, 20, 25, 26, 27, 28, 29
CREATE, INTERRUPT, BATCH_FORGET, RENAME2 = 35, 36, 42, 45
HEADER = struct.Struct("<IIQQIIII")
ROOT = 1
BYTES = 1 << 20
FATTR_MODE = 1


class Folder:
    """The files of the mount: {name: node}, {node: [mode, contents]}."""

    def __init__(self):
        self.names, self.files, self.last = {}, {}, ROOT

    def attributes(self, node):
        mode, size = (stat.S_IFDIR | 0o755, 0) if node == ROOT else \
            (stat.S_IFREG | self.files[node][0], len(self.files[node][1]))
        return struct.pack("<6Q10I", node, size, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def entry(self, node):
        return struct.pack("<4Q2I", node, 0, 0, 0, 0, 0) + self.attributes(node)

    def answer_attributes(self, node):
        return struct.pack("<Q2I", 0, 0, 0) + self.attributes(node)

    def create(self, mode, name):
        self.last += 1
        self.names[name], self.files[self.last] = self.last, [mode & 0o777, bytearray()]
        return self.entry(self.last) + struct.pack("<Q2I", 0, 0, 0)

    def write(self, node, body):
        _, offset, size = struct.unpack_from("<QQI", body)
        contents = self.files[node][1]
        contents.extend(bytes(max(0, offset + size - len(contents))))
        contents[offset:offset + size] = body[40:40 + size]
        return struct.pack("<2I", size, 0)

    def rename(self, names):
        old, new = names.split(b"\0")[:2]
        self.names[new] = self.names.pop(old)
        return b""

    def entries(self, body):
        """Return the list of the folder, in one answer."""
        if struct.unpack_from("<QQ", body)[1]:
            return b""
        listed = b""
        for number, (name, node) in enumerate(self.names.items(), 1):
            entry = struct.pack("<QQII", node, number, len(name), stat.S_IFREG >> 12) + name
            listed += entry + bytes(-len(entry) % 8)
        return listed

    def answer(self, call, node, body):
        """Return the body of the answer, or an errno."""
        name = body.rstrip(b"\0")
        if call == INIT:
            return struct.pack("<4I2H2I2H8I", 7, 31, 0, 0, 0, 0, 1 << 17, 1, 0, 0, *[0] * 8)
        if call == LOOKUP:
            return self.entry(self.names[name]) if name in self.names else errno.ENOENT
        if call == SETATTR and struct.unpack_from("<I", body)[0] & FATTR_MODE:
            self.files[node][0] = struct.unpack_from("<I", body, 68)[0] & 0o777
        if call in (GETATTR, SETATTR):
            return self.answer_attributes(node)
        if call == READDIR:
            return self.entries(body)
        if call == CREATE:
            return self.create(struct.unpack_from("<I", body, 4)[0], body[16:].rstrip(b"\0"))
        if call == WRITE:
            return self.write(node, body)
        if call == READ:
            offset, size = struct.unpack_from("<QI", body, 8)
            return bytes(self.files[node][1][offset:offset + size])
        if call == UNLINK:
            del self.names[name]
            return b""
        if call in (RENAME, RENAME2):
            return self.rename(body[8 if call == RENAME else 16:])
        if call in (OPEN, OPENDIR):
            return struct.pack("<Q2I", 0, 0, 0)
        return b"" if call in (RELEASE, FSYNC, FLUSH, RELEASEDIR) else errno.ENOSYS


def say(what):
    print(what, flush=True)


def main(directory, stalling="", count="0"):
    fuse = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"silent", os.fsencode(directory), b"fuse", 6, options):  # MS_NOSUID, MS_NODEV
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    say("ready")
    folder, stalls, left = Folder(), False, int(count)
    while True:
        ready, _, _ = select.select([0, fuse], [], [])
        if 0 in ready:
            if not os.read(0, 64):
                return
            stalls = True
            say("stalls")
        if fuse not in ready:
            continue
        try:
            request = os.read(fuse, BYTES)
        except OSError as error:
            if error.errno in (errno.EINTR, errno.ENOENT):
                continue
            return
        _, call, unique, node, *_ = HEADER.unpack_from(request)
        if not stalls and call == CALLS.get(stalling):
            stalls = left == 0
            left -= 1
            if stalls:
                say("stalls")
        if stalls or call in (FORGET, BATCH_FORGET, INTERRUPT):
            continue
        body = folder.answer(call, node, request[HEADER.size:])
        code, body = (-body, b"") if isinstance(body, int) else (0, body)
        try:
            os.write(fuse, struct.pack("<IiQ", 16 + len(body), code, unique) + body)
        except OSError as error:
            if error.errno != errno.ENOENT:  # it was interrupted meanwhile
                raise


if __name__ == "__main__":
    main(*sys.argv[1:])
