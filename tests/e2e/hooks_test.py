# SPDX-License-Identifier: Apache-2.0
"""Hooks on live nodes: the functions are those that the VM exports, if it exports them, and are
called as often as the events that they represent."""
import os
import re
import subprocess
import time
import unittest

import nodes
from uprobe_counters import UprobeCounters

NEEDS = "own nodes"
HOOK_LIST = nodes.BUILD / "tests" / "hook_list"
# What the compiler made part of its callers, as the symbols of the same build show; of 29-musl, those
# of 27 with the same flags.
NO_FUNCTION = {"27-usdt": ["select_enqueue_run_queue"],
               "27-usdt-dwarf": ["select_enqueue_run_queue"],
               "25-musl": ["select_enqueue_run_queue"],
               "27-musl": ["select_enqueue_run_queue", "scheduler_wait"],
               "29-musl": ["select_enqueue_run_queue"]}
# One scheduler, as the load wants it. Each scheduler has a counter for each function, and it takes
# the kernel some 20 ms to remove one.
FEW_THREADS = ("+S", "1:1", "+SDcpu", "1:1", "+SDio", "1")
SCHEDULERS = r"sche|dirty|dcpus|dios"
BESIDES = 400  # hits of each kind that the load does not make; more if it takes longer
WHAT = ("bif:ets:lookup/2", "bif:erlang:term_to_binary/1", "nif:spin_nif:spin/1")


def hook_list(pid, *what, debug_file=None):
    """Return {name: (way, address or reason)}, and {name: [addresses]} of the functions as found
    without symbols."""
    place = ["--symbols", debug_file] if debug_file else []
    output = subprocess.run([HOOK_LIST, *place, str(pid), *what], capture_output=True, text=True,
                            check=True).stdout
    found, unexported = {}, {}
    for line in output.splitlines():
        name, way, rest = (line + " ").split(" ", 2)
        if way == "unexported":
            unexported[name] = [int(address, 16) for address in rest.split()]
        elif way == "refused":
            found[name] = way, rest.strip()
        else:
            found[name] = way, int(rest, 16)
    return found, unexported


def counters(pid):
    """Return {name: (count, amount)} of what the VM has counted, as read from outside."""
    output = subprocess.run([HOOK_LIST, str(pid), "counters"], capture_output=True, text=True,
                            check=True).stdout
    return {name: (int(count), int(amount))
            for name, count, amount in map(str.split, output.splitlines())}


class Counters(unittest.TestCase):
    def log_after_a_job(self, node):
        """Return the last row of the node's log when a collection has reclaimed much."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            time.sleep(0.5)
            row = node.report()["log"][-1]
            if row[3] > 1e6:
                return row
        self.fail("the load has done no job")

    def test_what_the_vm_counts_is_what_it_says(self):
        """The counters lie between two logs of the node, in a load that also collects on dirty
        schedulers."""
        for release in (*nodes.RELEASES, *nodes.BUILDS):
            with self.subTest(release), nodes.Node(release, "ordinary", "what=batch") as node:
                before = self.log_after_a_job(node)
                found = counters(node.pid)
                time.sleep(0.1)
                after = node.report()["log"][-1]
                collections, words = found["collections"]
                self.assertTrue(before[2] <= collections <= after[2], (before, found, after))
                self.assertTrue(before[3] <= words <= after[3], (before, found, after))
                switches = found["switches"][0]
                self.assertTrue(before[1] <= switches <= after[1], (before, found, after))


class Hooks(unittest.TestCase):
    def test_hooks_of_otp_25_match_its_events(self):
        self.check(25)

    def test_hooks_of_otp_25_with_frame_pointers_match_its_events(self):
        self.check(25, "+JPperf", "true")

    def test_hooks_of_otp_27_match_its_events(self):
        self.check(27)

    def test_hooks_of_otp_27_with_frame_pointers_match_its_events(self):
        self.check(27, "+JPperf", "fp")

    def test_hooks_of_otp_29_match_its_events(self):
        self.check(29)

    def test_hooks_of_otp_29_with_frame_pointers_match_its_events(self):
        self.check(29, "+JPperf", "fp")

    def test_hooks_of_otp_27_with_usdt_match_its_events(self):
        self.check("27-usdt")

    def test_hooks_of_otp_27_with_usdt_and_dwarf_match_its_events(self):
        self.check("27-usdt-dwarf")

    def test_hooks_of_otp_25_with_musl_match_its_events(self):
        self.check("25-musl")

    def test_hooks_of_otp_27_with_musl_match_its_events(self):
        self.check("27-musl")

    def test_hooks_of_otp_29_with_musl_match_its_events(self):
        self.check("29-musl")

    def check(self, release, *flags):
        with nodes.Node(release, "hooked", flags=(*FEW_THREADS, *flags)) as node:
            found, unexported = hook_list(node.pid)
            found.update(hook_list(node.pid, *WHAT)[0])
            for name, (way, address) in list(found.items()):
                if way == "refused" and name in NO_FUNCTION.get(release, ()):
                    del found[name]
                    continue
                self.assertNotEqual(way, "refused", f"{name}: {address}")
            for name, addresses in unexported.items():
                self.assertEqual(addresses, [found[name][1]], name)
            counters = UprobeCounters(node.pid, {name: found[name][1] for name in found},
                                      SCHEDULERS)
            done = node.report()["counts"]
            self.compare(counters.close(), done)

    def compare(self, hits, done):
        """The hits match the load's actions, except for a few that the node makes itself."""
        messages = 2 * done["round_trips"] + 2 * (done["hibernations"] - 1)
        expected = {
            "erts_queue_proc_message": messages,
            "erts_schedule_process": messages,
            "erts_proc_sys_schedule": done["signals"],
            "beam_jit_remove_message": messages,
            "erl_create_process": done["spawns"],
            "erts_do_exit_process": done["spawns"],
            "erts_continue_exit_process": done["spawns"],
            "garbage_collect": done["collections"],
            "erts_garbage_collect_hibernate": done["hibernations"],
            # Messages other than atoms, and the arguments of new processes.
            "copy_struct_x": 2 * done["round_trips"] + done["hibernations"] - 1 + done["spawns"],
            "erts_call_dirty_nif": done["dirty_nifs"],
            "erts_call_dirty_bif": done["dirty_bifs"],
            "bif:ets:lookup/2": done["lookups"],
            "bif:erlang:term_to_binary/1": done["conversions"],
            "nif:spin_nif:spin/1": done["nifs"] + done["dirty_nifs"],
        }
        besides = dict.fromkeys(expected, BESIDES)
        # Up to OTP 27, a process that wakes from hibernation has no free space on its heap.
        besides["garbage_collect"] += done["hibernations"]
        for name, count in expected.items():
            with self.subTest(name):
                self.assertGreaterEqual(hits[name], count)
                self.assertLess(hits[name], count + besides[name])
        # These run each time that a process is scheduled, for any reason.
        self.assertGreaterEqual(hits["copy_in_registers"], messages)
        self.assertGreaterEqual(hits["erts_schedule"], hits["copy_in_registers"])
        self.assertLess(hits["erts_schedule"], hits["copy_in_registers"] + 3 * BESIDES)
        if "scheduler_wait" in hits:
            self.assertGreater(hits["scheduler_wait"], 0)
        # Each scheduled process was put into a run queue, mostly by the function that wakes it.
        if "select_enqueue_run_queue" in hits:
            self.assertGreaterEqual(hits["select_enqueue_run_queue"],
                                    messages + done["signals"] + done["spawns"])
