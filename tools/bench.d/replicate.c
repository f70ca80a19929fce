// SPDX-License-Identifier: Apache-2.0
/* replicate FROM.bfr TO.bfr SAMPLES [STACKS]: write a recording of any length, made of the samples
 * of a real one, repeated with later times. STACKS is the number of different stacks in it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording/recording.h"
#include "util/alloc.h"

struct samples {
    struct sample *items;
    size_t count, capacity;
};

static int keep(void *context, const struct sample *sample, struct error *error)
{
    struct samples *samples = context;

    (void)error;
    if (samples->count == samples->capacity) {
        samples->capacity = samples->capacity ? samples->capacity * 2 : 1024;
        samples->items = xreallocarray(samples->items, samples->capacity, sizeof(*samples->items));
    }
    samples->items[samples->count++] = *sample;
    return 0;
}

/* Return stack `number`: a real one, extended by calls at its leaf that make it unique. */
static stack_id numbered_stack(struct profile *profile, const struct samples *from, uint32_t number)
{
    enum { FUNCTIONS = 40 };
    stack_id stack = from->items[number % from->count].stack;

    for (uint32_t rest = number + 1; rest; rest /= FUNCTIONS) {
        char name[32];

        snprintf(name, sizeof(name), "numbered:f%u/1", rest % FUNCTIONS);
        stack = profile_stack(
            profile, stack,
            profile_frame(profile, &(struct frame){.symbol = profile_string_z(profile, name),
                                                   .kind = FRAME_ERLANG}));
    }
    return stack;
}

/* The first `stacks` samples have each stack once; after that some stacks are more frequent. */
static uint32_t choose_stack(uint64_t i, uint32_t stacks)
{
    uint64_t random = i * 6364136223846793005u >> 33; /* below 2^31 */

    return i < stacks ? (uint32_t)i : (uint32_t)((random * random >> 31) * stacks >> 31);
}

/* Repeat `from` until there are `wanted` samples. */
static int repeat(struct recording_writer *writer, struct profile *profile,
                  const struct samples *from, uint64_t wanted, uint32_t stacks, uint64_t *ret_end,
                  struct error *error)
{
    uint64_t length = from->items[from->count - 1].time - from->items[0].time + 1000000;

    for (uint64_t i = 0; i < wanted; i++) {
        struct sample sample = from->items[i % from->count];

        sample.time += i / from->count * length;
        if (stacks)
            sample.stack = numbered_stack(profile, from, choose_stack(i, stacks));
        *ret_end = sample.time;
        if (recording_append(writer, profile, &sample, error))
            return -1;
    }
    return 0;
}

/* Give each event a window of 50 ms in each 200 ms, so that the page has much to hatch. */
static int put_windows(struct recording_writer *writer, const struct profile *profile,
                       uint64_t start, uint64_t end, struct error *error)
{
    enum { MS = 1000000, WINDOW = 50 * MS, PERIOD = 200 * MS };
    struct event_spans spans = {0};
    int result;

    for (uint64_t at = start; at < end; at += PERIOD)
        for (event_id event = 1; event <= profile_counts(profile).events; event++)
            event_spans_add(&spans, event, at, at + WINDOW);
    result = recording_put_spans(writer, profile, &spans, error);
    event_spans_free(&spans);
    return result;
}

static int replicate(const char *from, const char *to, uint64_t wanted, uint32_t stacks,
                     struct error *error)
{
    struct samples samples = {0};
    struct profile *profile = profile_new();
    struct recording *recording;
    struct recording_writer *writer;
    struct recording_totals totals;
    bool cut;
    int fd = open(from, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return error_set(error, ERROR_FAILED, "can't read '%s': %s", from, strerror(errno));
    recording = recording_open(fd, from, error);
    if (!recording || recording_read(recording, profile, keep, &samples, &cut, error))
        return -1;
    if (!samples.count)
        return error_set(error, ERROR_NO_SAMPLES, "%s has no samples", from);
    writer = recording_create(to, NULL, recording_get_header(recording), error);
    if (!writer)
        return -1;
    totals = *recording_get_totals(recording);
    totals.samples = wanted;
    if (repeat(writer, profile, &samples, wanted, stacks, &totals.end_monotonic, error) ||
        put_windows(writer, profile, samples.items[0].time, totals.end_monotonic, error))
        return -1;
    return recording_finish(writer, profile, &totals, NULL, error);
}

int main(int argc, char **argv)
{
    struct error error;

    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: replicate FROM.bfr TO.bfr SAMPLES [STACKS]\n");
        return ERROR_USAGE;
    }
    if (replicate(argv[1], argv[2], strtoull(argv[3], NULL, 10),
                  argc == 5 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0, &error)) {
        fprintf(stderr, "replicate: %s\n", error.text);
        return ERROR_FAILED;
    }
    return 0;
}
