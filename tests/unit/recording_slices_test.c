// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <unistd.h>

#include "profile/events.h"
#include "recording/recording_format.h"
#include "seen_recording.h"
#include "small_profile.h"

enum { OLDER = RECORDING_OF_SLICES - 1 };

/* Make a recording of three samples of event sched, of which the first is of a long slice. */
static int recording_of_sched(struct small_profile *small, uint64_t slice)
{
    event_id sched;

    small_profile_make(small);
    sched = event_define(small->profile, EVENT_SCHED);
    for (int i = 0; i < SMALL_SAMPLES; i++) {
        small->samples[i].event = sched;
        small->samples[i].values[SCHED_LONG] = 0;
    }
    small->samples[0].values[SCHED_LONG] = 12345678;
    small->samples[0].slice = slice;
    return small_recording(small);
}

static void read_all(int fd, struct seen *seen)
{
    struct error error;

    assert_int_equal(read_fd(fd, seen, &error), 0);
    assert_int_equal(seen->count, SMALL_SAMPLES);
}

/* A sample keeps the slice that it is of, whatever its values are scaled to. */
static void test_slices_are_read_as_they_were_written(void **state)
{
    struct small_profile small;
    struct seen seen;
    int fd = recording_of_sched(&small, 11000000);

    (void)state;
    read_all(fd, &seen);
    for (size_t i = 0; i < SMALL_SAMPLES; i++)
        assert_same_sample(&seen.samples[i], &small.samples[i]);
    seen_free(&seen);
    profile_free(small.profile);
}

/* A recording from before slices were recorded has them as values of its samples. */
static void test_slices_of_an_older_recording_are_its_values(void **state)
{
    const unsigned char version[4] = {OLDER};
    struct small_profile small;
    struct seen seen;
    int fd = recording_of_sched(&small, 0);

    (void)state;
    assert_int_equal(pwrite(fd, version, sizeof(version), RECORDING_MAGIC_SIZE), sizeof(version));
    read_all(fd, &seen);
    assert_int_equal(seen.samples[0].slice, 12345678);
    assert_int_equal(seen.samples[1].slice, 0);
    seen_free(&seen);
    profile_free(small.profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slices_are_read_as_they_were_written),
        cmocka_unit_test(test_slices_of_an_older_recording_are_its_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
