// SPDX-License-Identifier: Apache-2.0
#include "beam/process_walk.h"

#include <string.h>

#include "beam/process_metrics.h"
#include "beam/term.h"
#include "vm_constants.h"

enum { PROCESS_MAX = 4096 /* as in layout_check() */ };

bool process_walk_read(struct process_walk *walk, uint64_t address, void *buffer, size_t size)
{
    if (!walk->reads)
        return false;
    walk->reads--;
    return memory_read_cached(&walk->cache, address, buffer, size);
}

bool process_walk_read_spans(struct process_walk *walk, struct memory_span *spans, size_t count)
{
    if (walk->reads < count)
        return false;
    walk->reads -= count;
    memory_read_spans(walk->vm->memory, spans, count);
    for (size_t i = 0; i < count; i++)
        if (!spans[i].is_read)
            return false;
    return true;
}

bool process_walk_part(const uint8_t *bytes, size_t size, int32_t offset, size_t width,
                       uint64_t *value)
{
    *value = 0;
    if (offset < 0 || (size_t)offset + width > size)
        return false;
    memcpy(value, bytes + offset, width);
    return true;
}

bool process_walk_field(const struct process_walk *walk, int32_t offset, uint64_t *value)
{
    return process_walk_part(walk->bytes, (size_t)walk->vm->layout.sizeof_process, offset,
                             sizeof(*value), value);
}

/* Bytes of argument registers that do not fit into the struct. */
static bool arguments_size(const struct process_walk *walk, uint64_t *size)
{
    const struct layout *layout = &walk->vm->layout;
    size_t width = walk->vm->features.arity_is_byte ? 1 : sizeof(uint64_t);
    uint64_t registers, arity;

    *size = 0;
    if (layout->process_def_arg_reg < 0 ||
        !process_walk_field(walk, layout->process_arg_reg, &registers) ||
        !process_walk_part(walk->bytes, (size_t)layout->sizeof_process, layout->process_arity,
                           width, &arity) ||
        arity > 255)
        return false;
    if (registers != walk->address + (uint64_t)layout->process_def_arg_reg)
        *size = arity * 8;
    return true;
}

/* Bytes of process specific data. If process_flag(save_calls) has saved calls, they count too, and
 * the size is unknown. */
static bool specific_size(struct process_walk *walk, uint64_t *size)
{
    enum { SAVED_CALLS = ERTS_PSD_SAVED_CALLS_BUF * sizeof(uint64_t) };
    const struct layout *layout = &walk->vm->layout;
    uint64_t address, saved;

    *size = 0;
    if (!process_walk_field(walk, layout->process_psd, &address))
        return false;
    if (!address)
        return true;
    *size = (uint64_t)layout->sizeof_psd;
    return layout->sizeof_psd >= 0 && layout->psd_data >= 0 &&
           process_walk_read(walk, address + (uint64_t)layout->psd_data + SAVED_CALLS, &saved,
                             sizeof(saved)) &&
           saved == 0;
}

/* PD_SZ2BYTES (erl_process_dict.c 25.2.3:62) */
static bool dictionary_size(struct process_walk *walk, uint64_t *size)
{
    const struct layout *layout = &walk->vm->layout;
    uint64_t address;
    uint32_t room;

    *size = 0;
    if (!process_walk_field(walk, layout->process_dictionary, &address) ||
        layout->procdict_array_size < 0 || layout->sizeof_procdict < 0)
        return false;
    if (!address)
        return true;
    if (!process_walk_read(walk, address + (uint64_t)layout->procdict_array_size, &room,
                           sizeof(room)) ||
        room == 0)
        return false;
    *size = (uint64_t)layout->sizeof_procdict + (room - 1) * (uint64_t)8;
    return true;
}

/* Words of the heap that a process has abandoned until a delayed collection. */
static bool abandoned_words(const struct process_walk *walk, uint64_t *words)
{
    const struct layout *layout = &walk->vm->layout;
    uint64_t abandoned, heap, hend;

    *words = 0;
    if (!process_walk_field(walk, layout->process_abandoned_heap, &abandoned) ||
        !process_walk_field(walk, layout->process_heap, &heap) ||
        !process_walk_field(walk, layout->process_hend, &hend) || hend < heap)
        return false;
    if (abandoned)
        *words = (hend - heap) / 8;
    return true;
}

/* erts_process_memory() (erl_process_dump.c 25.2.3:115, 27.3.4.1:115, 29.1.1:117) */
static void add_memory(struct process_walk *walk, const struct queued *queued,
                       struct metrics *metrics)
{
    const struct layout *layout = &walk->vm->layout;
    uint64_t fragments, abandoned, relations, arguments, specific, dictionary, words;

    if (!metrics_know(metrics, METRIC_YOUNG) || !metrics_know(metrics, METRIC_OLD) ||
        !process_walk_field(walk, layout->process_mbuf_sz, &fragments) ||
        !abandoned_words(walk, &abandoned) || !relations_walk(walk, &relations) ||
        !arguments_size(walk, &arguments) || !specific_size(walk, &specific) ||
        !dictionary_size(walk, &dictionary))
        return;
    words = metrics->values[METRIC_YOUNG] + metrics->values[METRIC_OLD] + fragments + abandoned;
    metrics_set(metrics, METRIC_MEMORY,
                (uint64_t)layout->sizeof_process + relations + words * 8 + queued->size +
                    arguments + specific + dictionary);
}

/* Add the metrics that were omitted because of messages in the queue. */
static void add_queue(const struct process_walk *walk, const struct queued *queued,
                      struct metrics *metrics)
{
    uint64_t fragments;

    if (!metrics_know(metrics, METRIC_MSGQ))
        metrics_set(metrics, METRIC_MSGQ, queued->messages);
    if (!process_walk_field(walk, walk->vm->layout.process_mbuf_sz, &fragments) ||
        metrics_know(metrics, METRIC_HEAP))
        return;
    metrics_set(metrics, METRIC_MBUF, fragments + queued->fragments);
    if (metrics_know(metrics, METRIC_YOUNG) && metrics_know(metrics, METRIC_OLD))
        metrics_set(metrics, METRIC_HEAP,
                    metrics->values[METRIC_YOUNG] + metrics->values[METRIC_OLD] + fragments +
                        queued->attached);
}

/* True if the fields from which the walk starts have not changed. */
static bool is_unchanged(struct process_walk *walk)
{
    const struct layout *layout = &walk->vm->layout;
    const int32_t fields[] = {
        layout->process_id,         layout->process_heap,           layout->process_hend,
        layout->process_old_heap,   layout->process_old_htop,       layout->process_mbuf,
        layout->process_mbuf_sz,    layout->process_off_heap_first, layout->process_wrt_bins,
        layout->process_msgq_first, layout->process_msgq_last,      layout->process_msgq_cont,
        layout->process_inq_first,  layout->process_inq_last,       layout->process_links,
        layout->process_monitors,   layout->process_lt_monitors,    layout->process_dictionary,
        layout->process_psd,        layout->process_arg_reg,
    };
    size_t size = (size_t)layout->sizeof_process;
    uint8_t now[PROCESS_MAX];

    if (size > sizeof(now) || !memory_read(walk->vm->memory, walk->address, now, size))
        return false;
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        if (fields[i] >= 0 && memcmp(now + fields[i], walk->bytes + fields[i], 8) != 0)
            return false;
    }
    return true;
}

size_t process_walk_metrics(struct vm *vm, uint64_t address, const uint8_t *bytes, size_t reads,
                            struct metrics *metrics)
{
    struct process_walk walk = {.vm = vm, .address = address, .bytes = bytes, .reads = reads};
    struct metrics more = *metrics;
    struct queued queued = {0};
    uint64_t binaries;

    read_cache_init(&walk.cache, vm->memory);
    if (process_walk_queue(&walk, &queued)) {
        add_queue(&walk, &queued, &more);
        add_memory(&walk, &queued, &more);
    }
    if (held_binaries_walk(&walk, &binaries))
        metrics_set(&more, METRIC_BINARIES, binaries);
    if (is_unchanged(&walk))
        *metrics = more;
    return reads - walk.reads + 1;
}

/*
 * The message queue: three lists, which the process joins when it fetches new messages
 * (erl_message.h 25.2.3:317, 29.1.1:337). Each entry begins as an ErtsMessage:
 *
 *   next | data | m[0], the message | m[1] | m[2] | fragment
 *
 * `data` is 0 for a message on the heap and 1 for a message in the fragment that follows the entry.
 * Otherwise `data` is the address of a fragment. m[0] is 0 for a message from another node that is
 * not decoded yet, and a header word for a signal that is not a message.
 */

enum {
    MESSAGE_MAX = 128,
    FRAGMENT_MAX = 64,
};

/* erts_used_frag_sz() (erl_message.h 25.2.3:610, 27.3.4.1:624) */
static bool add_fragments(struct process_walk *walk, uint64_t address, uint64_t *words)
{
    const struct layout *layout = &walk->vm->layout;
    size_t size = (size_t)layout->heap_fragment_mem;
    uint8_t bytes[FRAGMENT_MAX];
    uint64_t used;

    if (layout->heap_fragment_mem < 0 || size > sizeof(bytes))
        return false;
    while (address) {
        if (!process_walk_read(walk, address, bytes, size) ||
            !process_walk_part(bytes, size, layout->heap_fragment_used_size, 8, &used) ||
            !process_walk_part(bytes, size, layout->heap_fragment_next, 8, &address))
            return false;
        *words += used;
    }
    return true;
}

/* Add a receive marker, the place where a receive resumes its search. False for any other signal:
 * the process handles and removes such a signal before it answers process_info(). */
static bool add_signal(const struct process_walk *walk, uint64_t tag, struct queued *queued)
{
    int32_t size = walk->vm->layout.sizeof_receive_marker;

    if ((term_header_words(tag) & ERTS_SIG_Q_OP_MASK) != ERTS_SIG_Q_OP_RECV_MARK || size < 0)
        return false;
    queued->size += (uint64_t)size;
    return true;
}

static bool add_message(struct process_walk *walk, uint64_t address, uint64_t data,
                        struct queued *queued)
{
    const struct layout *layout = &walk->vm->layout;
    bool inside = data == ERTS_MSG_COMBINED_HFRAG;
    uint64_t words = 0;

    if (layout->sizeof_message < 0 || layout->message_hfrag < 0 ||
        !add_fragments(walk, inside ? address + (uint64_t)layout->message_hfrag : data, &words))
        return false;
    queued->messages++;
    queued->attached += words;
    queued->fragments += inside ? 0 : words;
    queued->size += (uint64_t)layout->sizeof_message + words * 8;
    return true;
}

static bool add_list(struct process_walk *walk, int32_t field, struct queued *queued)
{
    const struct layout *layout = &walk->vm->layout;
    size_t size = (size_t)layout->message_m + 8;
    uint8_t bytes[MESSAGE_MAX];
    uint64_t address, next, data, message;

    if (!process_walk_field(walk, field, &address) || layout->message_m < 0 || size > sizeof(bytes))
        return false;
    for (; address; address = next) {
        if (!process_walk_read(walk, address, bytes, size) ||
            !process_walk_part(bytes, size, layout->message_next, 8, &next) ||
            !process_walk_part(bytes, size, layout->message_data, 8, &data) ||
            !process_walk_part(bytes, size, layout->message_m, 8, &message) || message == 0)
            return false;
        if (!(term_is_header(message) ? add_signal(walk, message, queued)
                                      : add_message(walk, address, data, queued)))
            return false;
    }
    return true;
}

/* While many processes send at once, messages first go into buffers. nonempty_slots has a bit for
 * each buffer with messages. */
static bool buffers_are_empty(struct process_walk *walk)
{
    const struct layout *layout = &walk->vm->layout;
    uint64_t buffers, full;

    if (!process_walk_field(walk, layout->process_inq_buffers, &buffers) || !buffers)
        return true;
    return layout->queue_buffers_nonempty >= 0 &&
           process_walk_read(walk, buffers + (uint64_t)layout->queue_buffers_nonempty, &full,
                             sizeof(full)) &&
           full == 0;
}

bool process_walk_queue(struct process_walk *walk, struct queued *queued)
{
    const struct layout *layout = &walk->vm->layout;

    *queued = (struct queued){0};
    return buffers_are_empty(walk) && add_list(walk, layout->process_msgq_first, queued) &&
           add_list(walk, layout->process_msgq_cont, queued) &&
           add_list(walk, layout->process_inq_first, queued);
}
