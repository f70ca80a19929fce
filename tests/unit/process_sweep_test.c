// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "beam/gdb_jit.h"
#include "beam/process_sweep.h"
#include "fake_target.h"
#include "wire.h"

enum { TABLE = 1024, RUNNING = 1 << 15, STACK_WORDS = 8, LOADED = 8 };

/* A VM of OTP 25; process N, in slot N of the table, has N reductions. */
struct bench {
    struct fake_target *target;
    struct vm vm;
    uint64_t slots;
    uint64_t processes[TABLE];
    struct sweep_room *room;
    struct process_sweep *sweep;
    /* totals of the visits */
    int visits, running, stacks;
    size_t stack_bytes;
    uint64_t reds;
    struct sweep_counts counts;
    /* the process that runs while it is read: its reductions grow with each read of its stack */
    uint64_t restless;
    int runs; /* remaining runs */
    /* place of the code's generation, and of a stack whose reading code loading overtakes */
    uint64_t generation, loads_at;
    uint64_t seen_generation; /* at the last visit */
};

static struct bench *reading; /* the bench whose memory is read */
static bool (*plain_read)(struct memory *memory, uint64_t address, void *buffer, size_t size);

static bool has(const struct process_top *top, uint64_t index)
{
    size_t count;
    const uint64_t *indices = process_top_indices(top, &count);

    for (size_t i = 0; i < count; i++)
        if (indices[i] == index)
            return true;
    return false;
}

static uint64_t id_of(uint64_t number)
{
    return number << 32 | number << 4 | 3;
}

static void set(struct bench *bench, uint64_t number, int32_t offset, uint64_t value)
{
    fake_put_u64(bench->target, bench->processes[number] + (uint64_t)offset, value);
}

static uint64_t get(struct bench *bench, uint64_t number, int32_t offset)
{
    uint64_t value;

    memcpy(&value, bench->target->bytes + (bench->processes[number] - FAKE_BASE) + (size_t)offset,
           sizeof(value));
    return value;
}

/* Read memory. Reading the stack of the restless process takes so long that the process runs
 * meanwhile; reading at `loads_at` takes so long that code is loaded. */
static bool read_while_it_runs(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    const struct layout *layout = &reading->vm.layout;
    uint64_t number = reading->restless;

    if (reading->loads_at && address == reading->loads_at)
        fake_put_u64(reading->target, reading->generation, LOADED);
    if (number && reading->runs && address == get(reading, number, layout->process_stop)) {
        reading->runs--;
        set(reading, number, layout->process_reds, get(reading, number, layout->process_reds) + 1);
    }
    return plain_read(memory, address, buffer, size);
}

static void spawn(struct bench *bench, uint64_t number, size_t stack_words)
{
    const struct layout *layout = &bench->vm.layout;
    uint64_t stack = fake_room(bench->target, (stack_words + 1) * 8);

    bench->processes[number] = fake_room(bench->target, (size_t)layout->sizeof_process);
    set(bench, number, layout->process_id, id_of(number));
    set(bench, number, layout->process_reds, number);
    set(bench, number, layout->process_stop, stack);
    set(bench, number, layout->process_hend, stack + stack_words * 8);
    fake_put_u64(bench->target, bench->slots + number * 8, bench->processes[number]);
}

static void open_bench(struct bench *bench, uint64_t count)
{
    struct layout *layout = &bench->vm.layout;
    struct error error;

    memset(bench, 0, sizeof(*bench));
    bench->target = fake_target_new();
    plain_read = bench->target->memory.read;
    bench->target->memory.read = read_while_it_runs;
    reading = bench;
    bench->vm = (struct vm){.memory = &bench->target->memory};
    fake_release(&bench->vm, 25);
    bench->vm.roots.proc_table = fake_room(bench->target, 1024);
    bench->slots = fake_room(bench->target, TABLE * 8);
    fake_put_u64(bench->target, bench->vm.roots.proc_table + (uint64_t)layout->ptab_tab,
                 bench->slots);
    fake_put_u32(bench->target, bench->vm.roots.proc_table + (uint64_t)layout->ptab_max, TABLE);
    for (uint64_t number = 1; number <= count; number++)
        spawn(bench, number, STACK_WORDS);
    bench->room = sweep_room_new();
    bench->sweep = process_sweep_new(&bench->vm, bench->room, &error);
    assert_non_null(bench->sweep);
}

static void close_bench(struct bench *bench)
{
    process_sweep_free(bench->sweep);
    sweep_room_free(bench->room);
    free(bench->target);
}

static void visit(void *context, const struct swept_process *process)
{
    struct bench *bench = context;
    uint64_t reds;

    memcpy(&reds, process->bytes + bench->vm.layout.process_reds, sizeof(reds));
    bench->visits++;
    bench->seen_generation = process->code_generation;
    bench->running += process->is_running;
    bench->reds += reds;
    bench->stacks += (int)process->stack_count;
    for (size_t i = 0; i < process->stack_count; i++)
        bench->stack_bytes += process->stacks[i].size;
}

static void sweep_share(struct bench *bench, double share)
{
    const struct sweep_request request = {
        .with_stacks = true, .share = share, .visit = visit, .context = bench};
    struct error error;

    assert_int_equal(process_sweep_run(bench->sweep, &request, &bench->counts, &error), 0);
    assert_int_equal(bench->counts.processes, bench->visits);
}

static void sweep(struct bench *bench)
{
    sweep_share(bench, 1);
}

/* Each process of the table is visited once, with its whole stack, also if there are more than one
 * batch. */
static void test_each_process_is_visited_once(void **state)
{
    struct bench bench;

    (void)state;
    open_bench(&bench, 600);
    sweep(&bench);
    assert_int_equal(bench.visits, 600);
    assert_int_equal(bench.reds, 600 * 601 / 2);
    assert_int_equal(bench.stacks, 600);
    assert_int_equal(bench.stack_bytes, 600 * STACK_WORDS * 8);
    close_bench(&bench);
}

/* Two VMs share the memory of sweeps, and the structs of the second one are larger: the sweeps of
 * each read all processes. */
static void test_sweeps_of_several_vms_share_their_memory(void **state)
{
    struct bench bench, other;
    struct process_sweep *larger;
    struct error error;

    (void)state;
    open_bench(&bench, 300);
    open_bench(&other, 300);
    other.vm.layout.sizeof_process *= 2;
    larger = process_sweep_new(&other.vm, bench.room, &error);
    assert_non_null(larger);
    reading = &bench;
    sweep(&bench);
    assert_int_equal(bench.stack_bytes, 300 * STACK_WORDS * 8);
    process_sweep_free(larger);
    close_bench(&other);
    close_bench(&bench);
}

/* Only the requested processes are visited, without those that have ended. */
static void test_only_requested_processes_are_visited(void **state)
{
    const uint64_t indices[] = {3, 9, 10, 500};
    struct bench bench;
    struct sweep_request request = {.with_stacks = true,
                                    .indices = indices,
                                    .index_count = 4,
                                    .visit = visit,
                                    .context = &bench};
    struct error error;

    (void)state;
    open_bench(&bench, 10);
    fake_put_u64(bench.target, bench.slots + 9 * 8, 0);
    assert_int_equal(process_sweep_run(bench.sweep, &request, &bench.counts, &error), 0);
    assert_int_equal(bench.visits, 2);
    assert_int_equal(bench.reds, 3 + 10);
    close_bench(&bench);
}

/* A sweep over a share visits that share, with equal chance for all, including the first and the
 * last slot, whether it reads the whole table or single lines. */
static void test_share_of_a_sweep_has_equal_chance_for_all(void **state)
{
    static const struct {
        double share;
        int sweeps;
    } cases[] = {{0.1, 4000}, {0.02, 20000}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench bench;

        open_bench(&bench, 999);
        for (int n = 0; n < cases[i].sweeps; n++)
            sweep_share(&bench, cases[i].share);
        assert_in_range(bench.visits, 388000, 412000);
        assert_in_range(bench.reds / (uint64_t)bench.visits, 490, 510);
        close_bench(&bench);
    }
}

/* Else all recordings of a node would begin with the same processes, and have the same error. */
static void test_sweeps_choose_other_processes_each_time(void **state)
{
    uint64_t sums[2][10];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bench bench;

        open_bench(&bench, 999);
        for (int n = 0; n < 10; n++) {
            sweep_share(&bench, 0.1);
            sums[i][n] = bench.reds;
        }
        close_bench(&bench);
    }
    assert_memory_not_equal(sums[0], sums[1], sizeof(sums[0]));
}

/* A process that has left its slot, or cannot be read, counts as gone, and hides no other
 * process. */
static void test_process_that_left_its_slot_counts_as_gone(void **state)
{
    struct bench bench;

    (void)state;
    open_bench(&bench, 10);
    set(&bench, 3, bench.vm.layout.process_id, id_of(4));
    set(&bench, 5, bench.vm.layout.process_id, 0);
    fake_put_u64(bench.target, bench.slots + 8 * 8, 4096);
    /* A neighbour of the last process, with an unreadable end. */
    fake_put_u64(bench.target, bench.slots + 11 * 8, FAKE_BASE + bench.target->used - 64);
    sweep(&bench);
    assert_int_equal(bench.counts.gone, 4);
    assert_int_equal(bench.visits, 7);
    close_bench(&bench);
}

static void test_stack_of_a_running_process_is_not_read(void **state)
{
    struct bench bench;

    (void)state;
    open_bench(&bench, 10);
    set(&bench, 7, bench.vm.layout.process_state, RUNNING);
    sweep(&bench);
    assert_int_equal(bench.visits, 10);
    assert_int_equal(bench.running, 1);
    assert_int_equal(bench.stacks, 9);
    close_bench(&bench);
}

/* A process that has run between the reads is read again; if it runs every time, it counts as
 * torn. */
static void test_process_that_runs_between_all_reads_counts_as_torn(void **state)
{
    struct bench bench;

    (void)state;
    open_bench(&bench, 10);
    bench.restless = 7;
    bench.runs = 2;
    sweep(&bench);
    assert_int_equal(bench.visits, 10);
    assert_int_equal(bench.reds, 55 + 2);
    assert_int_equal(bench.counts.torn, 0);
    bench.visits = 0;
    bench.counts = (struct sweep_counts){0};
    bench.runs = 100;
    sweep(&bench);
    assert_int_equal(bench.visits, 9);
    assert_int_equal(bench.counts.torn, 1);
    close_bench(&bench);
}

static void test_both_ends_of_a_deep_stack_are_read(void **state)
{
    struct bench bench;

    (void)state;
    open_bench(&bench, 0);
    spawn(&bench, 1, 10000);
    sweep(&bench);
    assert_int_equal(bench.stacks, 2);
    assert_int_equal(bench.stack_bytes, WIRE_ERLANG_LEAF_BYTES + WIRE_ERLANG_ROOT_BYTES);
    close_bench(&bench);
}

/* A process is distinguished from another one in its place. */
static void test_another_process_at_the_address_counts_as_gone(void **state)
{
    struct bench bench;
    struct swept_process process;

    (void)state;
    open_bench(&bench, 3);
    assert_int_equal(process_sweep_again(bench.sweep, bench.processes[2], id_of(2), &process),
                     SWEPT_AT_REST);
    assert_int_equal(process.stack_count, 1);
    assert_int_equal(process_sweep_again(bench.sweep, bench.processes[2], id_of(3), &process),
                     SWEPT_GONE);
    assert_int_equal(process_sweep_again(bench.sweep, 4096, id_of(2), &process), SWEPT_GONE);
    set(&bench, 2, bench.vm.layout.process_state, RUNNING);
    assert_int_equal(process_sweep_again(bench.sweep, bench.processes[2], id_of(2), &process),
                     SWEPT_RUNNING);
    close_bench(&bench);
}

/* Code that is loaded while a stack is read can be in that stack: the generation is the new one. */
static void test_generation_of_the_code_is_read_after_the_stacks(void **state)
{
    struct bench bench;
    struct swept_process process;

    (void)state;
    open_bench(&bench, 3);
    bench.vm.roots.jit_descriptor = fake_room(bench.target, 64);
    bench.generation = bench.vm.roots.jit_descriptor + GDB_JIT_FIRST_ENTRY;
    fake_put_u64(bench.target, bench.generation, 7);
    sweep(&bench);
    assert_int_equal(bench.seen_generation, 7);
    bench.loads_at = get(&bench, 3, bench.vm.layout.process_stop);
    sweep(&bench);
    assert_int_equal(bench.seen_generation, LOADED);
    fake_put_u64(bench.target, bench.generation, 7);
    process_sweep_again(bench.sweep, bench.processes[3], id_of(3), &process);
    assert_int_equal(process.code_generation, LOADED);
    close_bench(&bench);
}

/* The largest processes are found anywhere in the table; of equal ones, the oldest. */
static void test_largest_processes_are_found_anywhere_in_the_table(void **state)
{
    struct bench bench;
    struct process_top *top = process_top_new(4, METRIC_REDUCTIONS, false);
    struct error error;

    (void)state;
    open_bench(&bench, 300);
    set(&bench, 1, bench.vm.layout.process_reds, 1000);
    set(&bench, 150, bench.vm.layout.process_reds, 298);
    assert_int_equal(process_top_find(top, &bench.vm, bench.sweep, &bench.counts, &error), 0);
    for (uint64_t number = 1; number <= 300; number++)
        assert_int_equal(has(top, number), number == 1 || number == 150 || number > 298);
    set(&bench, 150, bench.vm.layout.process_reds, 299);
    set(&bench, 300, bench.vm.layout.process_reds, 0);
    assert_int_equal(process_top_find(top, &bench.vm, bench.sweep, &bench.counts, &error), 0);
    for (uint64_t number = 1; number <= 300; number++)
        assert_int_equal(has(top, number),
                         number == 1 || number == 150 || number == 298 || number == 299);
    process_top_free(top);
    close_bench(&bench);
}

static void grow(struct bench *bench, uint64_t number, int64_t by)
{
    int32_t at = bench->vm.layout.process_reds;

    set(bench, number, at, get(bench, number, at) + (uint64_t)by);
}

static void find(struct bench *bench, struct process_top *top)
{
    struct error error;

    assert_int_equal(process_top_find(top, &bench->vm, bench->sweep, &bench->counts, &error), 0);
}

/* The processes that have grown most since the last search are found, whatever their rank was; in
 * the first search the whole value is growth. */
static void test_processes_that_have_grown_most_are_found(void **state)
{
    struct bench bench;
    struct process_top *top = process_top_new(3, METRIC_REDUCTIONS, true);
    int64_t grown;

    (void)state;
    open_bench(&bench, 600);
    find(&bench, top);
    for (uint64_t number = 1; number <= 600; number++)
        assert_int_equal(has(top, number), number > 597);
    grow(&bench, 2, 10);
    grow(&bench, 300, 9);
    grow(&bench, 555, 11);
    grow(&bench, 599, 8);
    grow(&bench, 600, -500);
    find(&bench, top);
    for (uint64_t number = 1; number <= 600; number++)
        assert_int_equal(has(top, number), number == 2 || number == 300 || number == 555);
    assert_true(process_top_value(top, id_of(300), &grown));
    assert_int_equal(grown, 9);
    assert_false(process_top_value(top, id_of(599), &grown));
    grow(&bench, 600, 1);
    grow(&bench, 1, -1);
    find(&bench, top);
    for (uint64_t number = 1; number <= 600; number++)
        assert_int_equal(has(top, number), number == 600 || number == 2 || number == 3);
    process_top_free(top);
    close_bench(&bench);
}

/* Processes end and start among the others. A process in the place of another has grown from 0,
 * even if the other had more. */
static void test_new_process_has_grown_from_0(void **state)
{
    struct bench bench;
    struct process_top *top = process_top_new(2, METRIC_REDUCTIONS, true);

    (void)state;
    open_bench(&bench, 600);
    find(&bench, top);
    fake_put_u64(bench.target, bench.slots + 10 * 8, 0);
    fake_put_u64(bench.target, bench.slots + 512 * 8, 0);
    spawn(&bench, 700, STACK_WORDS);
    set(&bench, 500, bench.vm.layout.process_id, id_of(500) + (TABLE << 4));
    set(&bench, 500, bench.vm.layout.process_reds, 499);
    grow(&bench, 599, 498);
    find(&bench, top);
    for (uint64_t number = 1; number <= 700; number++)
        assert_int_equal(has(top, number), number == 700 || number == 500);
    process_top_free(top);
    close_bench(&bench);
}

/* A process whose value is unknown at one of the two times has no rank. */
static void test_process_of_unknown_growth_has_no_rank(void **state)
{
    struct bench bench;
    struct process_top *top = process_top_new(1, METRIC_STACK, true);

    (void)state;
    open_bench(&bench, 3);
    set(&bench, 2, bench.vm.layout.process_state, RUNNING);
    for (uint64_t number = 1; number <= 3; number++)
        set(&bench, number, bench.vm.layout.process_heap, FAKE_BASE);
    find(&bench, top);
    set(&bench, 2, bench.vm.layout.process_state, 0);
    set(&bench, 3, bench.vm.layout.process_hend, get(&bench, 3, bench.vm.layout.process_hend) + 8);
    find(&bench, top);
    assert_true(has(top, 3));
    set(&bench, 3, bench.vm.layout.process_state, RUNNING);
    set(&bench, 2, bench.vm.layout.process_hend, get(&bench, 2, bench.vm.layout.process_hend) + 8);
    find(&bench, top);
    assert_true(has(top, 2));
    process_top_free(top);
    close_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_process_is_visited_once),
        cmocka_unit_test(test_sweeps_of_several_vms_share_their_memory),
        cmocka_unit_test(test_only_requested_processes_are_visited),
        cmocka_unit_test(test_share_of_a_sweep_has_equal_chance_for_all),
        cmocka_unit_test(test_sweeps_choose_other_processes_each_time),
        cmocka_unit_test(test_process_that_left_its_slot_counts_as_gone),
        cmocka_unit_test(test_stack_of_a_running_process_is_not_read),
        cmocka_unit_test(test_process_that_runs_between_all_reads_counts_as_torn),
        cmocka_unit_test(test_both_ends_of_a_deep_stack_are_read),
        cmocka_unit_test(test_another_process_at_the_address_counts_as_gone),
        cmocka_unit_test(test_generation_of_the_code_is_read_after_the_stacks),
        cmocka_unit_test(test_largest_processes_are_found_anywhere_in_the_table),
        cmocka_unit_test(test_processes_that_have_grown_most_are_found),
        cmocka_unit_test(test_new_process_has_grown_from_0),
        cmocka_unit_test(test_process_of_unknown_growth_has_no_rank),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
