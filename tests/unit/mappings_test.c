// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native/elf_file.h"
#include "native/mappings.h"
#include "native/memory.h"
#include "native/native_symbols.h"

enum { PAGE = 4096 };

static struct memory *memory;
static struct mappings *mappings;

static int set_up(void **state)
{
    struct error error;

    (void)state;
    memory = memory_of_process(getpid());
    mappings = mappings_new(getpid(), memory, &error);
    return mappings ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mappings_free(mappings);
    memory_free(memory);
    return 0;
}

/* A function's address leads to the right file, with a bias that puts its symbols at their
 * addresses. */
static void test_address_of_code_leads_to_its_file_and_bias(void **state)
{
    uintptr_t here = (uintptr_t)test_address_of_code_leads_to_its_file_and_bias;
    struct mapping *mapping = mappings_find(mappings, here);
    struct elf_file *file;
    char *self = realpath("/proc/self/exe", NULL);

    (void)state;
    assert_non_null(mapping);
    assert_true(mapping->executable);
    assert_true(mapping->start <= here && here < mapping->end);
    assert_string_equal(mapping->path, self);
    file = mapping_file(mappings, mapping);
    assert_non_null(file);
    assert_string_equal(file->path, self);
    assert_int_equal(native_symbol_address(file, "test_address_of_code_leads_to_its_file_and_bias"),
                     here);
    free(self);
}

/* All mappings of a file, code or not, share one elf_file. */
static void test_mappings_of_a_file_share_one_elf_file(void **state)
{
    static const int constant = 1;
    static int variable = 1;
    const uintptr_t addresses[] = {(uintptr_t)test_mappings_of_a_file_share_one_elf_file,
                                   (uintptr_t)&constant, (uintptr_t)&variable};
    struct elf_file *first = mapping_file(
        mappings,
        mappings_find(mappings, (uintptr_t)test_address_of_code_leads_to_its_file_and_bias));

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct mapping *mapping = mappings_find(mappings, addresses[i]);

        assert_non_null(mapping);
        assert_ptr_equal(mapping_file(mappings, mapping), first);
    }
}

/* The list is in address order, and only mappings with code are found as code. */
static void test_only_mappings_with_code_are_found_as_code(void **state)
{
    static int variable;
    int count = 0;
    const struct mapping *all = mappings_all(mappings, &count);

    (void)state;
    assert_true(count > 5);
    for (int i = 1; i < count; i++)
        assert_true(all[i - 1].end <= all[i].start);
    assert_non_null(mappings_find(mappings, (uintptr_t)&variable));
    assert_null(mappings_find_code(mappings, (uintptr_t)&variable));
    assert_null(mappings_find(mappings, 0));
    assert_null(mappings_find(mappings, UINT64_MAX));
}

/* The vdso has a file too, read from memory. */
static void test_vdso_is_read_from_memory(void **state)
{
    int count = 0;
    const struct mapping *all = mappings_all(mappings, &count);
    int found = 0;

    (void)state;
    for (int i = 0; i < count; i++) {
        struct mapping *mapping;
        struct elf_file *file;

        if (strcmp(all[i].path, "[vdso]") != 0)
            continue;
        found++;
        mapping = mappings_find_code(mappings, all[i].start);
        file = mapping_file(mappings, mapping);
        assert_non_null(file);
        assert_true(file->in_memory);
        assert_true(native_symbol_address(file, "__vdso_clock_gettime") > all[i].start);
    }
    if (!found)
        skip();
}

static void wait_for_reread(void)
{
    usleep(110 * 1000);
}

/* New code is found after a while; the JIT's code has no file. */
static void test_new_code_is_found_and_jit_code_has_no_file(void **state)
{
    int fd = memfd_create("vmem", MFD_CLOEXEC);
    struct mapping *mapping;
    void *anonymous, *shared;

    (void)state;
    assert_int_equal(ftruncate(fd, PAGE), 0);
    anonymous = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    shared = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    assert_true(anonymous != MAP_FAILED && shared != MAP_FAILED);
    wait_for_reread();

    mapping = mappings_find_code(mappings, (uintptr_t)shared);
    assert_non_null(mapping);
    assert_string_equal(mapping->path, "/memfd:vmem");
    assert_null(mapping_file(mappings, mapping));
    assert_true(mapping->no_file);
    mapping = mappings_find_code(mappings, (uintptr_t)anonymous);
    assert_non_null(mapping);
    assert_string_equal(mapping->path, "");
    assert_null(mapping_file(mappings, mapping));
    munmap(anonymous, PAGE);
    munmap(shared, PAGE);
    close(fd);
}

static void copy_self(int to)
{
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    char buffer[1 << 14];
    ssize_t size;

    while ((size = read(from, buffer, sizeof(buffer))) > 0)
        assert_int_equal(write(to, buffer, (size_t)size), size);
    close(from);
}

/* A deleted file is still opened (a VM that was upgraded while it runs). Needs permission for
 * map_files. */
static void test_deleted_file_is_still_opened(void **state)
{
    char path[] = "/tmp/mappings_test.XXXXXX";
    struct elf_file *own = mapping_file(
        mappings, mappings_find(mappings, (uintptr_t)test_deleted_file_is_still_opened));
    const struct mapping *code =
        mappings_find(mappings, (uintptr_t)test_deleted_file_is_still_opened);
    uint64_t offset = code->offset;
    uint64_t within = (uintptr_t)test_deleted_file_is_still_opened - code->start;
    struct mapping *mapping;
    struct elf_file *file;
    int fd = mkstemp(path);
    char *image;

    (void)state;
    copy_self(fd);
    image =
        mmap(NULL, code->end - code->start, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)offset);
    assert_true(image != MAP_FAILED);
    unlink(path);
    close(fd);
    wait_for_reread();

    mapping = mappings_find_code(mappings, (uintptr_t)image);
    assert_non_null(mapping);
    assert_string_equal(mapping->path, path);
    file = mapping_file(mappings, mapping);
    if (geteuid() == 0) {
        assert_non_null(file);
        assert_ptr_not_equal(file, own);
        assert_true(native_symbol_address(file, "test_deleted_file_is_still_opened") ==
                    (uintptr_t)image + within);
    }
    munmap(image, mapping->end - mapping->start);
}

/* Find the C library by its path without permission for map_files, in a process of its own. */
static int find_library_unprivileged(void)
{
    struct error error;
    struct mappings *own;
    struct mapping *mapping;

    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return 1;
    prctl(PR_SET_DUMPABLE, 1);
    own = mappings_new(getpid(), memory, &error);
    if (!own)
        return 2;
    mapping = mappings_find_code(own, (uintptr_t)strtol);
    if (!mapping)
        return 3;
    return mapping_file(own, mapping) ? 0 : 4;
}

/* The path through /proc/PID/root opens the same file as map_files does. */
static void test_unprivileged_path_opens_the_same_file(void **state)
{
    int status = -1;
    pid_t child = fork();

    (void)state;
    if (child == 0)
        _exit(find_library_unprivileged());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A process that does not exist has its own error code. */
static void test_missing_process_has_its_own_error_code(void **state)
{
    struct error error = {0};

    (void)state;
    assert_null(mappings_new(0x7ffffff0, memory, &error));
    assert_int_equal(error.code, ERROR_NO_PROCESS);
    mappings_free(NULL);
}

/* When a process ends, the existing list is kept. */
static void test_mappings_of_an_ended_process_are_kept(void **state)
{
    struct error error;
    struct mappings *others;
    int count = 0;
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        pause();
        _exit(0);
    }
    others = mappings_new(child, memory, &error);
    assert_non_null(others);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    wait_for_reread();
    assert_null(mappings_find(others, 0));
    assert_non_null(mappings_find(others, (uintptr_t)test_mappings_of_an_ended_process_are_kept));
    mappings_all(others, &count);
    assert_true(count > 5);
    mappings_free(others);
}

/* If segments share a page of the file, the page belongs to the segment that it is mapped as. */
static void test_shared_page_belongs_to_the_segment_it_is_mapped_as(void **state)
{
    struct elf_file *file = mapping_file(
        mappings,
        mappings_find(mappings,
                      (uintptr_t)test_shared_page_belongs_to_the_segment_it_is_mapped_as));
    int count = 0;
    const struct mapping *all = mappings_all(mappings, &count);
    int seen = 0;

    (void)state;
    for (int i = 0; i < count; i++) {
        uint64_t bias = 0;

        if (strcmp(all[i].path, file->path) != 0)
            continue;
        assert_true(elf_file_bias(file, &all[i], &bias));
        assert_int_equal(bias, file->bias);
        seen++;
    }
    assert_true(seen >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_address_of_code_leads_to_its_file_and_bias, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_mappings_of_a_file_share_one_elf_file, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_only_mappings_with_code_are_found_as_code, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_vdso_is_read_from_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_new_code_is_found_and_jit_code_has_no_file, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_deleted_file_is_still_opened, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unprivileged_path_opens_the_same_file, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_missing_process_has_its_own_error_code, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_mappings_of_an_ended_process_are_kept, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_shared_page_belongs_to_the_segment_it_is_mapped_as,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
