// SPDX-License-Identifier: Apache-2.0
#include "agent/http/node_metrics_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/alloc.h"

/* A VM with the labels of all of its series. */
struct labelled {
    const struct board_node *node;
    struct buffer labels;
};

/* ---- single numbers ---- */

static const struct number_row {
    struct metric_family family; /* without a name: the family of the row before */
    enum node_number number;
    const char *label, *value; /* of this row alone; NULL: none */
} rows[] = {
    {{"beamflame_node_run_queue_length", "gauge",
      "Processes and ports in the run queues of normal schedulers."},
     NUMBER_RUN_QUEUE,
     NULL,
     NULL},
    {{"beamflame_node_schedulers", "gauge", "Schedulers that the VM has."},
     NUMBER_SCHEDULERS,
     "type",
     "normal"},
    {{NULL, NULL, NULL}, NUMBER_DIRTY_CPU_SCHEDULERS, "type", "dirty_cpu"},
    {{NULL, NULL, NULL}, NUMBER_DIRTY_IO_SCHEDULERS, "type", "dirty_io"},
    {{"beamflame_node_cpu_seconds_total", "counter",
      "CPU time of the VM since it started, as the kernel counts it."},
     NUMBER_CPU_SECONDS,
     NULL,
     NULL},
    {{"beamflame_node_reductions_total", "counter",
      "Reductions of normal schedulers, as statistics(reductions) has them."},
     NUMBER_REDUCTIONS,
     NULL,
     NULL},
    {{"beamflame_node_context_switches_total", "counter",
      "How often schedulers began to run a process."},
     NUMBER_SWITCHES,
     NULL,
     NULL},
    {{"beamflame_node_collections_total", "counter", "Garbage collections of processes."},
     NUMBER_COLLECTIONS,
     NULL,
     NULL},
    {{"beamflame_node_reclaimed_bytes_total", "counter",
      "Memory that garbage collections have reclaimed."},
     NUMBER_RECLAIMED,
     NULL,
     NULL},
    {{"beamflame_node_read_timestamp_seconds", "gauge",
      "When limits, memory, tables, ports and message queues were read, since 1970."},
     NUMBER_READ_AT,
     NULL,
     NULL},
    {{"beamflame_node_cpu_frequency_hertz", "gauge", "CPU samples a second on each CPU; 0: none."},
     NUMBER_CPU_FREQUENCY,
     NULL,
     NULL},
    {{"beamflame_node_processes", "gauge", "Processes."}, NUMBER_PROCESSES, NULL, NULL},
    {{"beamflame_node_processes_limit", "gauge", "The most processes that the VM can have (+P)."},
     NUMBER_PROCESS_LIMIT,
     NULL,
     NULL},
    {{"beamflame_node_ports", "gauge", "Ports."}, NUMBER_PORTS, NULL, NULL},
    {{"beamflame_node_ports_limit", "gauge", "The most ports that the VM can have (+Q)."},
     NUMBER_PORT_LIMIT,
     NULL,
     NULL},
    {{"beamflame_node_atoms", "gauge", "Atoms."}, NUMBER_ATOMS, NULL, NULL},
    {{"beamflame_node_atoms_limit", "gauge", "The most atoms that the VM can have (+t)."},
     NUMBER_ATOM_LIMIT,
     NULL,
     NULL},
    {{"beamflame_node_resident_bytes", "gauge", "Memory of the VM that is in RAM."},
     NUMBER_RESIDENT,
     NULL,
     NULL},
    {{"beamflame_node_ets_tables", "gauge", "ETS tables."}, NUMBER_TABLES, NULL, NULL},
    {{"beamflame_node_ets_bytes", "gauge", "Memory of ETS tables."},
     NUMBER_TABLE_BYTES,
     NULL,
     NULL},
    {{"beamflame_node_ets_objects", "gauge", "Objects in ETS tables."},
     NUMBER_TABLE_OBJECTS,
     NULL,
     NULL},
    {{"beamflame_node_port_queue_bytes", "gauge", "Data that wait in the queues of ports."},
     NUMBER_PORT_QUEUES,
     NULL,
     NULL},
    {{"beamflame_node_busy_ports", "gauge",
      "Ports that are busy: processes that send to them are suspended."},
     NUMBER_BUSY_PORTS,
     NULL,
     NULL},
    {{"beamflame_node_busy_dist_ports", "gauge",
      "Busy ports that connect this node to another one."},
     NUMBER_BUSY_DISTRIBUTION_PORTS,
     NULL,
     NULL},
    {{"beamflame_node_queued_messages", "gauge", "Messages in the queues of all processes."},
     NUMBER_QUEUED,
     NULL,
     NULL},
    {{"beamflame_node_gc_pause_variance_total", "counter",
      "Variance of the sum of beamflame_node_gc_pause_seconds, in seconds squared."},
     NUMBER_GC_VARIANCE,
     NULL,
     NULL},
    {{"beamflame_node_run_queue_delay_variance_total", "counter",
      "Variance of the sum of beamflame_node_run_queue_delay_seconds, in seconds squared."},
     NUMBER_DELAY_VARIANCE,
     NULL,
     NULL},
    {{"beamflame_node_long_schedule_seconds_total", "counter",
      "Time of processes that kept a scheduler for 10 ms or longer; estimated, event sched."},
     NUMBER_LONG_SECONDS,
     NULL,
     NULL},
    {{"beamflame_node_long_schedule_variance_total", "counter",
      "Variance of beamflame_node_long_schedule_seconds_total, in seconds squared."},
     NUMBER_LONG_VARIANCE,
     NULL,
     NULL},
    {{"beamflame_node_messages_sent_total", "counter",
      "Messages that processes were sent; estimated, event msg."},
     NUMBER_SENT,
     NULL,
     NULL},
    {{"beamflame_node_messages_sent_variance_total", "counter",
      "Variance of beamflame_node_messages_sent_total."},
     NUMBER_SENT_VARIANCE,
     NULL,
     NULL},
    {{"beamflame_node_messages_received_total", "counter",
      "Messages that processes took from their queues; estimated, event msg."},
     NUMBER_RECEIVED,
     NULL,
     NULL},
    {{"beamflame_node_messages_received_variance_total", "counter",
      "Variance of beamflame_node_messages_received_total."},
     NUMBER_RECEIVED_VARIANCE,
     NULL,
     NULL},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* Write a number with up to two labels of its own, which may be NULL. A number that is not known is
 * left out. */
static void put(const struct metric_text *out, const struct metric_family *family,
                const struct labelled *of, const char *const more[4], double value)
{
    struct buffer labels = {0};

    if (isnan(value))
        return;
    buffer_put(&labels, of->labels.data, of->labels.size);
    for (int i = 0; i < 4 && more[i]; i += 2)
        metric_text_label(&labels, more[i], more[i + 1]);
    buffer_byte(&labels, '\0');
    metric_text_put(out, family, "", labels.data, value);
    buffer_free(&labels);
}

static void put_rows(const struct metric_text *out, const struct labelled *of, size_t count)
{
    const struct metric_family *family = NULL;
    size_t begin = 0;

    for (size_t end = 1; end <= ROWS; end++) {
        if (end < ROWS && !rows[end].family.name)
            continue;
        family = &rows[begin].family;
        metric_text_family(out, family);
        for (size_t i = 0; i < count; i++)
            for (size_t row = begin; row < end; row++)
                put(out, family, &of[i], (const char *[4]){rows[row].label, rows[row].value},
                    of[i].node->numbers.of[rows[row].number]);
        begin = end;
    }
}

/* ---- lists ---- */

static void put_info(const struct metric_text *out, const struct metric_family *family,
                     const struct labelled *of)
{
    put(out, family, of, (const char *[4]){"otp_release", of->node->otp_release}, 1);
}

static void put_states(const struct metric_text *out, const struct metric_family *family,
                       const struct labelled *of)
{
    static const char *const kinds[THREAD_KINDS] = {"normal", "dirty_cpu", "dirty_io", "other"};
    static const char *const states[THREAD_STATES] = {"work", "gc", "wait"};

    for (int kind = 0; kind < THREAD_KINDS && !isnan(of->node->numbers.cpu_seconds[0][0]); kind++)
        for (int state = 0; state < THREAD_STATES; state++)
            put(out, family, of, (const char *[4]){"type", kinds[kind], "state", states[state]},
                of->node->numbers.cpu_seconds[kind][state]);
}

static void put_carriers(const struct metric_text *out, const struct metric_family *family,
                         const struct labelled *of)
{
    for (size_t i = 0; i < of->node->numbers.allocator_count; i++)
        put(out, family, of, (const char *[4]){"allocator", of->node->numbers.allocators[i].name},
            of->node->numbers.allocators[i].carriers);
}

static void put_blocks(const struct metric_text *out, const struct metric_family *family,
                       const struct labelled *of)
{
    for (size_t i = 0; i < of->node->numbers.allocator_count; i++)
        put(out, family, of, (const char *[4]){"allocator", of->node->numbers.allocators[i].name},
            of->node->numbers.allocators[i].blocks);
}

static void put_queues(const struct metric_text *out, const struct metric_family *family,
                       const struct labelled *of)
{
    static const char *const by[] = {"name", "label", "initial_call"};

    for (size_t i = 0; i < of->node->numbers.queue_count; i++) {
        const struct number_queue *queue = &of->node->numbers.queues[i];

        put(out, family, of, (const char *[4]){"process", queue->text, "by", by[queue->by]},
            (double)queue->longest);
    }
}

static void put_costs(const struct metric_text *out, const struct metric_family *family,
                      const struct labelled *of)
{
    for (size_t i = 0; i < of->node->numbers.cost_count; i++)
        put(out, family, of, (const char *[4]){"event", of->node->numbers.costs[i].event},
            of->node->numbers.costs[i].seconds);
}

/* ---- histograms ---- */

static void put_bucket(const struct metric_text *out, const struct metric_family *family,
                       const struct labelled *of, const char *limit, double count)
{
    struct buffer labels = {0};

    buffer_put(&labels, of->labels.data, of->labels.size);
    metric_text_label(&labels, "le", limit);
    buffer_byte(&labels, '\0');
    metric_text_put(out, family, "_bucket", labels.data, count);
    buffer_free(&labels);
}

static void put_histogram(const struct metric_text *out, const struct metric_family *family,
                          const struct labelled *of, const struct number_histogram *histogram)
{
    struct buffer labels = {0};
    double count = 0;

    if (isnan(histogram->seconds))
        return;
    for (int i = 0; i < TIME_BUCKETS; i++) {
        char limit[32] = "+Inf";

        if (i < TIME_BUCKETS - 1)
            snprintf(limit, sizeof(limit), "%.10g",
                     (double)(1ull << (FIRST_BUCKET_BIT + BUCKET_BITS * i)) / 1e9);
        count += histogram->counts[i];
        put_bucket(out, family, of, limit, count);
    }
    buffer_put(&labels, of->labels.data, of->labels.size);
    buffer_byte(&labels, '\0');
    metric_text_put(out, family, "_sum", labels.data, histogram->seconds);
    metric_text_put(out, family, "_count", labels.data, count);
    buffer_free(&labels);
}

static void put_pauses(const struct metric_text *out, const struct metric_family *family,
                       const struct labelled *of)
{
    put_histogram(out, family, of, &of->node->numbers.pauses);
}

static void put_delays(const struct metric_text *out, const struct metric_family *family,
                       const struct labelled *of)
{
    put_histogram(out, family, of, &of->node->numbers.delays);
}

/* ---- all ---- */

static const struct {
    struct metric_family family;
    void (*put)(const struct metric_text *out, const struct metric_family *family,
                const struct labelled *of);
} lists[] = {
    {{"beamflame_node_info", "gauge", "Always 1: a VM that is recorded."}, put_info},
    {{"beamflame_node_thread_seconds_total", "counter",
      "CPU time of the VM by what its threads did, from CPU samples; estimated."},
     put_states},
    {{"beamflame_node_allocator_carriers_bytes", "gauge",
      "Memory that an allocator of the VM got from the operating system."},
     put_carriers},
    {{"beamflame_node_allocator_blocks_bytes", "gauge",
      "Memory that an allocator of the VM gave out."},
     put_blocks},
    {{"beamflame_node_message_queue_length", "gauge",
      "The longest message queue of the processes of one name, of at least 10 messages."},
     put_queues},
    {{"beamflame_node_gc_pause_seconds", "histogram",
      "How long processes were collected; estimated, event gc."},
     put_pauses},
    {{"beamflame_node_run_queue_delay_seconds", "histogram",
      "How long processes waited in run queues; estimated, event sched."},
     put_delays},
    {{"beamflame_node_probe_cost_seconds_total", "counter",
      "CPU time of the VM that the probes of an event cost."},
     put_costs},
};

enum { LISTS = sizeof(lists) / sizeof(lists[0]) };

void node_metrics_text_write(const struct node_board *board, const struct metric_text *out)
{
    size_t count;
    struct board_node *nodes = node_board_read(board, &count);
    struct labelled *of = xcalloc(count + 1, sizeof(*of));

    for (size_t i = 0; i < count; i++) {
        of[i].node = &nodes[i];
        for (int label = 0; label < BOARD_LABELS; label++)
            if (nodes[i].labels[label][0])
                metric_text_label(&of[i].labels, node_board_labels[label], nodes[i].labels[label]);
    }
    if (count)
        put_rows(out, of, count);
    for (int list = 0; list < LISTS && count; list++) {
        metric_text_family(out, &lists[list].family);
        for (size_t i = 0; i < count; i++)
            lists[list].put(out, &lists[list].family, &of[i]);
    }
    for (size_t i = 0; i < count; i++)
        buffer_free(&of[i].labels);
    free(of);
    free(nodes);
}

void node_metrics_text_families(void (*visit)(void *context, const struct metric_family *family),
                                void *context)
{
    for (int i = 0; i < ROWS; i++)
        if (rows[i].family.name)
            visit(context, &rows[i].family);
    for (int i = 0; i < LISTS; i++)
        visit(context, &lists[i].family);
}
