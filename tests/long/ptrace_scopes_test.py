# SPDX-License-Identifier: Apache-2.0
"""Each value of kernel.yama.ptrace_scope, on a kernel of tools/kernel-lab: this one may have no
Yama. The boot takes two minutes."""
import json
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

# pylint: disable=wrong-import-position
import kernel_test  # noqa: E402
import nodes  # noqa: E402
from beamflame import DONE, NO_SAMPLES, PERMISSION  # noqa: E402

CAPABILITY = "CAP_SYS_PTRACE is missing (run as root)"
NOBODY = "the sysctl kernel.yama.ptrace_scope is 3, which forbids it to all"


def read_cases(text):
    """Return {(scope, capability, command): (exit code, messages)}."""
    cases = {}
    for line in text.splitlines():
        if line.startswith("case "):
            case, said = tuple(line.split()[1:]), []
        elif line.startswith("code "):
            cases[case] = int(line.split()[1]), "\n".join(said)
        elif not line.startswith("own "):
            said.append(line)
    return cases


class Scopes(unittest.TestCase):
    def test_own_vm_is_read_as_far_as_the_scope_permits(self):
        """A user may read the own VM at 0, with CAP_SYS_PTRACE up to 2, and never at 3; each message
        names what is missing."""
        kernels = [kernel for kernel in kernel_test.require() if kernel != "newest"]
        nodes.compiled_loads(25)
        done = subprocess.run(
            [kernel_test.KERNEL_LAB, "run", "--build", nodes.BUILD, "--script",
             HERE / "ptrace_scopes.sh", kernels[-1]], stdout=subprocess.PIPE, check=True)
        got = json.loads(done.stdout)
        self.assertEqual(got["exit_code"], DONE, got["output"])
        cases = read_cases(got["output"])
        self.assertEqual(len(cases), 4 * 2 * 3, got["output"])
        for (scope, capability, command), (code, said) in cases.items():
            with self.subTest(scope=scope, capability=capability, command=command):
                self.check(int(scope), capability, command, code, said)

    def check(self, scope, capability, command, code, said):
        if scope == 3:
            reason = NOBODY
        elif scope > 0 and capability == "none":
            reason = CAPABILITY
        else:
            reason = None
        memory = "not permitted to read the memory of process"
        if reason:
            self.assertEqual(code, PERMISSION, said)
            line = next(line for line in said.splitlines() if memory in line)
            self.assertIn(reason, line)
        else:
            self.assertNotIn(memory, said)
            # The VM is idle, and root's VM may not be read.
            self.assertIn(code, {"ps": (DONE, PERMISSION), "dump": (DONE,),
                                 "record": (DONE, NO_SAMPLES)}[command], said)


if __name__ == "__main__":
    unittest.main()
