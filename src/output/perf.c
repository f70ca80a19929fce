// SPDX-License-Identifier: Apache-2.0
/*
 * The text of `perf script`, in the one form that stackcollapse-perf.pl, inferno, FlameScope,
 * speedscope and Firefox Profiler all read alike:
 *
 *      THREAD PID/TID [CPU] SECONDS.MICROS:     WEIGHT EVENT:
 *      <tab>ADDRESS SYMBOL (MODULE)           leaf first
 *      <empty line>
 *
 * Characters in a symbol that one of these readers would misread are escaped (util/encode.h).
 */
#include "output/formats.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output/changes/changes.h"
#include "output/summary/summary_text.h"
#include "output/weight.h"
#include "profile/events.h"
#include "profile/profile.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/encode.h"

/*
 * Event lines in the perf-script dialect that flame_prof (github.com/ebegumisa/flame_prof) writes
 * and its fork of FlameScope reads. A line begins with the status and pid of the process. Each
 * metric follows the event, with its change since the previous sample of the process.
 *
 *      STATUS<tab>0.123.0 [CPU] SECONDS.MICROS: EVENT:<tab>metric_erlang_NAME: VALUE, CHANGE...
 */

struct flame_prof {
    const struct profile *profile;
    struct metric_changes *changes[METRICS];
};

/* `profile` is borrowed. */
static struct flame_prof *flame_prof_new(const struct profile *profile)
{
    struct flame_prof *flame_prof = xcalloc(1, sizeof(*flame_prof));

    flame_prof->profile = profile;
    for (int i = 0; i < METRICS; i++)
        flame_prof->changes[i] = metric_changes_new(profile, (enum metric)i);
    return flame_prof;
}

static void flame_prof_free(struct flame_prof *flame_prof)
{
    if (!flame_prof)
        return;
    for (int i = 0; i < METRICS; i++)
        metric_changes_free(flame_prof->changes[i]);
    free(flame_prof);
}

static void write_metric(struct flame_prof *flame_prof, FILE *file, const struct sample *sample,
                         enum metric metric)
{
    struct sample change;

    if (!metrics_know(&sample->metrics, metric))
        return;
    metric_changes_apply(flame_prof->changes[metric], sample, &change);
    fprintf(file, "\tmetric_erlang_%s: %" PRIu64 ", %s%" PRIu64, metric_flame_prof_name(metric),
            sample->metrics.values[metric], change.flags & SAMPLE_RELEASE ? "-" : "",
            change.change);
}

/* Write status and pid. The pid has no brackets, because FlameScope does not handle them. */
static void write_process(const struct flame_prof *flame_prof, FILE *file,
                          const struct sample *sample)
{
    const char *pid;
    size_t size;

    if (!sample->process) {
        fputs("no process\t0.0.0", file);
        return;
    }
    pid = profile_text(flame_prof->profile,
                       profile_get_process(flame_prof->profile, sample->process)->pid);
    pid += *pid == '<';
    size = strcspn(pid, ">");
    fprintf(file, "%s\t%.*s", profile_status_name(sample->status), (int)size, pid);
}

/* Write the event line of a sample. Call for every sample, in order of time. `micros` is the time
 * of the sample in us, `event` the event's name. */
static void flame_prof_line(struct flame_prof *flame_prof, FILE *file, const struct sample *sample,
                            uint64_t micros, const char *event)
{
    write_process(flame_prof, file, sample);
    fprintf(file, " [%03u] %" PRIu64 ".%06u: %s:", sample->cpu, micros / 1000000,
            (unsigned)(micros % 1000000), event);
    for (int i = 0; sample->process && i < METRICS; i++)
        write_metric(flame_prof, file, sample, (enum metric)i);
    fputc('\n', file);
}

/* Stands for a name that readers would not take for one: it has no letter first, or one character.
 */
#define NO_THREAD "beam.smp"

/* Bytes of rendered stacks that are kept for the next sample of the same stack. */
#define CACHE_MAX (64u << 20)

struct rendered {
    uint32_t generation; /* valid if it equals struct perf's */
    uint32_t size;
    size_t offset;
};

struct perf {
    FILE *file;
    struct output_source source;
    struct weight weight;
    struct buffer event;     /* its name, ended by NUL */
    struct buffer text;      /* of rendered stacks */
    struct buffer name;      /* of a thread */
    struct rendered *stacks; /* by view_stack_id */
    size_t stack_count;
    uint32_t generation;
    uint64_t weights, amount; /* of all samples: sums of what was written, and of ns or units */
    uint32_t targets;         /* when stacks were rendered: a second one adds a root frame */
    struct flame_prof *flame_prof; /* NULL: event lines are perf's own */
};

/* '(' begins the module, "->" and ';' split stacks, FlameScope ends a symbol at '+', and a number
 * before ": " reads as the time of a sample. */
static bool must_escape(const char *text, size_t at)
{
    char c = text[at], before = (char)(at ? text[at - 1] : ' '), after = text[at + 1];

    switch (c) {
    case '(':
    case ';':
    case '+':
    case '\t':
    case '\n':
        return true;
    case '>':
        return before == '-';
    case ':':
        return after == ' ' && (before == '.' || (before >= '0' && before <= '9'));
    case ' ':
        return !at || !after;
    default:
        return false;
    }
}

static bool must_escape_in_event(const char *text, size_t at)
{
    return text[at] == ' ';
}

/* Readers end a name at a blank, and show it as a frame. */
static bool must_escape_in_name(const char *text, size_t at)
{
    return (unsigned char)text[at] <= ' ' || must_escape(text, at);
}

static void write_comment(FILE *file, const char *key, const char *text)
{
    struct buffer line = {0};

    encode_escapes(&line, text, strlen(text), must_escape);
    fprintf(file, "# %s : %.*s\n", key, (int)line.size, line.data ? line.data : "");
    buffer_free(&line);
}

static void write_time(FILE *file, const char *key, uint64_t ns)
{
    fprintf(file, "# %s : %" PRIu64 ".%09u\n", key, ns / 1000000000, (unsigned)(ns % 1000000000));
}

/* Write what input/perf_header.c reads back: the start times and the sampling frequency. */
static void write_start(FILE *file, const struct recording_header *header)
{
    write_time(file, "start by clock", header->start_monotonic);
    if (header->start_realtime)
        write_time(file, "start since 1970", header->start_realtime);
    if (header->frequency)
        fprintf(file, "# frequency : %u\n", header->frequency);
}

static void write_header(FILE *file, const struct recording_header *header)
{
    time_t start = (time_t)(header->start_realtime / 1000000000u);
    char date[64] = "not known";
    struct tm tm;

    if (start && localtime_r(&start, &tm))
        strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &tm);
    fputs("# ========\n", file);
    write_comment(file, "captured on   ", date);
    write_comment(file, "hostname", header->hostname);
    write_comment(file, "os release", header->kernel);
    write_comment(file, "beamflame version", header->version);
    write_comment(file, "cmdline", header->command);
    if (header->trigger[0])
        write_comment(file, "trigger", header->trigger);
    write_start(file, header);
}

/* Write the name and unit of the weight, unless it is a number of samples. */
static void write_weight(const struct perf *perf)
{
    struct buffer text = {0};

    if (!perf->weight.period && !perf->weight.is_one) {
        buffer_format(&text, "%s%s in %s", perf->weight.is_change ? "change of " : "",
                      perf->weight.name, profile_unit_name(perf->weight.unit));
        buffer_byte(&text, '\0');
        write_comment(perf->file, "weight", text.data);
    }
    buffer_free(&text);
    fputs("# ========\n#\n", perf->file);
}

/* Set the name of the event. For CPU samples it is perf's name of their clock, if that is known: an
 * event of another program can be called `cpu`. */
static void put_event(struct perf *perf)
{
    const struct output_source *source = &perf->source;
    const char *name =
        profile_text(source->profile, profile_get_event(source->profile, source->event)->name);

    if (!strcmp(name, EVENT_CPU) && source->header->event[0])
        name = source->header->event;
    encode_escapes(&perf->event, name, strlen(name), must_escape_in_event);
    buffer_byte(&perf->event, '\0');
}

static void *perf_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct perf *perf = xcalloc(1, sizeof(*perf));

    (void)error;
    perf->file = file;
    perf->source = *source;
    perf->generation = 1;
    perf->weight = weight_of_event(source, source->event);
    put_event(perf);
    write_header(file, source->header);
    write_weight(perf);
    return perf;
}

static void put_frame(struct buffer *text, const struct view_frame *frame)
{
    static const char digits[] = "0123456789abcdef";
    char address[1 + 16 + 1];
    uint64_t rest = frame->address;
    int at = 16;

    /* "\t%16x " without printf(): this takes most of the time when most stacks are new. */
    memset(address, ' ', sizeof(address));
    address[0] = '\t';
    do {
        address[at--] = digits[rest & 15];
    } while (rest >>= 4);
    buffer_put(text, address, sizeof(address));
    encode_escapes(text, frame->text, strlen(frame->text), must_escape);
    buffer_put(text, " (", 2);
    buffer_text(text, frame->module);
    buffer_put(text, ")\n", 2);
}

static void forget_stacks(struct perf *perf)
{
    perf->generation++;
    perf->text.size = 0;
}

static const struct rendered *render_stack(struct perf *perf, view_stack_id id)
{
    struct rendered *rendered = &perf->stacks[id];
    const struct view_frame *frames;
    size_t count;

    if (perf->text.size > CACHE_MAX)
        forget_stacks(perf);
    rendered->generation = perf->generation;
    rendered->offset = perf->text.size;
    count = view_frames(perf->source.view, id, &frames);
    if (!count)
        put_frame(&perf->text, &(struct view_frame){.text = "[no stack]", .module = "[unknown]"});
    while (count)
        put_frame(&perf->text, &frames[--count]);
    buffer_byte(&perf->text, '\n');
    rendered->size = (uint32_t)(perf->text.size - rendered->offset);
    return rendered;
}

static const struct rendered *rendered_stack(struct perf *perf, view_stack_id id)
{
    uint32_t targets = profile_counts(perf->source.profile).targets;

    if (perf->targets != targets)
        forget_stacks(perf);
    perf->targets = targets;
    perf->stacks = xgrow(perf->stacks, &perf->stack_count, id, sizeof(*perf->stacks));
    if (perf->stacks[id].generation == perf->generation)
        return &perf->stacks[id];
    return render_stack(perf, id);
}

/* Write the name of a thread. Schedulers have those of OTP 26 and later, in recordings of all
 * releases: FlameScope takes no digits at the begin of a name ("1_scheduler"). */
static void write_thread_name(struct perf *perf, const struct thread_entry *thread)
{
    static const char *const schedulers[] = {
        [SCHEDULER_NORMAL] = "erts_sched",
        [SCHEDULER_DIRTY_CPU] = "erts_dcpus",
        [SCHEDULER_DIRTY_IO] = "erts_dios",
    };
    const char *name = thread ? profile_text(perf->source.profile, thread->name) : "";

    if (thread && thread->scheduler_kind != SCHEDULER_NONE) {
        fprintf(perf->file, "%s_%u", schedulers[thread->scheduler_kind], thread->scheduler_number);
        return;
    }
    perf->name.size = 0;
    if (isalpha((unsigned char)name[0]) && name[1])
        encode_escapes(&perf->name, name, strlen(name), must_escape_in_name);
    else
        buffer_text(&perf->name, NO_THREAD);
    fwrite(perf->name.data, 1, perf->name.size, perf->file);
}

static void write_event_line(struct perf *perf, const struct sample *sample, uint64_t micros)
{
    uint64_t weight = sample_weight(&perf->weight, sample);
    const struct profile *profile = perf->source.profile;
    const struct thread_entry *thread =
        sample->thread ? profile_get_thread(profile, sample->thread) : NULL;
    uint32_t pid = thread && thread->target ? profile_get_target(profile, thread->target)->pid : 0;

    write_thread_name(perf, thread);
    fprintf(perf->file, " %u/%u [%03u] %" PRIu64 ".%06u: %10" PRIu64 " %s:\n", pid,
            thread ? thread->tid : 0, sample->cpu, micros / 1000000, (unsigned)(micros % 1000000),
            weight, perf->event.data);
    perf->weights += weight;
    perf->amount += sample_amount(&perf->weight, sample);
}

static int perf_sample(void *state, const struct sample *sample, struct error *error)
{
    struct perf *perf = state;
    const struct rendered *stack = rendered_stack(perf, view_of_sample(perf->source.view, sample));
    uint64_t micros = sample->time / 1000;

    (void)error;
    /* FlameScope fails on a file whose last time is a whole second. Any sample may be the last one,
     * so the time of each such sample moves by 1 us. */
    if (micros % 1000000 == 0)
        micros++;
    if (perf->flame_prof)
        flame_prof_line(perf->flame_prof, perf->file, sample, micros, perf->event.data);
    else
        write_event_line(perf, sample, micros);
    fwrite(perf->text.data + stack->offset, 1, stack->size, perf->file);
    return 0;
}

/* Write the counts of the event over all hits. False if it has none, or the weight is a metric. */
static bool write_counted(const struct perf *perf)
{
    const struct event_summary *summary =
        recording_get_summary(perf->source.recording, perf->source.event);
    struct buffer text = {0};

    if (!summary || perf->weight.is_metric)
        return false;
    summary_text_of_hits(perf->source.profile, summary, &text);
    buffer_text(&text, "; ");
    summary_text_of_sum(summary, perf->weight.value, perf->weight.unit, &text);
    fprintf(perf->file, "# counted %.*s\n", (int)text.size, text.data);
    buffer_free(&text);
    return true;
}

/* Write what numbers of samples stand for, if it is less than their sum: each is at least 1. */
static bool write_sum(const struct perf *perf)
{
    uint64_t periods = weight_of_amount(&perf->weight, perf->amount);

    if (!perf->weight.period || perf->weights == periods)
        return false;
    fprintf(perf->file,
            "# sum %" PRIu64 " samples, whose time is %" PRIu64 " periods of %" PRIu64 " ns\n",
            perf->weights, periods, perf->weight.period);
    return true;
}

/* Write counts and losses as comments that no reader takes for a sample. The file ends with an
 * empty line. */
static void write_end(const struct perf *perf, const struct recording_totals *totals)
{
    FILE *file = perf->file;
    bool any = write_counted(perf);

    any = write_sum(perf) || any;
    for (int i = 0; i < LOSS_COUNT; i++) {
        if (!totals->losses[i])
            continue;
        fprintf(file, "# loss %s %" PRIu64 "\n", profile_loss_name(i), totals->losses[i]);
        any = true;
    }
    if (totals->left_out)
        fprintf(file, "# left out %" PRIu64 " samples that are not selected\n", totals->left_out);
    if (totals->unknown)
        fprintf(file, "# unknown %" PRIu64 " samples whose weight is not known\n", totals->unknown);
    if (any || totals->left_out || totals->unknown)
        fputc('\n', file);
}

static int perf_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct perf *perf = state;

    (void)error;
    if (totals)
        write_end(perf, totals);
    flame_prof_free(perf->flame_prof);
    free(perf->stacks);
    buffer_free(&perf->text);
    buffer_free(&perf->name);
    buffer_free(&perf->event);
    free(perf);
    return 0;
}

static void *flame_prof_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct perf *perf = perf_begin(file, source, error);

    perf->flame_prof = flame_prof_new(source->profile);
    return perf;
}

const struct output_format flame_prof_format = {
    .name = "flame_prof",
    .one_event = true,
    .lists_idle = true,
    .begin = flame_prof_begin,
    .sample = perf_sample,
    .finish = perf_finish,
};

const struct output_format perf_format = {
    .name = "perf",
    .suffixes = {".perf", ".perf.gz"},
    .one_event = true,
    .lists_idle = true,
    .begin = perf_begin,
    .sample = perf_sample,
    .finish = perf_finish,
};
