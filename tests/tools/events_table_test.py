# SPDX-License-Identifier: Apache-2.0
"""The table of docs/events.md has the events of the program, with their values."""
import os
import re
import subprocess
import unittest

from seeds import BINARY, ROOT

SAMPLED = {"cpu", "wall"}  # events without probes, which docs/metrics.md describes


def program(*arguments):
    """Return what the program prints, in wide lines."""
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=20,
                          env={**os.environ, "COLUMNS": "100"})


def values_of_program():
    """Return {event: values} of the help of report. The name of an event that is followed by any
    name ends in ":"."""
    text = program("help", "report").stdout.partition("\nEvents and their values:\n")[2]
    rows = re.findall(r"^  (\S+) +(.+)$", text.partition("\n\n")[0], re.M)
    return {name: values.split(", ") for name, values in rows}


def documented():
    """Return {event: values} of the table, in its order: `bif:M:F/A` is "bif:"."""
    text = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")
    table = text.partition("| event | what it samples |")[2].partition("\n\n")[0]
    found = {}
    for line in table.splitlines()[2:]:
        names, _, values = line.strip("|").split("|")
        values = list(dict.fromkeys(re.findall(r"`([\w-]+)`", values)))
        for name in re.findall(r"`(\S+)`", names):
            found[re.sub(r"^(bif|nif|usdt|call):.+", r"\1:", name)] = values
    return found


class EventsTable(unittest.TestCase):
    maxDiff = None

    def test_table_has_each_event_with_its_values(self):
        events = values_of_program()
        self.assertLessEqual(SAMPLED, set(events))
        self.assertEqual(documented(), {name: values for name, values in events.items()
                                        if name not in SAMPLED})

    def test_table_has_the_events_that_can_be_recorded(self):
        """An event that does not exist is refused with a list of those that do."""
        listed = program("-e", "none").stderr.partition("the events are: ")[2].splitlines()[0]
        names = {re.sub(r"^(bif|nif|usdt|call):.+", r"\1:", name) for name in listed.split(", ")}
        # `probe:SYMBOL[+OFFSET]` is two rows: a call has a time, a place has none.
        places = {"probe:SYMBOL", "probe:SYMBOL+OFFSET"}
        self.assertEqual(names - {"probe:SYMBOL[+OFFSET]"} | places, set(documented()) | SAMPLED)


if __name__ == "__main__":
    unittest.main()
