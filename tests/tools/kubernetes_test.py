# SPDX-License-Identifier: Apache-2.0
"""What kubectl and helm make of deploy/ is valid by Kubernetes' types, and what the program takes."""
import json
import unittest

from commands import run
from deploy_files import CHART, NODE, DeployCase, daemon_set, pod, tool

OVERLAYS = ("base", "overlays/pyroscope", "overlays/otlp", "overlays/files")
COMPONENTS = ("sys-admin", "privileged", "http")
ADMIN = "SYS_ADMIN"


class Kustomize(DeployCase):
    def test_overlays_are_valid_objects(self):
        self.check_objects([each for name in OVERLAYS for each in self.kustomize(name)])

    def test_components_change_each_overlay_into_valid_objects(self):
        self.check_objects([each for name in COMPONENTS
                            for each in self.kustomize("overlays/otlp", name)])

    def test_wrong_objects_are_found(self):
        """An unknown field, a wrong type and a field that is missing are found."""
        objects = self.kustomize("base")
        pod(objects).update(hostPids=True, hostPID="yes")
        del pod(objects)["containers"]
        done = run("node", NODE / "check.mjs", input=json.dumps(objects), cwd=NODE)
        self.assertEqual(done.returncode, 1)
        for says in ("there is no field hostPids", "hostPID: is no boolean",
                     "required property containers"):
            self.assertIn(says, done.stdout)

    def test_program_takes_each_configuration(self):
        for name in OVERLAYS:
            with self.subTest(name):
                maps = [each for each in self.kustomize(name) if each["kind"] == "ConfigMap"]
                self.assertEqual(len(maps), 1)
                self.check_configuration(maps[0]["data"]["agent.yaml"])
                volumes = {each["name"]: each for each in pod(self.kustomize(name))["volumes"]}
                self.assertEqual(volumes["config"]["configMap"]["name"], maps[0]["metadata"]["name"])

    def test_components_do_what_they_say(self):
        container = pod(self.kustomize("base", "sys-admin"))["containers"][0]
        self.assertIn(ADMIN, container["securityContext"]["capabilities"]["add"])
        self.assertTrue(container["securityContext"]["allowPrivilegeEscalation"])
        container = pod(self.kustomize("base", "privileged"))["containers"][0]
        self.assertTrue(container["securityContext"]["privileged"])
        self.assertNotIn("capabilities", container["securityContext"])
        container = pod(self.kustomize("base", "http"))["containers"][0]
        self.check_configuration("", **{each["name"]: each["value"] for each in container["env"]})

    def test_pods_have_no_rights_on_the_api(self):
        for objects in (self.kustomize("base"), self.template()):
            self.assertEqual({each["kind"] for each in objects} - {"Namespace"},
                             {"ConfigMap", "DaemonSet", "ServiceAccount"})
            account = next(each for each in objects if each["kind"] == "ServiceAccount")
            self.assertIs(account["automountServiceAccountToken"], False)
            self.assertIs(pod(objects)["automountServiceAccountToken"], False)


class Helm(DeployCase):
    def test_chart_has_no_faults(self):
        self.done(tool("helm"), "lint", "--strict", CHART)

    def test_chart_gives_the_pod_of_kustomize(self):
        """Only names and images differ."""
        theirs, ours = pod(self.template()), pod(self.kustomize("base"))
        for each in theirs, ours:
            each["containers"][0].pop("imagePullPolicy", None)
            for volume in each["volumes"]:
                volume.pop("configMap", None)
        self.assertEqual(theirs, ours)

    def test_values_give_valid_objects(self):
        secret = ("--set", "secretName=tokens", "--set", "imagePullSecrets[0].name=pull",
                  "--set", "priorityClassName=system-node-critical", "--set", "podAnnotations.a=b")
        push = ("--set", "config.push[0].protocol=otlp", "--set", "config.push[0].url=http://c:4318",
                "--set", "config.record.cpu=49")
        http = ("--set", "config.http.listen=0.0.0.0:9000", "--set",
                "config.http.token_file=/run/secrets/beamflame/http-token")
        made = []
        for options in (("--set", "sysAdmin=true"), ("--set", "privileged=true"), secret, push,
                        http, ("--kube-version", "1.29.0")):
            with self.subTest(options):
                objects = self.template(*options)
                made += objects
                data = next(each for each in objects if each["kind"] == "ConfigMap")["data"]
                self.check_configuration(data["agent.yaml"])
        self.check_objects(made)

    def test_probes_follow_the_address(self):
        for listen, host, port in (("127.0.0.1:9466", "127.0.0.1", 9466), ("[::1]:80", "::1", 80),
                                   ("0.0.0.0:9000", "127.0.0.1", 9000), ("[::]:9", "::1", 9)):
            objects = self.template("--set", f"config.http.listen={listen}")
            container = pod(objects)["containers"][0]
            for probe in ("livenessProbe", "readinessProbe"):
                asked = container[probe]["httpGet"]
                self.assertEqual((asked["host"], asked["port"]), (host, port))

    def test_old_servers_get_the_annotation_in_place_of_the_field(self):
        for version, has_field in (("1.29.0", False), ("1.30.0", True)):
            objects = self.template("--kube-version", version)
            context = pod(objects)["containers"][0]["securityContext"]
            annotations = daemon_set(objects)["spec"]["template"]["metadata"]["annotations"]
            self.assertEqual("appArmorProfile" in context, has_field)
            self.assertEqual(any("apparmor" in name for name in annotations), not has_field)

    def test_unknown_and_wrong_values_are_refused(self):
        for option in ("nonsense=1", "config.pusch=1", "spoolPath=relative", "sysAdmin=maybe",
                       "config.http.listen=everywhere"):
            done = run(tool("helm"), "template", "x", CHART, "--set", option)
            self.assertNotEqual(done.returncode, 0, option)
            self.assertIn("schema", done.stderr)


if __name__ == "__main__":
    unittest.main()
