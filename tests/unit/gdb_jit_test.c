// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "fake_code.h"

enum { BASE = 0x7f0000001000, NORMAL_EXIT = 0x7f0000000100 };

static const struct fake_range ranges[] = {
    {0x40, 0x80, "lists:map/2-CodeInfoPrologue"},
    {0x80, 0x100, "lists:map/2", {{0x84, 1239, "lists.erl"}, {0xa0, 1240, "lists.erl"}}},
    {0x100, 0x180, "'my mod':'do it'/3", {{0x100, 7, "a.erl"}, {0x120, 9, "b.erl"}}},
};
enum { RANGES = 3 };

/* Parse a copy that ends with the bytes, so that a sanitizer detects a read past the end. */
static int parse(const struct buffer *file, size_t size, bool old, struct gdb_jit_module *module)
{
    uint8_t *copy = malloc(size ? size : 1);
    struct error error;
    int result;

    memcpy(copy, file->data, size);
    result = gdb_jit_parse_module(copy, size, old, module, &error);
    if (result)
        assert_int_equal(error.code, ERROR_UNSUPPORTED);
    free(copy);
    return result;
}

static const char *symbol(const struct gdb_jit_module *module, uint32_t range)
{
    return module->strings + module->ranges[range].symbol;
}

/* A module's base, size, number of ranges and name are read without the rest of the file. */
static void test_header_is_read_without_the_rest_of_the_file(void **state)
{
    struct buffer file = fake_symfile("lists", BASE, 0x200, ranges, RANGES);
    struct gdb_jit_header header;
    struct error error;

    (void)state;
    assert_int_equal(gdb_jit_parse_header((uint8_t *)file.data, 44, false, &header, &error), 0);
    assert_false(header.emulator);
    assert_int_equal(header.base, BASE);
    assert_int_equal(header.code_size, 0x200);
    assert_int_equal(header.range_count, RANGES);
    assert_string_equal(header.name, "lists");
    buffer_free(&file);
}

/* The emulator's own entry contains the address of normal_exit and the frame layout; OTP 24's
 * contains only the address. */
static void test_emulator_entry_has_normal_exit_and_frame_layout(void **state)
{
    struct buffer file = fake_emulator(NORMAL_EXIT, true), old = {0};
    struct gdb_jit_header header;
    struct error error;

    (void)state;
    assert_int_equal(gdb_jit_parse_header((uint8_t *)file.data, file.size, false, &header, &error),
                     0);
    assert_true(header.emulator);
    assert_true(header.frame_pointers);
    assert_int_equal(header.normal_exit, NORMAL_EXIT);
    fake_number(&old, 0, 8);
    fake_number(&old, NORMAL_EXIT, 8);
    assert_int_equal(gdb_jit_parse_header((uint8_t *)old.data, old.size, true, &header, &error), 0);
    assert_true(header.emulator);
    assert_false(header.frame_pointers);
    assert_int_equal(header.normal_exit, NORMAL_EXIT);
    buffer_free(&file);
    buffer_free(&old);
}

static void test_ranges_keep_their_offsets_lines_and_files(void **state)
{
    struct buffer file = fake_symfile("lists", BASE, 0x200, ranges, RANGES);
    struct gdb_jit_module module;

    (void)state;
    assert_int_equal(parse(&file, file.size, false, &module), 0);
    assert_int_equal(module.range_count, RANGES);
    assert_int_equal(module.line_count, 4);
    for (uint32_t i = 0; i < RANGES; i++) {
        assert_int_equal(module.ranges[i].start, ranges[i].start);
        assert_int_equal(module.ranges[i].end, ranges[i].end);
    }
    assert_int_equal(module.ranges[0].first_line, 0);
    assert_int_equal(module.ranges[1].first_line, 0);
    assert_int_equal(module.ranges[2].first_line, 2);
    assert_int_equal(module.ranges[3].first_line, 4); /* the sentinel */
    assert_int_equal(module.lines[1].line, 1240);
    assert_int_equal(module.lines[1].start, 0xa0);
    assert_string_equal(module.strings + module.lines[1].file, "lists.erl");
    assert_string_equal(module.strings + module.lines[3].file, "b.erl");
    gdb_jit_free_module(&module);
    buffer_free(&file);
}

/* The absolute addresses of OTP 24 become offsets; there are no lines. */
static void test_absolute_addresses_of_otp_24_become_offsets(void **state)
{
    struct buffer file = fake_old_symfile("lists", BASE, 0x200, ranges, RANGES);
    struct gdb_jit_module module;

    (void)state;
    assert_int_equal(parse(&file, file.size, true, &module), 0);
    assert_int_equal(module.range_count, RANGES);
    assert_int_equal(module.line_count, 0);
    assert_int_equal(module.ranges[2].start, 0x100);
    assert_int_equal(module.ranges[2].end, 0x180);
    assert_string_equal(symbol(&module, 2), "'my mod':'do it'/3");
    gdb_jit_free_module(&module);
    buffer_free(&file);
}

static void test_vm_syntax_of_names_becomes_the_usual_one(void **state)
{
    static const struct {
        const char *in, *out;
    } names[] = {
        {"lists:map/2", "lists:map/2"},
        {"lists:map/2-CodeInfoPrologue", "lists:map/2"},
        {"'Elixir.Enum':map/2", "Enum.map/2"},
        {"'Elixir.Enum':'map!'/2-CodeInfoPrologue", "Enum.map!/2"},
        {"'my mod':'do it'/3", "'my mod':'do it'/3"},
        {"m:'-f/1-fun-0-'/0", "m:'-f/1-fun-0-'/0"},
        {"m:'a:b/2'/1", "m:'a:b/2'/1"},
        {"m:'it\\'s'/1", "m:'it\\'s'/1"},
        {"erlang:'/'/2", "erlang:'/'/2"},
        {"'Elixir.Enum':'a\\'b\\\\'/1", "Enum.a'b\\/1"},
        {"erlang:+/2", "erlang:'+'/2"},
        {"global::call_bif_shared", "global::call_bif_shared"},
        {"lists::codeHeader", "lists::codeHeader"},
        {"", ""},
        {"no colon", "no colon"},
        {"m:f", "m:f"},
        {"'open:f/1", "'open:f/1"},
        {"-CodeInfoPrologue", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const struct fake_range range = {0, 8, names[i].in};
        struct buffer file = fake_symfile("m", BASE, 8, &range, 1);
        struct gdb_jit_module module;

        assert_int_equal(parse(&file, file.size, false, &module), 0);
        assert_string_equal(symbol(&module, 0), names[i].out);
        gdb_jit_free_module(&module);
        buffer_free(&file);
    }
}

/* A name that is longer than any of a VM is cut and does no harm. */
static void test_long_name_is_cut(void **state)
{
    char name[5000];
    struct fake_range range = {0, 8, name};
    struct gdb_jit_module module;
    struct buffer file;

    (void)state;
    for (int quoted = 0; quoted < 2; quoted++) {
        memset(name, 'x', sizeof(name) - 1);
        name[sizeof(name) - 1] = 0;
        name[0] = quoted ? '\'' : 'x';
        file = fake_symfile("m", BASE, 8, &range, 1);
        assert_int_equal(parse(&file, file.size, false, &module), 0);
        assert_true(strlen(symbol(&module, 0)) < sizeof(name));
        gdb_jit_free_module(&module);
        buffer_free(&file);
    }
}

/* A file that is cut anywhere is refused, in both formats, without a read past its end. */
static void test_cut_file_is_refused(void **state)
{
    (void)state;
    for (int old = 0; old < 2; old++) {
        struct buffer file = old ? fake_old_symfile("lists", BASE, 0x200, ranges, RANGES)
                                 : fake_symfile("lists", BASE, 0x200, ranges, RANGES);
        struct gdb_jit_module module = {.line_count = 77};

        for (size_t size = 0; size < file.size; size++) {
            /* The padding after the last line is not needed. */
            if (!old && size + 2 >= file.size)
                continue;
            assert_int_equal(parse(&file, size, old, &module), -1);
            assert_int_equal(module.line_count, 77); /* unchanged */
        }
        buffer_free(&file);
    }
}

/* A name of size 0 is refused, and so is a name that does not end within its size. */
static void test_name_without_an_end_is_refused(void **state)
{
    static const char *const texts[] = {"lists", "lists:map/2", "lists.erl"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct buffer file = fake_symfile("lists", BASE, 0x200, &ranges[1], 1);
        size_t length = strlen(texts[i]);
        struct gdb_jit_module module;
        char *name = memmem(file.data, file.size, texts[i], length + 1);

        assert_non_null(name);
        name[length] = 'x';
        assert_int_equal(parse(&file, file.size, false, &module), -1);
        name[length] = 0;
        memset(name - 2, 0, 2);
        assert_int_equal(parse(&file, file.size, false, &module), -1);
        buffer_free(&file);
    }
}

/* With any byte changed, an accepted file has ranges in order and texts within bounds. */
static void test_changed_file_stays_within_bounds(void **state)
{
    (void)state;
    for (int old = 0; old < 2; old++) {
        struct buffer file = old ? fake_old_symfile("lists", BASE, 0x200, ranges, RANGES)
                                 : fake_symfile("lists", BASE, 0x200, ranges, RANGES);

        for (size_t at = 0; at < file.size; at++) {
            for (int bit = 0; bit < 8; bit++) {
                struct gdb_jit_module module;

                file.data[at] ^= (char)(1 << bit);
                if (parse(&file, file.size, old, &module) == 0) {
                    for (uint32_t i = 0; i < module.range_count; i++) {
                        assert_true(module.ranges[i].start <= module.ranges[i].end);
                        assert_true(!i || module.ranges[i - 1].start <= module.ranges[i].start);
                        assert_true(strlen(symbol(&module, i)) < file.size * 2);
                    }
                    gdb_jit_free_module(&module);
                }
                file.data[at] ^= (char)(1 << bit);
            }
        }
        buffer_free(&file);
    }
}

/* Unordered ranges without lines are sorted; unordered ranges with lines are refused. */
static void test_unordered_ranges_with_lines_are_refused(void **state)
{
    const struct fake_range plain[] = {{0x80, 0x100, "m:b/0"}, {0x40, 0x80, "m:a/0"}};
    const struct fake_range lined[] = {{0x80, 0x100, "m:b/0", {{0x80, 1, "m.erl"}}},
                                       {0x40, 0x80, "m:a/0"}};
    struct buffer file = fake_symfile("m", BASE, 0x100, plain, 2);
    struct gdb_jit_module module;

    (void)state;
    assert_int_equal(parse(&file, file.size, false, &module), 0);
    assert_string_equal(symbol(&module, 0), "m:a/0");
    assert_string_equal(symbol(&module, 1), "m:b/0");
    gdb_jit_free_module(&module);
    buffer_free(&file);
    file = fake_symfile("m", BASE, 0x100, lined, 2);
    assert_int_equal(parse(&file, file.size, false, &module), -1);
    buffer_free(&file);
}

static void test_code_beyond_the_address_space_is_refused(void **state)
{
    struct buffer file = fake_symfile("m", UINT64_MAX - 0xff, 0x200, ranges, 1);
    struct gdb_jit_header header;
    struct error error;

    (void)state;
    assert_int_equal(gdb_jit_parse_header((uint8_t *)file.data, file.size, false, &header, &error),
                     -1);
    buffer_free(&file);
}

/* An entry is valid if the size of its file is plausible: not too small, not too large. */
static void test_entry_with_an_implausible_size_is_refused(void **state)
{
    struct fake_target *target = fake_target_new();
    uint64_t good = FAKE_WORDS(target, 0x1234, 0, 0x5678, 100);
    uint64_t small = FAKE_WORDS(target, 0, 0, 0x5678, 15);
    uint64_t large = FAKE_WORDS(target, 0, 0, 0x5678, (uint64_t)1 << 40);
    struct gdb_jit_entry entry;

    (void)state;
    assert_true(gdb_jit_read_entry(&target->memory, good, &entry));
    assert_int_equal(entry.next, 0x1234);
    assert_int_equal(entry.symfile, 0x5678);
    assert_int_equal(entry.symfile_size, 100);
    assert_false(gdb_jit_read_entry(&target->memory, small, &entry));
    assert_false(gdb_jit_read_entry(&target->memory, large, &entry));
    assert_false(gdb_jit_read_entry(&target->memory, 8, &entry));
    free(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header_is_read_without_the_rest_of_the_file),
        cmocka_unit_test(test_emulator_entry_has_normal_exit_and_frame_layout),
        cmocka_unit_test(test_ranges_keep_their_offsets_lines_and_files),
        cmocka_unit_test(test_absolute_addresses_of_otp_24_become_offsets),
        cmocka_unit_test(test_vm_syntax_of_names_becomes_the_usual_one),
        cmocka_unit_test(test_long_name_is_cut),
        cmocka_unit_test(test_cut_file_is_refused),
        cmocka_unit_test(test_changed_file_stays_within_bounds),
        cmocka_unit_test(test_name_without_an_end_is_refused),
        cmocka_unit_test(test_unordered_ranges_with_lines_are_refused),
        cmocka_unit_test(test_code_beyond_the_address_space_is_refused),
        cmocka_unit_test(test_entry_with_an_implausible_size_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
