# SPDX-License-Identifier: Apache-2.0
"""The client of services against a server that refuses what they refuse, and misbehaves."""
import base64
import os
import re
import subprocess
import unittest

from push_case import ENVIRONMENT, LABELS, SENDER, PushCase, Reply, send


class Protocols(PushCase):
    def test_each_protocol_is_accepted_and_profiles_arrive_unchanged(self):
        for protocol in ("pyroscope", "parca", "otlp"):
            with self.subTest(protocol):
                stub = self.stub()
                reply = self.send(protocol, stub.url + "/", "tenant=shop")
                request, = stub.requests()
                self.assertEqual((reply.outcome, reply.status, reply.reason), ("accepted", 200, ""))
                self.assertEqual(request["findings"], [])
                self.assertEqual(reply.sent, request["bytes"])
                profile, = request["profiles"]
                self.assertEqual((stub.folder / profile["file"]).read_bytes(),
                                 self.file(protocol).read_bytes())
                self.assertEqual(request["headers"]["x-scope-orgid"], "shop")
                self.assertRegex(request["headers"]["user-agent"], r"^beamflame/\d")
                self.assertNotIn("authorization", request["headers"])
                if protocol != "otlp":
                    self.assertEqual(profile["labels"], {
                        "__name__": "process_cpu", "service_name": "shop", "pod": "shop-1"})

    def test_profiles_of_one_request_have_ids_of_their_own(self):
        stub = self.stub()
        reply = send("pyroscope", stub.url, *LABELS, self.folder / "a.pb", self.folder / "b.pb")
        self.assertEqual(reply.outcome, "accepted")
        first, second = stub.requests()[0]["profiles"]
        self.assertEqual(first["id"], "00000000-0000-0000-0000-000000000001")
        self.assertEqual(second["id"], "00000000-0000-0000-0000-000000000002")
        for profile, name in ((first, "a.pb"), (second, "b.pb")):
            self.assertEqual((stub.folder / profile["file"]).read_bytes(),
                             (self.folder / name).read_bytes())

    def test_large_bodies_arrive_at_once(self):
        """curl would wait a second for a server's leave to send more than 1 MB."""
        path = self.folder / "large"
        path.write_bytes(os.urandom(3 << 20))
        stub = self.stub(mode="unchecked")
        for protocol in ("pyroscope", "parca", "otlp"):
            reply = send(protocol, stub.url, path)
            self.assertEqual(reply.outcome, "accepted")
            self.assertGreater(reply.sent, 3 << 20)
            self.assertNotIn("expect", stub.requests()[-1]["headers"])

    def test_connection_stays_open(self):
        stub = self.stub()
        replies = self.send("pyroscope", stub.url, "times=3", count=3)
        self.assertEqual({reply.outcome for reply in replies}, {"accepted"})
        self.assertEqual(len({request["connection"] for request in stub.requests()}), 1)

    def test_same_profile_has_the_same_id_again(self):
        stub = self.stub()
        self.send("pyroscope", stub.url, "times=2", count=2)
        self.assertEqual([request["profiles"][0]["duplicate"] for request in stub.requests()],
                         [False, True])


class Answers(PushCase):
    def answer(self, mode, protocol="pyroscope"):
        return self.send(protocol, self.stub(mode=mode).url)

    def test_refusal_is_in_the_words_of_the_service(self):
        for protocol in ("pyroscope", "parca", "otlp"):
            for status in (400, 413):
                reply = self.answer(str(status), protocol)
                self.assertEqual((reply.outcome, reply.status), ("refused", status))
                self.assertIn(f"status {status}: the mode is {status}", reply.reason)

    def test_what_the_rules_find_is_refused(self):
        stub = self.stub()
        reply = send("pyroscope", stub.url, "label=service_name=a", self.folder / "a.pb")
        self.assertEqual((reply.outcome, reply.reason), ("refused", "status 400: no __name__"))

    def test_service_that_is_busy_is_asked_again_when_it_says(self):
        for mode, least, most in (("429 7", 7, 7), ("503", 0, 0), ("503 date", 17, 21),
                                  ("429 -5", 0, 0), ("503 soon", 0, 0)):
            with self.subTest(mode):
                reply = self.answer(mode)
                self.assertEqual((reply.outcome, reply.status), ("later", int(mode[:3])))
                self.assertTrue(least <= reply.retry_after <= most, reply)

    def test_wait_holds_for_one_answer(self):
        """An answer without Retry-After does not have that of the answer before."""
        stub = self.stub(mode="429 7")
        sender = subprocess.Popen([SENDER, "pyroscope", stub.url, "times=200", *LABELS,
                                   self.folder / "a.pb"], stdout=subprocess.PIPE, text=True,
                                  env=ENVIRONMENT)
        self.addCleanup(sender.stdout.close)
        self.assertEqual(Reply(sender.stdout.readline().rstrip("\n")).retry_after, 7)
        (stub.folder / "mode").write_text("503")
        replies = [Reply(line) for line in sender.communicate()[0].splitlines()]
        self.assertEqual(({reply.retry_after for reply in replies if reply.status == 503}), {0})

    def test_words_are_safe_for_a_terminal(self):
        for protocol in ("pyroscope", "parca", "otlp"):
            reply = self.answer("error", protocol)
            self.assertEqual(reply.outcome, "refused")
            self.assertTrue(reply.reason.startswith(
                'status 400: bad \ufffd[31mlabel\ufffd in {a="<b>"} see https://x/\ufffd and more é'))
            self.assertTrue(reply.reason.endswith("é..."), reply)

    def test_otlp_counts_what_is_rejected(self):
        reply = self.answer("partial", "otlp")
        self.assertEqual((reply.outcome, reply.rejected, reply.reason),
                         ("accepted", 2, "2 of its profiles rejected: two were bad"))
        reply = self.answer("warn", "otlp")
        self.assertEqual((reply.outcome, reply.rejected, reply.reason),
                         ("accepted", 0, "deprecated"))

    def test_page_for_browsers_is_refused(self):
        self.assertEqual(self.answer("page").outcome, "refused")

    def test_large_answer_is_refused_and_not_kept(self):
        for protocol in ("pyroscope", "parca", "otlp"):
            reply = self.answer("huge", protocol)
            self.assertEqual((reply.outcome, reply.reason),
                             ("refused", "status 200 with an answer of more than 64 KB"))
            self.assertLess(reply.seconds, 10)

    def test_connection_that_breaks_is_a_reason_to_try_later(self):
        for mode in ("close", "drop"):
            reply = self.answer(mode)
            self.assertEqual((reply.outcome, reply.status), ("later", 0), mode)
            self.assertTrue(reply.reason, mode)


class Credentials(PushCase):
    def test_secrets_are_read_from_their_files(self):
        basic = base64.b64encode("agent:s3 cret:é".encode()).decode()
        for wanted, arguments in (
                (f"Basic {basic}", ("user=agent", f"password_file={self.secret('s3 cret:é')}")),
                ("Bearer abc.def", (f"token_file={self.secret('abc.def' + chr(10))}",))):
            with self.subTest(wanted):
                stub = self.stub("--authorization", wanted)
                self.assertEqual(self.send("pyroscope", stub.url, *arguments).outcome, "accepted")

    def test_wrong_secret_is_refused_and_in_no_message(self):
        stub = self.stub("--authorization", "Bearer right")
        reply = self.send("pyroscope", stub.url, f"token_file={self.secret('wrong')}")
        self.assertEqual((reply.outcome, reply.status), ("refused", 401))
        self.assertNotIn("wrong", reply.reason)
        self.assertIn("token_file", reply.reason)

    def test_new_secret_is_used_at_once(self):
        """Also over the connection that the old one has opened."""
        path = self.secret("old")
        stub = self.stub("--authorization", "Bearer new")
        sender = subprocess.Popen([SENDER, "pyroscope", stub.url, "times=200", f"token_file={path}",
                                   *LABELS, self.folder / "a.pb"], stdout=subprocess.PIPE,
                                  text=True, env=ENVIRONMENT)
        self.addCleanup(sender.stdout.close)
        self.assertEqual(Reply(sender.stdout.readline().rstrip("\n")).status, 401)
        path.with_suffix(".new").write_text("new")
        path.with_suffix(".new").rename(path)
        replies = [Reply(line) for line in sender.communicate()[0].splitlines()]
        self.assertEqual(replies[-1].outcome, "accepted")
        self.assertEqual(len({request["connection"] for request in stub.requests()}), 1)

    def test_redirect_gets_neither_request_nor_credentials(self):
        other = self.stub()
        stub = self.stub("--redirect", other.url, mode="redirect")
        reply = self.send("pyroscope", stub.url, f"token_file={self.secret('abc')}")
        self.assertEqual((reply.outcome, reply.status), ("refused", 307))
        self.assertEqual(reply.reason, f"redirects to {other.url}/push.v1.PusherService/Push, which "
                                       "is not followed: credentials would be sent there")
        self.assertEqual(other.requests(), [])

    def test_netrc_and_files_of_curl_are_not_read(self):
        """Only the configuration says who gets which secret."""
        home = self.folder / "home"
        home.mkdir()
        for name, text in ((".netrc", "machine 127.0.0.1 login a password b\n"),
                           (".curlrc", "header = X-Curl: 1\n")):
            (home / name).write_text(text)
        stub = self.stub()
        self.send("pyroscope", stub.url, environment={"HOME": str(home)})
        self.assertFalse({"authorization", "x-curl"} & set(stub.requests()[0]["headers"]))


class Library(PushCase):
    def test_commands_do_not_load_libcurl_at_their_start(self):
        needed = subprocess.run(["readelf", "-dW", SENDER], capture_output=True, text=True,
                                check=True).stdout
        self.assertIn("libz.so", needed)
        self.assertNotIn("libcurl", needed)

    def test_missing_library_is_named(self):
        """In a namespace in which the file is empty."""
        if os.getuid() != 0:
            self.skipTest("needs root")
        known = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
        path = re.search(r"libcurl\.so\.4 .*=> (\S+)", known)[1]
        ended = subprocess.run(
            ["unshare", "-m", "sh", "-c", 'mount --bind /dev/null "$0" && exec "$@"', path, SENDER,
             "pyroscope", "http://127.0.0.1:1", self.folder / "a.pb"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stderr, r"can't load libcurl\.so\.4 \(install libcurl4\): .*" + path)


class Proxy(PushCase):
    def test_usual_variables_name_a_proxy(self):
        """The stub knows the path of a request to a proxy, http://service.invalid/..., as little as a
        proxy without that host."""
        stub = self.stub()
        reply = self.send("pyroscope", "http://service.invalid", environment={
            "http_proxy": stub.url})
        self.assertEqual(reply.status, 404)
        self.assertEqual(stub.requests()[0]["path"],
                         "http://service.invalid/push.v1.PusherService/Push")
        reply = self.send("pyroscope", stub.url, environment={
            "http_proxy": "http://127.0.0.1:1", "no_proxy": "127.0.0.1"})
        self.assertEqual(reply.outcome, "accepted")


if __name__ == "__main__":
    unittest.main()
