# SPDX-License-Identifier: Apache-2.0
"""A CPU goes offline while a VM is recorded, and comes back, on a kernel of tools/kernel-lab with
two emulated CPUs. The boot takes two minutes."""
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
from beamflame import DONE  # noqa: E402

AWAY = 8  # seconds that the CPU is offline (cpu_hotplug.sh)


class Hotplug(unittest.TestCase):
    def test_sampling_continues_and_includes_the_cpu_that_comes_back(self):
        """CPU 0 is sampled all the time, CPU 1 before it goes and after it comes back; what is
        lost is counted, and the weights add up to the kernel's account."""
        kernel = [kernel for kernel in kernel_test.require() if kernel != "newest"][-1]
        nodes.compiled_loads(25)
        done = subprocess.run(
            [kernel_test.KERNEL_LAB, "run", "--build", nodes.BUILD, "--script",
             HERE / "cpu_hotplug.sh", kernel], stdout=subprocess.PIPE, check=True)
        self.check(json.loads(done.stdout)["output"].splitlines())

    def check(self, lines):
        self.assertIn(f"code {DONE}", lines)
        online = [line.split()[1:3] for line in lines if line.startswith("online ")]
        self.assertEqual(online, [["0", "0"], ["1", "1"]])
        stats = json.loads(next(line for line in lines if line.startswith("stats "))[6:])
        times = {cpu: [] for cpu in (0, 1)}
        for line in lines:
            if line.startswith("sample "):
                _, cpu, time = line.split()
                times[int(cpu)].append(float(time))
        self.assertEqual(len(times[0]) + len(times[1]), stats["samples"])
        self.check_times(times)
        # The recorder is emulated too, and has one CPU meanwhile.
        self.assertLess(stats["lost_events"], 0.2 * stats["samples"])
        self.assertEqual(stats["losses"]["clock_stopped"], 0)
        target = stats["target"]["cpu_ms"]
        self.assertLess(abs(target - stats["cpu_accounted_ms"]), 0.05 * target)

    def check_times(self, times):
        on_second = sorted(times[1])
        gap, start = max((after - before, before)
                         for before, after in zip(on_second, on_second[1:]))
        self.assertGreater(gap, AWAY - 2)
        meanwhile = [time for time in times[0] if start < time < start + gap]
        self.assertGreater(len({int(time) for time in meanwhile}), AWAY - 3)
        later = [time for time in on_second if time >= start + gap]
        self.assertGreater(len(later), 20)
        self.assertGreater(len(on_second) - len(later), 20)


if __name__ == "__main__":
    unittest.main()
