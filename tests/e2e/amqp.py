# SPDX-License-Identifier: Apache-2.0
"""A client of RabbitMQ: as much of AMQP 0-9-1 as tests need."""
import socket
import struct

METHOD, HEADER, BODY, END = 1, 2, 3, b"\xce"
# (class, method)
START, START_OK, TUNE, TUNE_OK, OPEN, OPEN_OK = ((10, n) for n in (10, 11, 30, 31, 40, 41))
CHANNEL_OPEN, CHANNEL_OPEN_OK = (20, 10), (20, 11)
DECLARE, DECLARE_OK = (50, 10), (50, 11)
QOS, QOS_OK, CONSUME, CONSUME_OK, PUBLISH, DELIVER, ACK = (
    (60, n) for n in (10, 11, 20, 21, 40, 60, 80))


def short(text):
    return bytes([len(text)]) + text.encode()


def long(data):
    return struct.pack(">I", len(data)) + data


def delivery_size(data):
    """Return the bytes of the frames of the message with which `data` begins, or None if `data`
    ends before. The body is one frame."""
    at = 0
    for _ in (METHOD, HEADER, BODY):
        if len(data) < at + 7:
            return None
        at += 7 + struct.unpack_from(">I", data, at + 3)[0] + len(END)
    return at


class Channel:
    """A connection with one channel. Use as a context manager."""

    def __init__(self, port, name):
        """`name` is that which the connection has for RabbitMQ."""
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb")
        try:
            self._open(name)
        except BaseException:
            self.close()
            raise

    def _open(self, name):
        self.socket.sendall(b"AMQP\0\0\x09\x01")
        self._await(START)
        properties = short("connection_name") + b"S" + long(name.encode())
        self._send(0, START_OK, long(properties) + short("PLAIN") + long(b"\0guest\0guest")
                   + short("en_US"))
        channels, frame, _ = struct.unpack(">HIH", self._await(TUNE))
        self._send(0, TUNE_OK, struct.pack(">HIH", channels, frame, 0))
        self._send(0, OPEN, short("/") + short("") + b"\0")
        self._await(OPEN_OK)
        self._send(1, CHANNEL_OPEN, short(""))
        self._await(CHANNEL_OPEN_OK)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def interrupt(self):
        """End a receive() that waits in another thread."""
        self.socket.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.input.close()
        self.socket.close()

    @property
    def port(self):
        """The port of this end of the connection."""
        return self.socket.getsockname()[1]

    def declare(self, queue):
        self._send(1, DECLARE, b"\0\0" + short(queue) + b"\0" + long(b""))
        self._await(DECLARE_OK)

    def message(self, queue, body):
        """Return the frames that publish a message."""
        header = struct.pack(">HHQH", 60, 0, len(body), 0)
        method = self._payload(PUBLISH, b"\0\0" + short("") + short(queue) + b"\0")
        return (self._frame(METHOD, 1, method) + self._frame(HEADER, 1, header)
                + self._frame(BODY, 1, body))

    def publish(self, queue, body):
        self.socket.sendall(self.message(queue, body))

    def consume(self, queue, most):
        """Begin to receive; at most so many messages wait for acknowledge()."""
        self._send(1, QOS, struct.pack(">IHB", 0, most, 0))
        self._await(QOS_OK)
        self._consume(queue, b"\0")

    def subscribe(self, queue):
        """Begin to receive; messages need no acknowledge()."""
        self._consume(queue, b"\2")

    def receive(self):
        """Return the tag of the next message."""
        delivery = self._await(DELIVER)
        at = 1 + delivery[0]
        return struct.unpack(">Q", delivery[at:at + 8])[0]

    def acknowledge(self, tag):
        self._send(1, ACK, struct.pack(">QB", tag, 0))

    def _consume(self, queue, flags):
        self._send(1, CONSUME, b"\0\0" + short(queue) + short("") + flags + long(b""))
        self._await(CONSUME_OK)

    def _payload(self, method, arguments):
        return struct.pack(">HH", *method) + arguments

    def _frame(self, kind, channel, payload):
        return struct.pack(">BHI", kind, channel, len(payload)) + payload + END

    def _send(self, channel, method, arguments):
        self.socket.sendall(self._frame(METHOD, channel, self._payload(method, arguments)))

    def _read(self, size):
        data = self.input.read(size)
        if len(data) < size:
            raise EOFError("RabbitMQ has closed the connection")
        return data

    def _await(self, wanted):
        """Return the arguments of the next such method; other frames are skipped."""
        while True:
            kind, _, size = struct.unpack(">BHI", self._read(7))
            payload = self._read(size + 1)[:-1]
            if kind == METHOD and struct.unpack(">HH", payload[:4]) == wanted:
                return payload[4:]
