// SPDX-License-Identifier: Apache-2.0
#include "output/traffic.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profile/events.h"
#include "view/root_frame.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/number.h"

/* An end of an edge: a process by its pid, or another sender (a port, a thread) by its text. */
struct end_key {
    uint64_t identity;
    target_id target;
    uint32_t text;
};

struct edge_key {
    uint32_t from, to; /* ids of ends, or of texts */
};

/* The entries from which the text of a process is made. */
struct traffic_name {
    process_id newest;
    frame_id bottom; /* Erlang frame at the root of its stack, or 0 */
};

struct traffic_sum {
    uint64_t values[EVENT_VALUES];
};

void traffic_init(struct traffic *traffic, const struct profile *profile, event_id event,
                  bool by_pid)
{
    *traffic = (struct traffic){
        .profile = profile,
        .by_pid = by_pid,
        .is_msg = event_is_msg(profile, event),
    };
    intern_init(&traffic->ends, sizeof(struct end_key), sizeof(struct end_key));
    intern_init(&traffic->edges, sizeof(struct edge_key), sizeof(struct edge_key));
}

void traffic_free(struct traffic *traffic)
{
    string_table_free(&traffic->texts);
    intern_free(&traffic->ends);
    intern_free(&traffic->edges);
    free(traffic->names);
    free(traffic->sums);
}

/* ---- ends ---- */

static uint32_t add_end(struct traffic *traffic, const struct end_key *key)
{
    uint32_t known = traffic->ends.count, end = intern_add(&traffic->ends, key);

    if (end > known) {
        traffic->names =
            xreallocarray(traffic->names, traffic->ends.capacity, sizeof(*traffic->names));
        traffic->names[end - 1] = (struct traffic_name){0};
    }
    return end;
}

static uint32_t end_of_process(struct traffic *traffic, process_id process)
{
    const struct process_entry *entry = profile_get_process(traffic->profile, process);
    uint32_t end = add_end(traffic, &(struct end_key){entry->identity, entry->target, 0});

    traffic->names[end - 1].newest = process;
    return end;
}

/* Replace each number in a text, from `start` on, by '*'. */
static void leave_out_numbers(struct buffer *text, size_t start)
{
    size_t size = start;

    for (size_t i = start; i < text->size; i++) {
        if (!isdigit((unsigned char)text->data[i]))
            text->data[size++] = text->data[i];
        else if (size == start || text->data[size - 1] != '*')
            text->data[size++] = '*';
    }
    text->size = size;
}

static uint32_t add_text(struct traffic *traffic, target_id target, const struct root_key *key,
                         bool has_numbers)
{
    struct buffer text = {0};
    size_t start;
    uint32_t id;

    if (target && profile_counts(traffic->profile).targets > 1) {
        root_target_text(traffic->profile, target, &text);
        buffer_text(&text, " / ");
    }
    start = text.size;
    root_text(traffic->profile, traffic->by_pid ? GROUP_PID : GROUP_NAME, key, &text);
    if (!has_numbers)
        leave_out_numbers(&text, start);
    id = string_table_add(&traffic->texts, text.data, text.size);
    buffer_free(&text);
    return id;
}

/* Return the end for the process of a sample, or for what ran instead. */
static uint32_t end_of_sample(struct traffic *traffic, const struct sample *sample)
{
    static const struct grouping by_name = {{GROUP_NAME}};
    const struct profile *profile = traffic->profile;
    struct root_key key =
        root_key_of_sample(profile, &by_name, sample, root_frame_bottom(profile, sample->stack));
    uint32_t end;

    if (!sample->process)
        return add_end(traffic,
                       &(struct end_key){.text = add_text(traffic, key.target, &key, true)});
    end = end_of_process(traffic, sample->process);
    if (key.bottom)
        traffic->names[end - 1].bottom = key.bottom;
    return end;
}

/* ---- edges ---- */

void traffic_add_values(uint64_t *sums, const uint64_t *values)
{
    for (int v = 0; v < EVENT_VALUES; v++)
        sums[v] = saturating_sum(sums[v], values[v]);
}

static bool is_received(const struct traffic *traffic, const struct sample *sample)
{
    return !traffic->is_msg || (!sample->values[MSG_COUNT] && !sample->values[MSG_SIGNALS]);
}

/* Add values to an edge, which is added if it is new. Return its id. */
static uint32_t add_to_edge(struct intern *edges, struct traffic_sum **sums,
                            const struct edge_key *key, const uint64_t *values)
{
    uint32_t known = edges->count, edge = intern_add(edges, key);

    if (edge > known) {
        *sums = xreallocarray(*sums, edges->capacity, sizeof(**sums));
        (*sums)[edge - 1] = (struct traffic_sum){{0}};
    }
    traffic_add_values((*sums)[edge - 1].values, values);
    return edge;
}

uint32_t traffic_add(struct traffic *traffic, const struct sample *sample)
{
    uint32_t own, peer;

    if (!sample->peer)
        return 0;
    own = end_of_sample(traffic, sample);
    peer = end_of_process(traffic, sample->peer);
    return add_to_edge(&traffic->edges, &traffic->sums,
                       is_received(traffic, sample) ? &(struct edge_key){peer, own}
                                                    : &(struct edge_key){own, peer},
                       sample->values);
}

/* ---- the edges at the end ---- */

static uint32_t text_of_end(struct traffic *traffic, enum traffic_names names, uint32_t end)
{
    const struct end_key *key = intern_get(&traffic->ends, end);
    const struct traffic_name *name = &traffic->names[end - 1];
    const struct process_entry *process;

    if (key->text)
        return key->text;
    process = profile_get_process(traffic->profile, name->newest);
    return add_text(traffic, key->target,
                    &(struct root_key){.process = name->newest, .bottom = name->bottom},
                    names == TRAFFIC_AS_NAMED || traffic->by_pid || !process_entry_name(process));
}

static int compare_edges(const void *a, const void *b, void *value)
{
    const struct traffic_edge *x = a, *y = b;
    uint64_t p = x->values[*(const uint32_t *)value], q = y->values[*(const uint32_t *)value];
    int order;

    if (p != q)
        return p > q ? -1 : 1;
    order = strcmp(x->from, y->from);
    return order ? order : strcmp(x->to, y->to);
}

/* Return the edges whose `value` is not 0, in the order of compare_edges(). `edges` has ids of
 * texts. To be freed. */
static struct traffic_edge *list_edges(const struct traffic *traffic, const struct intern *edges,
                                       const struct traffic_sum *sums, uint32_t value,
                                       size_t *ret_count)
{
    struct traffic_edge *list = xcalloc(edges->count + 1, sizeof(*list));
    size_t count = 0;

    for (uint32_t i = 0; i < edges->count; i++) {
        const struct edge_key *key = intern_get(edges, i + 1);
        struct traffic_edge *edge = &list[count];

        if (!sums[i].values[value])
            continue;
        edge->id = i + 1;
        edge->from = string_table_get(&traffic->texts, key->from);
        edge->to = string_table_get(&traffic->texts, key->to);
        memcpy(edge->values, sums[i].values, sizeof(edge->values));
        count++;
    }
    qsort_r(list, count, sizeof(*list), compare_edges, &value);
    *ret_count = count;
    return list;
}

struct traffic_edge *traffic_edges(struct traffic *traffic, enum traffic_names names,
                                   uint32_t value, uint32_t **ret_ids, size_t *ret_count)
{
    uint32_t *texts = xcalloc(traffic->ends.count + 1, sizeof(*texts));
    uint32_t *ids = xcalloc(traffic->edges.count + 1, sizeof(*ids));
    struct traffic_sum *sums = xcalloc(1, sizeof(*sums));
    struct traffic_edge *list;
    struct intern edges;

    intern_init(&edges, sizeof(struct edge_key), sizeof(struct edge_key));
    for (uint32_t end = 1; end <= traffic->ends.count; end++)
        texts[end] = text_of_end(traffic, names, end);
    for (uint32_t i = 1; i <= traffic->edges.count; i++) {
        const struct edge_key *key = intern_get(&traffic->edges, i);

        ids[i] = add_to_edge(&edges, &sums, &(struct edge_key){texts[key->from], texts[key->to]},
                             traffic->sums[i - 1].values);
    }
    list = list_edges(traffic, &edges, sums, value, ret_count);
    intern_free(&edges);
    free(sums);
    free(texts);
    if (ret_ids)
        *ret_ids = ids;
    else
        free(ids);
    return list;
}
