// SPDX-License-Identifier: Apache-2.0
/* Recordings that lost their place get a name elsewhere. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "recording/recording_keep.h"
#include "test_folder.h"

/* The seconds of which the names are taken, and the names of each second. */
enum { SECONDS = 5, NAMES = 100 };

static int enter_folder(void **state)
{
    (void)state;
    return folder_enter();
}

static void take(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);

    assert_true(fd >= 0);
    close(fd);
}

/* Take the names that the pid and the second alone would give. */
static void take_foreseeable_names(void)
{
    for (time_t second = time(NULL), end = second + SECONDS; second < end; second++) {
        char moment[32], name[100];
        struct tm utc;

        strftime(moment, sizeof(moment), "%Y%m%d-%H%M%S", gmtime_r(&second, &utc));
        snprintf(name, sizeof(name), "beamflame-%d-%s.bfr", (int)getpid(), moment);
        take(name);
        for (int i = 0; i < NAMES; i++) {
            snprintf(name, sizeof(name), "beamflame-%d-%s-%d.bfr", (int)getpid(), moment, i);
            take(name);
        }
    }
}

/* Another user who takes names in advance does not drive the recording out of its folder. */
static void test_names_of_kept_recordings_cannot_be_taken_in_advance(void **state)
{
    int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), read_back;
    struct error error = {0};
    char *kept, text[8] = "";

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "samples", 7), 7);
    take_foreseeable_names();
    kept = recording_keep(fd, folder, &error);
    assert_non_null(kept);
    assert_int_equal(strncmp(kept, folder, strlen(folder)), 0);
    read_back = open(kept, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(read_back, text, sizeof(text)), 7);
    assert_string_equal(text, "samples");
    close(read_back);
    close(fd);
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names_of_kept_recordings_cannot_be_taken_in_advance,
                                        enter_folder, leave_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
