// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "native/native_code.h"

enum { PAGE = 4096, CHANGES_MAX = 16 };

/* Code that never runs, of the bytes 0x90, on two pages of its own. */
void never_run(void) __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n.balign 4096\n.type never_run, @function\n"
        "never_run:\n.fill 8192, 1, 0x90\n"
        ".size never_run, . - never_run\n.popsection\n");

static uint8_t *code;

struct seen {
    struct code_change changes[CHANGES_MAX];
    int count;
};

static void note(void *context, const struct code_change *change)
{
    struct seen *seen = context;

    if (seen->count < CHANGES_MAX)
        seen->changes[seen->count] = *change;
    seen->count++;
}

static struct code_comparison compare(struct seen *seen)
{
    struct error error;
    struct memory *memory = memory_of_process(getpid());
    struct mappings *mappings = mappings_new(getpid(), memory, &error);
    struct code_comparison result;

    assert_non_null(mappings);
    *seen = (struct seen){.count = 0};
    result = code_changes_compare(mappings, memory, note, seen);
    for (int i = 0; i < seen->count && i < CHANGES_MAX; i++) {
        assert_non_null(strstr(seen->changes[i].path, "code_changes_test"));
        seen->changes[i].path = NULL; /* of `mappings` */
    }
    mappings_free(mappings);
    memory_free(memory);
    return result;
}

/* Change bytes of this program in memory, as the kernel does for a probe. */
static void change(size_t at, const void *bytes, size_t size)
{
    assert_int_equal(mprotect(code, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    memcpy(code + at, bytes, size);
    assert_int_equal(mprotect(code, 2 * PAGE, PROT_READ | PROT_EXEC), 0);
}

static int restore(void **state)
{
    uint8_t nops[2 * PAGE];

    (void)state;
    memset(nops, 0x90, sizeof(nops));
    change(0, nops, sizeof(nops));
    return 0;
}

/* The byte in the file at the offset of the change. */
static uint8_t byte_of_file(uint64_t offset)
{
    uint8_t byte = 0;
    int fd = open("/proc/self/exe", O_RDONLY);

    assert_int_equal(pread(fd, &byte, 1, (off_t)offset), 1);
    close(fd);
    return byte;
}

static void test_code_equal_to_its_file_has_no_changes(void **state)
{
    struct seen seen;
    struct code_comparison result = compare(&seen);

    (void)state;
    assert_int_equal(result.changes, 0);
    assert_int_equal(result.unread, 0);
    assert_int_equal(result.left_out, 0);
    assert_true(result.files >= 3); /* this program, libc, ld.so */
    assert_true(result.bytes > 1 << 20);
}

/* A breakpoint is found with its place, and with the byte that it replaces. */
static void test_breakpoint_is_found_with_the_byte_that_it_replaces(void **state)
{
    struct code_comparison result;
    struct seen seen;

    (void)state;
    change(17, "\xcc", 1);
    result = compare(&seen);
    assert_int_equal(result.changes, 1);
    assert_int_equal(result.breakpoints, 1);
    assert_int_equal(seen.count, 1);
    assert_true(seen.changes[0].address == (uintptr_t)code + 17);
    assert_int_equal(seen.changes[0].size, 1);
    assert_int_equal(seen.changes[0].in_file[0], 0x90);
    assert_int_equal(seen.changes[0].in_memory[0], 0xcc);
    assert_int_equal(byte_of_file(seen.changes[0].file_offset), 0x90);
    assert_true(code_change_is_breakpoint(&seen.changes[0]));
}

/* Adjacent bytes are one change, which is no breakpoint. Other bytes are separate changes, up to
 * the last byte of a page. */
static void test_adjacent_changed_bytes_are_one_change(void **state)
{
    struct code_comparison result;
    struct seen seen;

    (void)state;
    change(0, "\xcc\xcc", 2);
    change(3, "\x01", 1);
    change(PAGE - 1, "\xcc", 1);
    change(PAGE + 8, "\xe8\x01\x02\x03\x04\x05\x06", 7);
    change(2 * PAGE - 1, "\xcc", 1);
    result = compare(&seen);
    assert_int_equal(result.changes, 5);
    assert_int_equal(result.breakpoints, 2);
    assert_int_equal(seen.count, 5);
    assert_int_equal(seen.changes[0].size, 2);
    assert_true(seen.changes[1].address == (uintptr_t)code + 3);
    assert_true(seen.changes[2].address == (uintptr_t)code + PAGE - 1);
    assert_int_equal(seen.changes[3].size, 7);
    assert_memory_equal(seen.changes[3].in_memory, "\xe8\x01\x02\x03\x04", CODE_CHANGE_BYTES);
    assert_true(seen.changes[4].file_offset == seen.changes[0].file_offset + 2 * PAGE - 1);
}

/* A copy of this program. */
static int copy_of_self(char *path)
{
    int from = open("/proc/self/exe", O_RDONLY), to = mkstemp(path);
    char bytes[1 << 16];
    ssize_t got;

    assert_true(from >= 0 && to >= 0);
    while ((got = read(from, bytes, sizeof(bytes))) > 0)
        assert_int_equal(write(to, bytes, (size_t)got), got);
    close(from);
    return to;
}

/* Pages of a file that was cut since it was mapped can't be compared, and do no harm. */
static void test_pages_beyond_the_end_of_a_cut_file_are_skipped(void **state)
{
    char path[] = "/tmp/beamflame-code_changes_test-XXXXXX";
    int fd = copy_of_self(path);
    struct seen seen;
    struct code_comparison before = compare(&seen), with, cut;
    uint64_t offset = 0;
    Elf64_Ehdr header;
    void *mapped;

    (void)state;
    assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
    for (int i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;

        assert_int_equal(pread(fd, &segment, sizeof(segment),
                               (off_t)(header.e_phoff + (uint64_t)i * sizeof(segment))),
                         sizeof(segment));
        if (segment.p_type == PT_LOAD && segment.p_flags & PF_X)
            offset = segment.p_offset;
    }
    mapped = mmap(NULL, 4 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)offset);
    assert_true(mapped != MAP_FAILED);
    with = compare(&seen);
    assert_int_equal(with.bytes, before.bytes + 4 * PAGE);
    assert_int_equal(ftruncate(fd, (off_t)offset + PAGE + 100), 0);
    cut = compare(&seen);
    assert_int_equal(cut.changes, 0);
    assert_int_equal(cut.bytes, before.bytes + PAGE + 100);
    munmap(mapped, 4 * PAGE);
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_equal_to_its_file_has_no_changes),
        cmocka_unit_test_teardown(test_breakpoint_is_found_with_the_byte_that_it_replaces, restore),
        cmocka_unit_test_teardown(test_adjacent_changed_bytes_are_one_change, restore),
        cmocka_unit_test(test_pages_beyond_the_end_of_a_cut_file_are_skipped),
    };

    code = (uint8_t *)(uintptr_t)never_run;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
