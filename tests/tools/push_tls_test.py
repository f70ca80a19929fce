# SPDX-License-Identifier: Apache-2.0
"""The client of services sends only to servers whose certificates are trusted."""
import os
import shutil
import subprocess
import unittest

from push_case import (ENVIRONMENT, LABELS, ROOT, SENDER, PushCase, Reply, make_ca,
                       make_certificate, openssl)

PROXY = ROOT / "tests" / "tools" / "http2_proxy.mjs"


class Tls(PushCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not shutil.which("openssl"):
            raise unittest.SkipTest("openssl is not installed")
        make_ca(cls.folder, "ca")
        make_ca(cls.folder, "other")
        make_certificate(cls.folder, "server", "ca", "IP:127.0.0.1")
        make_certificate(cls.folder, "elsewhere", "ca", "DNS:elsewhere.invalid")
        make_certificate(cls.folder, "expired", "ca", "IP:127.0.0.1", days=-1)

    def tls(self, name="server"):
        return self.stub("--tls", self.folder / f"{name}.pem", self.folder / f"{name}.key")

    def ca(self, name):
        return f"ca_file={self.folder / name}"

    def test_own_ca_is_trusted(self):
        for protocol in ("pyroscope", "parca", "otlp"):
            stub = self.tls()
            replies = self.send(protocol, stub.url, self.ca("ca.pem"), "times=2", count=2)
            self.assertEqual([reply.outcome for reply in replies], ["accepted"] * 2, replies)
            self.assertEqual(len({request["connection"] for request in stub.requests()}), 1)

    def http2_proxy(self, stub):
        """Start a proxy before the stub. Return its URL, and a function that ends it and returns the
        lines that it has printed."""
        if not shutil.which("node"):
            self.skipTest("node is not installed")
        proxy = subprocess.Popen(["node", PROXY, self.folder / "server.pem", self.folder / "server.key",
                                  str(stub.port)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(proxy.stdout.close)
        self.addCleanup(proxy.wait)
        self.addCleanup(proxy.kill)
        port = int(proxy.stdout.readline())

        def lines():
            proxy.terminate()
            return proxy.stdout.read().splitlines()

        return f"https://127.0.0.1:{port}", lines

    def test_http2_is_used_where_a_server_offers_it(self):
        """All requests go by one connection. The stub behind the proxy gets them whole."""
        for protocol in ("pyroscope", "parca", "otlp"):
            with self.subTest(protocol):
                stub = self.stub()
                url, lines = self.http2_proxy(stub)
                replies = self.send(protocol, url, self.ca("ca.pem"), "times=3", "user=agent",
                                    f"password_file={self.secret('abc')}", count=3)
                self.assertEqual([reply.outcome for reply in replies], ["accepted"] * 3, replies)
                self.assertEqual(lines(), ["connection"] + ["request HTTP/2.0"] * 3)
                self.assertEqual([request["status"] for request in stub.requests()], [200] * 3)

    def test_untrusted_certificate_gets_nothing_and_is_named(self):
        (self.folder / "empty.pem").write_text("")
        (self.folder / "bad.pem").write_text("no certificate\n")
        unknown = "the certificate of 127.0.0.1 is not trusted: SSL certificate problem: "
        for server, arguments, reason in (
                ("server", (), f"{unknown}.*; name its CA with ca_file$"),
                ("server", (self.ca("other.pem"),), f"{unknown}.*; its CA is not in ca_file$"),
                ("elsewhere", (self.ca("ca.pem"),), "of 127.0.0.1 is not trusted: .*does not match"
                                                    "|of 127.0.0.1 is not trusted: .*no alternative"),
                ("expired", (self.ca("ca.pem"),), f"{unknown}certificate has expired$"),
                ("server", (self.ca("empty.pem"),), "^ca_file: no certificate in '.*empty.pem'$"),
                ("server", (self.ca("bad.pem"),), "^ca_file: no certificate in '.*bad.pem'$")):
            with self.subTest(reason):
                stub = self.tls(server)
                reply = self.send("pyroscope", stub.url, f"token_file={self.secret('abc')}",
                                  *arguments)
                self.assertEqual((reply.outcome, reply.status, reply.sent), ("later", 0, 0))
                self.assertRegex(reply.reason, reason)
                self.assertEqual(stub.requests(), [])

    def test_certificates_are_those_of_the_system_unless_there_is_ca_file(self):
        """In a namespace whose /etc/ssl/certs has our CA, as a bundle and as curl's folder."""
        if os.getuid() != 0:
            self.skipTest("needs root")
        system = self.folder / "certs"
        system.mkdir()
        shutil.copy(self.folder / "ca.pem", system / "ca-certificates.crt")
        shutil.copy(self.folder / "ca.pem", system / "ca.pem")
        openssl("rehash", system)
        stub = self.tls()
        for arguments, outcome in ((), "accepted"), ((self.ca("other.pem"),), "later"):
            ended = subprocess.run(
                ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /etc/ssl/certs && exec "$@"', system,
                 SENDER, "pyroscope", stub.url, *arguments, *LABELS, self.folder / "a.pb"],
                capture_output=True, text=True, env=ENVIRONMENT)
            self.assertEqual(Reply(ended.stdout.rstrip("\n")).outcome, outcome, ended)

    def test_server_without_tls_is_a_reason_to_try_later(self):
        reply = self.send("pyroscope", self.stub().url.replace("http", "https"))
        self.assertEqual((reply.outcome, reply.status), ("later", 0))


if __name__ == "__main__":
    unittest.main()
