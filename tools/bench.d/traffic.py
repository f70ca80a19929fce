# SPDX-License-Identifier: Apache-2.0
"""Requests to real applications, for the wall clock: messages through RabbitMQ, orders of an Elixir
application. Both report as the loads of tests/loads do."""
import math
import os
import select
import socket
import struct
import threading
import time
from pathlib import Path

import amqp
import applications

QUEUES = 2  # each has a connection that publishes and one that consumes
BATCH = 250  # messages
LOOK = 100000000  # ns, between two looks at whether to end
BUCKETS = 128  # of a quarter of an octave of microseconds each


class Queue:
    """A queue of RabbitMQ, which one connection fills and another one empties. A message is its
    due time."""

    def __init__(self, port, name):
        self.source, self.sink = amqp.Channel(port, f"{name} in"), amqp.Channel(port, f"{name} out")
        self.source.declare(name)
        self.sink.subscribe(name)
        self.name, self.rest, self.size = name, b"", None
        self.batch = BATCH * self.source.message(name, bytes(8))
        self.missing = 0  # messages that have come and were not replaced by others

    def publish(self, due):
        self.source.publish(self.name, struct.pack(">Q", due))

    def publish_batch(self):
        self.source.socket.sendall(self.batch)

    def receive(self):
        """Return whole messages, as many as have come."""
        self.rest += self.sink.socket.recv(1 << 18)
        self.size = self.size or amqp.delivery_size(self.rest)
        if not self.size:
            return b""
        end = len(self.rest) // self.size * self.size
        whole, self.rest = self.rest[:end], self.rest[end:]
        return whole

    def close(self):
        self.source.close()
        self.sink.close()


class RabbitMQ(applications.RabbitMQ):
    """RabbitMQ with messages as fast as they are delivered, or at a rate of so many a second."""

    def __init__(self, rate=0):
        super().__init__()
        self.rate, self.published, self.requests = rate, 0, 0
        self.histogram = [0] * BUCKETS
        self.ending = threading.Event()
        try:
            self.queues = [Queue(self.port, f"orders {n}") for n in range(QUEUES)]
        except BaseException:
            self.kill()
            raise
        self.sinks = {queue.sink.socket: queue for queue in self.queues}
        self.thread = threading.Thread(target=self.keep_rate if rate else self.keep_full)
        self.thread.start()

    def kill(self):
        if hasattr(self, "thread"):
            self.ending.set()
            self.thread.join()
            for queue in self.queues:
                queue.close()
        super().kill()

    def report(self):
        return {"time_ns": time.monotonic_ns(), "requests": self.requests,
                "histogram": list(self.histogram)}

    def come(self, due):
        """Wait until a time; yield queues with messages, and these messages."""
        wait = max(0, due - time.monotonic_ns()) / 1e9
        for sink in select.select(list(self.sinks), [], [], wait)[0]:
            queue = self.sinks[sink]
            messages = queue.receive()
            if messages:
                self.requests += len(messages) // queue.size
                yield queue, messages

    def keep_full(self):
        for queue in self.queues:
            queue.publish_batch()
            queue.publish_batch()
        while not self.ending.is_set():
            for queue, messages in self.come(time.monotonic_ns() + LOOK):
                queue.missing += len(messages) // queue.size
                if queue.missing >= BATCH:
                    queue.publish_batch()
                    queue.missing -= BATCH

    def keep_rate(self):
        due = time.monotonic_ns()
        while not self.ending.is_set():
            while due <= time.monotonic_ns():
                self.queues[self.published % QUEUES].publish(due)
                self.published += 1
                due += 10**9 // self.rate
            for queue, messages in self.come(due):
                self.measure(queue, messages)

    def measure(self, queue, messages):
        now = time.monotonic_ns()
        for end in range(queue.size, len(messages) + 1, queue.size):
            due, = struct.unpack_from(">Q", messages, end - 9)  # the last byte ends the frame
            took = max(1, (now - due) // 1000)
            self.histogram[min(int(4 * math.log2(took)), BUCKETS - 1)] += 1


class Shop(applications.Elixir):
    """The application of shop.exs, without pause or at a rate of so many orders a second."""

    def __init__(self, rate=0):
        self.port = applications.free_port()
        super().__init__((Path(__file__).parent / "shop.exs").read_text(encoding="utf-8"), {
            "SHOP_PORT": str(self.port), "SHOP_RATE": str(rate),
            "SHOP_CLIENTS": str(8 * os.cpu_count())})

    def report(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection, \
                connection.makefile(encoding="ascii") as text:
            time_ns, requests, *histogram = map(int, text.readline().split())
        return {"time_ns": time_ns, "requests": requests, "histogram": histogram}
