// SPDX-License-Identifier: Apache-2.0
/* Hits whose program can't read the memory of the VM. The VM is the test itself: the programs run
 * at a function of the test, whose arguments are the addresses that they read. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <unistd.h>

#include "capture/calibration.h"
#include "capture/probe_link.h"
#include "capture/programs.h"
#include "native/mappings.h"
#include "native/memory.h"
#include "calibrated.h"

enum { MEMORY_WORDS = 512 };

static struct calibration calibration;
static uint64_t memory[MEMORY_WORDS]; /* all fields of all structs are its first word */
static char *const unreadable = (char *)16;

/* Its arguments are in the registers that the programs read: rdi, rsi, rdx, rcx, r8. */
static __attribute__((noinline)) void probed(const void *di, const void *si, const void *dx,
                                             const void *cx, const void *r8)
{
    __asm__ volatile("" ::"r"(di), "r"(si), "r"(dx), "r"(cx), "r"(r8));
}

static void call(const void *address)
{
    probed(address, address, address, address, address);
}

/* Count what the program of an event does at one call with this address. */
static struct wire_slot_counts hit(const char *name, const void *address)
{
    const struct programs_options options = {
        .clock = sample_clock_default(), .frequency = 99, .slots = 1, .histograms = 16};
    struct programs *programs = programs_new(&options);
    struct vm vm = {.pid = getpid(), .identity = process_identity(getpid())};
    const struct wire_slot open = {.period = 1, .open = WIRE_OPEN};
    struct memory *own = memory_of_process(getpid());
    struct mappings *mappings;
    struct probe_site site = {0};
    struct wire_slot_counts counts;
    struct probe_links *links;
    struct probe_point point;
    struct error error;

    mappings = mappings_new(vm.pid, own, &error);
    assert_non_null(mappings);
    assert_int_equal(programs_open(programs, &error), 0);
    site.program = programs_want(programs, name);
    assert_non_null(site.program);
    probe_link_prepare((struct bpf_program *)(uintptr_t)site.program, calibration.way);
    assert_int_equal(programs_load(programs, &error), 0);
    assert_int_equal(programs_add_target(programs, &vm, 0, 1, &error), 0);
    programs_set_slot(programs, 0, &open);
    assert_int_equal(probe_link_point(mappings, (uintptr_t)probed, &point, &error), 0);
    site.path = point.path;
    site.file_offset = point.file_offset;
    links = probe_link_attach(calibration.way, vm.pid, &site, 1, &error);
    assert_non_null(links);
    call(address);
    counts = programs_slot_counts(programs, 0);
    probe_link_detach(links);
    programs_free(programs);
    mappings_free(mappings);
    memory_free(own);
    return counts;
}

/* A hit whose memory can be read counts. One whose memory can't be read is lost, and does not count
 * as if all of its words were 0. */
static void test_hit_with_unreadable_memory_is_lost(void **state)
{
    const struct {
        const char *program;
        const void *field; /* value of all fields */
        uint64_t hits;     /* of a hit whose memory can be read: others only note something */
    } cases[] = {
        {"gc_begin", NULL, 0},          {"alloc_begin", NULL, 1},   {"alloc_fragment", NULL, 0},
        {"sched_out", NULL, 0},         {"sched_enqueue", NULL, 0}, {"sched_wake", NULL, 0},
        {"sched_in_dirty", NULL, 1},    {"message_queue", NULL, 1}, {"message_send", NULL, 1},
        {"message_receive", memory, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_slot_counts read, failed;

        print_message("%s\n", cases[i].program);
        memory[0] = (uintptr_t)cases[i].field;
        read = hit(cases[i].program, memory);
        failed = hit(cases[i].program, unreadable);
        assert_int_equal(read.runs, 1);
        assert_int_equal(read.hits, cases[i].hits);
        assert_int_equal(read.lost, 0);
        assert_int_equal(failed.runs, 1);
        assert_int_equal(failed.hits, 0);
        assert_int_equal(failed.lost, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hit_with_unreadable_memory_is_lost),
    };
    int code;

    if (!calibrated(&calibration, &code))
        return code;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
