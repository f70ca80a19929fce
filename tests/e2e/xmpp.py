# SPDX-License-Identifier: Apache-2.0
"""A small XMPP client: sessions of users on an ejabberd that lets anybody in (RFC 6120)."""
import base64
import socket

HOST = "localhost"


class Session:
    """A user who is logged in and available. Use as a context manager: it ends with the block."""

    def __init__(self, port, user, timeout=60):
        self.user = user
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        try:
            self.log_in()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def log_in(self):
        secret = base64.b64encode(f"\0{self.user}\0secret".encode()).decode()
        self.open_stream()
        self.ask('<auth xmlns="urn:ietf:params:xml:ns:xmpp-sasl" mechanism="PLAIN">'
                 f"{secret}</auth>", "<success")
        self.open_stream()
        self.ask('<iq type="set" id="bind"><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind">'
                 "<resource>test</resource></bind></iq>", "</jid>")
        self.ask("<presence/>", "<presence")

    def open_stream(self):
        self.ask(f'<stream:stream to="{HOST}" version="1.0" xmlns="jabber:client" '
                 'xmlns:stream="http://etherx.jabber.org/streams">', "</stream:features>")

    def ask(self, text, answer):
        """Send a text, and wait until the server's answer contains another."""
        self.socket.sendall(text.encode())
        self.wait_for(answer)

    def send(self, user, text):
        """Send a message to a user."""
        self.socket.sendall(f'<message type="chat" to="{user}@{HOST}"><body>{text}</body></message>'
                            .encode())

    def wait_for(self, text):
        """Read until the server has sent a text. What else it has sent is dropped."""
        received = ""
        while text not in received:
            data = self.socket.recv(1 << 16)
            if not data or "</stream:error>" in received or "<failure" in received:
                raise AssertionError(f"no {text!r} for {self.user}, but {received!r}")
            received += data.decode()
