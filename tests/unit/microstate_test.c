// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <unistd.h>

#include "fake_sample.h"
#include "fake_target.h"
#include "symbol/frames_internal.h"
#include "symbol/threads_internal.h"

/* clang-format off */
#define POINT(name) extern const uint8_t name[]
#define FUNCTION(name, ...) \
    POINT(name); \
    __asm__(".pushsection .text\n" #name ":\n.cfi_startproc\n" #__VA_ARGS__ "\n.cfi_endproc\n" \
            ".popsection\n")

FUNCTION(other, ret);
FUNCTION(full_sweep, ret);
FUNCTION(collect,
         call other; undecided: test %eax, %eax; je 1f; call other; due: call full_sweep;
         1: call other; decided: ret);
POINT(undecided); POINT(due); POINT(decided);

/* The form of compilers that do not inline it into garbage_collect(). */
FUNCTION(major_collection, call other; call full_sweep; ret);
FUNCTION(collect_by_major, call other; due_by_major: call major_collection; ret);
POINT(due_by_major);

/* The form that results if a function is not known to never return. */
FUNCTION(collect_again, call other; due_again: call full_sweep; call *%rax; jmp collect_again);
POINT(due_again);
/* clang-format on */

/* Bits of ErtsSchedulerSleepInfo.flags (erl_process.h 25.2.3:150), and of Process.state and flags.
 */
enum { POLL_SLEEPING = 1 << 1, TSE_SLEEPING = 1 << 2, WAITING = 1 << 3 };
enum { STATE_GC = 0x20000, FULLSWEEP = 1 << 4 };
enum { SCHEDULER = 0x1000, PROCESS = 0x2000, PORT = 0x3000, NIF = 0x4000, HEAP = 0x5000, R10 = 10 };

enum { FRAMES = 8 };

/* Frames, root first. The first letter is the kind: e Erlang code, b a BIF, k the kernel, l a
 * library, v a function of the VM. Capitals are functions that matter: S erts_schedule(), A
 * handle_aux_work(), I erts_check_io(), D a driver's, C garbage_collect(), interrupted at `at`, F
 * full_sweep_heaps(), M major_collection(). */
struct moment {
    bool process, broken, in_kernel;
    uint64_t scheduler, port, nif, r10;
    uint32_t sleep, state, flags;
    uint16_t gen_gcs;
    bool no_old_heap, nothing_old, abandoned;
    const uint8_t *at;
    const char *name; /* of the thread */
    const char *frames[FRAMES];
};

static struct vm vm;
static struct state_functions *functions;

static const char marks[] = "SAIDCF";
static const enum state_function kinds[] = {FUNCTION_SCHEDULE, FUNCTION_AUX_WORK,
                                            FUNCTION_CHECK_IO, FUNCTION_DRIVER,
                                            FUNCTION_COLLECT,  FUNCTION_FULL_SWEEP};

static uint64_t address_of(char mark)
{
    static const uint8_t *const code[] = {
        ['C'] = collect, ['F'] = full_sweep, ['M'] = major_collection};
    size_t index = (unsigned char)mark;

    return index < sizeof(code) / sizeof(*code) && code[index] ? (uint64_t)(uintptr_t)code[index]
                                                               : index;
}

static void learn_functions(void)
{
    for (size_t i = 0; marks[i]; i++)
        state_functions_add(functions, kinds[i], address_of(marks[i]));
    state_functions_find_sweeps(functions, address_of('C'), address_of('F'));
}

static int start(void **state)
{
    struct error error;

    (void)state;
    memset(&vm, 0, sizeof(vm));
    vm.layout = fake_layout(27);
    strcpy(vm.executable, "/usr/lib/erlang/bin/beam.smp");
    vm.memory = memory_of_process(getpid());
    vm.mappings = mappings_new(getpid(), vm.memory, &error);
    functions = state_functions_new(&vm, NULL, NULL);
    learn_functions();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    state_functions_free(functions);
    mappings_free(vm.mappings);
    memory_free(vm.memory);
    return 0;
}

static enum frame_class class_of(const char *text)
{
    const char *symbol = text[1] ? text + 2 : "beam.smp+0x1234";
    enum frame_class class;

    if (text[0] == 'e')
        return CLASS_ERLANG;
    if (text[0] == 'b')
        return CLASS_BIF;
    if (text[0] == 'k')
        return frame_class_of_system(symbol);
    class = frame_class_of_native(
        symbol, text[0] == 'l' ? "/usr/lib/libc.so.6" : "/root/of/it/bin/beam.smp", vm.executable);
    return frame_class_of_start(functions, address_of(text[0]), class);
}

static void put_process(struct fake_sample *sample, const struct moment *moment)
{
    uint8_t process[1024] = {0};
    uint64_t old_heap = moment->no_old_heap ? 0 : HEAP;
    uint64_t heap = HEAP, abandoned_heap = moment->abandoned ? HEAP + 0x800 : 0;
    uint64_t high_water = (abandoned_heap ? abandoned_heap : heap) + (moment->nothing_old ? 0 : 8);
    uint16_t max_gen_gcs = 5;

    memcpy(process + vm.layout.process_state, &moment->state, 4);
    memcpy(process + vm.layout.process_flags, &moment->flags, 4);
    memcpy(process + vm.layout.process_gen_gcs, &moment->gen_gcs, 2);
    memcpy(process + vm.layout.process_max_gen_gcs, &max_gen_gcs, 2);
    memcpy(process + vm.layout.process_old_heap, &old_heap, 8);
    memcpy(process + vm.layout.process_heap, &heap, 8);
    memcpy(process + vm.layout.process_abandoned_heap, &abandoned_heap, 8);
    memcpy(process + vm.layout.process_high_water, &high_water, 8);
    fake_region(sample, REGION_PROCESS, PROCESS, process, sizeof(process));
}

static void put_scheduler(struct fake_sample *sample, const struct moment *moment)
{
    uint8_t scheduler[WIRE_SCHEDULER_BYTES] = {0}, sleep_info[64] = {0};

    memcpy(scheduler + vm.layout.sched_current_port, &moment->port, 8);
    memcpy(scheduler + vm.layout.sched_current_nif, &moment->nif, 8);
    memcpy(sleep_info + 24, &moment->sleep, 4);
    fake_region(sample, REGION_SCHEDULER, SCHEDULER, scheduler, sizeof(scheduler));
    fake_region(sample, REGION_SLEEP_INFO, SCHEDULER, sleep_info, sizeof(sleep_info));
}

static enum microstate state_at(const struct moment *moment)
{
    struct unwound_frame frames[FRAMES];
    uint8_t classes[FRAMES];
    struct unwound unwound = {.native_broken = moment->broken, .frames = frames};
    struct fake_sample sample = {.head.scheduler = moment->scheduler};
    struct snapshot snapshot;
    enum microstate result;

    sample.head.registers.value[R10] = moment->r10;
    sample.head.flags = WIRE_REGISTERS | (moment->in_kernel ? WIRE_IN_KERNEL : 0);
    if (moment->name)
        memcpy(sample.head.thread_name, moment->name, strlen(moment->name));
    if (moment->scheduler)
        put_scheduler(&sample, moment);
    if (moment->process) {
        sample.head.process = PROCESS;
        put_process(&sample, moment);
    }
    assert_true(fake_sample_open(&sample, &snapshot));
    while (unwound.count < FRAMES && moment->frames[unwound.count])
        unwound.count++;
    for (size_t i = 0; i < unwound.count; i++) {
        const char *frame = moment->frames[i];
        size_t place = unwound.count - 1 - i;

        classes[place] = (uint8_t)class_of(frame);
        frames[place].address =
            *frame == 'C' ? (uint64_t)(uintptr_t)moment->at : address_of(*frame);
    }
    result =
        microstate_of(&(struct thread_sample){&vm.layout, functions, &snapshot, &unwound, classes});
    fake_sample_free(&sample);
    return result;
}

struct moment_case {
    struct moment moment;
    enum microstate state;
};

static void assert_states(const struct moment_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (state_at(&cases[i].moment) != cases[i].state)
            fail_msg("case %zu: %s", i, microstate_name(state_at(&cases[i].moment)));
}
#define ASSERT_STATES(cases) assert_states(cases, sizeof(cases) / sizeof(*(cases)))

#define P .process = true, .scheduler = SCHEDULER

/* The state of a process follows from the VM's function nearest to the leaf, the scheduler's NIF,
 * and the way its Erlang code was left. */
static void test_microstate_of_a_process_follows_from_its_frames(void **state)
{
    static const struct moment_case cases[] = {
        {{P, .frames = {"e", "e"}}, MICROSTATE_EMULATOR},
        {{P, .frames = {"e", "v", "v"}}, MICROSTATE_EMULATOR},
        {{P, .frames = {"e", "b", "v", "l memcpy"}}, MICROSTATE_BIF},
        {{P, .nif = NIF, .frames = {"e", "b", "l nif", "k do_syscall_64"}}, MICROSTATE_NIF},
        {{P, .frames = {"e", "b", "v", "D", "l writev", "k tcp_sendmsg"}}, MICROSTATE_PORT},
        {{P, .frames = {"e", "b", "v", "D", "v driver_select", "k ep_insert"}},
         MICROSTATE_CHECK_IO},
        /* A lock: the VM does not count it as sleep. */
        {{P, .frames = {"e", "b", "v", "l pthread_mutex_lock", "k futex_wait"}}, MICROSTATE_BIF},
        /* Frames rootwards of Erlang code belong to the loop that called it. */
        {{P, .frames = {"S", "e", "v"}}, MICROSTATE_EMULATOR},
        {{P, .frames = {"D", "b", "v"}}, MICROSTATE_BIF},
        {{P}, MICROSTATE_EMULATOR},
    };

    (void)state;
    ASSERT_STATES(cases);
}

/* Collections by garbage_collect() are major where the full sweep runs, where it must follow, and
 * after it, when there is no old heap. */
static void test_collections_are_major_where_the_full_sweep_runs(void **state)
{
#define GC P, .state = STATE_GC
    static const struct moment_case cases[] = {
        {{GC, .at = decided, .frames = {"e", "v", "C", "v"}}, MICROSTATE_GC_MINOR},
        {{GC, .at = decided, .no_old_heap = true, .frames = {"e", "b", "C", "l memcpy", "k fault"}},
         MICROSTATE_GC_MAJOR},
        {{GC, .at = decided, .flags = FULLSWEEP, .gen_gcs = 5, .frames = {"e", "v", "C"}},
         MICROSTATE_GC_MINOR},
        {{GC, .at = due, .frames = {"e", "v", "C", "v", "k mmap"}}, MICROSTATE_GC_MAJOR},
        {{GC, .at = decided, .frames = {"e", "v", "C", "F", "v"}}, MICROSTATE_GC_MAJOR},
        {{GC, .at = undecided, .frames = {"e", "v", "C", "M", "v"}}, MICROSTATE_GC_MAJOR},
        {{GC, .at = undecided, .frames = {"e", "v", "C"}}, MICROSTATE_GC_MINOR},
        {{GC, .at = undecided, .flags = FULLSWEEP, .frames = {"e", "v", "C"}}, MICROSTATE_GC_MAJOR},
        {{GC, .at = undecided, .gen_gcs = 4, .frames = {"e", "v", "C"}}, MICROSTATE_GC_MINOR},
        {{GC, .at = undecided, .gen_gcs = 5, .frames = {"e", "v", "C"}}, MICROSTATE_GC_MAJOR},
        /* A minor collection needs an old heap to move terms to, unless there are none to move. */
        {{GC, .at = undecided, .no_old_heap = true, .frames = {"e", "v", "C", "k mmap"}},
         MICROSTATE_GC_MINOR},
        {{GC, .at = undecided, .no_old_heap = true, .nothing_old = true, .frames = {"e", "v", "C"}},
         MICROSTATE_GC_MAJOR},
        {{GC, .at = undecided, .nothing_old = true, .frames = {"e", "v", "C"}},
         MICROSTATE_GC_MINOR},
        {{GC, .at = undecided, .no_old_heap = true, .nothing_old = true, .abandoned = true,
          .frames = {"e", "v", "C"}},
         MICROSTATE_GC_MAJOR},
        {{GC, .at = decided, .nif = NIF, .frames = {"e", "b", "v", "C"}}, MICROSTATE_GC_MINOR},
        {{GC, .frames = {"e", "v", "v", "F"}}, MICROSTATE_GC_HIBERNATE},
        {{GC, .frames = {"e", "v", "v"}}, MICROSTATE_GC_HIBERNATE},
        {{GC, .broken = true, .frames = {"v"}}, MICROSTATE_GC},
        /* Not the start of an instruction. */
        {{GC, .at = collect + 1, .frames = {"e", "v", "C"}}, MICROSTATE_GC},
        {{GC, .at = collect + 1, .no_old_heap = true, .frames = {"e", "v", "C"}}, MICROSTATE_GC},
        {{GC, .at = collect + 1, .flags = FULLSWEEP, .frames = {"e", "v", "C"}},
         MICROSTATE_GC_MAJOR},
        {{P, .at = decided, .frames = {"e", "v", "C"}}, MICROSTATE_EMULATOR},
    };
#undef GC

    (void)state;
    ASSERT_STATES(cases);
}

/* major_collection() identifies a major collection as full_sweep_heaps() does. */
static void test_separate_major_collection_is_recognized(void **state)
{
    uint64_t address = (uint64_t)(uintptr_t)due_by_major;

    (void)state;
    assert_int_equal(state_functions_sweep_ahead(functions, address), CALL_UNKNOWN);
    state_functions_find_sweeps(functions, (uint64_t)(uintptr_t)collect_by_major, address_of('F'));
    assert_int_equal(state_functions_sweep_ahead(functions, address), CALL_ALWAYS);
}

/* garbage_collect() sweeps once: if its code seems to sweep twice, the analysis of its paths is not
 * used. */
static void test_code_that_seems_to_sweep_twice_is_not_analyzed(void **state)
{
    uint64_t address = (uint64_t)(uintptr_t)due_again;

    (void)state;
    state_functions_find_sweeps(functions, (uint64_t)(uintptr_t)collect_again, address_of('F'));
    assert_int_equal(state_functions_sweep_ahead(functions, address), CALL_UNKNOWN);
}

static void test_scheduler_without_a_process_has_its_microstate(void **state)
{
#define T .scheduler = SCHEDULER
    static const struct moment_case cases[] = {
        {{T, .frames = {"e", "S", "v"}}, MICROSTATE_OTHER},
        {{T, .sleep = WAITING, .frames = {"e", "S"}}, MICROSTATE_BUSY_WAIT},
        {{T, .sleep = WAITING, .frames = {"e", "S", "v"}}, MICROSTATE_BUSY_WAIT},
        {{T, .sleep = WAITING, .frames = {"e", "S", "v", "l sched_yield", "k schedule"}},
         MICROSTATE_BUSY_WAIT},
        /* Also in scheduler_wait(), but outside of its loop: timers. */
        {{T, .sleep = WAITING, .frames = {"e", "S", "v", "v"}}, MICROSTATE_OTHER},
        {{T, .sleep = WAITING, .frames = {"l", "l"}}, MICROSTATE_OTHER},
        {{T, .frames = {"e", "S", "A", "v", "l free"}}, MICROSTATE_AUX},
        {{T, .frames = {"e", "S", "A", "v", "D"}}, MICROSTATE_PORT},
        {{T, .port = PORT, .frames = {"e", "S", "v", "v"}}, MICROSTATE_PORT},
        {{T, .port = PORT, .frames = {"e", "S", "v", "D", "v driver_select"}}, MICROSTATE_CHECK_IO},
        {{T, .frames = {"e", "S", "I", "v"}}, MICROSTATE_CHECK_IO},
        /* epoll_wait() waits unless its fourth argument is 0. */
        {{T, .in_kernel = true, .frames = {"e", "S", "I", "l epoll_wait", "k ep_poll"}},
         MICROSTATE_CHECK_IO},
        {{T, .in_kernel = true, .r10 = 0xffffffff, .frames = {"e", "S", "v", "I", "k ep_poll"}},
         MICROSTATE_SLEEP},
        {{T, .sleep = WAITING | POLL_SLEEPING, .frames = {"e", "S", "I", "l epoll_wait"}},
         MICROSTATE_SLEEP},
        {{T, .r10 = 1, .frames = {"e", "S", "I", "l epoll_wait"}}, MICROSTATE_CHECK_IO},
        {{T, .in_kernel = true, .frames = {"e", "S", "v", "k futex_wait_queue", "k schedule"}},
         MICROSTATE_SLEEP},
        {{T, .in_kernel = true, .frames = {"e", "S", "v", "k futex_wake"}}, MICROSTATE_OTHER},
        {{T, .in_kernel = true, .sleep = WAITING | TSE_SLEEPING, .frames = {"e", "S", "k 0xff"}},
         MICROSTATE_SLEEP},
        /* The flags stay for a while after the thread wakes up. */
        {{T, .sleep = WAITING | TSE_SLEEPING, .frames = {"e", "S", "v", "v"}}, MICROSTATE_OTHER},
        {{T, .in_kernel = true, .frames = {"e", "S", "I", "v", "k ep_poll_callback"}},
         MICROSTATE_CHECK_IO},
        {{T}, MICROSTATE_OTHER},
    };
#undef T

    (void)state;
    ASSERT_STATES(cases);
}

static void test_other_threads_are_identified_by_their_names(void **state)
{
    static const struct moment_case cases[] = {
        {{.name = "erts_aux_1", .frames = {"l", "v", "A", "v"}}, MICROSTATE_AUX},
        {{.name = "erts_aux_1", .frames = {"l", "v", "v"}}, MICROSTATE_OTHER},
        {{.name = "1_aux", .in_kernel = true, .frames = {"l", "v", "k futex_wait"}},
         MICROSTATE_SLEEP},
        {{.name = "erts_poll_0", .frames = {"l", "v", "I", "v"}}, MICROSTATE_CHECK_IO},
        {{.name = "0_poller", .in_kernel = true, .r10 = 1, .frames = {"l", "I", "k ep_poll"}},
         MICROSTATE_SLEEP},
        {{.name = "erts_async_1", .frames = {"l", "v", "l read"}}, MICROSTATE_PORT},
        {{.name = "async_1", .in_kernel = true, .frames = {"l", "v", "k futex_wait"}},
         MICROSTATE_SLEEP},
        {{.name = "erts_ssig_disp", .frames = {"l", "v"}}, MICROSTATE_OTHER},
    };

    (void)state;
    ASSERT_STATES(cases);
}

/* Unknown functions give no state; they give one when they are known. */
static void test_functions_give_microstates_once_they_are_known(void **state)
{
    static const struct moment gc = {P, .state = STATE_GC, .at = decided,
                                     .frames = {"e", "v", "C"}};
    static const struct moment wait = {
        .scheduler = SCHEDULER, .sleep = WAITING, .frames = {"e", "S", "v", "v"}};
    static const struct moment driver = {P, .frames = {"e", "b", "D"}};

    (void)state;
    state_functions_free(functions);
    functions = state_functions_new(&vm, NULL, NULL);
    assert_int_equal(state_at(&gc), MICROSTATE_GC);
    assert_int_equal(state_at(&wait), MICROSTATE_BUSY_WAIT);
    assert_int_equal(state_at(&driver), MICROSTATE_BIF);
    learn_functions();
    assert_int_equal(state_at(&gc), MICROSTATE_GC_MINOR);
    assert_int_equal(state_at(&wait), MICROSTATE_OTHER);
    assert_int_equal(state_at(&driver), MICROSTATE_PORT);
}

static void test_process_without_copied_memory_has_no_microstate(void **state)
{
    struct unwound unwound = {0};
    struct fake_sample sample = {.head = {.scheduler = SCHEDULER, .process = PROCESS}};
    struct snapshot snapshot;

    (void)state;
    assert_true(fake_sample_open(&sample, &snapshot));
    assert_int_equal(
        microstate_of(&(struct thread_sample){&vm.layout, functions, &snapshot, &unwound, NULL}),
        MICROSTATE_NONE);
    fake_sample_free(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_microstate_of_a_process_follows_from_its_frames, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_collections_are_major_where_the_full_sweep_runs, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_separate_major_collection_is_recognized, start, stop),
        cmocka_unit_test_setup_teardown(test_code_that_seems_to_sweep_twice_is_not_analyzed, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_scheduler_without_a_process_has_its_microstate, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_other_threads_are_identified_by_their_names, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_functions_give_microstates_once_they_are_known, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_process_without_copied_memory_has_no_microstate, start,
                                        stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
