# SPDX-License-Identifier: Apache-2.0
"""Prometheus, which scrapes an agent."""
import json
import shutil
import subprocess
import unittest
import urllib.parse
import urllib.request

import beamflame
from applications import free_port

CONFIGURATION = """
scrape_configs:
  - job_name: beamflame
    scrape_interval: 1s
    static_configs: [{targets: ['127.0.0.1:%d']}]
"""


class Prometheus:
    """Scrapes a port of the loopback each second, until the end of the test."""

    def __init__(self, test, target):
        if not shutil.which("prometheus"):
            raise unittest.SkipTest("prometheus is not installed")
        folder = beamflame.folder(test.addCleanup)
        (folder / "prometheus.yaml").write_text(CONFIGURATION % target)
        self.port = free_port()
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder / 'prometheus.yaml'}",
             f"--web.listen-address=127.0.0.1:{self.port}", f"--storage.tsdb.path={folder / 'tsdb'}"],
            stderr=subprocess.DEVNULL)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)

    def answer(self, query):
        """Return the results of a query; none before Prometheus answers."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query?query={urllib.parse.quote(query)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as got:
                return json.load(got)["data"]["result"]
        except OSError:
            return []
