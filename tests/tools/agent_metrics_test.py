# SPDX-License-Identifier: Apache-2.0
"""The metrics of the agent, and those that name them: the table of docs/agent.md, the dashboard and
the alerts of deploy/."""
import json
import re
import shutil
import subprocess
import tempfile
import unittest

from seeds import BUILD, ROOT

PROGRAM = BUILD / "tests" / "metric_list"
TEXT = (ROOT / "docs" / "agent.md").read_text(encoding="utf-8")
HEAD = "| metric | type | what it is |"
DASHBOARD = ROOT / "deploy" / "grafana" / "beamflame.json"
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yaml"
ALERT_TESTS = ROOT / "tests" / "tools" / "alerts.yaml"
METRIC = re.compile(r"\bbeamflame_\w+")
# Variables of Grafana, and values that they can have.
VARIABLES = {"$__rate_interval_ms": "60000", "$__rate_interval": "1m", "$instance": ".*",
             "$node": ".*", "$service": ".*"}


def rows():
    return subprocess.run([PROGRAM], capture_output=True, text=True, check=True).stdout.splitlines()


def names():
    """Return the names of all series."""
    found = set()
    for row in rows():
        name, kind = re.match(r"\| `(\w+)` \| (\w+)", row).groups()
        found |= {name} if kind != "histogram" else {f"{name}_{end}"
                                                    for end in ("bucket", "sum", "count")}
    return found


def panels():
    return json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]


def expressions():
    """Return the expressions of all panels, as Prometheus gets them."""
    for panel in panels():
        for target in panel.get("targets", ()):
            expression = target["expr"]
            for name, value in VARIABLES.items():
                expression = expression.replace(name, value)
            yield panel["title"], expression


def promtool(*arguments):
    if not shutil.which("promtool"):
        raise unittest.SkipTest("promtool is not installed")
    return subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True,
                          timeout=60, check=False)


@unittest.skipUnless(PROGRAM.exists(), "metric_list is not built (make unit-tests)")
class Metrics(unittest.TestCase):
    maxDiff = None

    def test_table_has_each_metric(self):
        table = TEXT.partition(HEAD + "\n")[2].partition("\n\n")[0]
        self.assertEqual(table.splitlines()[1:], rows())

    def test_panels_show_metrics_that_there_are(self):
        shown = {(title, name) for title, expression in expressions()
                 for name in METRIC.findall(expression)}
        self.assertEqual({pair for pair in shown if pair[1] not in names()}, set())

    def test_each_metric_of_a_vm_is_in_the_dashboard(self):
        """But for those that other panels are computed from."""
        text = DASHBOARD.read_text(encoding="utf-8")
        hidden = {name for name in names() if name.startswith("beamflame_node_") and
                  name not in METRIC.findall(text) and not name.endswith("_sum")}
        self.assertEqual(hidden, {"beamflame_node_read_timestamp_seconds",
                                  "beamflame_node_cpu_frequency_hertz",
                                  "beamflame_node_run_queue_delay_variance_total",
                                  "beamflame_node_messages_sent_variance_total",
                                  "beamflame_node_messages_received_variance_total",
                                  "beamflame_node_run_queue_delay_seconds_count"})

    def test_alerts_use_metrics_that_there_are(self):
        used = set(METRIC.findall(ALERTS.read_text(encoding="utf-8")))
        self.assertGreater(len(used), 10)
        self.assertEqual(used - names(), set())


class Dashboard(unittest.TestCase):
    def test_panels_are_complete_and_do_not_overlap(self):
        """Each has a number of its own, a source of data, and its own place."""
        taken, numbers = set(), [panel["id"] for panel in panels()]
        self.assertEqual(len(numbers), len(set(numbers)))
        for panel in panels():
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(cells & taken, panel["title"])
            taken |= cells
            if panel["type"] != "row":
                self.assertEqual(panel["datasource"]["uid"], "${datasource}")
                self.assertTrue(panel["targets"], panel["title"])

    def test_expressions_are_those_of_prometheus(self):
        """promtool parses each of them, as the rule of a file."""
        rules = [{"record": f"panel:{i}", "expr": expression}
                 for i, (_, expression) in enumerate(expressions())]
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
            json.dump({"groups": [{"name": "panels", "rules": rules}]}, file)
            file.flush()
            done = promtool("check", "rules", file.name)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("$", "".join(rule["expr"] for rule in rules))


class Alerts(unittest.TestCase):
    def test_rules_are_valid(self):
        done = promtool("check", "rules", ALERTS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_each_alert_fires_on_its_series_and_not_below(self):
        done = promtool("test", "rules", ALERT_TESTS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
