// SPDX-License-Identifier: Apache-2.0
/*
 * Reads bytes as a recording (libFuzzer). Inputs that begin with the magic are files; of any other
 * the bytes become one chunk of records with a right checksum, so that what is behind the checksum
 * is reached too.
 *
 *      clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/recording_fuzz.c
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/chunk_writer.h"
#include "profile/recording.h"
#include "profile/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* A file of a header and one chunk of records. */
static void write_records(int fd, const uint8_t *data, size_t size)
{
    struct error error;
    struct chunk_writer *writer = chunk_writer_new(fd, &error);

    check(writer);
    check(chunk_write(writer, CHUNK_HEADER, "\0\0\0\0\0\0\0\0\0", 9, &error) == 0);
    if (size <= CHUNK_MAX)
        check(chunk_write(writer, CHUNK_RECORDS, data, size, &error) == 0);
    chunk_writer_release(writer);
}

static int show(void *context, const struct sample *sample, struct error *error)
{
    const struct view_frame *frames;

    (void)error;
    view_frames(context, view_of_sample(context, sample), &frames);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct profile *profile = profile_new();
    struct view *view = view_new(profile, &(struct view_options){GROUP_NAME, true});
    struct recording *recording;
    struct error error;
    bool cut;

    check(fd >= 0);
    if (size && data[0] == (uint8_t)RECORDING_MAGIC[0])
        check(write(fd, data, size) == (ssize_t)size);
    else
        write_records(fd, data, size);
    check(lseek(fd, 0, SEEK_SET) == 0);
    recording = recording_open(fd, "fuzz", &error);
    if (recording && recording_read(recording, profile, show, view, &cut, &error))
        check(strstr(error.text, "byte ") != NULL);
    recording_close(recording);
    view_free(view);
    profile_free(profile);
    return 0;
}
