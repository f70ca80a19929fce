// SPDX-License-Identifier: Apache-2.0
/*
 * Join bytes as a recording with a valid recording, and with itself (libFuzzer). What was joined
 * must be readable.
 */
#include "fuzz_recording.h"

#include "full_profile.h"
#include "recording/recording_join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int ignore_sample(void *context, const struct sample *sample, struct error *error)
{
    (void)context;
    (void)sample;
    (void)error;
    return 0;
}

static void check_joined(int fd)
{
    struct profile *profile = profile_new();
    struct error error;
    struct recording *recording = recording_open(fd, "joined", &error);
    bool cut;

    check(recording != NULL);
    check(!recording_read(recording, profile, ignore_sample, NULL, &cut, &error));
    recording_close(recording);
    profile_free(profile);
}

static int input_of(const uint8_t *data, size_t size)
{
    int fd = fuzz_file();

    fuzz_write(fd, data, size);
    return fd;
}

/* A descriptor that reads the recording with everything. */
static int valid_input(void)
{
    static char bytes[1 << 16];
    static ssize_t size;
    int fd = size ? -1 : full_recording(fuzz_file(), 0);

    if (fd >= 0) {
        size = pread(fd, bytes, sizeof(bytes), 0);
        check(size > 0 && size < (ssize_t)sizeof(bytes) && !close(fd));
    }
    return input_of((const uint8_t *)bytes, (size_t)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t choice = fuzz_choice(data, size);
    const struct join_options options = {
        .order = choice & 1 ? JOIN_IN_TURN : JOIN_BY_TIME,
        .gap_ns = choice & 2 ? UINT64_MAX / 2 : 1000,
        .trigger = choice & 4 ? "trigger" : NULL,
    };
    const struct join_part parts[] = {
        {input_of(data, size), "input"},
        {choice & 8 ? input_of(data, size) : valid_input(), "other"},
    };
    struct error error;
    int fd = -1;

    recording_join(parts, 2, &options, fuzz_file(), &fd, &error);
    if (fd >= 0)
        check_joined(fd);
    return 0;
}
