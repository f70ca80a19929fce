// SPDX-License-Identifier: Apache-2.0
/*
 * Links and monitors (erl_monitor_link.h). The links of a process, the monitors that it has made
 * and the monitors of it by name are in trees. Other monitors of it are in a ring:
 *
 *   links        tree of ErtsLink
 *   monitors     tree of ErtsMonitor
 *   lt_monitors  ring of ErtsMonitor
 *
 * Each node is a struct ErtsMonLnkNode__ within a larger struct, `offset` bytes from its start. If
 * several processes hold the larger struct, each counts a part of it (erts_monitor_size(),
 * erts_link_size(), erl_monitor_link.c 25.2.3:1180, 29.1.1:1205).
 */
#include "beam/process_walk.h"
#include "beam/term.h"
#include "vm_constants.h"

enum {
    NODE_MAX = 64,
    DATA_MAX = 256,
    DEPTH_MAX = 128, /* of a red-black tree: 2 * log2(possible nodes) */
};

struct relation_node {
    uint64_t address;
    uint8_t bytes[NODE_MAX];
    size_t size;
    enum erts_mon_type type;
    bool extended; /* ERTS_ML_FLG_EXTENDED */
    uint64_t data; /* address of the struct that contains the node */
};

/* The size of a node's part, by its type. */
typedef bool (*node_size)(struct process_walk *walk, const struct relation_node *node,
                          uint64_t *size);

/* In 29 the type is in the low bits of the flags. */
static bool read_kind(struct relation_node *node, const struct layout *layout)
{
    uint64_t flags, type;

    if (layout->relation_type >= 0) {
        if (!process_walk_part(node->bytes, node->size, layout->relation_flags, 2, &flags) ||
            !process_walk_part(node->bytes, node->size, layout->relation_type, 2, &type))
            return false;
        node->extended = flags & ERTS_ML_FLG_EXTENDED;
    } else {
        if (!process_walk_part(node->bytes, node->size, layout->relation_flags, 4, &flags))
            return false;
        type = flags & ERTS_ML_TYPE_MASK_29;
        node->extended = flags & ERTS_ML_FLG_EXTENDED_29;
    }
    node->type = (enum erts_mon_type)type;
    return true;
}

static bool read_node(struct process_walk *walk, uint64_t address, struct relation_node *node)
{
    const struct layout *layout = &walk->vm->layout;
    uint64_t offset;

    node->address = address;
    node->size = (size_t)layout->sizeof_relation;
    if (layout->sizeof_relation < 0 || node->size > NODE_MAX ||
        !process_walk_read(walk, address, node->bytes, node->size) || !read_kind(node, layout) ||
        !process_walk_part(node->bytes, node->size, layout->relation_offset, 2, &offset))
        return false;
    node->data = address - offset;
    return true;
}

static bool pointer(const struct relation_node *node, int32_t offset, uint64_t *value)
{
    return process_walk_part(node->bytes, node->size, offset, sizeof(*value), value);
}

/* The lowest bit of a node's parent pointer is a flag (ERTS_ML_TPFLG_RED). */
static bool tree_size(struct process_walk *walk, uint64_t root, node_size size_of, uint64_t *sum)
{
    const struct layout *layout = &walk->vm->layout;
    struct {
        uint64_t node, parent;
    } todo[DEPTH_MAX] = {{root, 0}};
    int count = root != 0;

    while (count > 0) {
        uint64_t parent, left, right, size;
        struct relation_node node;

        count--;
        if (!read_node(walk, todo[count].node, &node) ||
            !pointer(&node, layout->relation_parent, &parent) ||
            (parent & ~(uint64_t)7) != todo[count].parent ||
            !pointer(&node, layout->relation_left, &left) ||
            !pointer(&node, layout->relation_right, &right) || !size_of(walk, &node, &size) ||
            count + 2 > DEPTH_MAX)
            return false;
        *sum += size;
        if (left) {
            todo[count].node = left;
            todo[count++].parent = node.address;
        }
        if (right) {
            todo[count].node = right;
            todo[count++].parent = node.address;
        }
    }
    return true;
}

static bool ring_size(struct process_walk *walk, uint64_t first, node_size size_of, uint64_t *sum)
{
    const struct layout *layout = &walk->vm->layout;
    uint64_t at = first, before = 0;

    if (!first)
        return true;
    do {
        uint64_t next, prev, size;
        struct relation_node node;

        if (!read_node(walk, at, &node) || !pointer(&node, layout->relation_next, &next) ||
            !pointer(&node, layout->relation_prev, &prev) || (before && prev != before) ||
            !size_of(walk, &node, &size))
            return false;
        *sum += size;
        before = at;
        at = next;
    } while (at != first);
    return true;
}

static bool shared(uint64_t whole, uint64_t holders, uint64_t *size)
{
    if (holders < 1 || holders > 2)
        return false;
    *size = whole / holders;
    return true;
}

/* Words of a pid, port or reference outside of the term; 0 for an immediate (NC_HEAP_SIZE,
 * global.h). */
static bool term_words(struct process_walk *walk, uint64_t term, uint64_t *words)
{
    uint64_t header;

    *words = 0;
    if (!term_is_boxed(term))
        return term_is_immediate(term);
    if (!process_walk_read(walk, term_address(term), &header, sizeof(header)) ||
        !term_is_header(header))
        return false;
    *words = term_header_words(header) + 1;
    return true;
}

static bool link_size(struct process_walk *walk, const struct relation_node *node, uint64_t *size)
{
    const struct layout *layout = &walk->vm->layout;
    uint64_t header;
    uint32_t holders;

    *size = node->size;
    if (!node->extended)
        return true;
    return layout->sizeof_far_link >= 0 && layout->far_link_heap >= 0 &&
           layout->far_link_refc >= 0 &&
           process_walk_read(walk, node->data + (uint64_t)layout->far_link_heap, &header,
                             sizeof(header)) &&
           process_walk_read(walk, node->data + (uint64_t)layout->far_link_refc, &holders,
                             sizeof(holders)) &&
           shared((uint64_t)layout->sizeof_far_link + term_header_words(header) * 8, holders, size);
}

/* Words after an ErtsMonitorDataExtended. */
static bool extended_words(struct process_walk *walk, const struct relation_node *node,
                           const uint8_t *data, size_t data_size, uint64_t *words)
{
    const struct layout *layout = &walk->vm->layout;
    bool is_far = node->type == ERTS_MON_TYPE_DIST_PROC || node->type == ERTS_MON_TYPE_DIST_PORT;
    const int32_t terms[] = {layout->monitor_ref, layout->monitor_origin_item,
                             layout->monitor_target_item};

    *words = 0;
    if (node->type == ERTS_MON_TYPE_NODE || node->type == ERTS_MON_TYPE_NODES)
        return true;
    for (size_t i = 0; i < (is_far ? sizeof(terms) / sizeof(*terms) : 1); i++) {
        uint64_t term, more;

        if (!process_walk_part(data, data_size, terms[i], sizeof(term), &term) ||
            !term_words(walk, term, &more))
            return false;
        *words += more;
    }
    return true;
}

static bool monitor_size(struct process_walk *walk, const struct relation_node *node,
                         uint64_t *size)
{
    const struct layout *layout = &walk->vm->layout;
    int32_t whole = layout->sizeof_monitor_heap;
    uint64_t holders, words = 0;
    uint8_t data[DATA_MAX];
    size_t data_size = (size_t)layout->sizeof_monitor;

    if (layout->sizeof_monitor < 0 || data_size > sizeof(data) ||
        !process_walk_read(walk, node->data, data, data_size) ||
        !process_walk_part(data, data_size, layout->monitor_refc, 4, &holders))
        return false;
    if (node->type == ERTS_MON_TYPE_ALIAS) {
        whole = layout->sizeof_monitor;
    } else if (node->type == ERTS_MON_TYPE_SUSPEND) {
        whole = layout->sizeof_monitor_suspend;
    } else if (node->extended) {
        whole = layout->sizeof_monitor_extended - 8;
        if (!extended_words(walk, node, data, data_size, &words))
            return false;
    }
    return whole > 0 && shared((uint64_t)whole + words * 8, holders, size);
}

bool relations_walk(struct process_walk *walk, uint64_t *size)
{
    const struct layout *layout = &walk->vm->layout;
    uint64_t links, monitors, by_others;

    *size = 0;
    return process_walk_field(walk, layout->process_links, &links) &&
           process_walk_field(walk, layout->process_monitors, &monitors) &&
           process_walk_field(walk, layout->process_lt_monitors, &by_others) &&
           tree_size(walk, links, link_size, size) &&
           tree_size(walk, monitors, monitor_size, size) &&
           ring_size(walk, by_others, monitor_size, size);
}
