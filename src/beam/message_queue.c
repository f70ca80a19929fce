// SPDX-License-Identifier: Apache-2.0
/*
 * The message queue: three lists, which the process joins when it fetches new messages
 * (erl_message.h 25:317, 29:337). Each entry begins as an ErtsMessage:
 *
 *   next | data | m[0], the message | m[1] | m[2] | fragment
 *
 * `data` is 0 for a message on the heap and 1 for a message in the fragment that follows the entry.
 * Otherwise `data` is the address of a fragment. m[0] is 0 for a message from another node that is
 * not decoded yet, and a header word for a signal that is not a message.
 */
#include "beam/process_walk.h"
#include "beam/term.h"
#include "vm_constants.h"

enum {
    MESSAGE_MAX = 128,
    FRAGMENT_MAX = 64,
};

/* erts_used_frag_sz() (erl_message.h 25:610, 27:624) */
static bool add_fragments(struct walk *walk, uint64_t address, uint64_t *words)
{
    const struct layout *layout = &walk->vm->layout;
    size_t size = (size_t)layout->heap_fragment_mem;
    uint8_t bytes[FRAGMENT_MAX];
    uint64_t used;

    if (layout->heap_fragment_mem < 0 || size > sizeof(bytes))
        return false;
    while (address) {
        if (!walk_read(walk, address, bytes, size) ||
            !walk_part(bytes, size, layout->heap_fragment_used_size, 8, &used) ||
            !walk_part(bytes, size, layout->heap_fragment_next, 8, &address))
            return false;
        *words += used;
    }
    return true;
}

/* Add a receive marker, the place where a receive resumes its search. False for any other signal:
 * the process handles and removes such a signal before it answers process_info(). */
static bool add_signal(const struct walk *walk, uint64_t tag, struct queued *queued)
{
    int32_t size = walk->vm->layout.sizeof_receive_marker;

    if ((term_header_words(tag) & ERTS_SIG_Q_OP_MASK) != ERTS_SIG_Q_OP_RECV_MARK || size < 0)
        return false;
    queued->size += (uint64_t)size;
    return true;
}

static bool add_message(struct walk *walk, uint64_t address, uint64_t data, struct queued *queued)
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

static bool add_list(struct walk *walk, int32_t field, struct queued *queued)
{
    const struct layout *layout = &walk->vm->layout;
    size_t size = (size_t)layout->message_m + 8;
    uint8_t bytes[MESSAGE_MAX];
    uint64_t address, next, data, message;

    if (!walk_field(walk, field, &address) || layout->message_m < 0 || size > sizeof(bytes))
        return false;
    for (; address; address = next) {
        if (!walk_read(walk, address, bytes, size) ||
            !walk_part(bytes, size, layout->message_next, 8, &next) ||
            !walk_part(bytes, size, layout->message_data, 8, &data) ||
            !walk_part(bytes, size, layout->message_m, 8, &message) || message == 0)
            return false;
        if (!(term_is_header(message) ? add_signal(walk, message, queued)
                                      : add_message(walk, address, data, queued)))
            return false;
    }
    return true;
}

/* While many processes send at once, messages first go into buffers. nonempty_slots has a bit for
 * each buffer with messages. */
static bool buffers_are_empty(struct walk *walk)
{
    const struct layout *layout = &walk->vm->layout;
    uint64_t buffers, full;

    if (!walk_field(walk, layout->process_inq_buffers, &buffers) || !buffers)
        return true;
    return layout->queue_buffers_nonempty >= 0 &&
           walk_read(walk, buffers + (uint64_t)layout->queue_buffers_nonempty, &full,
                     sizeof(full)) &&
           full == 0;
}

bool walk_queue(struct walk *walk, struct queued *queued)
{
    const struct layout *layout = &walk->vm->layout;

    *queued = (struct queued){0};
    return buffers_are_empty(walk) && add_list(walk, layout->process_msgq_first, queued) &&
           add_list(walk, layout->process_msgq_cont, queued) &&
           add_list(walk, layout->process_inq_first, queued);
}
