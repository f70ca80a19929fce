// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_internal.h"

#include <endian.h>

#include "recording/recording_format.h"

static void encode_module(const struct module *module, struct buffer *records)
{
    buffer_byte(records, RECORD_MODULE);
    buffer_varint(records, module->path);
    buffer_varint(records, module->build_id);
}

static void encode_frame(struct record_encoder *encoder, const struct frame *frame,
                         struct buffer *records)
{
    uint64_t likeness = htole64(frame->likeness);

    buffer_byte(records, frame->likeness ? RECORD_FRAME_OF_LIKENESS : RECORD_FRAME);
    buffer_zigzag(records, (int64_t)(frame->address - encoder->base.address));
    buffer_varint(records, frame->symbol);
    buffer_varint(records, frame->module);
    buffer_varint(records, frame->file);
    buffer_varint(records, frame->line);
    buffer_varint(records, frame->kind);
    buffer_varint(records, frame->unresolved);
    if (frame->likeness)
        buffer_put(records, &likeness, sizeof(likeness));
    encoder->base.address = frame->address;
}

static void encode_stack(stack_id id, const struct stack_node *node, struct buffer *records)
{
    buffer_byte(records, RECORD_STACK);
    buffer_varint(records, id - node->parent);
    buffer_varint(records, node->frame);
}

static void encode_event(const struct event_entry *event, struct buffer *records)
{
    buffer_byte(records, RECORD_EVENT);
    buffer_varint(records, event->name);
    buffer_varint(records, event->value_count);
    for (uint32_t i = 0; i < event->value_count; i++) {
        buffer_varint(records, event->values[i].name);
        buffer_varint(records, event->values[i].unit);
    }
}

static void encode_ancestor(ancestor_id id, const struct ancestor *ancestor, struct buffer *records)
{
    buffer_byte(records, RECORD_ANCESTOR);
    buffer_varint(records, id - ancestor->up);
    buffer_varint(records, ancestor->name);
}

static void encode_process(const struct process_entry *process, struct buffer *records)
{
    buffer_byte(records, process->label_is_detail ? RECORD_PROCESS_OF_DETAIL : RECORD_PROCESS);
    buffer_varint(records, process->identity);
    buffer_varint(records, process->target);
    buffer_varint(records, process->pid);
    buffer_varint(records, process->name);
    buffer_varint(records, process->label);
    buffer_varint(records, process->initial_call);
    buffer_varint(records, process->application);
    buffer_varint(records, process->parent);
    buffer_varint(records, process->ancestors);
}

static void encode_thread(const struct thread_entry *thread, struct buffer *records)
{
    buffer_byte(records, RECORD_THREAD);
    buffer_varint(records, thread->target);
    buffer_varint(records, thread->tid);
    buffer_varint(records, thread->name);
    buffer_varint(records, thread->scheduler_kind);
    buffer_varint(records, thread->scheduler_number);
}

static void encode_target(const struct target_entry *target, struct buffer *records)
{
    buffer_byte(records, target->host ? RECORD_TARGET_OF_HOST : RECORD_TARGET);
    buffer_varint(records, target->pid);
    buffer_varint(records, target->schedulers);
    buffer_varint(records, target->dirty_cpu_schedulers);
    buffer_varint(records, target->dirty_io_schedulers);
    buffer_varint(records, target->processes);
    buffer_varint(records, target->node);
    buffer_varint(records, target->otp_release);
    buffer_varint(records, target->erts);
    buffer_varint(records, target->flavor);
    buffer_varint(records, target->executable);
    buffer_varint(records, target->container);
    buffer_varint(records, target->layout);
    buffer_varint(records, target->attributes);
    if (target->host)
        buffer_varint(records, target->host);
}

static void encode_trace_span(const struct trace_span *span, struct buffer *records)
{
    uint64_t ids[] = {htole64(span->trace_high), htole64(span->trace_low), htole64(span->span)};

    buffer_byte(records, RECORD_TRACE_SPAN);
    buffer_put(records, ids, sizeof(ids));
}

bool record_encode_entry(struct record_encoder *encoder, const struct profile *profile,
                         struct buffer *records)
{
    struct profile_counts *done = &encoder->encoded, have = profile_counts(profile);

    if (done->strings < have.strings) {
        buffer_byte(records, RECORD_STRING);
        buffer_counted(records, profile_text(profile, ++done->strings));
    } else if (done->events < have.events) {
        encode_event(profile_get_event(profile, ++done->events), records);
    } else if (done->modules < have.modules) {
        encode_module(profile_get_module(profile, ++done->modules), records);
    } else if (done->frames < have.frames) {
        encode_frame(encoder, profile_get_frame(profile, ++done->frames), records);
    } else if (done->stacks < have.stacks) {
        done->stacks++;
        encode_stack(done->stacks, profile_get_stack(profile, done->stacks), records);
    } else if (done->targets < have.targets) {
        encode_target(profile_get_target(profile, ++done->targets), records);
    } else if (done->ancestors < have.ancestors) {
        done->ancestors++;
        encode_ancestor(done->ancestors, profile_get_ancestor(profile, done->ancestors), records);
    } else if (done->processes < have.processes) {
        encode_process(profile_get_process(profile, ++done->processes), records);
    } else if (done->threads < have.threads) {
        encode_thread(profile_get_thread(profile, ++done->threads), records);
    } else if (done->trace_spans < have.trace_spans) {
        encode_trace_span(profile_get_trace_span(profile, ++done->trace_spans), records);
    } else {
        return false;
    }
    return true;
}

static void encode_metrics(struct record_encoder *encoder, const struct sample *sample,
                           struct buffer *records)
{
    struct metrics *base = record_base_metrics(&encoder->base, sample->process);
    const struct metrics *metrics = &sample->metrics;
    uint32_t changed = 0;

    for (int i = 0; i < METRICS; i++)
        changed |= (uint32_t)(metrics_know(metrics, (enum metric)i) &&
                              metrics->values[i] != base->values[i])
                   << i;
    buffer_varint(records, metrics->known ^ base->known);
    buffer_varint(records, changed);
    for (int i = 0; i < METRICS; i++) {
        if (changed >> i & 1)
            buffer_zigzag(records, (int64_t)(metrics->values[i] - base->values[i]));
    }
    record_base_set_metrics(base, metrics);
}

static enum record_type type_of(const struct sample *sample)
{
    if (sample->slice)
        return RECORD_SAMPLE_OF_SLICE;
    return sample->trace_span ? RECORD_SAMPLE_OF_TRACE : RECORD_SAMPLE;
}

void record_encode_sample(struct record_encoder *encoder, const struct profile *profile,
                          const struct sample *sample, struct buffer *records)
{
    const struct sample *base = &encoder->base.sample;
    const struct event_entry *event = profile_get_event(profile, sample->event);

    buffer_byte(records, (char)type_of(sample));
    buffer_varint(records, sample->time - base->time);
    buffer_varint(records, sample->event);
    for (uint32_t i = 0; i < event->value_count; i++)
        buffer_zigzag(records, (int64_t)(sample->values[i] -
                                         record_base_value(&encoder->base, sample->event, i)));
    buffer_zigzag(records, (int64_t)sample->stack - base->stack);
    buffer_zigzag(records, (int64_t)sample->process - base->process);
    buffer_zigzag(records, (int64_t)sample->thread - base->thread);
    buffer_varint(records, sample->peer);
    buffer_varint(records, sample->detail);
    buffer_varint(records, sample->cpu);
    buffer_varint(records, sample->status);
    buffer_varint(records, sample->activity);
    buffer_varint(records, sample->microstate);
    buffer_varint(records, sample->flags);
    if (sample->trace_span || sample->slice)
        buffer_zigzag(records, (int64_t)sample->trace_span - base->trace_span);
    if (sample->slice)
        buffer_varint(records, sample->slice);
    if (sample->process)
        encode_metrics(encoder, sample, records);
    encoder->base.sample = *sample;
    encoder->sampled = true;
}
