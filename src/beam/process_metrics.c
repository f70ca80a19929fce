// SPDX-License-Identifier: Apache-2.0
#include "beam/process_metrics.h"

#include <string.h>

#include "beam/process_info.h"
#include "vm_constants.h"

struct metrics_reader {
    const struct layout *layout;
    const uint8_t *bytes;
    struct metrics *metrics;
};

/* Get a field; false if this release has none, or if its offset is unknown. */
static bool get(const struct metrics_reader *reader, int32_t offset, uint64_t *value)
{
    if (offset < 0)
        return false;
    memcpy(value, reader->bytes + offset, sizeof(*value));
    return true;
}

static bool get_u32(const struct metrics_reader *reader, int32_t offset, uint32_t *value)
{
    if (offset < 0)
        return false;
    memcpy(value, reader->bytes + offset, sizeof(*value));
    return true;
}

/* True if the pointer or word is 0, or if this release has no such field. */
static bool is_zero(const struct metrics_reader *reader, int32_t offset)
{
    uint64_t value;

    return !get(reader, offset, &value) || value == 0;
}

/* Words from one address to another. */
static bool words_between(uint64_t from, uint64_t to, uint64_t *words)
{
    *words = (to - from) / 8;
    return to >= from && (to - from) % 8 == 0;
}

/* A process at rest has used `reds`. A running process has used REDS_IN - fcalls - virtual_reds
 * more (erts_current_reductions(), beam_common.c 25.2.3:2458, 27.3.4.1:2461, 29.1.1:2394). These
 * values are unknown for a process on a dirty scheduler. */
static void read_reductions(const struct metrics_reader *reader,
                            const struct process_registers *registers)
{
    int32_t arguments = reader->layout->process_def_arg_reg;
    uint64_t reds, reds_in;

    if (!get(reader, reader->layout->process_reds, &reds) ||
        (registers && registers->reductions == REDUCTIONS_UNKNOWN))
        return;
    if (registers && registers->reductions == REDUCTIONS_LEFT) {
        if (arguments < 0 || !get(reader, arguments + REDS_IN_REGISTER * 8, &reds_in) ||
            registers->fcalls > (int64_t)reds_in)
            return;
        reds += reds_in - (uint64_t)registers->fcalls - registers->virtual_reds;
    }
    metrics_set(reader->metrics, METRIC_REDUCTIONS, reds);
}

/* Add up the messages in all queues of the process: the inner queue, which the process sees, the
 * middle one, and the outer one, where senders put messages. From 27 on the VM counts messages
 * between signals of other kinds, so the counts are complete only if there are no such signals
 * (erl_message.h 25.2.3:350, 27.3.4.1:377, 29.1.1:390). While many processes send at once, messages
 * may also be in buffers; then the length is unknown. */
static void read_queue_length(const struct metrics_reader *reader)
{
    const struct layout *layout = reader->layout;
    uint64_t inner, middle = 0, outer;
    uint32_t flags;

    if (!get_u32(reader, layout->process_msgq_flags, &flags) ||
        !is_zero(reader, layout->process_inq_buffers))
        return;
    if (layout->process_msgq_mq_len >= 0) {
        if (!get(reader, layout->process_msgq_mq_len, &inner) ||
            !get(reader, layout->process_msgq_mlenoffs, &middle) ||
            !get(reader, layout->process_inq_mlenoffs, &outer) ||
            !is_zero(reader, layout->process_msgq_nmsigs_next) ||
            !is_zero(reader, layout->process_inq_nmsigs))
            return;
    } else if (!get(reader, layout->process_msgq_len, &inner) ||
               !get(reader, layout->process_inq_len, &outer) || flags & FS_DELAYED_PSIGQS_LEN) {
        return;
    }
    if (inner + middle + outer <= INT64_MAX)
        metrics_set(reader->metrics, METRIC_MSGQ, inner + middle + outer);
}

/* True if the queue may contain messages whose content counts as heap. Only the messages themselves
 * tell where their content lies. */
static bool has_messages_on_heap(const struct metrics_reader *reader)
{
    const struct metrics *metrics = reader->metrics;
    uint32_t flags = FS_ON_HEAP_MSGQ;

    if (metrics_know(metrics, METRIC_MSGQ) && metrics->values[METRIC_MSGQ] == 0)
        return false;
    get_u32(reader, reader->layout->process_msgq_flags, &flags);
    return flags & FS_ON_HEAP_MSGQ;
}

static void read_heap(const struct metrics_reader *reader)
{
    const struct layout *layout = reader->layout;
    uint64_t young, old_heap, old_hend, old, fragments;

    if (!get(reader, layout->process_heap_sz, &young) ||
        !get(reader, layout->process_old_heap, &old_heap) ||
        !get(reader, layout->process_old_hend, &old_hend) ||
        !get(reader, layout->process_mbuf_sz, &fragments))
        return;
    metrics_set(reader->metrics, METRIC_YOUNG, young);
    if (!old_heap || !old_hend)
        old = 0;
    else if (!words_between(old_heap, old_hend, &old))
        return;
    metrics_set(reader->metrics, METRIC_OLD, old);
    if (has_messages_on_heap(reader))
        return;
    metrics_set(reader->metrics, METRIC_MBUF, fragments);
    metrics_set(reader->metrics, METRIC_HEAP, young + old + fragments);
}

/* While a collection moves the stack, `stop` and `hend` may belong to different heaps; such a size
 * stays unknown. `stop` is the start of the heap if a process without data hibernates and its stack
 * is apart (erl_gc.c OTP-25.2.3:1034). */
static void read_stack(const struct metrics_reader *reader, bool executes,
                       const struct process_registers *registers)
{
    const struct layout *layout = reader->layout;
    uint64_t heap, hend, stop, words;

    if (!get(reader, layout->process_heap, &heap) || !get(reader, layout->process_hend, &hend) ||
        !get(reader, layout->process_stop, &stop))
        return;
    if (executes)
        stop = registers ? registers->stop : 0;
    if (stop >= heap && words_between(stop, hend, &words))
        metrics_set(reader->metrics, METRIC_STACK, words);
}

/* gen_gcs has 16 bits (erl_process.h 25.2.3:1104, 27.3.4.1:1121, 29.1.1:1144). */
static void read_collections(const struct metrics_reader *reader)
{
    uint64_t words;
    uint16_t minor;

    if (get(reader, reader->layout->process_off_heap_overhead, &words))
        metrics_set(reader->metrics, METRIC_BIN_VHEAP, words);
    if (get(reader, reader->layout->process_bin_old_vheap, &words))
        metrics_set(reader->metrics, METRIC_OLD_VHEAP, words);
    if (reader->layout->process_gen_gcs < 0)
        return;
    memcpy(&minor, reader->bytes + reader->layout->process_gen_gcs, sizeof(minor));
    metrics_set(reader->metrics, METRIC_MINOR_GCS, minor);
}

void process_metrics_read(const struct vm *vm, const uint8_t *bytes,
                          const struct process_registers *registers, struct metrics *metrics)
{
    struct metrics_reader reader = {&vm->layout, bytes, metrics};
    uint32_t state;
    bool executes;

    memcpy(&state, bytes + vm->layout.process_state, sizeof(state));
    executes = process_info_executes(state);
    *metrics = (struct metrics){0};
    read_reductions(&reader, executes ? registers : NULL);
    read_queue_length(&reader);
    read_heap(&reader);
    read_stack(&reader, executes, registers);
    read_collections(&reader);
}
