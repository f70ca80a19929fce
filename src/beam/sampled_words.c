// SPDX-License-Identifier: Apache-2.0
#include "beam/sampled_words.h"

#include <stdlib.h>

#include "vm_constants.h"

static int ascending(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* The words that hold these fields, each once. A field is -1 if this release does not have it. */
static struct wire_words words_of(const int32_t *fields, size_t count, size_t limit)
{
    struct wire_words words = {.count = 0};
    uint16_t sorted[WIRE_WORDS] = {0};
    size_t known = 0;

    for (size_t i = 0; i < count; i++) {
        if (fields[i] >= 0 && (size_t)fields[i] + 8 <= limit)
            sorted[known++] = (uint16_t)(fields[i] & ~7);
    }
    qsort(sorted, known, sizeof(*sorted), ascending);
    for (size_t i = 0; i < known; i++) {
        if (!words.count || sorted[i] != words.offsets[words.count - 1])
            words.offsets[words.count++] = sorted[i];
    }
    return words;
}

struct wire_words sampled_process_words(const struct layout *layout)
{
    int32_t initial = layout->process_initial; /* module, function, arity */
    int32_t arguments = layout->process_def_arg_reg;
    const int32_t fields[] = {
        /* heap and stack */
        layout->process_htop,
        layout->process_stop,
        layout->process_heap,
        layout->process_hend,
        layout->process_abandoned_heap,
        /* current code and state */
        layout->process_i,
        layout->process_current,
        layout->process_state,
        /* garbage collection */
        layout->process_flags,
        layout->process_high_water,
        layout->process_old_heap,
        layout->process_gen_gcs,
        layout->process_max_gen_gcs,
        /* metrics (beam/process_metrics.h) */
        layout->process_reds,
        arguments < 0 ? -1 : arguments + REDS_IN_REGISTER * 8,
        layout->process_fcalls,
        layout->process_heap_sz,
        layout->process_old_hend,
        layout->process_mbuf_sz,
        layout->process_off_heap_overhead,
        layout->process_bin_old_vheap,
        layout->process_msgq_flags,
        layout->process_msgq_len,
        layout->process_msgq_mq_len,
        layout->process_msgq_mlenoffs,
        layout->process_msgq_nmsigs_next,
        layout->process_inq_len,
        layout->process_inq_mlenoffs,
        layout->process_inq_nmsigs,
        layout->process_inq_buffers,
        /* identity (beam/process_info.h) */
        layout->process_id,
        layout->process_reg,
        layout->process_dictionary,
        initial,
        initial < 0 ? -1 : initial + 8,
        initial < 0 ? -1 : initial + 16,
        layout->process_parent,
        layout->process_group_leader,
    };

    _Static_assert(sizeof(fields) / sizeof(*fields) <= WIRE_WORDS, "room for all");
    return words_of(fields, sizeof(fields) / sizeof(*fields), (size_t)layout->sizeof_process);
}

struct wire_words sampled_scheduler_words(const struct layout *layout)
{
    const int32_t fields[] = {
        layout->sched_registers,       layout->sched_ssi,         layout->sched_type,
        layout->sched_current_process, layout->sched_current_nif, layout->sched_current_port,
        layout->sched_virtual_reds,
    };

    return words_of(fields, sizeof(fields) / sizeof(*fields), WIRE_SCHEDULER_BYTES);
}
