# SPDX-License-Identifier: Apache-2.0
"""VMs that start while all VMs are recorded: how soon they have samples, and that what runs in the
same OS process later is recorded too."""
import os
import re
import signal
import statistics
import subprocess
import time
import unittest
from pathlib import Path

import beamflame
import nodes
import reuse_test

NEEDS = "all nodes"
STARTS = 5
FIRST = 16  # that the agent opens before it records
MANY = FIRST + 4
ROOM = 2 * 1 + 16  # of a recording that begins with one VM
SAMPLE = re.compile(r"^\S+ +(\d+)/\d+ .*? (\d+\.\d+):", re.MULTILINE)
BUSY = "F = fun F() -> lists:seq(1, 1000), F() end, F()."
IDLE = "receive after infinity -> ok end."
JOINED = "has started and is profiled from now on"
SELDOM_BUSY = "F = fun F() -> lists:seq(1, 100000), timer:sleep(50), F() end, F()."
ONLY_LATE = "rules:\n  - {node: 'late@*', profile: true}\n  - {profile: false}\n"


def named_later(seconds):
    """Return what a node does that is busy, and gets the name `late` after these seconds."""
    return (f"spawn(fun() -> {BUSY[:-1]} end), timer:sleep({seconds * 1000}), {{ok, _}} = "
            "net_kernel:start(late, #{name_domain => shortnames, dist_listen => false}).")


def arguments(*flags, work=BUSY):
    return ["erl", "-noshell", "+S", "1", *flags, "-eval", work]


def named(name):
    return arguments("-sname", name, "-dist_listen", "false", "-start_epmd", "false")


class Discovery(beamflame.Profilers, unittest.TestCase):
    def setUp(self):
        beamflame.require()
        nodes.require(25)
        self.out = beamflame.folder(self.addCleanup)

    def start_verbose(self, *arguments):
        """Start a profiler that writes its messages to a file: of a pipe that nobody reads, lines
        would be dropped."""
        with open(self.out / "said", "wb") as said:
            return self.start(*arguments, "-v", stderr=said)

    def end(self, profiler, how):
        """End the profiler; return what it said."""
        profiler.send_signal(how)
        code, _ = self.ended(profiler)
        said = (self.out / "said").read_text()
        self.assertEqual(code, 0, said)
        return said

    def begin(self, rules=""):
        """Start the agent; return when it records."""
        config = self.out / "agent.yaml"
        config.write_text("record:\n  cpu: 99\n  interval: 1h\n  events: ''\n"
                          f"spool:\n  directory: {self.out / 'spool'}\n{rules}")
        self.agent = self.start_verbose("agent", "--config", config)
        deadline = time.monotonic() + 60
        while not list(self.out.glob("spool/*.part")):
            self.assertIsNone(self.agent.poll(), "the agent has ended")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)

    def run_vm(self, command):
        """Run a VM until it is killed. Return its process and the time of its start."""
        began = time.monotonic()
        vm = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(vm.wait)
        self.addCleanup(vm.kill)
        return vm, began

    def let_work(self, vm):
        """Wait until a VM has used a second of CPU time: the CPUs may be busy."""
        stat = Path(f"/proc/{vm.pid}/stat")
        deadline = time.monotonic() + 60
        while int(stat.read_text().rpartition(")")[2].split()[11]) < os.sysconf("SC_CLK_TCK"):
            self.assertLess(time.monotonic(), deadline, "the VM does not run")
            time.sleep(0.1)

    def samples(self, *selection):
        """End the agent; return the times of the CPU samples of each VM."""
        if self.agent.returncode is None:
            self.said = self.end(self.agent, signal.SIGTERM)
            self.assertNotRegex(self.said, "warning: .* skipped")
        out = self.out / "samples.perf"
        beamflame.run("report", *self.out.glob("spool/*.bfr"), "--event", "cpu", *selection, "-o",
                      out, check=True)
        times = {}
        for pid, when in SAMPLE.findall(out.read_text()):
            times.setdefault(int(pid), []).append(float(when))
        return times

    def test_new_vms_have_samples_within_a_second(self):
        """The median of five starts, from the start of the script erl on. A single start may be
        late where others use the CPUs: the VM itself then starts late."""
        self.begin()
        starts = {}
        for _ in range(STARTS):
            vm, began = self.run_vm(arguments())
            starts[vm.pid] = began
            time.sleep(3)
            vm.kill()
            vm.wait()
        times = self.samples()
        self.assertLessEqual(set(starts), set(times))
        late = [min(times[pid]) - began for pid, began in starts.items()]
        self.assertLess(statistics.median(late), 1, late)

    def test_vm_with_the_pid_of_a_vm_that_just_ended_has_samples(self):
        """The second VM begins before the end of the first one is noticed. It is another target:
        each has samples of its own time alone."""
        self.begin()
        first, _ = self.run_vm(named("first"))
        self.let_work(first)
        first.kill()
        first.wait()
        between = time.monotonic()
        second = reuse_test.start_with_pid(first.pid, named("second"))
        self.addCleanup(second.wait)
        self.addCleanup(second.kill)
        self.let_work(second)
        ended = time.monotonic()
        before, after = (self.samples("--node", name)[first.pid] for name in ("first", "second"))
        self.assertLess(max(before), between)
        self.assertGreater(min(after), between)
        self.assertGreater(max(after), ended - 1)

    def test_all_vms_of_a_large_host_have_samples(self):
        """The agent begins to record some of the VMs that run, and the others join."""
        vms = {self.run_vm(arguments(work=SELDOM_BUSY))[0].pid for _ in range(MANY)}
        time.sleep(5)
        self.begin()
        time.sleep(15)
        self.assertLessEqual(vms, set(self.samples()))
        joined = vms & {int(pid) for pid in re.findall(rf"process (\d+) {JOINED}", self.said)}
        self.assertGreaterEqual(len(joined), MANY - FIRST)
        self.assertLess(len(joined), MANY)

    def test_vms_that_a_recording_has_no_room_for_are_named_by_their_number(self):
        """Once, and the recording continues. The room is known when the recording begins."""
        self.run_vm(arguments(work=IDLE))
        time.sleep(2)
        recorder = self.start_verbose("-a", "-o", self.out / "all.bfr")
        time.sleep(2)
        for _ in range(ROOM + 1):
            self.run_vm(arguments(work=IDLE))
        time.sleep(15)
        said = self.end(recorder, signal.SIGINT)
        self.assertEqual(said.count(JOINED), ROOM - 1, said)
        self.assertEqual(said.count(f"no room for more than {ROOM} VMs"), 1)

    def test_first_rule_that_matches_a_node_decides(self):
        """VMs that run before the agent, and those that start later, follow the rules alike."""
        old = {name: self.run_vm(named(name))[0] for name in ("shop1", "shop2", "till")}
        for vm in old.values():
            self.let_work(vm)
        self.begin("rules:\n  - {node: 'shop1@*', profile: false}\n"
                   "  - {node: 'shop*', profile: true}\n  - {profile: false}\n")
        new = {name: self.run_vm(named(name))[0] for name in ("shop1", "shop2", "till")}
        for vm in (*new.values(), *old.values()):
            self.let_work(vm)
        time.sleep(3)
        times = self.samples()
        for vms in (old, new):
            self.assertEqual({name for name, vm in vms.items() if vm.pid in times}, {"shop2"})

    def check_named_later(self, rules="", begins_first=False):
        """A VM that gets a name after some seconds has samples under that name soon after, whether
        the VM begins first or the agent."""
        late = 6 if begins_first else 3
        if not begins_first:
            self.begin(rules)
        vm, began = self.run_vm(arguments(work=named_later(late)))
        if begins_first:
            self.begin(rules)
        time.sleep(12)
        times = self.samples("--node", "late")
        self.assertEqual(set(times), {vm.pid})
        self.assertGreater(min(times[vm.pid]), began + late)
        self.assertGreater(max(times[vm.pid]), began + late + 6)

    def test_vm_that_gets_a_name_later_has_it_from_then_on(self):
        self.check_named_later()

    def test_vm_that_gets_a_name_later_is_judged_by_it(self):
        """A rule excludes it before."""
        self.check_named_later(ONLY_LATE)

    def test_vm_that_runs_before_the_agent_is_judged_by_a_later_name(self):
        self.check_named_later(ONLY_LATE, begins_first=True)


if __name__ == "__main__":
    unittest.main()
