# SPDX-License-Identifier: Apache-2.0
"""Samples of real applications add up to the totals of their events, in each output."""
import contextlib
import itertools
import json
import threading
import time
import unittest

import amqp
import applications
import applications_test
import beamflame
import nodes
import output_sums
import xmpp
from totals_test import EVENTS, sums_of

NEEDS = "own nodes"
WARM_UP = 2  # seconds
USERS = 800
LEAST, MOST = 0.98, 1.02
SHOWN = {1: 4, 100: 8}  # by budget: values, at least, that samples have
SELECTIONS = ((("--to", "1.5"), ("--from", "1.5")), (("-I", "^gen"), ("-X", "^gen")))


@contextlib.contextmanager
def working(work, stop):
    """Let a thread do work until the block ends, which begins when the node has warmed up."""
    thread = threading.Thread(target=work)
    thread.start()
    try:
        time.sleep(WARM_UP)
        yield
    finally:
        stop.set()
        thread.join()


@nodes.each_of(applications.RELEASES)
class Totals:
    release = None

    def totals(self, node, budget):
        """Return a recording of 4 s, and {(event, value): total}."""
        out = beamflame.folder(self.addCleanup) / "x.bfr"
        beamflame.record("-q", "-p", node.pid, "-d", 4, "--budget", budget, "-e",
                         ",".join(("cpu", "wall", *EVENTS)), "-o", out, "--stats",
                         out.with_suffix(".stats"))
        events = json.loads(out.with_suffix(".stats").read_text("utf-8"))["events"]
        return out, {(event, value): of["sum"] for event in EVENTS
                     for value, of in events[event]["values"].items()}

    def check(self, node):
        """Of each value in JSON; of the first value of each event that is shown in all formats.
        Values that no sample has can't be shown."""
        for budget, least in SHOWN.items():
            with self.subTest(budget=budget):
                path, totals = self.totals(node, budget)
                sums = sums_of(path)
                shown = {key: total for key, total in totals.items() if total and sums[key]}
                self.assertGreaterEqual(len(shown), least, totals)
                for key, total in shown.items():
                    self.check_sum(sums[key], total, key)
                for event, value in {key[0]: key for key in reversed(shown)}.values():
                    self.check_outputs(path, event, value, shown[event, value])

    def check_sum(self, found, total, of):
        """Sums are whole, so small ones are off by 1."""
        self.assertGreaterEqual(found, LEAST * total - 2, of)
        self.assertLessEqual(found, MOST * total + 2, of)

    def check_outputs(self, path, event, value, total):
        """In each format; and two selections that leave nothing out add up to it."""
        for name, found in output_sums.sums(path, event, value).items():
            self.check_sum(found, total, (event, value, name))
        for options in SELECTIONS:
            parts = (sums_of(path, "-e", event, *option)[event, value] for option in options)
            self.check_sum(sum(parts), total, (event, value, options))

    def test_rabbitmq(self):
        beamflame.require()
        node = applications.RabbitMQ(self.release)
        self.addCleanup(node.kill)
        publisher, consumer = amqp.Channel(node.port, "shop"), amqp.Channel(node.port, "billing")
        stop = threading.Event()
        publisher.declare("orders")
        consumer.consume("orders", most=20)

        def work():
            while not stop.wait(0.005):
                publisher.publish("orders", b"x" * 1000)
                consumer.acknowledge(consumer.receive())

        try:
            with working(work, stop):
                self.check(node)
        finally:
            publisher.close()
            consumer.close()

    def test_ejabberd(self):
        """800 users are logged in, and write to one another in turn."""
        beamflame.require()
        stop = threading.Event()
        with applications.Ejabberd(self.release) as node, contextlib.ExitStack() as stack:
            users = [stack.enter_context(xmpp.Session(node.clients, f"user{i}"))
                     for i in range(USERS)]

            def work():
                for sender, receiver in itertools.pairwise(itertools.cycle(users)):
                    if stop.wait(0.002):
                        return
                    sender.send(receiver.user, "x" * 100)
                    receiver.wait_for("</message>")

            with working(work, stop):
                self.check(node)

    def test_elixir(self):
        beamflame.require()
        node = applications.Elixir(applications_test.SHOP, release=self.release)
        self.addCleanup(node.kill)
        time.sleep(WARM_UP)
        self.check(node)


if __name__ == "__main__":
    unittest.main()
