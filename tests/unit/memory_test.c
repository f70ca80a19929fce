// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native/mappings.h"
#include "native/memory.h"

enum { PAGE = 4096 };

/* Return two pages; the second is not readable. */
static char *page_before_hole(void)
{
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(pages != MAP_FAILED);
    assert_int_equal(munmap(pages + PAGE, PAGE), 0);
    memset(pages, 'x', PAGE);
    return pages;
}

/* Words are read unchanged; a null address is an error, not a crash. */
static void test_words_are_read_and_a_null_address_fails(void **state)
{
    struct memory *memory = memory_of_process(getpid());
    uint64_t here = 0x1122334455667788, copy = 0;
    uint32_t half = 0;

    (void)state;
    assert_true(memory_read_u64(memory, (uintptr_t)&here, &copy));
    assert_int_equal(copy, here);
    assert_true(memory_read_u32(memory, (uintptr_t)&here, &half));
    assert_int_equal(half, 0x55667788);
    assert_true(memory_read(memory, 0, NULL, 0));
    assert_false(memory_read_u64(memory, 0, &copy));
    assert_false(memory_read_u64(memory, UINT64_MAX - 3, &copy));
    memory_free(memory);
}

static void test_read_available_only_in_part_fails(void **state)
{
    struct memory *memory = memory_of_process(getpid());
    char *page = page_before_hole();
    char buffer[64];

    (void)state;
    assert_true(memory_read(memory, (uintptr_t)page + PAGE - 32, buffer, 32));
    assert_false(memory_read(memory, (uintptr_t)page + PAGE - 32, buffer, 33));
    assert_int_equal(munmap(page, PAGE), 0);
    memory_free(memory);
}

/* Return the times that this thread has waited so far: a patient read waits for another one. */
static long waits(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_nvcsw;
}

/* Data that change while they are read lead to any address. */
static void test_addresses_that_are_not_mapped_fail_at_once(void **state)
{
    enum { READS = 1000, MANY = 16 };
    struct memory *memory = memory_of_process(getpid());
    struct memory_span spans[MANY];
    char *page = page_before_hole(), byte;
    char buffers[MANY][8];
    long before;

    (void)state;
    assert_false(memory_read(memory, (uintptr_t)page + PAGE, &byte, 1));
    before = waits();
    for (uint64_t i = 0; i < READS; i++) {
        assert_false(memory_read(memory, i * PAGE % 65536, &byte, 1));
        assert_false(memory_read(memory, (uintptr_t)page + PAGE + i, &byte, 1));
        assert_false(memory_read(memory, UINT64_MAX - i * PAGE, &byte, 1));
        for (int j = 0; j < MANY; j++)
            spans[j] = (struct memory_span){(uintptr_t)page + (j % 3 ? 0 : PAGE + i), buffers[j],
                                            sizeof(buffers[j]), false};
        memory_read_spans(memory, spans, MANY);
        for (int j = 0; j < MANY; j++)
            assert_int_equal(spans[j].is_read, j % 3 != 0);
    }
    assert_in_range(waits() - before, 0, READS / 10);
    assert_int_equal(munmap(page, PAGE), 0);
    memory_free(memory);
}

/* A file that was mapped since the last list is found with the next one. */
static void test_ranges_follow_the_process(void **state)
{
    struct mapped_ranges *ranges = mapped_ranges_new(getpid());
    char *page = page_before_hole();

    (void)state;
    assert_true(mapped_ranges_have(ranges, (uintptr_t)&ranges));
    assert_true(mapped_ranges_have(ranges, (uintptr_t)page + PAGE - 1));
    assert_false(mapped_ranges_have(ranges, (uintptr_t)page + PAGE));
    assert_false(mapped_ranges_have(ranges, 0));
    assert_int_equal(mprotect(page, PAGE, PROT_NONE), 0);
    mapped_ranges_free(ranges);
    ranges = mapped_ranges_new(getpid());
    assert_false(mapped_ranges_have(ranges, (uintptr_t)page));
    assert_int_equal(mprotect(page, PAGE, PROT_READ), 0);
    for (int i = 0; i < 1000 && !mapped_ranges_have(ranges, (uintptr_t)page); i++)
        usleep(10000);
    assert_true(mapped_ranges_have(ranges, (uintptr_t)page));
    assert_int_equal(munmap(page, PAGE), 0);
    mapped_ranges_free(ranges);
    ranges = mapped_ranges_new(0x7ffffff0);
    assert_true(mapped_ranges_have(ranges, 0)); /* not known */
    mapped_ranges_free(ranges);
}

/* Among many reads, exactly those of readable memory succeed, in any order and number. */
static void test_only_readable_spans_of_many_are_read(void **state)
{
    enum { COUNT = 1500 };
    static struct memory_span spans[COUNT];
    static char buffers[COUNT][8];
    struct memory *memory = memory_of_process(getpid());
    char *page = page_before_hole();

    (void)state;
    for (int i = 0; i < COUNT; i++)
        spans[i] = (struct memory_span){(uintptr_t)page + (i % 7 == 3 ? PAGE - 4 : i), buffers[i],
                                        sizeof(buffers[i]), false};
    for (int i = 0; i < PAGE; i++)
        page[i] = (char)i;
    memory_read_spans(memory, spans, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(spans[i].is_read, i % 7 != 3);
        if (spans[i].is_read)
            assert_memory_equal(buffers[i], page + i, sizeof(buffers[i]));
    }
    assert_int_equal(munmap(page, PAGE), 0);
    memory_free(memory);
}

/* A string may end right before an unreadable page, but not continue into it. */
static void test_string_may_end_right_before_an_unreadable_page(void **state)
{
    struct memory *memory = memory_of_process(getpid());
    char *page = page_before_hole();
    char buffer[64];

    (void)state;
    memcpy(page + PAGE - 6, "hello", 6);
    assert_true(memory_read_string(memory, (uintptr_t)page + PAGE - 6, buffer, sizeof(buffer)));
    assert_string_equal(buffer, "hello");
    page[PAGE - 1] = '!';
    assert_false(memory_read_string(memory, (uintptr_t)page + PAGE - 6, buffer, sizeof(buffer)));
    assert_int_equal(munmap(page, PAGE), 0);
    memory_free(memory);
}

/* Strings across pages and chunks are read whole; strings longer than the buffer are cut. */
static void test_long_strings_are_cut_to_the_buffer(void **state)
{
    struct memory *memory = memory_of_process(getpid());
    static char text[3 * PAGE];
    static char buffer[3 * PAGE];

    (void)state;
    memset(text, 'y', sizeof(text) - 1);
    assert_true(memory_read_string(memory, (uintptr_t)text, buffer, sizeof(buffer)));
    assert_string_equal(buffer, text);
    assert_true(memory_read_string(memory, (uintptr_t)text, buffer, 5));
    assert_string_equal(buffer, "yyyy");
    assert_false(memory_read_string(memory, (uintptr_t)text, buffer, 0));
    memory_free(memory);
}

static const char image[] = {'a', 'b', 'c', '\0', 'd'};

static bool image_read(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    (void)memory;
    if (address > sizeof(image) || size > sizeof(image) - address)
        return false;
    memcpy(buffer, image + address, size);
    return true;
}

/* A captured image can end anywhere, not only at the end of a page. */
static void test_string_in_an_image_that_ends_within_a_page_is_read(void **state)
{
    struct memory memory = {.read = image_read};
    char buffer[64];

    (void)state;
    assert_true(memory_read_string(&memory, 1, buffer, sizeof(buffer)));
    assert_string_equal(buffer, "bc");
    assert_false(memory_read_string(&memory, 4, buffer, sizeof(buffer)));
}

static void test_read_from_an_ended_process_fails(void **state)
{
    struct memory *memory = memory_of_process(0x7ffffff0);
    uint64_t word;

    (void)state;
    assert_false(memory_read_u64(memory, (uintptr_t)&word, &word));
    memory_free(memory);
    memory_free(NULL);
}

/* A child that stops, calls exec() when it is continued, and stops again by itself. */
static pid_t start_child(void)
{
    pid_t child = fork();

    if (child == 0) {
        raise(SIGSTOP);
        execlp("sh", "sh", "-c", "kill -STOP $$", (char *)NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
    return child;
}

/* After exec() nothing is read, although the pid is the same and the new program has memory at the
 * address. */
static void test_memory_ends_at_exec(void **state)
{
    static const uint64_t word = 0x1122334455667788;
    pid_t child = start_child();
    struct memory *memory = memory_of_process(child), *later;
    struct memory_span span = {.size = sizeof(uint64_t)};
    uint64_t copy = 0, start;
    char path[32], line[32];
    FILE *maps;

    (void)state;
    assert_true(memory_read_u64(memory, (uintptr_t)&word, &copy));
    assert_int_equal(copy, word);
    assert_true(memory_is_there(memory));
    kill(child, SIGCONT);
    assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)child);
    maps = fopen(path, "r");
    assert_non_null(fgets(line, sizeof(line), maps));
    fclose(maps);
    start = strtoull(line, NULL, 16);
    later = memory_of_process(child);
    assert_true(memory_read_u64(later, start, &copy));
    usleep(10000); /* it is looked at once a millisecond */
    assert_false(memory_is_there(memory));
    assert_true(memory_is_there(later));
    assert_false(memory_read_u64(memory, start, &copy));
    span.address = start;
    span.buffer = &copy;
    memory_read_spans(memory, &span, 1);
    assert_false(span.is_read);
    memory_free(later);
    memory_free(memory);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* Not even while the process waits for its parent to take its exit status. */
static void test_memory_is_not_there_after_the_end(void **state)
{
    pid_t child = start_child();
    struct memory *memory = memory_of_process(child);
    siginfo_t end;

    (void)state;
    assert_true(memory_is_there(memory));
    kill(child, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)child, &end, WEXITED | WNOWAIT), 0);
    usleep(10000); /* as above */
    assert_false(memory_is_there(memory));
    waitpid(child, NULL, 0);
    memory_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_read_and_a_null_address_fails),
        cmocka_unit_test(test_read_available_only_in_part_fails),
        cmocka_unit_test(test_addresses_that_are_not_mapped_fail_at_once),
        cmocka_unit_test(test_ranges_follow_the_process),
        cmocka_unit_test(test_only_readable_spans_of_many_are_read),
        cmocka_unit_test(test_string_may_end_right_before_an_unreadable_page),
        cmocka_unit_test(test_long_strings_are_cut_to_the_buffer),
        cmocka_unit_test(test_string_in_an_image_that_ends_within_a_page_is_read),
        cmocka_unit_test(test_read_from_an_ended_process_fails),
        cmocka_unit_test(test_memory_ends_at_exec),
        cmocka_unit_test(test_memory_is_not_there_after_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
