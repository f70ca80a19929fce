// SPDX-License-Identifier: Apache-2.0
/* Probes in a live process, attached in both ways. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "calibration.skel.h"
#include "capture/calibration.h"
#include "capture/probe_link.h"
#include "probe_target.h"
#include "calibrated.h"

enum { ENTRY_COOKIE = 1, RETURN_COOKIE = 1000 };

static const enum probe_way ways[] = {PROBE_PERF, PROBE_MULTI};
static int way_count; /* those that this kernel has */

/* Attaches probes to a target, and counts hits. */
struct profiler {
    struct target target;
    pid_t pid; /* of the target, also after its end */
    struct calibration_bpf *skeleton;
    struct probe_point point;
    struct probe_site sites[2]; /* entry, return */
    enum probe_way way;
};

static void start(struct profiler *profiler, enum probe_way way)
{
    struct error error;

    *profiler = (struct profiler){.target = target_start(), .way = way};
    profiler->pid = profiler->target.pid;
    profiler->skeleton = calibration_bpf__open();
    assert_non_null(profiler->skeleton);
    probe_link_prepare(profiler->skeleton->progs.count_hit, way);
    assert_int_equal(calibration_bpf__load(profiler->skeleton), 0);
    assert_int_equal(probe_link_point(profiler->target.mappings, profiler->target.state->address,
                                      &profiler->point, &error),
                     0);
    for (int i = 0; i < 2; i++) {
        profiler->sites[i] = (struct probe_site){
            .program = profiler->skeleton->progs.count_hit,
            .path = profiler->point.path,
            .file_offset = profiler->point.file_offset,
            .cookie = i ? RETURN_COOKIE : ENTRY_COOKIE,
            .is_return = i,
        };
    }
}

static void end(struct profiler *profiler)
{
    calibration_bpf__destroy(profiler->skeleton);
    target_free(&profiler->target);
}

static struct probe_links *attach(const struct profiler *profiler, struct error *error)
{
    return probe_link_attach(profiler->way, profiler->pid, profiler->sites, 2, error);
}

/* Let each thread of the target call probed() for a time; return the number of calls, after the
 * calls have stopped. */
static uint64_t call(struct profiler *profiler)
{
    uint64_t before = target_calls(&profiler->target);
    uint64_t threads[TARGET_THREADS];

    for (int i = 0; i < TARGET_THREADS; i++)
        threads[i] = profiler->target.state->calls[i];
    target_set_rate(&profiler->target, 5000);
    usleep(20000);
    for (int i = 0; i < TARGET_THREADS; i++)
        while (profiler->target.state->calls[i] == threads[i])
            usleep(1000);
    target_set_rate(&profiler->target, 0);
    return target_calls(&profiler->target) - before;
}

/* The point says how the kernel gets past the instruction, which it reads from the file. */
static void test_point_knows_its_instruction(void **state)
{
    struct memory *memory = memory_of_process(getpid());
    struct error error = {0};
    struct mappings *mappings = mappings_new(getpid(), memory, &error);
    struct probe_point point;

    (void)state;
    assert_non_null(mappings);
    for (enum trap trap = 0; trap < TRAPS; trap++) {
        assert_int_equal(
            probe_link_point(mappings, (uintptr_t)trap_functions[trap], &point, &error), 0);
        assert_int_equal(point.trap, trap);
    }
    point = probe_link_point_in(mapping_file(mappings, mappings_find(mappings, (uintptr_t)&ways)),
                                UINT64_C(1) << 40);
    assert_int_equal(point.trap, TRAP_STEPPED); /* behind the end of the file */
    mappings_free(mappings);
    memory_free(memory);
}

/* Each call in each thread of the target is counted at entry and return, with the cookies, from the
 * return of the attach call on; calls in other processes are not. No breakpoint remains. */
static void test_each_call_is_counted_at_entry_and_return(void **state)
{
    (void)state;
    for (int i = 0; i < way_count; i++) {
        struct profiler profiler;
        struct probe_links *links;
        struct error error;
        uint64_t calls;

        start(&profiler, ways[i]);
        links = attach(&profiler, &error);
        assert_non_null(links);
        assert_true(target_is_probed(&profiler.target));
        for (int j = 0; j < 100; j++)
            probed();
        calls = call(&profiler);
        for (int thread = 0; thread < TARGET_THREADS; thread++)
            assert_true(profiler.target.state->calls[thread] > 0);
        assert_int_equal(profiler.skeleton->bss->hits, 2 * calls);
        assert_int_equal(profiler.skeleton->bss->cookies, calls * (ENTRY_COOKIE + RETURN_COOKIE));
        probe_link_detach(links);
        assert_false(target_is_probed(&profiler.target));
        assert_true(call(&profiler) > 0);
        assert_int_equal(profiler.skeleton->bss->hits, 2 * calls);
        target_kill(&profiler.target);
        end(&profiler);
    }
}

static struct calibration_bpf *counting;
static uint64_t cookies_within;

static __attribute__((noinline)) void probed_around(void)
{
    cookies_within = counting->bss->cookies;
}

/* Probes at return are hit when the function ends, after all that runs before. */
static void test_return_probe_is_hit_when_the_function_ends(void **state)
{
    (void)state;
    for (int i = 0; i < way_count; i++) {
        struct memory *memory = memory_of_process(getpid());
        struct mappings *mappings = mappings_new(getpid(), memory, &(struct error){0});
        struct probe_links *links;
        struct profiler profiler;
        struct error error;

        start(&profiler, ways[i]);
        counting = profiler.skeleton;
        assert_int_equal(
            probe_link_point(mappings, (uintptr_t)probed_around, &profiler.point, &error), 0);
        for (int j = 0; j < 2; j++)
            profiler.sites[j].file_offset = profiler.point.file_offset;
        links = probe_link_attach(ways[i], getpid(), profiler.sites, 2, &error);
        assert_non_null(links);
        probed_around();
        assert_int_equal(cookies_within, ENTRY_COOKIE);
        assert_int_equal(counting->bss->cookies, ENTRY_COOKIE + RETURN_COOKIE);
        probe_link_detach(links);
        mappings_free(mappings);
        memory_free(memory);
        target_kill(&profiler.target);
        end(&profiler);
    }
}

/* Under load no call is missed between attaching and detaching, repeatedly. */
static void test_no_call_is_missed_under_load(void **state)
{
    (void)state;
    for (int i = 0; i < way_count; i++) {
        struct profiler profiler;
        struct error error;

        start(&profiler, ways[i]);
        profiler.target.state->rate = 100000;
        for (int round = 0; round < 5; round++) {
            uint64_t hits = profiler.skeleton->bss->hits, calls;
            struct probe_links *links = attach(&profiler, &error);

            assert_non_null(links);
            calls = target_calls(&profiler.target);
            do
                usleep(5000);
            while (target_calls(&profiler.target) == calls);
            calls = target_calls(&profiler.target) - calls;
            probe_link_detach(links);
            assert_false(target_is_probed(&profiler.target));
            hits = profiler.skeleton->bss->hits - hits;
            /* A call that was in progress during the attach has no return hit. */
            assert_true(calls > 0 && hits + 2 * TARGET_THREADS >= 2 * calls);
        }
        target_kill(&profiler.target);
        end(&profiler);
    }
}

static void test_target_may_end_while_probes_are_attached(void **state)
{
    (void)state;
    for (int i = 0; i < way_count; i++) {
        struct profiler profiler;
        struct probe_links *links;
        struct error error = {0};

        start(&profiler, ways[i]);
        profiler.target.state->rate = 100000;
        links = attach(&profiler, &error);
        assert_non_null(links);
        target_kill(&profiler.target);
        probe_link_detach(links);
        assert_null(attach(&profiler, &error));
        assert_int_equal(error.code, ERROR_NO_PROCESS);
        end(&profiler);
    }
    probe_link_detach(NULL);
}

/* All or none: if one place is not in the file, no probe is left. */
static void test_no_probe_is_attached_if_one_place_is_invalid(void **state)
{
    (void)state;
    for (int i = 0; i < way_count; i++) {
        struct profiler profiler;
        struct error error = {0};

        start(&profiler, ways[i]);
        profiler.sites[1].file_offset = 1ull << 40;
        assert_null(attach(&profiler, &error));
        assert_int_equal(error.code, ERROR_FAILED);
        assert_non_null(strstr(error.text, "0x10000000000"));
        assert_false(target_is_probed(&profiler.target));
        assert_int_equal(
            probe_link_point(profiler.target.mappings, (uintptr_t)&error, &profiler.point, &error),
            -1);
        target_kill(&profiler.target);
        end(&profiler);
    }
}

static void test_kernel_removes_probes_of_a_killed_profiler(void **state)
{
    (void)state;
    for (int i = 0; i < way_count; i++) {
        struct profiler profiler;
        int attached[2];
        char byte;
        pid_t pid;

        start(&profiler, ways[i]);
        assert_int_equal(pipe(attached), 0);
        pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (attach(&profiler, &(struct error){0}))
                (void)!write(attached[1], "", 1);
            pause();
            _exit(1);
        }
        close(attached[1]);
        assert_int_equal(read(attached[0], &byte, 1), 1);
        assert_true(target_is_probed(&profiler.target));
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_false(target_is_probed(&profiler.target));
        close(attached[0]);
        target_kill(&profiler.target);
        end(&profiler);
    }
}

enum { KILLS = 40, KILLED_WITHIN = 80000 /* us */ };

/* Attach and detach until killed. */
static void attach_forever(const struct profiler *profiler, int ready)
{
    struct error error;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        struct probe_links *links = attach(profiler, &error);

        (void)!write(ready, "", 1);
        probe_link_detach(links);
    }
}

/* True if the breakpoints are soon gone, whatever system call a kill interrupted. */
static bool is_clean_soon(struct target *target)
{
    for (int i = 0; i < 200; i++) {
        if (!target_is_probed(target))
            return true;
        usleep(20000);
    }
    return false;
}

static void test_no_breakpoint_stays_after_a_kill_at_any_moment(void **state)
{
    unsigned seed = (unsigned)time(NULL);

    (void)state;
    printf("# seed %u\n", seed);
    for (int i = 0; i < way_count; i++) {
        struct profiler profiler;
        int dirty = 0;

        start(&profiler, ways[i]);
        for (int kills = 0; kills < KILLS; kills++) {
            int ready[2];
            char byte;
            pid_t pid;

            assert_int_equal(pipe(ready), 0);
            pid = fork();
            if (pid == 0)
                attach_forever(&profiler, ready[1]);
            close(ready[1]);
            assert_int_equal(read(ready[0], &byte, 1), 1);
            usleep((useconds_t)rand_r(&seed) % KILLED_WITHIN);
            kill(pid, SIGKILL);
            assert_int_equal(waitpid(pid, NULL, 0), pid);
            dirty += !is_clean_soon(&profiler.target);
            close(ready[0]);
        }
        assert_int_equal(dirty, 0);
        target_kill(&profiler.target);
        end(&profiler);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_point_knows_its_instruction),
        cmocka_unit_test(test_each_call_is_counted_at_entry_and_return),
        cmocka_unit_test(test_return_probe_is_hit_when_the_function_ends),
        cmocka_unit_test(test_no_call_is_missed_under_load),
        cmocka_unit_test(test_target_may_end_while_probes_are_attached),
        cmocka_unit_test(test_no_probe_is_attached_if_one_place_is_invalid),
        cmocka_unit_test(test_kernel_removes_probes_of_a_killed_profiler),
        cmocka_unit_test(test_no_breakpoint_stays_after_a_kill_at_any_moment),
    };

    struct calibration calibration;
    int code;

    target_main(count, arguments);
    libbpf_set_print(NULL);
    if (!calibrated(&calibration, &code))
        return code;
    way_count = calibration.way == PROBE_MULTI ? 2 : 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
