// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_internal.h"

#include <stdlib.h>
#include <string.h>

#include "util/buffer.h"

/* Clocks of one host that differ by at least this much (ns), compared with real time, are different
 * ones: the host was rebooted. While a host runs, real time is corrected by less. */
static const uint64_t CLOCKS_DIFFER = 1000000000;

typedef const char *(*text_of)(const struct recording_header *header);

static const char *hostname(const struct recording_header *header)
{
    return header->hostname;
}

static const char *kernel(const struct recording_header *header)
{
    return header->kernel;
}

static const char *command(const struct recording_header *header)
{
    return header->command;
}

static const char *version(const struct recording_header *header)
{
    return header->version;
}

static const char *trigger(const struct recording_header *header)
{
    return header->trigger;
}

static bool is_first(const struct recording_header *const *headers, size_t i, text_of text)
{
    for (size_t before = 0; before < i; before++)
        if (!strcmp(text(headers[before]), text(headers[i])))
            return false;
    return true;
}

/* The texts of all headers, each once. */
static char *join_texts(const struct recording_header *const *headers, size_t count, text_of text,
                        const char *separator)
{
    struct buffer all = {0};

    for (size_t i = 0; i < count; i++) {
        if (!text(headers[i])[0] || !is_first(headers, i, text))
            continue;
        if (all.size)
            buffer_text(&all, separator);
        buffer_text(&all, text(headers[i]));
    }
    buffer_byte(&all, '\0');
    return all.data;
}

void join_header_make(struct join_header *joined, const struct recording_header *const *headers,
                      size_t count, const struct recording_header *base)
{
    uint32_t hosts = 0;

    *joined = (struct join_header){
        .hostname = join_texts(headers, count, hostname, ", "),
        .kernel = join_texts(headers, count, kernel, ", "),
        .command = join_texts(headers, count, command, "; "),
        .version = join_texts(headers, count, version, ", "),
        .trigger = join_texts(headers, count, trigger, "; "),
    };
    joined->header = *base;
    joined->header.cpus = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_first(headers, i, hostname))
            continue;
        joined->header.cpus += headers[i]->cpus;
        hosts += headers[i]->hostname[0] != '\0';
    }
    joined->several_hosts = hosts > 1;
    joined->header.hostname = joined->hostname;
    joined->header.kernel = joined->kernel;
    joined->header.command = joined->command;
    joined->header.version = joined->version;
    joined->header.trigger = joined->trigger;
}

void join_header_free(struct join_header *joined)
{
    free(joined->hostname);
    free(joined->kernel);
    free(joined->command);
    free(joined->version);
    free(joined->trigger);
}

const struct recording_header *join_header_first(const struct recording_header *const *headers,
                                                 size_t count)
{
    const struct recording_header *first = headers[0];

    for (size_t i = 1; i < count; i++)
        if (headers[i]->start_realtime &&
            (!first->start_realtime || headers[i]->start_realtime < first->start_realtime))
            first = headers[i];
    return first;
}

uint64_t join_header_shift(const struct recording_header *base,
                           const struct recording_header *header)
{
    uint64_t clocks = base->start_monotonic - header->start_monotonic; /* these differences wrap */
    uint64_t real = header->start_realtime - base->start_realtime, shift = clocks + real;

    if (!header->start_realtime || !base->start_realtime)
        return clocks;
    if (!strcmp(base->hostname, header->hostname) && shift + CLOCKS_DIFFER < 2 * CLOCKS_DIFFER)
        return 0;
    return shift;
}
