// SPDX-License-Identifier: Apache-2.0
/* Files, their content and owners, for the tests of util/file_place.h. */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "test_folder.h"
#include "util/file_place.h"

enum { SOMEBODY = 65534 };

static inline int enter_folder(void **state)
{
    (void)state;
    umask(022);
    return folder_enter();
}

static inline void make(const char *name, const char *text, mode_t mode)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(name, mode), 0);
}

static inline const char *content(const char *name)
{
    static char text[64];
    FILE *file = fopen(name, "r");

    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static inline mode_t mode_of(const char *name)
{
    struct stat status;

    assert_int_equal(stat(name, &status), 0);
    return status.st_mode & 07777;
}

/* Write "new" to the path. Return 0, or -1 with error. */
static inline int write_new(const char *path, struct error *error)
{
    struct file_place place;
    struct stat status;
    char *temporary;
    int fd;

    if (file_place_open(path, &place, error))
        return -1;
    assert_false(place.in_place);
    fd = file_place_create(&place, O_WRONLY, &temporary);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600); /* nobody else can read or lock a half */
    assert_int_equal(write(fd, "new", 3), 3);
    close(fd);
    assert_int_equal(file_place_publish(&place, temporary), 0);
    free(temporary);
    file_place_close(&place);
    return 0;
}

static inline void assert_refused(const char *path, const char *says)
{
    struct file_place place;
    struct error error = {0};

    assert_int_equal(file_place_open(path, &place, &error), -1);
    assert_int_equal(error.code, ERROR_FAILED);
    if (!strstr(error.text, says) || strncmp(error.text, path, strlen(path)) != 0)
        fail_msg("%s", error.text);
}

static inline void need_root(void)
{
    if (geteuid())
        skip();
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)
