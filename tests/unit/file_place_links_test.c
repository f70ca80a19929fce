// SPDX-License-Identifier: Apache-2.0
/* Links in a path are followed only where nobody else can have made them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "file_place_case.h"
#include "util/folder.h"

/* The caller's own link, where nobody else can make links, is followed: also to a file that does
 * not exist yet, and through other links. */
static void test_own_link_is_followed(void **state)
{
    struct error error;

    (void)state;
    assert_int_equal(mkdir("below", 0755), 0);
    assert_int_equal(symlink("below/second", "first"), 0);
    assert_int_equal(symlink("../real", "below/second"), 0);
    assert_int_equal(write_new("first", &error), 0);
    assert_string_equal(content("real"), "new");
    assert_true(exists("below/second"));
    unlink("below/second");
}

/* A link is refused if others can make links in its folder, whoever owns it. */
static void test_link_in_a_shared_folder_is_refused(void **state)
{
    static const mode_t modes[] = {01777, 0777, 0775};

    (void)state;
    make("victim", "old", 0600);
    assert_int_equal(symlink("victim", "a"), 0);
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        assert_int_equal(chmod(".", modes[i]), 0);
        assert_refused("a", "name the file itself");
    }
    assert_string_equal(content("victim"), "old");
}

/* A link of another user is refused everywhere, and so is a link in another user's folder. */
static void test_link_of_another_user_is_refused(void **state)
{
    (void)state;
    need_root();
    assert_int_equal(symlink("victim", "a"), 0);
    assert_int_equal(lchown("a", SOMEBODY, SOMEBODY), 0);
    assert_refused("a", "name the file itself");
    assert_int_equal(lchown("a", 0, 0), 0);
    assert_int_equal(chown(".", SOMEBODY, SOMEBODY), 0);
    assert_refused("a", "name the file itself");
    assert_false(exists("victim"));
}

/* A link in the middle of a path is followed if it is root's or the user's own, whoever can write
 * to its folder, and if it belongs to the owner of a folder where nobody else can make links. */
static void test_link_to_a_folder_is_followed(void **state)
{
    struct error error;

    (void)state;
    assert_int_equal(mkdir("real", 0755), 0);
    assert_int_equal(symlink("real", "own"), 0);
    assert_int_equal(symlink("own/../own/./", "second"), 0);
    assert_int_equal(write_new("own/a", &error), 0);
    assert_string_equal(content("real/a"), "new");
    assert_int_equal(chmod(".", 01777), 0);
    assert_int_equal(write_new("second//b", &error), 0);
    assert_string_equal(content("real/b"), "new");
    if (geteuid() == 0) {
        assert_int_equal(chmod(".", 0755), 0);
        assert_int_equal(chown(".", SOMEBODY, SOMEBODY), 0);
        assert_int_equal(lchown("own", SOMEBODY, SOMEBODY), 0);
        assert_int_equal(write_new("own/c", &error), 0);
        assert_string_equal(content("real/c"), "new");
    }
    unlink("real/a");
    unlink("real/b");
    unlink("real/c");
}

/* A path of many links ends, and so does one that leads in a circle. */
static void test_circle_of_links_to_folders_is_an_error(void **state)
{
    struct file_place place;
    struct error error;

    (void)state;
    assert_int_equal(symlink("b", "a"), 0);
    assert_int_equal(symlink("a", "b"), 0);
    assert_int_equal(file_place_open("a/x", &place, &error), -1);
    assert_non_null(strstr(error.text, strerror(ELOOP)));
    make("file", "", 0600);
    assert_int_equal(file_place_open("file/x", &place, &error), -1);
    assert_non_null(strstr(error.text, strerror(ENOTDIR)));
}

/* A link of another user in the middle of a path is refused, whatever fs.protected_symlinks says:
 * in a folder of root, and in one where others can make links too. */
static void test_planted_link_to_a_folder_is_refused(void **state)
{
    static const mode_t modes[] = {0755, 01777, 0777};

    (void)state;
    need_root();
    assert_int_equal(mkdir("real", 0755), 0);
    assert_int_equal(symlink("real", "a"), 0);
    assert_int_equal(symlink("a", "own"), 0);
    assert_int_equal(lchown("a", SOMEBODY, SOMEBODY), 0);
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        assert_int_equal(chmod(".", modes[i]), 0);
        assert_refused("a/x", "leads through 'a', a symbolic link");
        assert_refused("real/../own/x", "leads through 'a', a symbolic link");
    }
    assert_int_equal(chown(".", SOMEBODY, SOMEBODY), 0);
    assert_refused("a/x", "leads through 'a', a symbolic link");
    assert_false(exists("real/x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_own_link_is_followed),
        IN_FOLDER(test_link_in_a_shared_folder_is_refused),
        IN_FOLDER(test_link_of_another_user_is_refused),
        IN_FOLDER(test_link_to_a_folder_is_followed),
        IN_FOLDER(test_circle_of_links_to_folders_is_an_error),
        IN_FOLDER(test_planted_link_to_a_folder_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
