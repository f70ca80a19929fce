// SPDX-License-Identifier: Apache-2.0
#include "input/input_internal.h"

#include <unistd.h>

#include "profile/limits.h"
#include "util/memory_limit.h"

enum { MICROSECOND = 1000 }; /* ns */

struct import import_new(const char *directory, const char *name)
{
    struct import import = {
        .profile = profile_new(),
        .header = {.event = "",
                   .hostname = "",
                   .kernel = "",
                   .command = "",
                   .version = BEAMFLAME_VERSION,
                   .trigger = ""},
        .directory = directory,
        .name = name,
    };

    profile_limit(import.profile, memory_limit());
    return import;
}

void import_free(struct import *import)
{
    struct error ignored;

    if (import->writer)
        recording_finish(import->writer, import->profile, &import->totals, NULL, &ignored);
    profile_free(import->profile);
}

const char *import_text(struct import *import, struct span text)
{
    return profile_text(import->profile, profile_string(import->profile, text.at, text.size));
}

int import_frames(struct import *import, const struct input_text *text, uint64_t frames,
                  struct error *error)
{
    if (frames > STACK_FRAMES_MAX)
        return input_text_fail(text, 0, error, "the stack has more than %d frames",
                               STACK_FRAMES_MAX);
    import->totals.frames += frames;
    return 0;
}

int import_sample(struct import *import, const struct sample *sample, uint64_t bytes,
                  struct error *error)
{
    struct sample own = *sample;

    if (limits_tables_exceeded(import->profile, bytes))
        return error_set(error, ERROR_FAILED,
                         "%.200s: names and stacks take more memory than a file of this size may "
                         "use",
                         import->name);
    if (!import->writer) {
        if (!import->has_start)
            import->header.start_monotonic = own.time;
        import->writer = recording_create(NULL, import->directory, &import->header, error);
        if (!import->writer)
            return -1;
    }
    /* No sample is before the start, but the first samples may come out of order. The start has
     * nanoseconds, and a sample whole microseconds. */
    if (own.time < import->header.start_monotonic) {
        import->totals.losses[LOSS_OUT_OF_ORDER] +=
            import->header.start_monotonic - own.time >= MICROSECOND;
        own.time = import->header.start_monotonic;
    }
    import->totals.samples++;
    import->totals.losses[LOSS_MEMORY] += profile_has_left_out(import->profile, sample);
    if (import->totals.end_monotonic < own.time)
        import->totals.end_monotonic = own.time;
    return recording_append(import->writer, import->profile, &own, error);
}

int import_finish(struct import *import, struct error *error)
{
    struct recording_writer *writer = import->writer;
    int fd, result;

    import->writer = NULL;
    result = recording_finish(writer, import->profile, &import->totals, &fd, error);
    if (!result)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}
