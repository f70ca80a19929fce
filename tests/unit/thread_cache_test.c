// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "symbol/threads_internal.h"

enum { FIRST = 0x1000, DIRTY = 0x2000, SAME_PLACE = 1 << 20 };

static struct vm_scheduler schedulers[] = {
    {.data = FIRST, .type = VM_SCHEDULER_NORMAL, .number = 1},
    {.data = DIRTY, .type = VM_SCHEDULER_DIRTY_IO, .number = 7},
};
static const struct vm vm = {.schedulers = schedulers, .scheduler_count = 2};
static struct profile *profile;
static struct thread_cache *cache;

static int set_up(void **state)
{
    (void)state;
    profile = profile_new();
    cache = thread_cache_new(&vm, profile, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    thread_cache_free(cache);
    profile_free(profile);
    return 0;
}

static thread_id get(uint32_t tid, uint64_t scheduler, const char *name)
{
    struct wire_sample wire = {.tid = tid, .scheduler = scheduler};

    memcpy(wire.thread_name, name, strnlen(name, sizeof(wire.thread_name)));
    return thread_cache_get(cache, &wire);
}

static void assert_thread(thread_id id, uint32_t tid, const char *name, uint16_t kind,
                          uint16_t number)
{
    const struct thread_entry *thread = profile_get_thread(profile, id);

    assert_int_equal(thread->tid, tid);
    assert_string_equal(profile_text(profile, thread->name), name);
    assert_int_equal(thread->scheduler_kind, kind);
    assert_int_equal(thread->scheduler_number, number);
}

/* Schedulers are identified by their data; other threads have only a name, or not even that. */
static void test_schedulers_are_identified_by_their_data(void **state)
{
    (void)state;
    assert_thread(get(10, FIRST, "erts_sched_1"), 10, "erts_sched_1", SCHEDULER_NORMAL, 1);
    assert_thread(get(11, DIRTY, "erts_dios_7"), 11, "erts_dios_7", SCHEDULER_DIRTY_IO, 7);
    assert_thread(get(12, 0, "a name of 16 byt"), 12, "a name of 16 byt", SCHEDULER_NONE, 0);
    assert_thread(get(13, 0x3000, ""), 13, "", SCHEDULER_NONE, 0);
}

/* A thread keeps its entry, even after another one took its slot in the cache. */
static void test_thread_keeps_its_entry_after_its_slot_was_taken(void **state)
{
    thread_id first = get(10, FIRST, "one"), other = get(10 + SAME_PLACE, DIRTY, "other");

    (void)state;
    assert_int_not_equal(first, other);
    assert_int_equal(get(10, FIRST, "one"), first);
    assert_int_equal(get(10, FIRST, "one"), first);
    assert_int_equal(get(10 + SAME_PLACE, DIRTY, "other"), other);
    assert_int_equal(profile_counts(profile).threads, 2);
}

static void test_new_name_or_reused_tid_gives_a_new_entry(void **state)
{
    thread_id first = get(10, FIRST, "one"), renamed = get(10, FIRST, "two"), reused;

    (void)state;
    assert_thread(renamed, 10, "two", SCHEDULER_NORMAL, 1);
    reused = get(10, DIRTY, "two");
    assert_thread(reused, 10, "two", SCHEDULER_DIRTY_IO, 7);
    assert_int_equal(get(10, FIRST, "one"), first);
}

static void test_thread_is_an_entry_after_a_move_to_another_profile(void **state)
{
    struct profile *next = profile_new();

    (void)state;
    get(10, FIRST, "one");
    get(11, 0, "other");
    thread_cache_move(cache, next, 0);
    profile_free(profile);
    profile = next;
    assert_thread(get(11, 0, "other"), 11, "other", SCHEDULER_NONE, 0);
    assert_thread(get(10, FIRST, "one"), 10, "one", SCHEDULER_NORMAL, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_schedulers_are_identified_by_their_data, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_thread_keeps_its_entry_after_its_slot_was_taken,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_new_name_or_reused_tid_gives_a_new_entry, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_thread_is_an_entry_after_a_move_to_another_profile,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
