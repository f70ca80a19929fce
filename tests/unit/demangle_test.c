// SPDX-License-Identifier: Apache-2.0
/* Readable names of C++ and Rust symbols, also of hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "elf/symbols_internal.h"
#include "util/buffer.h"

static void assert_readable(const char *name, const char *expected)
{
    char *readable = demangle(name);

    if (!readable)
        fail_msg("'%s' was not demangled", name);
    assert_string_equal(readable, expected);
    free(readable);
}

static void assert_each_readable(const char *const pairs[][2], size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_readable(pairs[i][0], pairs[i][1]);
}

#define ASSERT_EACH_READABLE(pairs) assert_each_readable(pairs, sizeof(pairs) / sizeof((pairs)[0]))

static void test_other_names_are_refused(void **state)
{
    static const char *const names[] = {"main", "_Z",  "",     "_R",  "_RN",
                                        "_Rx",  "_ZN", "_ZNE", "_RC0"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_null(demangle(names[i]));
}

/* Parameter lists are removed; parentheses that are part of a name stay. */
static void test_cpp_names_lose_their_parameters(void **state)
{
    static const char *const pairs[][2] = {
        {"_ZN6asmjit8_abi_1_811BaseEmitter4emitEj", "asmjit::_abi_1_8::BaseEmitter::emit"},
        {"_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector<int, std::allocator<int> >::size"},
        {"_ZNSt8functionIFviEEclEi", "std::function<void (int)>::operator()"},
        {"_ZL3fooi.cold", "foo"},
        {"_ZN12_GLOBAL__N_13barEv", "(anonymous namespace)::bar"},
        {"_ZN12_GLOBAL__N_15stateE", "(anonymous namespace)::state"},
        {"_ZTV3Foo", "vtable for Foo"},
    };

    (void)state;
    ASSERT_EACH_READABLE(pairs);
}

/* f(a<int, int>, a<P0, P0>, a<P1, P1>, ...): each parameter is twice as long as the one before. */
static void make_cpp_bomb(char *name, int parameters)
{
    name += sprintf(name, "_Z1f1aIiiE");
    for (int i = 0; i < parameters; i++) {
        char last = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i];

        name += sprintf(name, "S_IS%c_S%c_E", last, last);
    }
}

/* A short name that demangles to gigabytes is left unchanged, and so is a name that is too long. */
static void test_cpp_name_that_grows_to_gigabytes_is_refused(void **state)
{
    char name[2048];

    (void)state;
    make_cpp_bomb(name, 2);
    assert_readable(name, "f");
    make_cpp_bomb(name, 30);
    assert_null(demangle(name));
    memset(name, 'x', sizeof(name));
    memcpy(name, "_Z1500", 6);
    strcpy(name + 1506, "v");
    assert_null(demangle(name));
}

/* Names that rustc made, and one of the manual of Rust. The hash and what LLVM appends are
 * removed. */
static void test_legacy_rust_names_lose_their_hash(void **state)
{
    static const char *const pairs[][2] = {
        {"_ZN6my_nif4calc17h0123456789abcdefE", "my_nif::calc"},
        {"_ZN6my_nif4calc17h0123456789abcdefE.llvm.4711", "my_nif::calc"},
        {"_ZN44_$LT$my_nif..Add$u20$as$u20$my_nif..Calc$GT$4calc17h3d40dbc7803daf85E",
         "<my_nif::Add as my_nif::Calc>::calc"},
        {"_ZN61_$LT$$RF$$u5b$u64$u3b$$u20$3$u5d$$u20$as$u20$my_nif..Calc$GT$4calc"
         "17hc1d487afbd0723c6E",
         "<&[u64; 3] as my_nif::Calc>::calc"},
    };

    (void)state;
    ASSERT_EACH_READABLE(pairs);
}

static void test_rust_v0_names_are_readable(void **state)
{
    static const char *const pairs[][2] = {
        {"_RNvCsMIS9fk7dm_6my_nif4spin", "my_nif::spin"},
        {"_RNvCsMIS9fk7dm_6my_nif4spin.llvm.4711", "my_nif::spin"},
        {"_RINvCsMIS9fk7dm_6my_nif3mapThnEEB2_", "my_nif::map::<(u8, i128)>"},
        {"_RINvCsMIS9fk7dm_6my_nif5applyNCNvB2_5entry0EB2_",
         "my_nif::apply::<my_nif::entry::{closure#0}>"},
        {"_RNvXs_CsMIS9fk7dm_6my_nifRAyj3_NtB4_4Calc4calc", "<&[u64; 3] as my_nif::Calc>::calc"},
        {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
         "utf8_idents::საჭმელად_გემრიელი_სადილი"},
        {"_RINvC1a1fFG_EuE", "a::f::<for<'a> fn()>"},
    };

    (void)state;
    ASSERT_EACH_READABLE(pairs);
}

/* Each beginning of a name is refused, or named without reading behind its end. */
static void test_truncated_rust_names_are_refused(void **state)
{
    static const char *const names[] = {
        "_ZN44_$LT$my_nif..Add$u20$as$u20$my_nif..Calc$GT$4calc17h3d40dbc7803daf85E",
        "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
        "_RNvXs_CsMIS9fk7dm_6my_nifRAyj3_NtB4_4Calc4calc",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (size_t size = 0; size < strlen(names[i]); size++) {
            char *name = strndup(names[i], size);

            assert_null(demangle(name));
            free(name);
        }
    }
}

/* Append a back reference to the byte at `offset` behind "_R": a number in base 62, less 1. */
static void put_reference(struct buffer *name, size_t offset)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    assert_in_range(offset, 1, 62 * 62);
    offset--;
    buffer_byte(name, 'B');
    if (offset >= 62)
        buffer_byte(name, digits[offset / 62]);
    buffer_byte(name, digits[offset % 62]);
    buffer_byte(name, '_');
}

/* a::f::<TYPE, (TYPE, TYPE), ((TYPE, TYPE), (TYPE, TYPE)), ...> */
static struct buffer rust_bomb(const char *type, int doublings)
{
    struct buffer name = {0};
    size_t newest;

    buffer_text(&name, "_RINvC1a1f");
    newest = name.size - 2;
    buffer_text(&name, type);
    for (int i = 0; i < doublings; i++) {
        size_t start = name.size - 2;

        buffer_byte(&name, 'T');
        put_reference(&name, newest);
        put_reference(&name, newest);
        buffer_byte(&name, 'E');
        newest = start;
    }
    buffer_byte(&name, 'E');
    buffer_byte(&name, '\0');
    return name;
}

static void assert_bomb(const char *type, int doublings, const char *expected)
{
    struct buffer name = rust_bomb(type, doublings);

    if (expected)
        assert_readable(name.data, expected);
    else
        assert_null(demangle(name.data));
    buffer_free(&name);
}

/* The demangler ends at once where back references make a short name long, also while it has text
 * from Punycode in memory of its own. */
static void test_rust_name_that_grows_too_long_is_refused(void **state)
{
    char type[1024];

    (void)state;
    assert_bomb("u", 2, "a::f::<(), ((), ()), (((), ()), ((), ()))>");
    assert_bomb("NtC1au9abcd_5e3a", 1, "a::f::<a::a\u1c63bcd, (a::a\u1c63bcd, a::a\u1c63bcd)>");
    sprintf(type, "NtC1au505%0500d_5e3a", 0);
    memset(strstr(type, "000"), 'b', 500);
    for (int doublings = 5; doublings < 40; doublings++) {
        assert_bomb("TuuE", doublings + 5, NULL);
        assert_bomb(type, doublings, NULL);
    }
}

/* The last part of a text may be the one that makes it too long. */
static void test_last_part_of_a_rust_name_counts_for_its_length(void **state)
{
    static const char references[] = "B6_B6_B6_B6_B6_B6_B6_B6_"; /* each to the type */
    char name[2048], type[1024];
    char *readable;

    (void)state;
    sprintf(type, "NtC1au505%0500d_5e3a", 0);
    memset(strstr(type, "000"), 'b', 500);
    sprintf(name, "_RNvMC1aT%s%.18sE%s", type, references, "u9abcd_5e3a");
    readable = demangle(name);
    assert_non_null(readable);
    assert_in_range(strlen(readable), 3500, 4096);
    free(readable);
    sprintf(name, "_RNvMC1aT%s%.21sE%s%s", type, references, "u49abcdefghijklmnopqrstuvwxyz",
            "abcdefghijklmnopqr_5e3a");
    assert_null(demangle(name));
}

/* Each lifetime would be written, or skipped one by one: a huge number of them is refused. */
static void test_rust_name_with_many_lifetimes_is_refused(void **state)
{
    (void)state;
    assert_readable("_RINvC1a1fFG0_EuE", "a::f::<for<'a, 'b> fn()>");
    assert_null(demangle("_RINvC1a1fFGzzzzzzzzzz_EuE"));
    assert_null(demangle("_RINvC1a1fDGzzzzzzzzzz_EL_E"));
    assert_null(demangle("_RMINvC1a1bFGzzzzzzzzzz_EuEu")); /* in a path that is not shown */
}

static void test_deeply_nested_rust_name_is_refused(void **state)
{
    char name[2048];
    char *readable;

    (void)state;
    assert_null(demangle("_RYB_B_")); /* a back reference to the path that it is part of */
    sprintf(name, "_RINvC1a1f%0900duE", 0);
    memset(strchr(name, '0'), 'R', 900);
    readable = demangle(name);
    assert_non_null(readable);
    assert_int_equal(strlen(readable), strlen("a::f::<") + 900 + strlen("()>"));
    free(readable);
    sprintf(name, "_RINvC1a1f%01900duE", 0);
    memset(strchr(name, '0'), 'R', 1900);
    assert_null(demangle(name));
}

/* Names that are too long stay as they are, even if their text is not. */
static void test_rust_name_that_is_too_long_is_refused(void **state)
{
    struct buffer name = {0};

    (void)state;
    buffer_text(&name, "_ZN");
    for (int i = 0; i < 6; i++)
        buffer_format(&name, "200x%0199d", 0);
    buffer_text(&name, "17h0123456789abcdefE");
    buffer_byte(&name, '\0');
    assert_null(demangle(name.data));
    buffer_free(&name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_names_are_refused),
        cmocka_unit_test(test_cpp_names_lose_their_parameters),
        cmocka_unit_test(test_cpp_name_that_grows_to_gigabytes_is_refused),
        cmocka_unit_test(test_legacy_rust_names_lose_their_hash),
        cmocka_unit_test(test_rust_v0_names_are_readable),
        cmocka_unit_test(test_truncated_rust_names_are_refused),
        cmocka_unit_test(test_rust_name_that_grows_too_long_is_refused),
        cmocka_unit_test(test_last_part_of_a_rust_name_counts_for_its_length),
        cmocka_unit_test(test_rust_name_that_is_too_long_is_refused),
        cmocka_unit_test(test_rust_name_with_many_lifetimes_is_refused),
        cmocka_unit_test(test_deeply_nested_rust_name_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
