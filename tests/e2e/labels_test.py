# SPDX-License-Identifier: Apache-2.0
"""Processes are labelled by what their dictionaries have."""
import json
import unittest

import beamflame
import nodes

NEEDS = "own nodes"
PEER = "10.0.0.5:4711 -> 10.0.0.1:5672"
GROWN = f'<<"{"0123456789" * 8}">>'


@nodes.each_release
class Labels:
    release = None

    @classmethod
    def setUpClass(cls):
        beamflame.require()
        cls.node = nodes.Node(cls.release, "labels")
        cls.addClassCleanup(cls.node.kill)
        cls.pids = cls.node.report()["pids"]

    def labels(self, *options):
        """Return the label of each process of the load, by its kind."""
        done = beamflame.record("dump", "--json", "-p", self.node.pid, *options)
        of_pid = {process["pid"]: process for process in json.loads(done.stdout)["processes"]}
        return {kind: of_pid[pid]["label"] for kind, pid in self.pids.items()}

    def test_known_software_and_labels_are_shown(self):
        self.assertEqual(self.labels(), {
            "queue": "queue 'orders' in vhost '/'", "channel": f"channel {PEER} (3)",
            "registered": f"channel {PEER} (3)", "other": None, "shop": "till", "till": None,
            "labelled": "{till,7}", "large": "connection peer", "log": "disk_log orders",
            "grown": GROWN, "request": None, "text": None})

    def test_keys_of_the_user_come_first(self):
        labels = self.labels("--name-by", "shop/2", "--name-by", "Till.Id",
                             "--name-by", "'process_name'/1")
        self.assertEqual(labels, {
            "queue": "rabbit_amqqueue_process", "channel": "rabbit_channel",
            "registered": "rabbit_channel", "other": None, "shop": '<<"north">>', "till": "7",
            "labelled": "rabbit_reader", "large": "rabbit_reader", "log": "disk_log orders",
            "grown": GROWN, "request": None, "text": None})

    def test_keys_of_maps_name_processes(self):
        """A request has its number in the metadata of its log messages. A map of more than 32 keys
        has no such number."""
        self.assertEqual(self.labels("--name-by", "$logger_metadata$/request_id")["request"],
                         '<<"F8x">>')
        self.assertIsNone(self.labels("--name-by", "$logger_metadata$/user")["request"])
        self.assertIsNone(self.labels("--name-by", "big/1")["request"])
        self.assertIsNone(self.labels("--name-by", "big/key")["request"])

    def test_texts_are_keys_in_either_notation(self):
        for key, label in (('"t4"', "7"), ('<<"t4">>', "7"), ('"t5"/id', "9"), ('"t5"/"id"', "8"),
                           ('"t5"/<<"id">>', "8"), ('<<"t5">>/id', None), ("t4", None)):
            with self.subTest(key):
                self.assertEqual(self.labels("--name-by", key)["text"], label)

    def test_details_do_not_name_groups(self):
        out = beamflame.folder(self.addCleanup)
        beamflame.record("-p", self.node.pid, "-d", 1, "-e", "wall", "-o", out / "x.bfr")
        by = {key: {stack[0] for stack in beamflame.folded(out / "x.bfr", "--group-by", key,
                                                           "--status", "waiting")}
              for key in ("name", "pid", "label")}
        channel = f"channel {PEER} (3)"
        self.assertLessEqual({"queue 'orders' in vhost '/'", "the_channel", "disk_log orders",
                              "till", "{till,7}"}, by["name"])
        self.assertEqual([name for name in by["name"] if "connection" in name or "4711" in name], [])
        self.assertLessEqual({f"{channel} {self.pids['channel']}",
                              f"the_channel {self.pids['registered']}"}, by["pid"])
        self.assertLessEqual({channel, "connection peer", "[no label]"}, by["label"])
        selected = beamflame.folded(out / "x.bfr", "--group-by", "pid", "--process", channel,
                                    "--status", "waiting")
        self.assertEqual({stack[0] for stack in selected},
                         {f"{channel} {self.pids['channel']}",
                          f"the_channel {self.pids['registered']}"})


class Usage(unittest.TestCase):
    def test_bad_keys_are_refused_in_one_sentence(self):
        for arguments in (["record", "-d", "1"], ["dump"]):
            for key in ("", "two words", "shop/0", "shop/-1", "shop/2/1", "\"shop", "shop:id"):
                with self.subTest(key=key, command=arguments[0]):
                    done = beamflame.run(*arguments, "--name-by", key)
                    self.assertEqual(done.returncode, beamflame.USAGE)
                    self.assertIn(f"--name-by takes an atom or a text in double quotes, and perhaps "
                                  f"/ and the number of an element of a tuple (1 to 255) or a key "
                                  f"of a map, such as shop_id, shop_id/2, shop/id or \"shop id\", "
                                  f"not '{key}'", done.stderr)

    def test_ninth_key_is_refused(self):
        done = beamflame.run("dump", *["--name-by", "key"] * 9)
        self.assertEqual(done.returncode, beamflame.USAGE)
        self.assertIn("at most 8 keys", done.stderr)


if __name__ == "__main__":
    unittest.main()
