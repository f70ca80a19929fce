# SPDX-License-Identifier: Apache-2.0
"""Ports and sockets of `beamflame dump`, compared with what the nodes say of them."""
import json

import beamflame
import nodes

NEEDS = "own nodes"
WATERMARK = 1000000  # as in tests/loads/sockets.erl
SAID = ("queue_size", "input", "output", "name", "registered_name", "recv_oct", "send_oct")
PROTOCOLS = {"udp_receiver": "udp", "udp_sender": "udp", "listener6": "tcp6", "local": "unix"}


def dump(node):
    return json.loads(beamflame.record("dump", "--json", "--list", "ports", "-p", node.pid).stdout)


@nodes.each_release
class Ports:
    """The tests for each release."""

    release = None

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        with nodes.Node(cls.release, "sockets") as node:
            node.report()  # the report makes the node read its standard input
            cls.got = dump(node)
            cls.said = node.report()
            cls.text = beamflame.record("dump", "--list", "ports", "-p", node.pid).stdout
        cls.ports = {port["id"]: port for port in cls.got["ports"]}
        cls.kinds = {port["kind"]: cls.ports[port["id"]] for port in cls.said["ports"]}

    def test_the_ports_are_those_of_the_node(self):
        """The dump has the ports that erlang:ports() has."""
        self.assertEqual(sorted(self.ports), sorted(self.said["all"]))
        self.assertEqual(self.got["ports_gone"], 0)

    def test_ports_are_as_port_info_says(self):
        """Counts, queue, names and owner of each port are those of erlang:port_info, the octets
        those of inet:getstat."""
        for said in self.said["ports"]:
            port = self.ports[said["id"]]
            with self.subTest(kind=said["kind"]):
                expected = {name: said[name] for name in SAID if name in said}
                self.assertEqual({name: port.get(name) for name in expected}, expected)
                self.assertEqual(port["owner"]["pid"], said["owner"])
                self.assertEqual(port["owner"]["name"], "sockets_main")
                self.assertEqual(port["driver"], "spawn" if said["kind"] == "program"
                                 else said["name"])
                self.assertEqual(port.get("os_pid", "undefined"), said["os_pid"])

    def test_sockets_of_ports_have_their_addresses(self):
        """Addresses are those of inet:sockname and inet:peername."""
        for said in self.said["ports"]:
            if "local" not in said:
                continue
            socket = self.kinds[said["kind"]]["socket"]
            with self.subTest(kind=said["kind"]):
                self.assertEqual(socket["protocol"], PROTOCOLS.get(said["kind"], "tcp"))
                self.assertEqual(socket["local"], said["local"])
                self.assertEqual(socket["peer"], said["peer"])

    def test_data_that_nobody_reads_is_in_the_queues(self):
        """What was sent is in the port, in the socket that sends, and in that which receives. The
        port is busy."""
        full, unread = self.kinds["full"], self.kinds["unread"]
        self.assertGreater(full["queue_size"], WATERMARK)
        self.assertEqual(full["send_oct"], full["queue_size"] + full["socket"]["send_queue"] +
                         unread["socket"]["receive_queue"])
        self.assertGreater(full["socket"]["send_queue"], 0)
        self.assertGreater(unread["socket"]["receive_queue"], 0)
        busy = [port["id"] for port in self.got["ports"] if port["busy"]]
        self.assertEqual(busy, [full["id"]])
        self.assertEqual(self.got["ports"][0]["id"], full["id"])  # the largest queue comes first
        self.assertGreater(self.kinds["udp_receiver"]["socket"]["receive_queue"], 0)

    def test_listening_sockets_are_shown_as_such(self):
        """Listening sockets say how many connections wait to be accepted; others do not listen."""
        listening = {kind for kind, port in self.kinds.items()
                     if port.get("socket", {}).get("state") == "listen"}
        self.assertEqual(listening, {"listener", "listener6", "local"} & set(self.kinds))
        self.assertEqual(self.kinds["listener"]["socket"]["to_accept"], 1)

    def test_sockets_without_a_port_are_listed(self):
        """The sockets of module `socket` are among those without a port, and those of ports are
        not."""
        found = {(socket["local"], socket["peer"]): socket for socket in self.got["sockets"]}
        for said in self.said["sockets"]:
            self.assertIn((said["local"], said["peer"]), found, said["kind"])
        server = next(said for said in self.said["sockets"] if said["kind"] == "server")
        self.assertEqual(found[server["local"], server["peer"]]["receive_queue"], 5000)
        taken = {port["socket"]["descriptor"] for port in self.got["ports"] if "socket" in port}
        self.assertFalse(taken & {socket["descriptor"] for socket in self.got["sockets"]})

    def test_text_begins_with_the_largest_queue(self):
        """The first row of the text is the port with the largest queue."""
        rows = [line for line in self.text.splitlines() if line.startswith("  ")]
        self.assertIn(f"  {self.kinds['full']['id']} ", rows[0])
        self.assertIn("  busy  tcp established ", rows[0])
        self.assertEqual(len([row for row in rows if " listen " in row]),
                         len([p for p in self.got["ports"]
                              if p.get("socket", {}).get("state") == "listen"]) + 1)

