// SPDX-License-Identifier: Apache-2.0
#include "input/perf_internal.h"

#include "util/buffer.h"
#include "util/encode.h"

static struct span trimmed(struct span text)
{
    text = span_after_blank(text);
    while (text.size && text.at[text.size - 1] == ' ')
        text.size--;
    return text;
}

/* Split "# key   : value". */
static bool split(struct span line, struct span *ret_key, struct span *ret_value)
{
    const char *colon = memmem(line.at, line.size, " : ", 3);

    if (!colon)
        return false;
    *ret_key = trimmed((struct span){line.at, (size_t)(colon - line.at)});
    *ret_value = trimmed(span_skip(line, (size_t)(colon - line.at) + 3));
    return true;
}

static const char *unescaped(struct import *import, struct span value)
{
    struct buffer text = {0};
    const char *result;

    encode_undo_escapes(&text, value.at, value.size);
    result = import_text(import, (struct span){text.data, text.size});
    buffer_free(&text);
    return result;
}

/* Read "12.345678901" seconds as ns. False if the text is something else. */
static bool take_seconds(struct span value, uint64_t *ret_ns)
{
    uint64_t seconds, ns;

    if (!span_take_number(&value, UINT64_MAX / 1000000000 - 1, &seconds) ||
        !span_begins(value, ".") || value.size != 10)
        return false;
    value = span_skip(value, 1);
    if (!span_take_number(&value, 999999999, &ns) || value.size)
        return false;
    *ret_ns = seconds * 1000000000 + ns;
    return true;
}

/* Read "change of reductions in count". */
static void take_weight(struct perf_header *header, struct span value, struct import *import)
{
    static const char separator[] = " in ";
    const char *in = memmem(value.at, value.size, separator, strlen(separator));
    const char *name;

    if (!in || in == value.at)
        return;
    name = import_text(import, (struct span){value.at, (size_t)(in - value.at)});
    for (int unit = UNIT_COUNT; unit < UNIT_END; unit++) {
        if (!span_is(span_skip(value, (size_t)(in - value.at) + strlen(separator)),
                     profile_unit_name((enum unit)unit)))
            continue;
        header->weight = (struct span){name, strlen(name)};
        header->unit = (enum unit)unit;
    }
}

/* Read a key that only beamflame writes. */
static void take_own(struct perf_header *header, struct span key, struct span value,
                     struct import *import)
{
    uint64_t number;

    if (span_is(key, "trigger"))
        import->header.trigger = unescaped(import, value);
    else if (span_is(key, "weight"))
        take_weight(header, value, import);
    else if (span_is(key, "start by clock"))
        import->has_start = take_seconds(value, &import->header.start_monotonic);
    else if (span_is(key, "start since 1970"))
        take_seconds(value, &import->header.start_realtime);
    else if (span_is(key, "frequency") && span_take_number(&value, 1000000000, &number))
        import->header.frequency = (uint32_t)number;
}

static void take_key(struct perf_header *header, struct span key, struct span value,
                     struct import *import)
{
    if (span_is(key, "hostname"))
        import->header.hostname = unescaped(import, value);
    else if (span_is(key, "os release"))
        import->header.kernel = unescaped(import, value);
    else if (span_is(key, "cmdline"))
        import->header.command = unescaped(import, value);
    else if (span_is(key, "beamflame version")) {
        import->header.version = unescaped(import, value);
        header->own = true;
    } else if (header->own)
        take_own(header, key, value, import);
}

/* Read "loss ring_full 12" or "left out 12 samples...". */
static void take_count(struct span line, struct import *import)
{
    struct recording_totals *totals = &import->totals;
    uint64_t count;

    if (span_begins(line, "left out ")) {
        line = span_skip(line, strlen("left out "));
        if (span_take_number(&line, UINT64_MAX, &count))
            totals->left_out = count;
        return;
    }
    if (!span_begins(line, "loss "))
        return;
    line = span_skip(line, strlen("loss "));
    for (int i = 0; i < LOSS_COUNT; i++) {
        struct span rest = line;

        if (!span_begins(line, profile_loss_name(i)))
            continue;
        rest = span_after_blank(span_skip(rest, strlen(profile_loss_name(i))));
        if (span_take_number(&rest, UINT64_MAX, &count) && !rest.size)
            totals->losses[i] = count;
    }
}

void perf_header_take(struct perf_header *header, struct span line, struct import *import)
{
    struct span key, value;

    line = span_after_blank(span_skip(line, 1));
    if (!import->writer && split(line, &key, &value))
        take_key(header, key, value, import);
    else if (header->own)
        take_count(line, import);
}
