# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a real application is named by beamflame alone, in one or two commands."""
import contextlib
import json
import re
import signal
import threading
import time
import unittest
from collections import Counter
from http.client import HTTPConnection
from pathlib import Path

import amqp
import applications
import beamflame
import xmpp

NEEDS = "own nodes"
EDGE = re.compile(r'    "(.*) <[\d.]+>" -> "(.*) <[\d.]+>" \[label=.*, "count"=(\d+), .*\];')
BUSIEST = re.compile(r"\nETS tables with most CPU time\n.* samples?  +(\S+)\n")
WARM_UP = 2  # seconds
USERS = 800

SHOP = """
defmodule Shop.Stock do
  use GenServer
  def init(count), do: {:ok, count}
  def handle_cast({:take, n}, count) do
    Process.sleep(20)
    {:noreply, count - n}
  end
end

defmodule Shop.Till do
  def sell do
    GenServer.cast(Shop.Stock, {:take, 1})
    Process.sleep(2)
    sell()
  end
end

{:ok, _} = GenServer.start_link(Shop.Stock, 0, name: Shop.Stock)
for _ <- 1..5, do: spawn_link(&Shop.Till.sell/0)
IO.puts("ready")
Process.sleep(:infinity)
"""

KEYS = """
require Logger

put = fn entries ->
  spawn(fn ->
    Enum.each(entries, fn {key, value} -> Process.put(key, value) end)
    Process.sleep(:infinity)
  end)
end

put.([{:request_id, :one}])
put.([{"t4", :two}])
put.([{Shop.Cart, %{"id" => :three}}])
spawn(fn ->
  Logger.metadata(request_id: :four)
  Process.sleep(:infinity)
end)
Process.sleep(200)
IO.puts("ready")
Process.sleep(:infinity)
"""


def largest(node, metric):
    """Return the process with the largest metric."""
    done = beamflame.record("dump", "--json", "-p", node.pid, "--top", f"1:{metric}")
    process, = json.loads(done.stdout)["processes"]
    return process


def longest(node):
    """Return the port with the longest queue."""
    done = beamflame.record("dump", "--json", "--list", "ports", "-p", node.pid)
    return json.loads(done.stdout)["ports"][0]


class RabbitMQ(unittest.TestCase):
    """A queue grows because its consumer is slow. Another one is consumed as fast as it is filled."""

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.node = applications.RabbitMQ()
        cls.addClassCleanup(cls.node.kill)
        cls.stop = threading.Event()
        cls.channels, cls.threads = {}, []
        cls.addClassCleanup(cls.finish)
        for queue, pause in (("orders", 0.1), ("mails", 0)):
            cls.start(f"shop with {queue}", cls.publish, queue)
            cls.start(f"billing of {queue}", cls.consume, queue, pause)
        time.sleep(WARM_UP)

    @classmethod
    def start(cls, name, work, queue, *arguments):
        channel = cls.channels[name] = amqp.Channel(cls.node.port, name)
        channel.declare(queue)
        cls.threads.append(threading.Thread(target=cls.run_until_stopped,
                                            args=(work, channel, queue, *arguments)))
        cls.threads[-1].start()

    @classmethod
    def run_until_stopped(cls, work, *arguments):
        try:
            work(*arguments)
        except (EOFError, OSError):
            if not cls.stop.is_set():
                raise

    @classmethod
    def finish(cls):
        cls.stop.set()
        for channel in cls.channels.values():
            channel.interrupt()
        for thread in cls.threads:
            thread.join()
        for channel in cls.channels.values():
            channel.close()

    @classmethod
    def publish(cls, channel, queue):
        while not cls.stop.wait(0.01):
            for _ in range(3):
                channel.publish(queue, b"x" * 1000)

    @classmethod
    def consume(cls, channel, queue, pause):
        channel.consume(queue, most=20)
        while not cls.stop.wait(pause):
            channel.acknowledge(channel.receive())

    def traffic(self):
        """Return {(sender, receiver): messages} of 3 seconds."""
        out = beamflame.folder(self.addCleanup) / "x.dot"
        beamflame.record("-p", self.node.pid, "-d", 3, "-e", "msg", "--budget", 100,
                         "--group-by", "pid", "-o", out)
        return Counter({(sender, receiver): int(count)
                        for sender, receiver, count in EDGE.findall(Path(out).read_text())})

    def test_growing_queue_and_its_slow_consumer_are_named(self):
        traffic = self.traffic()
        flows, consumers = {}, {}
        for queue in {receiver for _, receiver in traffic if receiver.startswith("queue ")}:
            sent = Counter({to: n for (sender, to), n in traffic.items() if sender == queue})
            (consumers[queue], delivered), = sent.most_common(1)
            published = sum(n for (sender, to), n in traffic.items()
                            if to == queue and sender.startswith("channel ")
                            and sender != consumers[queue])
            flows[queue] = delivered / published
        orders, mails = "queue 'orders' in vhost '/'", "queue 'mails' in vhost '/'"
        self.assertEqual(set(flows), {orders, mails})
        self.assertLess(flows[orders], 0.5, traffic)
        self.assertGreater(flows[mails], 0.8, traffic)
        slow = self.channels["billing of orders"]
        peers = f"127.0.0.1:{slow.port} -> 127.0.0.1:{self.node.port}"
        self.assertEqual(consumers[orders], f"channel {peers} (1)")
        self.assertIn((f"connection {peers} - billing of orders", consumers[orders]), traffic)

    def test_connection_whose_client_does_not_read_is_named(self):
        """It has the longest queue of all ports and sockets."""
        with amqp.Channel(self.node.port, "archive") as channel:
            channel.declare("papers")
            channel.consume("papers", most=0)
            for _ in range(100):
                channel.publish("papers", b"x" * 100000)
            deadline = time.monotonic() + 30
            while not (port := longest(self.node))["busy"]:
                self.assertLess(time.monotonic(), deadline, port)
            client = f"127.0.0.1:{channel.port}"
            channel.interrupt()
        self.assertEqual(port["owner"]["label"],
                         f"connection {client} -> 127.0.0.1:{self.node.port} - archive")
        self.assertEqual(port["socket"]["peer"], client)

    def test_growing_queue_gets_the_largest_heap(self):
        """Its mailbox stays empty."""
        deadline = time.monotonic() + 30
        while (process := largest(self.node, "heap"))["label"] != "queue 'orders' in vhost '/'":
            self.assertLess(time.monotonic(), deadline, process)
        self.assertLess(process["metrics"]["msgq"], 100)


class Elixir(unittest.TestCase):
    def test_server_with_a_mailbox_storm_is_named(self):
        beamflame.require()
        with applications.Elixir(SHOP) as node:
            time.sleep(1)
            process = largest(node, "+msgq:1")
        self.assertEqual(process["name"], "Shop.Stock")
        self.assertGreater(process["growth"]["msgq"], 100)

    def test_keys_name_processes_in_either_notation(self):
        """Keys of process dictionaries are given to --name-by as Elixir or as Erlang writes them."""
        beamflame.require()
        notations = {
            "one": ("request_id", ":request_id", ':"request_id"', "'request_id'"),
            "two": ('"t4"', '<<"t4">>'),
            "three": ('Shop.Cart/"id"', 'Elixir.Shop.Cart/<<"id">>', "'Elixir.Shop.Cart'/\"id\""),
            "four": ("$logger_metadata$/request_id", ':"$logger_metadata$"/:request_id'),
        }
        with applications.Elixir(KEYS) as node:
            for label, keys in notations.items():
                for key in keys:
                    with self.subTest(key):
                        done = beamflame.record("dump", "--json", "-p", node.pid, "--name-by", key)
                        labels = [process["label"] for process in json.loads(done.stdout)["processes"]]
                        self.assertEqual([own for own in labels if own in notations], [label])


class Ejabberd(unittest.TestCase):
    def test_busy_table_is_named(self):
        """800 users are logged in. The summary names the table on which the calls of the API work.
        Each call selects its command from ejabberd_commands, row by row. One also reads all of
        session, which has a row for each user (ejabberd_sm:get_sessions/1)."""
        beamflame.require()
        with applications.Ejabberd() as node, contextlib.ExitStack() as stack:
            for i in range(USERS):
                stack.enter_context(xmpp.Session(node.clients, f"user{i}"))
            self.check_busy_table(node, "ejabberd_commands",
                                  {"ejabberd_commands:get_command_definition/2", "ets:select/2"},
                                  "get_roster", {"user": "anna", "host": "localhost"}, b"[]")
            self.check_busy_table(node, "session",
                                  {"ejabberd_sm:get_sessions/1", "ets:match_object/2"},
                                  "connected_users_number", {}, str(USERS).encode())

    def check_busy_table(self, node, table, functions, *call):
        """Check that the table is named, also in all stacks with these functions, which work on no
        other table."""
        out = beamflame.folder(self.addCleanup) / "x.folded"
        with beamflame.recording("-p", node.pid, "-F", 499, "-o", out) as process:
            self.call(node.port, *call, seconds=4)
            process.send_signal(signal.SIGINT)
            summary = process.communicate()[0]
        self.assertEqual(BUSIEST.search(summary)[1], table, summary)
        stacks = beamflame.read_folded(out)
        tables = Counter()
        for frames, count in stacks.items():
            shown = [frame[7:-1] for frame in frames if frame.startswith("[table ")]
            if functions.issubset(frames):
                self.assertIn(shown, ([], [table]), frames)
            tables.update(dict.fromkeys(shown, count))
        in_ets = beamflame.weight_where(
            stacks, lambda frames: any(frame.startswith("ets:") for frame in frames))
        self.assertGreater(tables.total() / in_ets, 0.9, tables)
        self.assertGreater(tables[table] / tables.total(), 0.5, tables)

    def test_largest_tables_are_named_with_their_owners(self):
        beamflame.require()
        largest_tables = re.compile(r" ETS tables: [\d.]+ MB; the 10 largest:\n"
                                    r" +[\d.]+ MB  translations +[\d,]+ objects .* translate\n"
                                    r" +[\d.]+ kB  ejabberd_commands +1\d\d objects  bag +public "
                                    r" +<[\d.]+> mnesia_monitor\n")
        with applications.Ejabberd() as node:
            deadline = time.monotonic() + 30  # modules add their commands after the port is open
            while not largest_tables.search(text := self.tables(node)):
                self.assertLess(time.monotonic(), deadline, text)

    def tables(self, node):
        return beamflame.record("dump", "-p", node.pid, "--list", "tables").stdout

    def call(self, port, command, arguments, answer, seconds):
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        self.addCleanup(connection.close)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            connection.request("POST", f"/api/{command}", json.dumps(arguments),
                               {"Content-Type": "application/json"})
            response = connection.getresponse()
            self.assertEqual((response.status, response.read()), (200, answer))


if __name__ == "__main__":
    unittest.main()
