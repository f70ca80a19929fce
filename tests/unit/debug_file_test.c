// SPDX-License-Identifier: Apache-2.0
/* This program, stripped in the ways of distributions, still gets names from its .symtab. */
#include "shell.h"

#include <fcntl.h>
#include <lzma.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native/debug_file.h"
#include "native/elf_file.h"
#include "native/memory.h"
#include "native/native_symbols.h"
#include "util/alloc.h"

/* The copy is placed where this process has no mapping. */
static const uint64_t ELSEWHERE = (uint64_t)1 << 44;

static char folder[64];

/* Make FOLDER/full and its separate debug file: FOLDER/full.debug. */
static int set_up(void **state)
{
    char *self = realpath("/proc/self/exe", NULL);

    (void)state;
    strcpy(folder, "/tmp/debug_file_test.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    shell("cp %s %s/full && cd %s && objcopy --only-keep-debug full full.debug", self, folder,
          folder);
    free(self);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    shell("rm -rf %s", folder);
    return 0;
}

/* Make FOLDER/prog: stripped, with these options of objcopy. */
static void strip_program(const char *options)
{
    shell("cd %s && objcopy --strip-all %s full prog", folder, options);
}

/* Open FOLDER/prog as `pid` has it mapped, by its path in that process. Takes `parser`. */
static struct elf_file *open_by(struct parser *parser, pid_t pid, const char *path)
{
    struct memory *memory = memory_of_process(getpid());
    struct error error;
    struct mappings *mappings = mappings_new(getpid(), memory, &error);
    struct mapping mapping = *mappings_find_code(mappings, (uintptr_t)open_by);
    struct stat status;
    struct elf_file *file;
    char *real = xasprintf("%s/prog", folder);

    assert_int_equal(stat(real, &status), 0);
    mapping.start += ELSEWHERE;
    mapping.end += ELSEWHERE;
    mapping.path = path;
    mapping.device = status.st_dev;
    mapping.inode = status.st_ino;
    file = elf_file_open(parser, pid, memory, &mapping);
    parser_release(parser);
    assert_non_null(file);
    free(real);
    mappings_free(mappings);
    memory_free(memory);
    return file;
}

static struct elf_file *open_program(pid_t pid, const char *path)
{
    return open_by(parser_start(), pid, path);
}

/* True if a function gets its name, which only .symtab contains. The source of the names is checked
 * too. */
static bool is_named(struct elf_file *file)
{
    struct native_symbol symbol;
    uint64_t address = (uintptr_t)is_named + ELSEWHERE;

    if (!native_symbol_find(file, address + 1, &symbol)) {
        assert_int_equal(native_symbols_source(file), NATIVE_SYMBOLS_EXPORTED);
        return false;
    }
    assert_int_equal(native_symbols_source(file), NATIVE_SYMBOLS_DEBUG);
    assert_string_equal(symbol.name, "is_named");
    assert_true(symbol.address == address);
    return true;
}

static bool is_named_here(void)
{
    char *path = xasprintf("%s/prog", folder);
    struct elf_file *file = open_program(getpid(), path);
    bool named = is_named(file);

    elf_file_free(file);
    free(path);
    return named;
}

static void test_function_has_no_name_without_a_debug_file(void **state)
{
    (void)state;
    strip_program("");
    assert_false(is_named_here());
    strip_program("--add-gnu-debuglink=full.debug");
    shell("rm %s/full.debug", folder);
    assert_false(is_named_here());
}

/* The debug file is found beside the file and in .debug; a file with another build id is not
 * used. */
static void test_debug_file_is_found_by_debug_link(void **state)
{
    (void)state;
    strip_program("--add-gnu-debuglink=full.debug");
    assert_true(is_named_here());
    shell("cd %s && mkdir .debug && mv full.debug .debug", folder);
    assert_true(is_named_here());
    shell("cd %s && objcopy --remove-section .note.gnu.build-id .debug/full.debug", folder);
    assert_false(is_named_here());
}

/* The version that a linker adds to a name is not shown. */
static void test_version_of_a_symbol_is_not_shown(void **state)
{
    (void)state;
    strip_program("--add-gnu-debuglink=full.debug");
    shell("cd %s && objcopy --redefine-sym is_named=is_named@@V_1 full.debug", folder);
    assert_true(is_named_here());
}

static void test_checksum_decides_without_a_build_id(void **state)
{
    (void)state;
    strip_program("--remove-section .note.gnu.build-id --add-gnu-debuglink=full.debug");
    assert_true(is_named_here());
    shell("printf x >>%s/full.debug", folder);
    assert_false(is_named_here());
}

/* A file that is not regular is not opened: opening this one would block forever. */
static void test_debug_file_that_is_a_pipe_is_not_opened(void **state)
{
    (void)state;
    strip_program("--add-gnu-debuglink=full.debug");
    shell("cd %s && rm full.debug && mkfifo full.debug", folder);
    alarm(10);
    assert_false(is_named_here());
    alarm(0);
}

/* Start a process with FOLDER as its root; return -1 if that is not permitted. */
static pid_t start_in_root(void)
{
    int ready[2];
    char byte;
    pid_t child;

    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (chroot(folder) == 0 && write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1) {
        waitpid(child, NULL, 0);
        child = -1;
    }
    close(ready[0]);
    return child;
}

/* Return the path that FOLDER/prog's build id gives, below a root and without ".debug". */
static char *build_id_path(void)
{
    struct elf_file *file;
    char *path = xasprintf("%s/prog", folder), *result = xstrdup("usr/lib/debug/.build-id/");

    file = open_program(getpid(), path);
    assert_true(file->build_id.size > 2);
    for (size_t i = 0; i < file->build_id.size; i++) {
        char *longer = xasprintf("%s%02x%s", result, file->build_id.bytes[i], i ? "" : "/");

        free(result);
        result = longer;
    }
    elf_file_free(file);
    free(path);
    return result;
}

/* The file is found by build id in the root of the process, where links are resolved as in that
 * process. */
static void test_debug_file_is_found_by_build_id_in_the_process_root(void **state)
{
    pid_t child = start_in_root();
    struct elf_file *file;
    char *path;

    (void)state;
    if (child < 0)
        skip();
    strip_program("");
    path = build_id_path();
    shell("cd %s && mkdir -p $(dirname %s) && mv full.debug /%s/%s.debug", folder, path, folder,
          path);
    file = open_program(child, "/prog");
    assert_true(is_named(file));
    elf_file_free(file);
    shell("cd %s && mv %s.debug d && ln -s ../../../../../../../d %s.debug", folder, path, path);
    file = open_program(child, "/prog");
    assert_true(is_named(file));
    elf_file_free(file);
    /* The same path outside of the root is not used. */
    shell("cd %s && ln -sf %s/d %s.debug", folder, folder, path);
    file = open_program(child, "/prog");
    assert_false(is_named(file));
    elf_file_free(file);
    free(path);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void add_place(const char *name)
{
    char *path = xasprintf("%s/%s", folder, name);
    struct error error;

    assert_int_equal(debug_file_add_place(path, &error), 0);
    free(path);
}

/* A place that the user names is a debug file, or has it by build id or by the name in
 * .gnu_debuglink. A file of another build in it is not used. */
static void test_debug_file_is_found_in_a_named_place(void **state)
{
    static const char *const places[] = {"here", "here/.build-id", "here/usr/lib/debug/.build-id"};
    struct error error;
    char *path, *tail;

    (void)state;
    strip_program("");
    path = build_id_path();
    tail = path + strlen("usr/lib/debug/.build-id/");
    shell("mkdir %s/here", folder);
    add_place("here");
    assert_false(is_named_here());
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        shell("cd %s && mkdir -p %s/%.2s && cp full.debug %s/%s.debug", folder, places[i], tail,
              places[i], tail);
        assert_true(is_named_here());
        shell("cd %s && objcopy --remove-section .note.gnu.build-id %s/%s.debug", folder, places[i],
              tail);
        assert_false(is_named_here());
    }
    shell("cd %s && mkdir here/%.2s%s && cp full.debug here/%.2s%s/debuginfo", folder, tail,
          tail + 3, tail, tail + 3);
    assert_true(is_named_here());
    shell("cd %s && rm -r here/* && mv full.debug here/other", folder);
    assert_false(is_named_here());
    add_place("here/other");
    assert_true(is_named_here());
    strip_program("--add-gnu-debuglink=here/other");
    shell("cd %s && mkdir there && mv here/other there/other", folder);
    assert_false(is_named_here());
    add_place("there");
    assert_true(is_named_here());
    assert_int_equal(debug_file_add_place("/none", &error), -1);
    assert_string_equal(error.text, "can't use the symbols in '/none': No such file or directory");
    free(path);
}

/* ---- addresses ---- */

/* The address that the symbols which were split off FOLDER/prog give to a function; 0: none. */
static uint64_t debug_address(const char *name)
{
    char *path = xasprintf("%s/prog", folder);
    struct elf_file *file = open_program(getpid(), path);
    uint64_t address = native_symbol_debug_address(file, name);

    assert_true(native_symbol_address(file, name) == 0);
    elf_file_free(file);
    free(path);
    return address;
}

static void test_debug_file_gives_the_address_of_a_name(void **state)
{
    (void)state;
    strip_program("--add-gnu-debuglink=full.debug");
    assert_true(debug_address("is_named") == (uintptr_t)is_named + ELSEWHERE);
    assert_true(debug_address("no_such_name") == 0);
    shell("rm %s/full.debug", folder);
    assert_true(debug_address("is_named") == 0);
}

/* Two source files can have a static function of the same name. */
static void test_name_of_two_functions_has_no_address(void **state)
{
    (void)state;
    strip_program("--add-gnu-debuglink=full.debug");
    shell("cd %s && objcopy --redefine-sym tear_down=is_named full.debug", folder);
    assert_true(debug_address("is_named") == 0);
    assert_true(debug_address("set_up") == (uintptr_t)set_up + ELSEWHERE);
}

/* The checksum decides then, which gives names but no addresses. */
static void test_file_without_a_build_id_has_no_addresses(void **state)
{
    (void)state;
    strip_program("--remove-section .note.gnu.build-id --add-gnu-debuglink=full.debug");
    assert_true(is_named_here());
    assert_true(debug_address("is_named") == 0);
}

/* The bytes that this process has read. */
static uint64_t bytes_read(void)
{
    FILE *in = fopen("/proc/self/io", "re");
    unsigned long long bytes = 0;

    assert_non_null(in);
    assert_int_equal(fscanf(in, "rchar: %llu", &bytes), 1);
    fclose(in);
    return bytes;
}

/* Only the tables of a debug file of 100 MB are read, not the whole file. */
static void test_large_debug_file_is_not_read_whole(void **state)
{
    char *path = xasprintf("%s/prog", folder);
    struct elf_file *file;
    uint64_t before;

    (void)state;
    strip_program("--add-gnu-debuglink=full.debug");
    shell("cd %s && objcopy --strip-debug full.debug && truncate -s 100M large && objcopy "
          "--add-section .debug_large=large full.debug && [ $(stat -c %%s full.debug) -gt "
          "100000000 ]",
          folder);
    before = bytes_read();
    file = open_by(parser_here(), getpid(), path);
    assert_true(native_symbol_debug_address(file, "is_named") == (uintptr_t)is_named + ELSEWHERE);
    assert_in_range(bytes_read() - before, 1, 10 << 20);
    elf_file_free(file);
    free(path);
}

/* No debug file is requested for the place of a probe. */
static void test_only_a_name_notes_that_the_debug_file_is_missing(void **state)
{
    char *path = xasprintf("%s/prog", folder);
    struct native_symbol symbol;
    struct elf_file *file;

    (void)state;
    strip_program("");
    file = open_program(getpid(), path);
    assert_true(native_symbol_debug_address(file, "is_named") == 0);
    assert_true(file->lacks_debug_file);
    assert_false(native_symbol_find(file, (uintptr_t)is_named + ELSEWHERE, &symbol));
    assert_false(file->lacks_debug_file);
    elf_file_free(file);
    free(path);
}

/* ---- symbols in the file itself ---- */

static void write_packed(const void *bytes, size_t size)
{
    size_t room = lzma_stream_buffer_bound(size), used = 0;
    uint8_t *packed = xmalloc(room);
    char *path = xasprintf("%s/packed", folder);
    FILE *out = fopen(path, "we");

    assert_int_equal(
        lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, NULL, bytes, size, packed, &used, room),
        LZMA_OK);
    assert_int_equal(fwrite(packed, 1, used, out), used);
    fclose(out);
    free(packed);
    free(path);
}

/* The symbols are compressed in the file itself. */
static void test_compressed_symbols_in_the_file_are_read(void **state)
{
    char *path = xasprintf("%s/full.debug", folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    uint8_t *bytes;

    (void)state;
    assert_int_equal(fstat(fd, &status), 0);
    bytes = xmalloc((size_t)status.st_size);
    assert_int_equal(read(fd, bytes, (size_t)status.st_size), status.st_size);
    close(fd);
    free(path);
    write_packed(bytes, (size_t)status.st_size);
    free(bytes);
    strip_program("--add-section .gnu_debugdata=packed");
    assert_true(is_named_here());
    shell("cd %s && truncate -s 1000 packed", folder);
    strip_program("--add-section .gnu_debugdata=packed");
    assert_false(is_named_here());
}

/* Data that decompresses to a very large size is not decompressed. */
static void test_symbols_that_decompress_to_80_mb_are_refused(void **state)
{
    size_t size = 80 << 20;
    uint8_t *bytes = calloc(1, size);
    char *path = xasprintf("%s/prog", folder);
    struct elf_file *file;

    (void)state;
    write_packed(bytes, size);
    free(bytes);
    strip_program("--add-section .gnu_debugdata=packed");
    file = open_program(getpid(), path);
    assert_false(is_named(file));
    assert_int_equal(parser_epoch(file->parser), 0); /* it refused, and did not crash */
    elf_file_free(file);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_function_has_no_name_without_a_debug_file, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_debug_file_is_found_by_debug_link, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_version_of_a_symbol_is_not_shown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_checksum_decides_without_a_build_id, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_debug_file_that_is_a_pipe_is_not_opened, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_debug_file_is_found_by_build_id_in_the_process_root,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_debug_file_is_found_in_a_named_place, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_debug_file_gives_the_address_of_a_name, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_name_of_two_functions_has_no_address, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_file_without_a_build_id_has_no_addresses, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_large_debug_file_is_not_read_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_only_a_name_notes_that_the_debug_file_is_missing,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_compressed_symbols_in_the_file_are_read, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_symbols_that_decompress_to_80_mb_are_refused, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
