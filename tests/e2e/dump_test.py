# SPDX-License-Identifier: Apache-2.0
"""`beamflame dump`, compared with what the nodes say of their processes."""
import json
import os
import signal
import time
import unittest
from collections import Counter
from itertools import groupby

import beamflame
import nodes

NEEDS = "own nodes"
CROWD = 2000


def dump(node, *options):
    return described(beamflame.record("dump", "--json", "-p", node.pid, *options).stdout)


def described(text):
    """Parse a JSON dump. Add the processes by pid, and to each process its stack as functions, leaf
    first."""
    got = json.loads(text)
    for process in got["processes"]:
        frames = [] if process["stack"] is None else got["stacks"][process["stack"]]
        process["functions"] = [frame["function"] for frame in frames]
    got["by_pid"] = {process["pid"]: process for process in got["processes"]}
    return got


def named(got, name):
    return next(process for process in got["processes"] if process["name"] == name)


def without_runs(functions):
    """Return the stack as the VM's own stack traces have it: a recursive function appears once."""
    return [function for function, _ in groupby(functions)]


@nodes.each_release
class Dump:
    """The tests for each release."""

    release = None

    def setUp(self):
        beamflame.require()

    def crowd(self, *options):
        return nodes.Node(self.release, "crowd", f"processes={CROWD}", *options)

    def test_dump_has_all_processes_of_the_node(self):
        """The dump has as many processes in each state as the node says. Nearly all stacks are
        complete."""
        with self.crowd() as node:
            says = node.report()
            got = dump(node)
        statuses = Counter(beamflame.vm_status(process["status"]) for process in got["processes"])
        for status in ("suspended", "waiting", "runnable"):
            self.assertAlmostEqual(statuses[status], says["statuses"].get(status, 0),
                                   delta=0.02 * CROWD + 50, msg=status)
        self.assertEqual(statuses["suspended"], says["statuses"]["suspended"])
        self.assertAlmostEqual(len(got["processes"]), node.ready["processes"], delta=10)
        at_rest = [p for p in got["processes"]
                   if p["status"] in (*beamflame.WAITING, "suspended")]
        self.assertGreater(sum(p["complete"] for p in at_rest) / len(at_rest), 0.999)

    def test_resting_processes_are_as_the_node_says(self):
        """Processes at rest have the status, stack, message queue, and sizes of heap and stack that
        the node says."""
        with self.crowd() as node:
            says = node.report()["described"]
            got = dump(node)
        self.assertGreater(len(says), 100)
        seen = Counter()
        for said in says:
            process = got["by_pid"][said["pid"]]
            self.assertEqual(beamflame.vm_status(process["status"]), said["status"], said)
            self.assertEqual(without_runs(process["functions"]), without_runs(said["stack"]), said)
            self.assertEqual(process["metrics"]["msgq"], said["msgq"], said)
            self.assertEqual(process["metrics"]["heap"], said["heap"], said)
            self.assertEqual(process["metrics"]["stack"], said["stack_size"], said)
            seen[tuple(without_runs(said["stack"]))] += 1
        self.assertGreaterEqual(len(seen), 4, "kinds of processes")

    def test_depth_option_keeps_the_leaf_end_of_stacks(self):
        """A stack has one frame per call; --depth keeps the leaf end."""
        with self.crowd("depth=40") as node:
            whole = dump(node)
            cut = dump(node, "--depth", 3)
        deep = [p for p in whole["processes"] if "crowd:wait/1" in p["functions"]]
        self.assertEqual({p["functions"].count("crowd:wait/1") for p in deep}, {41})
        self.assertEqual({tuple(cut["by_pid"][p["pid"]]["functions"]) for p in deep},
                         {("crowd:wait/1",) * 3 + ("...",)})

    def test_running_process_has_its_stack(self):
        """A running process has a stack, sampled on its scheduler. A process that gets no CPU,
        because other programs use it all, has none."""
        running = []
        with nodes.Node(self.release, "identity") as node:
            workers = node.report()["workers"]
            for _ in range(20):
                running += [p for p in dump(node)["processes"]
                            if p["status"] == "running" and p["functions"]]
                if running:
                    break
        self.assertGreaterEqual(len(running), 1)
        by_pid = {worker["pid"]: worker for worker in workers}
        for process in running:
            self.assertIn(by_pid[process["pid"]]["function"], process["functions"])
            self.assertTrue(process["complete"])
            self.assertRegex(process["thread"], "sched")

    def test_process_whose_thread_waits_has_its_stack(self):
        """A process whose thread has entered the kernel has its native and Erlang stack."""
        with nodes.Node(self.release, "waiting") as node:
            time.sleep(0.5)
            for _ in range(5):
                keeper = named(dump(node), "keeper")
                if keeper["status"] == "running":
                    break
        self.assertEqual(keeper["status"], "running")
        self.assertTrue(keeper["complete"])
        at = keeper["functions"].index("spin_nif:wait/1")
        self.assertEqual(keeper["functions"][at:], ["spin_nif:wait/1", "waiting:keep/0"])
        self.assertRegex(" ".join(keeper["functions"][:at]), "nanosleep")
        self.assertGreaterEqual(at, 7, "the NIF's own functions")

    def test_top_shows_the_highest_values(self):
        """--top shows the processes with the highest value, and counts the others."""
        with self.crowd() as node:
            got = dump(node, "--top", "1:msgq")
            few = dump(node, "--top", "7:heap")
        self.assertEqual([p["name"] for p in got["processes"]], ["queued"])
        self.assertEqual(got["processes"][0]["metrics"]["msgq"], 1000)
        self.assertAlmostEqual(got["left_out"], node.ready["processes"], delta=10)
        self.assertEqual(len(few["processes"]), 7)
        self.assertGreater(min(p["metrics"]["heap"] for p in few["processes"]), 233)

    def test_top_by_growth_shows_the_fastest_growing_process(self):
        """--top by growth shows the process that got the most messages in two seconds, not the one
        with the most."""
        with self.crowd() as node:
            growing = dump(node, "--top", "1:+msgq:2")
            text = beamflame.record("dump", "-p", node.pid, "--top", "2:+msgq:2").stdout
            before = time.monotonic()
            busy = dump(node, "--top", 1)
            self.assertGreater(time.monotonic() - before, 1)
        self.assertEqual([p["name"] for p in growing["processes"]], ["filling"])
        self.assertIn(growing["processes"][0]["growth"]["msgq"], range(1, 1000))
        self.assertAlmostEqual(growing["left_out"], node.ready["processes"], delta=10)
        self.assertRegex(text, r" filling .*  msgq \+[1-9]\d*\n")
        self.assertEqual([p["name"] for p in busy["processes"]], ["occupant"])

    def test_options_select_processes(self):
        """Options select processes by name, status, frame and supervisor."""
        with self.crowd() as node:
            queued = dump(node, "--process", "queued")
            suspended = dump(node, "--status", "suspended", "-I", "^crowd:wait/1$")
            kernel = dump(node, "--descendants-of", "kernel_sup", "-X", "gen_server:loop")
            none = beamflame.run("dump", "-p", node.pid, "--process", "nobody")
            some = beamflame.run("dump", "-p", node.pid, "--process", "nobody", "--process",
                                 "queued", "--json")
        self.assertEqual([p["name"] for p in queued["processes"]], ["queued"])
        self.assertAlmostEqual(queued["left_out"], node.ready["processes"], delta=10)
        self.assertEqual(len(suspended["processes"]), CROWD // 20)
        self.assertIn("user" if nodes.otp(self.release) == "25" else "user_drv",
                      {p["name"] for p in kernel["processes"]})
        self.assertLess(len(kernel["processes"]), 40)
        self.assertEqual(none.returncode, beamflame.NO_SAMPLES)
        self.assertIn("none of the", none.stderr)
        self.assertEqual(none.stdout, "")
        self.assertIn("no process is 'nobody'", some.stderr)
        self.assertEqual(json.loads(some.stdout)["processes"][0]["name"], "queued")

    def test_no_process_is_torn_in_a_storm_of_messages(self):
        """In a storm of messages no process in the dump is torn: stacks are complete, and all
        frames have names. A running process may be between two functions: its stack then says
        that frames are missing."""
        with nodes.Node(self.release, "storm", "what=messages") as node:
            for _ in range(5):
                got = dump(node)
                self.assertGreater(len(got["processes"]), 30)
                for process in got["processes"]:
                    missing = "[frames missing]" in process["functions"]
                    self.assertTrue(process["complete"] or not process["functions"]
                                    or missing and process["status"] == "running", process)
                    for function in process["functions"]:
                        self.assertNotRegex(function, r"^\[(?!frames missing\])|^0x", process)

    def test_stopped_node_can_be_dumped(self):
        """A node whose threads get no CPU at all can be dumped."""
        with self.crowd() as node:
            os.kill(node.pid, signal.SIGSTOP)
            got = dump(node)
            os.kill(node.pid, signal.SIGCONT)
            self.assertGreater(len(got["processes"]), CROWD)
            self.assertTrue(node.report(), "and continues")

    def test_text_goes_nowhere_if_standard_output_is_closed(self):
        """Nor into a socket of a process that helps, which is opened in its place."""
        with self.crowd() as node:
            done = beamflame.run("dump", "-p", node.pid, preexec_fn=lambda: os.closerange(0, 2))
        self.assertEqual((done.returncode, done.stderr),
                         (beamflame.FAILED, "beamflame: can't write the dump: Bad file descriptor\n"))

    def test_text_groups_equal_stacks(self):
        """The text groups equal stacks, largest group first, with the size and some members of each
        group."""
        with self.crowd() as node:
            text = beamflame.record("dump", "-p", node.pid).stdout
        self.assertIn(f"pid {node.pid}, OTP {nodes.otp(self.release)}", text)
        groups = text.split("\n\n")
        self.assertRegex(groups[1], r"^1,0\d\d idle\n    gen_server:loop/\d  gen_server.erl:\d+\n"
                                    r"    proc_lib:init_p_do_apply/3  proc_lib.erl:\d+\n")
        self.assertRegex(groups[2], r"^600 waiting\n    crowd:wait/1  \S+:\d+  \(21 calls\)\n"
                                    r"(  <0\.\d+\.0> +crowd:wait/1 +msgq 0  heap .* reductions .*\n){5}"
                                    r"  and 595 more")
        self.assertRegex(text, r"queued +msgq 1,000 ")


class DumpMusl25(Dump, unittest.TestCase):
    release = "25-musl"


class Errors(unittest.TestCase):
    def test_bad_options_are_usage_errors(self):
        """Each case is a usage error, and the message lists the valid choices."""
        for options, says in ((("--depth", "0"), "from 1 to"), (("--top", "x"), "from 1 to"),
                              (("--top", "5:memory"), "reductions, msgq"),
                              (("--top", "5:+memory"), "+msgq"),
                              (("--top", "5:+"), "+msgq"), (("--top", "5:+msgq:0"), "seconds"),
                              (("--top", "5:msgq:2"), "growth only"), (("extra",), "extra"),
                              (("--from", "1"), "unknown option '--from'"), (("-I", "("), "expression"),
                              (("--status", "tired"), "waiting")):
            with self.subTest(options):
                done = beamflame.run("dump", *options)
                self.assertEqual(done.returncode, beamflame.USAGE)
                self.assertIn(says, done.stderr)

    def test_missing_process_is_an_error(self):
        done = beamflame.run("dump", "-p", "4194303")
        self.assertEqual(done.returncode, beamflame.NO_PROCESS)
        self.assertEqual(done.stdout, "")

    def test_other_program_is_an_error(self):
        done = beamflame.run("dump", "-p", os.getpid())
        self.assertEqual(done.returncode, beamflame.NO_PROCESS)
        self.assertIn("is no", done.stderr.replace("is not", "is no"))


if __name__ == "__main__":
    unittest.main()
