// SPDX-License-Identifier: Apache-2.0
#include "symbol/snapshot.h"

#include <string.h>

bool snapshot_open(struct snapshot *snapshot, const void *data, size_t size)
{
    const struct wire_sample *sample = data;
    const uint8_t *at = (const uint8_t *)data + sizeof(*sample);
    size_t left;

    if (size < sizeof(*sample) || sample->kernel_depth > WIRE_KERNEL_DEPTH ||
        sample->segment_count > WIRE_SEGMENTS)
        return false;
    left = size - sizeof(*sample);
    snapshot->sample = sample;
    snapshot->kernel_stack = (const uint64_t *)(const void *)at;
    if (sample->kernel_depth * sizeof(uint64_t) > left)
        return false;
    at += sample->kernel_depth * sizeof(uint64_t);
    left -= sample->kernel_depth * sizeof(uint64_t);
    for (uint32_t i = 0; i < sample->segment_count; i++) {
        if (sample->segments[i].size > left)
            return false;
        snapshot->segments[i] = sample->segments[i];
        snapshot->bytes[i] = at;
        at += sample->segments[i].size;
        left -= sample->segments[i].size;
    }
    return true;
}

/* Replace segment `i`, which contains these words, by a struct of `size` bytes. */
static void expand(struct snapshot *snapshot, uint32_t i, const struct wire_words *words,
                   enum wire_segment_kind kind, uint64_t *whole, size_t size)
{
    struct wire_segment *segment = &snapshot->segments[i];

    if (words->count > WIRE_WORDS || segment->size != words->count * sizeof(uint64_t))
        return;
    memset(whole, 0, size);
    for (uint32_t k = 0; k < words->count; k++)
        if (words->offsets[k] + sizeof(uint64_t) <= size)
            memcpy((uint8_t *)whole + words->offsets[k], snapshot->bytes[i] + k * sizeof(uint64_t),
                   sizeof(uint64_t));
    *segment = (struct wire_segment){segment->address, (uint32_t)size, kind};
    snapshot->bytes[i] = (const uint8_t *)whole;
}

void snapshot_expand(struct snapshot *snapshot, const struct wire_words *process_words,
                     size_t process_size, const struct wire_words *scheduler_words)
{
    if (process_size > sizeof(snapshot->process))
        process_size = sizeof(snapshot->process);
    for (uint32_t i = 0; i < snapshot->sample->segment_count; i++) {
        if (snapshot->segments[i].kind == SEGMENT_PROCESS_WORDS)
            expand(snapshot, i, process_words, SEGMENT_PROCESS, snapshot->process, process_size);
        else if (snapshot->segments[i].kind == SEGMENT_SCHEDULER_WORDS)
            expand(snapshot, i, scheduler_words, SEGMENT_SCHEDULER, snapshot->scheduler,
                   sizeof(snapshot->scheduler));
    }
}

const uint8_t *snapshot_segment(const struct snapshot *snapshot, enum wire_segment_kind kind,
                                size_t size)
{
    for (uint32_t i = 0; i < snapshot->sample->segment_count; i++)
        if (snapshot->segments[i].kind == kind)
            return snapshot->segments[i].size >= size ? snapshot->bytes[i] : NULL;
    return NULL;
}

uint64_t snapshot_scheduler_word(const struct snapshot *snapshot, int32_t offset)
{
    const uint8_t *bytes = snapshot_segment(snapshot, SEGMENT_SCHEDULER, WIRE_SCHEDULER_BYTES);
    uint64_t value = 0;

    if (bytes && offset >= 0 && (size_t)offset <= WIRE_SCHEDULER_BYTES - sizeof(value))
        memcpy(&value, bytes + offset, sizeof(value));
    return value;
}

/* Read the true return address of a stack slot where the kernel has put its own for a uretprobe.
 * False if it has not. */
static bool replaced_return(const struct snapshot *snapshot, uint64_t address, uint64_t *word)
{
    for (uint32_t i = 0; i < snapshot->sample->segment_count; i++) {
        const struct wire_segment *segment = &snapshot->segments[i];

        if (segment->kind != SEGMENT_RETURN || segment->address != address ||
            segment->size != sizeof(*word))
            continue;
        memcpy(word, snapshot->bytes[i], sizeof(*word));
        return true;
    }
    return false;
}

static bool is_stack(const struct wire_segment *segment)
{
    return segment->kind == SEGMENT_NATIVE || segment->kind == SEGMENT_ERLANG;
}

bool snapshot_word(const struct snapshot *snapshot, uint64_t address, uint64_t *word)
{
    for (uint32_t i = 0; i < snapshot->sample->segment_count; i++) {
        const struct wire_segment *segment = &snapshot->segments[i];
        uint64_t offset = address - segment->address;

        if (!is_stack(segment) || address < segment->address || segment->size < sizeof(*word) ||
            offset > segment->size - sizeof(*word))
            continue;
        if (!replaced_return(snapshot, address, word))
            memcpy(word, snapshot->bytes[i] + offset, sizeof(*word));
        return true;
    }
    return false;
}

uint64_t snapshot_next_erlang(const struct snapshot *snapshot, uint64_t address)
{
    uint64_t next = 0;

    for (uint32_t i = 0; i < snapshot->sample->segment_count; i++) {
        const struct wire_segment *segment = &snapshot->segments[i];
        uint64_t end = segment->address + segment->size, from = segment->address;

        if (segment->kind != SEGMENT_ERLANG || end < address + sizeof(uint64_t))
            continue;
        if (from < address)
            from = address;
        if (!next || from < next)
            next = from;
    }
    return next;
}
