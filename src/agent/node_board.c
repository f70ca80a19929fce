// SPDX-License-Identifier: Apache-2.0
#include "agent/node_board.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/protobuf/wire_types.h"
#include "session/node_meter.h"
#include "util/alloc.h"
#include "util/attribute_list.h"
#include "util/utf8.h"

enum { TRIES = 1000 }; /* of reading while the board is written, which takes less than 1 ms */

const char *const node_board_labels[BOARD_LABELS] = {"node", "service_name", "namespace",
                                                     "pod",  "container",    "copy"};

enum { LABEL_NODE, LABEL_SERVICE, LABEL_NAMESPACE, LABEL_POD, LABEL_CONTAINER, LABEL_COPY };

/* ---- writing ---- */

static void put_attribute(struct board_node *node, int label, const char *attributes,
                          const char *key)
{
    char *value = attribute_list_find(attributes, key);

    utf8_copy(node->labels[label], BOARD_TEXT, value ? value : "");
    free(value);
}

/* Labels that profiles have too are equal there (profile_writer.c). */
static void put_labels(struct board_node *node, const struct target *target,
                       const struct profile *profile)
{
    const struct target_entry *entry =
        profile_get_target(profile, symbolizer_target(target->symbolizer));
    const char *name = profile_text(profile, entry->node);
    const char *attributes = profile_text(profile, entry->attributes);
    char *service = wire_service_name(profile, entry);

    utf8_copy(node->labels[LABEL_NODE], BOARD_TEXT, wire_node_has_name(name) ? name : "");
    utf8_copy(node->labels[LABEL_SERVICE], BOARD_TEXT, service);
    put_attribute(node, LABEL_NAMESPACE, attributes, "k8s.namespace.name");
    put_attribute(node, LABEL_POD, attributes, "k8s.pod.name");
    put_attribute(node, LABEL_CONTAINER, attributes, "k8s.container.name");
    if (!node->labels[LABEL_CONTAINER][0])
        utf8_copy(node->labels[LABEL_CONTAINER], BOARD_TEXT,
                  profile_text(profile, entry->container));
    node->labels[LABEL_COPY][0] = '\0';
    utf8_copy(node->otp_release, sizeof(node->otp_release),
              profile_text(profile, entry->otp_release));
    free(service);
}

/* A VM that is written, and its node. */
struct written {
    struct target *target;
    struct board_node *node;
};

static bool is_taken(const struct written *written, size_t count, size_t of, unsigned copy)
{
    const struct written *own = &written[of];

    for (size_t i = 0; i < count; i++)
        if (i != of && written[i].target->copy == copy && (i < of || !own->target->copy) &&
            !memcmp(written[i].node->labels, own->node->labels, LABEL_COPY * (size_t)BOARD_TEXT))
            return true;
    return false;
}

/* Number VMs that have the same labels: two nodes of one host can have no name. A VM keeps its
 * number, because its counters would jump otherwise. */
static void put_copies(const struct written *written, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct target *target = written[i].target;
        unsigned copy = target->copy ? target->copy : 1;

        while (is_taken(written, count, i, copy))
            copy++;
        target->copy = copy;
        if (copy > 1)
            snprintf(written[i].node->labels[LABEL_COPY], BOARD_TEXT, "%u", copy);
    }
}

void node_board_write(struct node_board *board, const struct targets *targets,
                      const struct profile *profile)
{
    struct board_node *nodes = xcalloc(targets->count + 1, sizeof(*nodes));
    struct written *written = xcalloc(targets->count + 1, sizeof(*written));
    size_t count = 0;

    for (size_t i = 0; i < targets->count && count < BOARD_NODES_MAX; i++) {
        struct target *target = targets->of[i];

        if (target->ended || !target->meter || !target->symbolizer)
            continue;
        put_labels(&nodes[count], target, profile);
        nodes[count].pid = target->vm->pid;
        nodes[count].numbers = *node_meter_numbers(target->meter);
        written[count] = (struct written){target, &nodes[count]};
        count++;
    }
    put_copies(written, count);
    seqlock_write_begin(&board->lock);
    memcpy(board->of, nodes, count * sizeof(*nodes));
    board->count = count;
    seqlock_write_end(&board->lock);
    free(written);
    free(nodes);
}

/* ---- reading ---- */

struct board_node *node_board_read(const struct node_board *board, size_t *count)
{
    struct board_node *nodes = xcalloc(BOARD_NODES_MAX, sizeof(*nodes));

    for (int i = 0; i < TRIES; i++, sched_yield()) {
        uint64_t version, all;

        if (!seqlock_read_begin(&board->lock, &version))
            continue;
        all = board->count;
        *count = all < BOARD_NODES_MAX ? all : BOARD_NODES_MAX;
        memcpy(nodes, board->of, *count * sizeof(*nodes));
        if (seqlock_read_end(&board->lock, version))
            return nodes;
    }
    *count = 0;
    return nodes;
}
