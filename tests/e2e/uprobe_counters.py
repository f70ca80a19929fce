# SPDX-License-Identifier: Apache-2.0
"""Probes in the code of a process, made without beamflame."""
import ctypes
import os
import re
import struct
from pathlib import Path

PERF_EVENT_OPEN = 298  # x86-64


class UprobeCounters:
    """Count how often the threads of a process reach an address, with perf counters on a uprobe:
    those whose name contains a match of `threads`."""

    def __init__(self, pid, addresses, threads=""):
        with open("/sys/bus/event_source/devices/uprobe/type", encoding="ascii") as file:
            kind = int(file.read())
        self.counters = {}
        for name, address in addresses.items():
            path, offset = self.place(pid, address)
            path = ctypes.create_string_buffer(path.encode())
            # struct perf_event_attr, 112 bytes: type, size, ..., config1 (path), config2 (offset)
            attr = struct.pack("<II5Q", kind, 112, 0, 0, 0, 0, 0) + struct.pack(
                "<IIQQ", 0, 0, ctypes.addressof(path), offset)
            attr = ctypes.create_string_buffer(attr.ljust(112, b"\0"), 112)
            self.counters[name] = [self.open(attr, tid) for tid in self.tids(pid, threads)]

    @staticmethod
    def tids(pid, threads):
        return [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()
                if re.search(threads, (task / "comm").read_text(errors="replace"))]

    @staticmethod
    def place(pid, address):
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                start, end, offset = re.match(r"(\w+)-(\w+) \S+ (\w+)", line).groups()
                if int(start, 16) <= address < int(end, 16):
                    path = f"/proc/{pid}/map_files/{start}-{end}"
                    return path, address - int(start, 16) + int(offset, 16)
        raise AssertionError(f"nothing is mapped at {address:#x}")

    @staticmethod
    def open(attr, tid):
        fd = ctypes.CDLL(None, use_errno=True).syscall(PERF_EVENT_OPEN, attr, tid, -1, -1, 0)
        if fd < 0:
            raise OSError(ctypes.get_errno(), "perf_event_open")
        return fd

    def close(self):
        """Remove the probes and return {name: count}."""
        counts = {}
        for name, descriptors in self.counters.items():
            counts[name] = sum(struct.unpack("<Q", os.read(fd, 8))[0] for fd in descriptors)
            for fd in descriptors:
                os.close(fd)
        return counts
