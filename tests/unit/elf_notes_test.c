// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "elf/build_id.h"
#include "elf/notes.h"
#include "native/mappings.h"
#include "native/memory.h"

/* A note: name, content, and the padding of both. */
#define NOTE(owner, type, size, content) "\x04\0\0\0" size "\0\0\0" type "\0\0\0" owner content
#define GNU                              "GNU\0"

static struct build_id_text text_of(const char *notes, size_t size)
{
    struct build_id id = build_id_of_notes(cursor_over(notes, size));

    return build_id_text(&id);
}

#define TEXT_OF(notes) text_of(notes, sizeof(notes) - 1).text

/* Among several notes, the one with the build id is found. A cut note, a note that is too long, and
 * notes of other owners give none. */
static void test_build_id_is_found_among_notes(void **state)
{
    static const char xen[] = NOTE("Xen\0", "\x03", "\x04", "\x01\x02\x03\x04");
    static const char both[] = NOTE("Xen\0", "\x03", "\x04", "\x01\x02\x03\x04")
        NOTE(GNU, "\x01", "\x04", "\x05\x06\x07\x08") NOTE(GNU, "\x03", "\x04", "\xab\x0c\x00\xff");
    static const char cut[] = NOTE(GNU, "\x03", "\x08", "\xab\x0c\x00\xff");
    char large[16 + BUILD_ID_MAX + 4] = NOTE(GNU, "\x03", "\x40", "");

    (void)state;
    assert_string_equal(TEXT_OF(both), "ab0c00ff");
    assert_string_equal(TEXT_OF(xen), "");
    assert_string_equal(TEXT_OF(cut), "");
    assert_string_equal(text_of(NULL, 0).text, "");
    assert_int_equal(strlen(text_of(large, sizeof(large)).text), 2 * BUILD_ID_MAX);
    large[4] = BUILD_ID_MAX + 1;
    assert_string_equal(text_of(large, sizeof(large)).text, "");
}

/* Return the first line that a command prints. */
static void printed_by(const char *command, char *line, int size)
{
    FILE *output = popen(command, "re");

    assert_non_null(output);
    if (!fgets(line, size, output))
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    pclose(output);
}

static struct build_id_text text_of_mapping(const char *path)
{
    struct memory *memory = memory_of_process(getpid());
    struct error error;
    struct mappings *mappings = mappings_new(getpid(), memory, &error);
    struct build_id_text text = {"no such mapping"};
    int count = 0;
    const struct mapping *all;

    assert_non_null(mappings);
    all = mappings_all(mappings, &count);
    for (int i = 0; i < count; i++) {
        struct mapping *mapping = mappings_find(mappings, all[i].start);

        if (!mapping->executable || !strstr(mapping->path, path))
            continue;
        assert_non_null(mapping_file(mappings, mapping));
        text = build_id_text(&mapping->file->build_id);
        break;
    }
    mappings_free(mappings);
    memory_free(memory);
    return text;
}

/* The build ids of mapped files are those of readelf; the vdso, which is only in memory, has one
 * too. */
static void test_build_id_of_a_mapped_file_is_that_of_readelf(void **state)
{
    char line[256], command[128];

    (void)state;
    snprintf(command, sizeof(command), "readelf -n /proc/%d/exe | sed -n 's/ *Build ID: //p'",
             (int)getpid());
    printed_by(command, line, sizeof(line));
    assert_true(strlen(line) >= 16);
    assert_string_equal(text_of_mapping("elf_notes_test").text, line);
    assert_true(strlen(text_of_mapping("[vdso]").text) >= 16);
}

/* The build id of the kernel is in its notes; an unknown module has none. */
static void test_build_id_of_the_kernel_is_in_its_notes(void **state)
{
    struct build_id kernel = build_id_of_kernel(KERNEL_MODULE);
    struct build_id none = build_id_of_kernel("[no such module]");
    char line[256];

    (void)state;
    assert_int_equal(none.size, 0);
    assert_true(build_id_equal(&kernel, &kernel));
    if (!kernel.size)
        skip();
    assert_false(build_id_equal(&kernel, &none));
    printed_by("od -An -v -tx1 /sys/kernel/notes | tr -d ' \\n'", line, sizeof(line));
    assert_non_null(strstr(line, build_id_text(&kernel).text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_id_is_found_among_notes),
        cmocka_unit_test(test_build_id_of_a_mapped_file_is_that_of_readelf),
        cmocka_unit_test(test_build_id_of_the_kernel_is_in_its_notes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
