# SPDX-License-Identifier: Apache-2.0
"""No server holds up the client of services."""
import os
import socket
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor

from push_case import ENVIRONMENT, LABELS, SENDER, PushCase, Reply


class Times(PushCase):
    """All at once, because each takes long."""

    def black_hole(self):
        """Return a port that answers no packet: its queue of connections is full."""
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        self.addCleanup(listener.close)
        for _ in range(2):
            client = socket.socket()
            self.addCleanup(client.close)
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        return listener.getsockname()[1]

    def test_no_server_holds_a_request_for_long(self):
        hole = f"http://127.0.0.1:{self.black_hole()}"
        slow, silent = self.stub(mode="slow").url, self.stub(mode="silent").url
        with ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda to: self.send("pyroscope", to[0], *to[1:]), (
                (hole,), (slow,), (silent,), (hole, "stop_after=0.5"), (slow, "stop_after=0.5"),
                (silent, "stop_after=0.5"), ("http://127.0.0.1:1",))))
        self.assertEqual({reply.outcome for reply in replies}, {"later"})
        for reply, least, most in zip(replies, (4.5, 14, 14, 0.4, 0.4, 0.4, 0),
                                      (8, 25, 25, 1.5, 1.5, 1.5, 2)):
            self.assertTrue(least < reply.seconds + 1e-9 and reply.seconds < most, replies)
        self.assertEqual([reply.reason for reply in replies[3:6]], ["stopped"] * 3)
        self.assertIn("onnect", replies[6].reason)

    def test_name_server_that_does_not_answer_holds_up_nothing(self):
        """The resolver would wait for 20 s."""
        if os.getuid() != 0:
            self.skipTest("needs root")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
            server.bind(("127.0.0.77", 53))
            path = self.folder / "resolv.conf"
            path.write_text("nameserver 127.0.0.77\noptions timeout:5 attempts:4\n")
            for arguments, least, most in ((), 4.5, 8), (("stop_after=0.5",), 0.4, 1.5):
                ended = subprocess.run(
                    ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /etc/resolv.conf && exec "$@"',
                     path, SENDER, "pyroscope", "http://service.example", *arguments, *LABELS,
                     self.folder / "a.pb"], capture_output=True, text=True, env=ENVIRONMENT)
                reply = Reply(ended.stdout.rstrip("\n"))
                self.assertEqual(reply.outcome, "later")
                self.assertTrue(least < reply.seconds < most, reply)


if __name__ == "__main__":
    unittest.main()
