// SPDX-License-Identifier: Apache-2.0
/* An Erlang process in the memory of an imitated VM, with one of each thing that is read of a
 * process (imitated_vm.h). */
#pragma once

#include "../unit/fake_target.h"
#include "beam/pid_encoding.h"
#include "beam/term.h"

/* The atoms of the VM, by index. */
enum imitated_atom {
    ATOM_FALSE,
    ATOM_TRUE,
    ATOM_NODE,
    ATOM_M,
    ATOM_F,
    ATOM_SHOP,
    ATOM_ANCESTORS,
    ATOM_INITIAL_CALL,
    ATOM_LABEL,
    ATOM_CONTEXT,
    ATOM_TRACER,
    ATOM_SPAN_CTX,
    ATOM_MASTER,
    ATOM_INIT,
    ATOM_STATE,
    ATOM_APPL_DATA,
    ATOMS
};
static const char *const imitated_atoms[ATOMS] = {
    "false",
    "true",
    "x@host",
    "m",
    "f",
    "Elixir.Shop",
    "$ancestors",
    "$initial_call",
    "$process_label",
    "$__current_otel_ctx",
    "otel_tracer",
    "span_ctx",
    "application_master",
    "init",
    "state",
    "appl_data",
};

enum { PROCESSES = 6, MASTER = 4, HEAP_WORDS = 64, STACK_WORDS = 24, SLOTS = 8 };

/* What the parts below share. */
struct imitation {
    struct fake_target *target;
    struct vm *vm;
    uint64_t code; /* of module m (imitated_vm.h) */
};

/* Write a field; nothing if this release does not have it. */
static inline void put_word(struct imitation *to, uint64_t at, int32_t offset, uint64_t value)
{
    if (offset >= 0)
        fake_put_u64(to->target, at + (uint64_t)offset, value);
}

static inline void put_half(struct imitation *to, uint64_t at, int32_t offset, uint32_t value)
{
    if (offset >= 0)
        fake_put_u32(to->target, at + (uint64_t)offset, value);
}

static inline uint64_t put_text(struct imitation *to, const char *text)
{
    uint64_t at = fake_room(to->target, strlen(text) + 64);

    fake_put(to->target, at, text, strlen(text) + 1);
    return at;
}

/* Data and index of a pid are equal (put_ptab()). */
static inline uint64_t pid_of(const struct imitation *to, uint64_t number, unsigned int tag)
{
    return to->vm->features.wide_pids ? number << 4 | tag : number << 32 | number << 4 | tag;
}

/* ---- the dictionary ---- */

static inline uint64_t put_span(struct imitation *to)
{
    uint64_t trace = FAKE_WORDS(to->target, 2 << 6 | POS_BIG_SUBTAG, 7, 9) | 2;

    return FAKE_TUPLE(to->target, 11, fake_atom_term(ATOM_SPAN_CTX), trace, TAG_IMMED2_NIL,
                      fake_small(5), TAG_IMMED2_NIL, 0xf, TAG_IMMED2_NIL, 0xb, 0xb, 0xb,
                      TAG_IMMED2_NIL);
}

static inline uint64_t put_context(struct imitation *to)
{
    uint64_t key =
        FAKE_TUPLE(to->target, 2, fake_atom_term(ATOM_TRACER), fake_atom_term(ATOM_SPAN_CTX));
    uint64_t kind = to->vm->features.binaries_in_bits ? MAP_SUBTAG_27 : MAP_SUBTAG_26;

    return FAKE_WORDS(to->target, kind, 1, FAKE_TUPLE(to->target, 1, key), put_span(to)) | 2;
}

/* A binary term of four bytes. */
static inline uint64_t put_binary(struct imitation *to)
{
    bool in_bits = to->vm->features.binaries_in_bits;

    return FAKE_WORDS(to->target, 2 << 6 | (in_bits ? HEAP_BITS_SUBTAG : HEAP_BINARY_SUBTAG),
                      in_bits ? 32 : 4, 0x64636261) |
           2;
}

static inline uint64_t put_label(struct imitation *to)
{
    uint64_t text = fake_cons(to->target, fake_small('a'),
                              fake_cons(to->target, fake_small('b'), TAG_IMMED2_NIL));

    return FAKE_TUPLE(to->target, 5, fake_atom_term(ATOM_SHOP), put_binary(to), text,
                      fake_small(-7), pid_of(to, 1, 3));
}

static inline uint64_t put_entry(struct imitation *to, enum imitated_atom key, uint64_t value,
                                 uint64_t rest)
{
    return fake_cons(to->target, FAKE_TUPLE(to->target, 2, fake_atom_term(key), value), rest);
}

/* All entries are in the slot of the trace's context. */
static inline uint64_t put_dictionary(struct imitation *to, uint64_t parent)
{
    const struct layout *layout = &to->vm->layout;
    uint64_t at = fake_room(to->target, (size_t)layout->procdict_data + SLOTS * 8);
    uint64_t call =
        FAKE_TUPLE(to->target, 3, fake_atom_term(ATOM_M), fake_atom_term(ATOM_F), fake_small(2));
    uint64_t ancestors = fake_cons(to->target, fake_atom_term(ATOM_SHOP),
                                   fake_cons(to->target, parent, TAG_IMMED2_NIL));
    uint64_t entries = put_entry(to, ATOM_INITIAL_CALL, call, TAG_IMMED2_NIL);

    entries = put_entry(to, ATOM_ANCESTORS, ancestors, entries);
    entries = put_entry(to, ATOM_LABEL, put_label(to), entries);
    entries = put_entry(to, ATOM_CONTEXT, put_context(to), entries);
    put_half(to, at, layout->procdict_size_mask, SLOTS - 1);
    put_half(to, at, layout->procdict_used, SLOTS);
    put_half(to, at, layout->procdict_array_size, SLOTS);
    for (uint64_t i = 0; i < SLOTS; i++)
        put_word(to, at, layout->procdict_data + (int32_t)i * 8,
                 i == ATOM_CONTEXT % SLOTS ? entries : TAG_IMMED2_NIL);
    return at;
}

/* ---- messages and binaries ---- */

/* Two references to a binary. */
static inline uint64_t put_references(struct imitation *to)
{
    bool in_bits = to->vm->features.binaries_in_bits;
    uint64_t header = 2 << 6 | (in_bits ? BIN_REF_SUBTAG : REFC_BINARY_SUBTAG);
    uint64_t binary = FAKE_WORDS(to->target, 0, 0, 1, 5000), next = 0;

    for (int i = 0; i < 2; i++)
        next = in_bits ? FAKE_WORDS(to->target, header, binary, next)
                       : FAKE_WORDS(to->target, header, 5000, next, binary);
    return next;
}

static inline uint64_t put_fragment(struct imitation *to, uint64_t next)
{
    const struct layout *layout = &to->vm->layout;
    uint64_t at = fake_room(to->target, 128);

    put_word(to, at, layout->heap_fragment_next, next);
    put_word(to, at, layout->heap_fragment_used_size, 6);
    put_word(to, at, layout->heap_fragment_off_heap, put_references(to));
    return at;
}

static inline uint64_t put_message(struct imitation *to, uint64_t message, uint64_t data,
                                   uint64_t next)
{
    const struct layout *layout = &to->vm->layout;
    uint64_t at = fake_room(to->target, 256);

    put_word(to, at, layout->message_next, next);
    put_word(to, at, layout->message_data, data);
    put_word(to, at, layout->message_m, message);
    put_word(to, at, layout->message_hfrag + layout->heap_fragment_used_size, 3);
    return at;
}

static inline uint64_t put_messages(struct imitation *to)
{
    uint64_t at = put_message(to, ERTS_SIG_Q_OP_RECV_MARK << 6 | EXTERNAL_PID_SUBTAG, 0, 0);

    at = put_message(to, fake_small(1), ERTS_MSG_COMBINED_HFRAG, at);
    at = put_message(to, fake_small(2), put_fragment(to, 0), at);
    return put_message(to, fake_small(3), 0, at);
}

/* ---- links and monitors ---- */

enum { NODE_AT = 256 };

/* What a link to another node, or a monitor, has around its node. */
static inline void put_around(struct imitation *to, uint64_t data, bool is_link)
{
    const struct layout *layout = &to->vm->layout;
    uint64_t far = FAKE_WORDS(to->target, 3 << 6 | EXTERNAL_PID_SUBTAG, 1, 2, 3) | 2;

    if (is_link) {
        put_half(to, data, layout->far_link_refc, 1);
        put_word(to, data, layout->far_link_heap, 3 << 6 | EXTERNAL_PID_SUBTAG);
        return;
    }
    put_word(to, data, layout->monitor_ref, far);
    put_word(to, data, layout->monitor_origin_item, far);
    put_word(to, data, layout->monitor_target_item, pid_of(to, 1, 3));
    put_half(to, data, layout->monitor_refc, 2);
}

/* A node, NODE_AT bytes into the struct that contains it. */
static inline uint64_t put_relation(struct imitation *to, bool is_link, uint32_t type,
                                    bool extended)
{
    const struct layout *layout = &to->vm->layout;
    uint64_t data = fake_room(to->target, 2 * NODE_AT), at = data + NODE_AT;
    uint32_t flags = layout->relation_type >= 0 ? extended * ERTS_ML_FLG_EXTENDED
                                                : type | extended * ERTS_ML_FLG_EXTENDED_29;

    put_around(to, data, is_link);
    fake_put(to->target, at + (uint64_t)layout->relation_offset, &(uint16_t){NODE_AT}, 2);
    if (layout->relation_type >= 0) {
        fake_put(to->target, at + (uint64_t)layout->relation_flags, &(uint16_t){(uint16_t)flags},
                 2);
        fake_put(to->target, at + (uint64_t)layout->relation_type, &(uint16_t){(uint16_t)type}, 2);
    } else {
        put_half(to, at, layout->relation_flags, flags);
    }
    return at;
}

/* A root with two children. */
static inline uint64_t put_tree(struct imitation *to, bool is_link, const uint32_t types[3])
{
    const struct layout *layout = &to->vm->layout;
    uint64_t root = put_relation(to, is_link, types[0], false);
    uint64_t left = put_relation(to, is_link, types[1], true);
    uint64_t right = put_relation(to, is_link, types[2], true);

    put_word(to, root, layout->relation_left, left);
    put_word(to, root, layout->relation_right, right);
    put_word(to, left, layout->relation_parent, root | 1);
    put_word(to, right, layout->relation_parent, root);
    return root;
}

static inline uint64_t put_ring(struct imitation *to)
{
    const struct layout *layout = &to->vm->layout;
    uint64_t nodes[] = {put_relation(to, false, ERTS_MON_TYPE_ALIAS, false),
                        put_relation(to, false, ERTS_MON_TYPE_NODES, true)};

    for (int i = 0; i < 2; i++) {
        put_word(to, nodes[i], layout->relation_next, nodes[1 - i]);
        put_word(to, nodes[i], layout->relation_prev, nodes[1 - i]);
    }
    return nodes[0];
}

/* ---- the process ---- */

static inline uint64_t put_stack(struct imitation *to, uint64_t at)
{
    uint64_t data =
        FAKE_TUPLE(to->target, 2, fake_atom_term(ATOM_APPL_DATA), fake_atom_term(ATOM_SHOP));
    const uint64_t words[STACK_WORDS] = {
        to->code + 0x108,
        fake_small(1),
        FAKE_TUPLE(to->target, 3, fake_atom_term(ATOM_STATE), pid_of(to, 1, 3), data),
        to->code + 0x110,
        put_binary(to),
        to->code + 0x208,
        [STACK_WORDS - 1] = to->code + 0x708,
    };

    fake_put(to->target, at + (HEAP_WORDS - STACK_WORDS) * 8, words, sizeof(words));
    return at + (HEAP_WORDS - STACK_WORDS) * 8;
}

static inline void put_heap(struct imitation *to, uint64_t process)
{
    const struct layout *layout = &to->vm->layout;
    uint64_t heap = fake_room(to->target, HEAP_WORDS * 8);
    uint64_t old = fake_room(to->target, HEAP_WORDS);

    put_word(to, process, layout->process_heap, heap);
    put_word(to, process, layout->process_htop, heap + 64);
    put_word(to, process, layout->process_stop, put_stack(to, heap));
    put_word(to, process, layout->process_hend, heap + HEAP_WORDS * 8);
    put_word(to, process, layout->process_heap_sz, HEAP_WORDS);
    put_word(to, process, layout->process_old_heap, old);
    put_word(to, process, layout->process_old_htop, old + 8);
    put_word(to, process, layout->process_old_hend, old + HEAP_WORDS);
    put_word(to, process, layout->process_mbuf, put_fragment(to, put_fragment(to, 0)));
    put_word(to, process, layout->process_mbuf_sz, 12);
    put_word(to, process, layout->process_off_heap_first, put_references(to));
    put_word(to, process, layout->process_wrt_bins, put_references(to));
}

static inline void put_calls(struct imitation *to, uint64_t process, uint64_t number)
{
    const struct layout *layout = &to->vm->layout;
    enum imitated_atom module = number == MASTER ? ATOM_MASTER : ATOM_M;
    enum imitated_atom function = number == MASTER ? ATOM_INIT : ATOM_F;

    put_word(to, process, layout->process_initial, fake_atom_term(module));
    put_word(to, process, layout->process_initial + 8, fake_atom_term(function));
    put_word(to, process, layout->process_initial + 16, 4);
    put_word(to, process, layout->process_i, to->code + 0x108);
    put_word(to, process, layout->process_current,
             FAKE_WORDS(to->target, fake_atom_term(ATOM_M), fake_atom_term(ATOM_F), 1));
    put_word(to, process, layout->process_arg_reg, process + (uint64_t)layout->process_def_arg_reg);
}

/* Write the process with this number; return its address. */
static inline uint64_t put_process(struct imitation *to, uint64_t number)
{
    static const uint32_t states[PROCESSES] = {0, ERTS_PSFLG_RUNNING, ERTS_PSFLG_DIRTY_RUNNING,
                                               ERTS_PSFLG_GC};
    static const uint32_t links[] = {0, 1, 2};
    static const uint32_t monitors[] = {ERTS_MON_TYPE_SUSPEND, ERTS_MON_TYPE_DIST_PROC, 1};
    const struct layout *layout = &to->vm->layout;
    uint64_t at = fake_room(to->target, (size_t)layout->sizeof_process);
    uint64_t registered = fake_room(to->target, 64);

    put_heap(to, at);
    put_calls(to, at, number);
    put_word(to, registered, layout->regproc_process, at);
    put_word(to, registered, layout->regproc_name, fake_atom_term(ATOM_SHOP));
    put_word(to, at, layout->process_id, pid_of(to, number, 3));
    put_word(to, at, layout->process_reg, registered);
    put_word(to, at, layout->process_links, put_tree(to, true, links));
    put_word(to, at, layout->process_monitors, put_tree(to, false, monitors));
    put_word(to, at, layout->process_lt_monitors, put_ring(to));
    put_word(to, at, layout->process_reds, 1000 * number);
    put_word(to, at, layout->process_parent, pid_of(to, 0, 3));
    put_word(to, at, layout->process_group_leader, pid_of(to, MASTER, 3));
    if (number != MASTER) /* its dictionary would have another initial call */
        put_word(to, at, layout->process_dictionary, put_dictionary(to, pid_of(to, 0, 3)));
    put_word(to, at, layout->process_psd, fake_room(to->target, 256));
    put_half(to, at, layout->process_msgq_flags, FS_ON_HEAP_MSGQ);
    put_word(to, at, layout->process_msgq_first, put_messages(to));
    put_word(to, at, layout->process_inq_first, put_messages(to));
    put_half(to, at, layout->process_state, states[number]);
    return at;
}
