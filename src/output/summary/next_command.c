// SPDX-License-Identifier: Apache-2.0
/* The command that a verdict ends with: the first of these for which the recording has a reason. */
#include "output/summary/summary_internal.h"

#include <string.h>

#include "profile/events.h"
#include "util/utf8.h"

static const double MUCH_GC = 20, BUSY = 50; /* percent */

struct next_command {
    const struct verdict *verdict;
    const struct verdict_findings *findings;
    struct buffer *text;
};

/* ---- parts of commands ---- */

/* Append a word for the shell. */
static void put_word(struct buffer *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:@%+=,";

    if (*word && strspn(word, plain) == strlen(word)) {
        buffer_text(text, word);
        return;
    }
    buffer_byte(text, '\'');
    for (; *word; word++)
        if (*word == '\'')
            buffer_text(text, "'\\''");
        else
            buffer_byte(text, *word);
    buffer_byte(text, '\'');
}

/* Return the pid of a VM that may still run; 0 if there is none. */
static uint32_t living_pid(const struct next_command *next)
{
    const struct output_source *source = next->verdict->source;
    target_id target = next->findings->target;
    const struct target_life *life =
        target ? target_lives_find(recording_get_lives(source->recording), target) : NULL;

    if (!target || (life && life->ended) ||
        !profile_get_target(source->profile, target)->otp_release)
        return 0;
    return profile_get_target(source->profile, target)->pid;
}

/* Begin a report of the recording. False if its path is not known, or not fit for a terminal. */
static bool begin_report(const struct next_command *next)
{
    const char *path = next->verdict->source->path;

    if (!path || !*path || *path == '-' || !utf8_is_clean(path, strlen(path)))
        return false;
    buffer_text(next->text, "beamflame report ");
    put_word(next->text, path);
    return true;
}

/* Append a process of the summary as --process takes it. */
static void put_process(const struct next_command *next, uint32_t id)
{
    const struct profile *profile = next->verdict->source->profile;
    process_id process = next->verdict->processes->roots[id - 1].process;

    put_word(next->text, profile_text(profile, profile_get_process(profile, process)->pid));
}

static bool has_event(const struct next_command *next, const char *name)
{
    return event_find(next->verdict->source->profile, name) > 0;
}

/* ---- the commands ---- */

static bool dump_processes(const struct next_command *next, const char *metric, const char *why)
{
    uint32_t pid = living_pid(next);

    if (pid)
        buffer_format(next->text, "sudo beamflame dump -p %u --list processes --top 10:%s    # %s",
                      pid, metric, why);
    return pid > 0;
}

static bool dump_section(const struct next_command *next, const char *section, const char *why)
{
    uint32_t pid = living_pid(next);

    if (pid)
        buffer_format(next->text, "sudo beamflame dump -p %u --list %s    # %s", pid, section, why);
    return pid > 0;
}

static bool look_at_node_growth(const struct next_command *next)
{
    const struct node_series_key *key = &next->findings->node.series->key;
    const char *of = profile_text(next->verdict->source->profile, key->of);

    if (key->metric == NODE_TABLE_BYTES || !strcmp(of, "ets_alloc"))
        return dump_section(next, "tables", "the largest ETS tables, with their owners");
    if (key->metric == NODE_PORT_QUEUE)
        return dump_section(next, "ports", "the longest queues of ports and sockets");
    if (!strcmp(of, "eheap_alloc"))
        return dump_processes(next, "heap", "the largest heaps");
    return dump_section(next, "memory", "what the allocators hold");
}

static bool look_at_summary_growth(const struct next_command *next)
{
    uint32_t pid = living_pid(next);

    if (next->findings->kind != GROWTH_BINARIES)
        return dump_processes(next, "heap", "the largest heaps");
    if (!pid)
        return false;
    buffer_format(next->text, "sudo beamflame dump -p %u --list processes --process ", pid);
    put_process(next, next->findings->process);
    buffer_text(next->text, "    # what it does with binaries");
    return true;
}

static bool look_at_growth(const struct next_command *next)
{
    const struct verdict_findings *findings = next->findings;

    if (findings->queue)
        return dump_processes(next, "msgq", "the longest queues, and what their processes do");
    if (findings->process)
        return look_at_summary_growth(next);
    return findings->node.series && look_at_node_growth(next);
}

static bool record(const struct next_command *next, const char *options, const char *why)
{
    uint32_t pid = living_pid(next);

    if (pid)
        buffer_format(next->text, "sudo beamflame -p %u -d 30 %s    # %s", pid, options, why);
    return pid > 0;
}

/* A flame graph of the CPU time of the busiest process, or of all. */
static bool look_at_stacks(const struct next_command *next)
{
    uint32_t id = next->findings->busiest;

    if (!has_event(next, EVENT_CPU) || !begin_report(next))
        return false;
    buffer_text(next->text, " -e cpu");
    if (id) {
        buffer_text(next->text, " --process ");
        put_process(next, id);
    }
    buffer_format(next->text, " -o cpu.svg    # who calls %s functions", id ? "its" : "the");
    return true;
}

static bool look_at_garbage(const struct next_command *next)
{
    if (!has_event(next, EVENT_GC))
        return record(next, "-e gc,alloc -o garbage.svg", "who makes the garbage");
    if (!begin_report(next))
        return false;
    buffer_text(next->text, " -e gc -o gc.svg    # whose collections take how long");
    return true;
}

static bool look_at_waits(const struct next_command *next)
{
    if (!has_event(next, EVENT_WALL) || !begin_report(next))
        return false;
    buffer_text(next->text,
                " -e wall --group-by status,name -o wall.svg    # what processes wait for");
    return true;
}

/* What is not in the recording. */
static bool look_at_more(const struct next_command *next)
{
    bool has_memory = recording_get_node_metrics(next->verdict->source->recording)->readings > 0;

    if (!has_event(next, EVENT_WALL))
        return record(next,
                      has_memory ? "-e wall -o wall.svg"
                                 : "-e wall --node-metrics memory,tables,ports -o wall.svg",
                      has_memory ? "what processes wait for"
                                 : "what processes wait for, and what grows");
    if (has_memory)
        return false;
    return record(next, "-e cpu --node-metrics memory,tables,ports -o cpu.svg", "what grows");
}

void next_command_text(const struct verdict *verdict, const struct verdict_findings *findings,
                       struct buffer *text)
{
    const struct next_command next = {verdict, findings, text};

    if (look_at_growth(&next))
        return;
    if (findings->gc >= MUCH_GC && look_at_garbage(&next))
        return;
    if (findings->busy >= BUSY && look_at_stacks(&next))
        return;
    if (look_at_waits(&next) || look_at_more(&next))
        return;
    look_at_stacks(&next);
}
