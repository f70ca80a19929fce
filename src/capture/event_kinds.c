// SPDX-License-Identifier: Apache-2.0
#include "capture/event_kinds.h"

#include <stdio.h>
#include <string.h>

#include "capture/event_sites.h"
#include "profile/events.h"
#include "util/word_list.h"

static const struct event_kind kinds[] =
    {
        {
            .name = "gc", /* bpf/gc.bpf.c */
            .sites =
                {
                    {PLACE_BY_HOOK, HOOK_GC, "gc_begin", 1},
                    {PLACE_BY_HOOK, HOOK_GC, "gc_end", .is_return = true, .kind = WIRE_GC_MINOR},
                    {PLACE_BY_HOOK, HOOK_GC_HIBERNATE, "gc_begin", 1, .is_optional = true},
                    {PLACE_BY_HOOK, HOOK_GC_HIBERNATE, "gc_end", .is_return = true,
                     .is_optional = true, .kind = WIRE_GC_HIBERNATE},
                },
            .site_count = 4,
            .histograms =
                {
                    [WIRE_GC_MINOR] = {"pause, minor", UNIT_NS},
                    [WIRE_GC_MAJOR] = {"pause, major", UNIT_NS},
                    [WIRE_GC_HIBERNATE] = {"pause, hibernate", UNIT_NS},
                    [WIRE_GC_DIRTY_MINOR] = {"pause, minor on a dirty scheduler", UNIT_NS},
                    [WIRE_GC_DIRTY_MAJOR] = {"pause, major on a dirty scheduler", UNIT_NS},
                },
            .histogram_count = WIRE_GC_KINDS,
            .work = VM_COLLECTIONS,
            .by_amount = 1u << GC_RECLAIMED,
            .counted = 1u << GC_COUNT | 1u << GC_RECLAIMED,
        },
        {
            .name = "alloc", /* bpf/gc.bpf.c */
            .sites =
                {
                    {PLACE_BY_HOOK, HOOK_GC, "alloc_begin", 1},
                    {PLACE_BY_HOOK, HOOK_GC, "alloc_end", .is_return = true},
                    {PLACE_BY_HOOK, HOOK_GC_HIBERNATE, "alloc_begin", 1, .is_optional = true},
                    {PLACE_BY_HOOK, HOOK_FRAGMENT, "alloc_fragment", 2, .is_optional = true},
                },
            .site_count = 4,
            .work = VM_COLLECTIONS,
            .by_amount = 1u << ALLOC_WORDS,
            .counted = 1u << ALLOC_COUNT,
            .in_pairs = 1u << ALLOC_BINARIES,
        },
        {
            .name = "sched", /* bpf/sched.bpf.c */
            .sites =
                {
                    {PLACE_BY_HOOK, HOOK_SCHEDULE_OUT, "sched_out", 3},
                    {PLACE_BY_HOOK, HOOK_SCHEDULE_IN, "sched_in", .kind = true,
                     .condition = SITE_WITH, .other = HOOK_ENQUEUE},
                    {PLACE_BY_HOOK, HOOK_SCHEDULE_IN, "sched_in", .kind = false,
                     .condition = SITE_WITHOUT, .other = HOOK_ENQUEUE},
                    {PLACE_BY_HOOK, HOOK_ENQUEUE, "sched_enqueue", 3, .is_optional = true},
                    {PLACE_BY_HOOK, HOOK_WAKE, "sched_wake", 1, .is_optional = true,
                     .condition = SITE_WITHOUT, .other = HOOK_ENQUEUE},
                    {PLACE_BY_HOOK, HOOK_WAKE_SIGNAL, "sched_wake", 1, .is_optional = true,
                     .condition = SITE_WITHOUT, .other = HOOK_ENQUEUE},
                    {PLACE_BY_HOOK, HOOK_DIRTY_NIF, "sched_in_dirty", 2, .is_optional = true,
                     .kind = true},
                    {PLACE_BY_HOOK, HOOK_DIRTY_BIF, "sched_in_dirty", 2, .is_optional = true,
                     .kind = true},
                },
            .site_count = 8,
            .histograms =
                {
                    [WIRE_SCHED_DELAYS] = {"run-queue delay", UNIT_NS},
                    [WIRE_SCHED_DIRTY_DELAYS] = {"run-queue delay, dirty", UNIT_NS},
                    [WIRE_SCHED_WAITS] = {"wait", UNIT_NS},
                    [WIRE_SCHED_SLICES] = {"slice", UNIT_NS},
                    [WIRE_SCHED_DIRTY_SLICES] = {"slice, dirty", UNIT_NS},
                },
            .histogram_count = WIRE_SCHED_HISTOGRAMS,
            .tallies =
                {
                    [WIRE_SCHED_WAITING] = "left: waits",
                    [WIRE_SCHED_REDUCTIONS] = "left: reductions used up",
                    [WIRE_SCHED_YIELDED] = "left: yields",
                    [WIRE_SCHED_SUSPENDED] = "left: suspended",
                    [WIRE_SCHED_EXITING] = "left: exits",
                    [WIRE_SCHED_DIRTY] = "left: to or from a dirty scheduler",
                    [WIRE_SCHED_UNKNOWN] = "left: before the window",
                    [WIRE_SCHED_NEW] = "new",
                    [WIRE_SCHED_MIGRATED] = "migrated",
                    [WIRE_SCHED_NO_DELAY] = "delay not known",
                    [WIRE_SCHED_UNSEEN] = "not seen to leave",
                    [WIRE_SCHED_NO_ROOM] = "no room to note",
                },
            .tally_count = WIRE_SCHED_TALLIES,
            .tick = "sched_tick",
            .work = VM_SWITCHES,
            .by_time = 1u << SCHED_WAIT | 1u << SCHED_DELAY,
            .in_pairs = 1u << SCHED_LONG,
            .cut = 1 + WIRE_SCHED_UNKNOWN,
            .parts = event_kind_sched_parts,
        },
        {
            .name = "msg", /* bpf/message.bpf.c */
            .sites =
                {
                    {PLACE_BY_HOOK, HOOK_QUEUE, "message_queue", 5, .is_optional = true},
                    {PLACE_BY_HOOK, HOOK_SEND, "message_send", 5, .condition = SITE_WITHOUT,
                     .other = HOOK_QUEUE},
                    {PLACE_BY_SYMBOL, .symbol = "erts_proc_sig_send_process_info_request",
                     .program = "message_ask", .arguments = 2, .is_optional = true,
                     .condition = SITE_UNBUFFERED_PROCESS_INFO},
                    {PLACE_BY_HOOK, HOOK_RECEIVE, "message_receive", 1, .is_optional = true},
                },
            .site_count = 4,
            .histograms =
                {
                    [WIRE_MSG_DELAY] = {"time in the queue", UNIT_NS},
                    [WIRE_MSG_WORDS] = {"words copied", UNIT_WORDS},
                },
            .histogram_count = WIRE_MSG_HISTOGRAMS,
            .tallies =
                {
                    [ERTS_SIG_Q_OP_EXIT] = "signals, exit",
                    [ERTS_SIG_Q_OP_EXIT_LINKED] = "signals, exit of linked",
                    [ERTS_SIG_Q_OP_MONITOR_DOWN] = "signals, down",
                    [ERTS_SIG_Q_OP_MONITOR] = "signals, monitor",
                    [ERTS_SIG_Q_OP_DEMONITOR] = "signals, demonitor",
                    [ERTS_SIG_Q_OP_LINK] = "signals, link",
                    [ERTS_SIG_Q_OP_UNLINK] = "signals, unlink",
                    [ERTS_SIG_Q_OP_GROUP_LEADER] = "signals, group_leader",
                    [ERTS_SIG_Q_OP_TRACE_CHANGE_STATE] = "signals, trace",
                    [ERTS_SIG_Q_OP_PERSISTENT_MON_MSG] = "signals, change",
                    [ERTS_SIG_Q_OP_IS_ALIVE] = "signals, is_process_alive",
                    [ERTS_SIG_Q_OP_PROCESS_INFO] = "signals, process_info",
                    [ERTS_SIG_Q_OP_SYNC_SUSPEND] = "signals, suspend",
                    [ERTS_SIG_Q_OP_RPC] = "signals, request",
                    [ERTS_SIG_Q_OP_DIST_SPAWN_REPLY] = "signals, spawn_reply",
                    [ERTS_SIG_Q_OP_ALIAS_MSG] = "messages to aliases",
                    [ERTS_SIG_Q_OP_RECV_MARK] = "signals, receive mark",
                    [ERTS_SIG_Q_OP_UNLINK_ACK] = "signals, unlinked",
                    [ERTS_SIG_Q_OP_ADJ_MSGQ] = "signals, message_queue_data",
                    [ERTS_SIG_Q_OP_FLUSH] = "signals, flush",
                    [ERTS_SIG_Q_OP_NIF_SELECT] = "signals, NIF select",
                    [WIRE_MSG_OTHER_SIGNAL] = "signals, other",
                    [WIRE_MSG_UNSEEN] = "received, not seen sent",
                    [WIRE_MSG_LEFT_OUT] = "queued together, left out",
                    [WIRE_MSG_LONG_LIST] = "words counted in part",
                },
            .tally_count = WIRE_MSG_TALLIES,
            .work = VM_SWITCHES,
            .by_time = 1u << MSG_DELAY,
            .cut = 1 + WIRE_MSG_UNSEEN,
        },
        {
            .name = "bif:",
            .argument = "MODULE:FUNCTION/ARITY", /* bpf/call.bpf.c */
            .sites = {{PLACE_BY_BIF, .program = "call_begin"},
                      {PLACE_BY_BIF, .program = "call_end", .is_return = true}},
            .site_count = 2,
            .histograms = {{"time", UNIT_NS}},
            .histogram_count = 1,
        },
        {
            .name = "nif:",
            .argument = "MODULE:FUNCTION/ARITY",
            .sites = {{PLACE_BY_NIF, .program = "call_begin"},
                      {PLACE_BY_NIF, .program = "call_end", .is_return = true}},
            .site_count = 2,
            .histograms = {{"time", UNIT_NS}},
            .histogram_count = 1,
        },
        {
            .name = "probe:",
            .argument = "SYMBOL[+OFFSET]",
            .sites = {{PLACE_BY_SYMBOL, .program = "call_begin"},
                      {PLACE_BY_SYMBOL, .program = "call_end", .is_return = true}},
            .site_count = 2,
            .histograms = {{"time", UNIT_NS}},
            .histogram_count = 1,
        },
        {
            .name = "probe:", /* a place in a function, not the function */
            .sites = {{PLACE_BY_SYMBOL, .program = "place_hit"}},
            .site_count = 1,
            .is_place = true,
        },
        {
            .name = "usdt:",
            .argument = "NAME",
            .sites = {{PLACE_BY_USDT, .program = "place_hit"}},
            .site_count = 1,
        },
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static bool is_of_kind(const char *name, const struct event_kind *kind)
{
    size_t size = strlen(kind->name);

    if (kind->name[size - 1] == ':')
        return !strncmp(name, kind->name, size) && (kind->is_place == (strchr(name, '+') != NULL) ||
                                                    kind->sites[0].by != PLACE_BY_SYMBOL);
    return !strcmp(name, kind->name);
}

int event_kinds_parse_request(const char *name, const char *known, struct event_request *request,
                              struct error *error)
{
    struct event_function function;

    for (int i = 0; i < KINDS; i++) {
        const struct event_kind *kind = &kinds[i];
        enum place_by by = kind->sites[0].by;

        if (!is_of_kind(name, kind))
            continue;
        *request = (struct event_request){name, kind, name + strlen(kind->name)};
        if ((by == PLACE_BY_BIF || by == PLACE_BY_NIF) &&
            !event_sites_parse_function(request->argument, &function))
            return error_set(error, ERROR_USAGE,
                             "'%s' needs a function after it, as in %serlang:md5/1", name,
                             kind->name);
        if (by == PLACE_BY_SYMBOL && !request->argument[0])
            return error_set(error, ERROR_USAGE,
                             "'%s' needs a function of the VM after it, as in probe:erts_schedule",
                             name);
        if (by == PLACE_BY_USDT && !request->argument[0])
            return error_set(error, ERROR_USAGE,
                             "'%s' needs a probe after it, as in usdt:process-spawn", name);
        return 0;
    }
    return error_set(error, ERROR_USAGE, "there is no event '%s'; the events are: %s", name, known);
}

uint32_t event_kinds_slots(int targets, int count)
{
    return (uint32_t)(targets * count);
}

uint32_t event_kinds_histograms(const struct event_request *events, int count, int targets)
{
    uint32_t sum = 0;

    for (int i = 0; i < count; i++)
        sum += (uint32_t)events[i].kind->histogram_count;
    return sum * (uint32_t)targets;
}

void event_kind_want(struct programs *programs, const struct event_kind *kind, enum probe_way way)
{
    for (int i = 0; i < kind->site_count; i++)
        probe_link_prepare(programs_want(programs, kind->sites[i].program), way);
}

const char *const *event_kind_list(void)
{
    static const char *names[KINDS + 1];
    int count = 0;

    for (int i = 0; i < KINDS; i++)
        if (!strchr(kinds[i].name, ':'))
            names[count++] = kinds[i].name;
    return names;
}

const char *event_kind_names(void)
{
    static char names[256];

    if (names[0])
        return names;
    for (int i = 0; i < KINDS; i++) {
        const char *argument = kinds[i].argument ? kinds[i].argument : "";
        char word[64];

        snprintf(word, sizeof(word), "%s%s", kinds[i].name, argument);
        if (!kinds[i].is_place)
            word_list_add(names, sizeof(names), word);
    }
    return names;
}

/* The status of a process while it is off and in no run queue. A process that left with more to do
 * is in no run queue only if it was suspended meanwhile. */
static enum process_status status_off_queue(uint32_t left)
{
    switch (left) {
    case WIRE_SCHED_EXITING:
        return STATUS_EXITING;
    case WIRE_SCHED_WAITING:
    case WIRE_SCHED_UNKNOWN:
        return STATUS_WAITING;
    default:
        return STATUS_SUSPENDED;
    }
}

/* The status of a process when it leaves. */
static enum process_status status_leaving(uint32_t left)
{
    switch (left) {
    case WIRE_SCHED_WAITING:
    case WIRE_SCHED_SUSPENDED:
    case WIRE_SCHED_EXITING:
        return status_off_queue(left);
    default:
        return STATUS_RUNNABLE;
    }
}

/* A part of a long slice. Only the last part has another status than running. */
static struct event_part long_part(const struct wire_hit *hit)
{
    return (struct event_part){.status = hit->kind == WIRE_SCHED_LONG
                                             ? STATUS_RUNNING
                                             : status_leaving(hit->kind - WIRE_SCHED_LONG_END),
                               .values = {[SCHED_LONG] = hit->values[SCHED_LONG]},
                               .slice = hit->values[SCHED_LONG]};
}

int event_kind_sched_parts(const struct wire_hit *hit, struct event_part parts[EVENT_PARTS_MAX])
{
    uint64_t delay = hit->values[SCHED_DELAY], off_queue = hit->values[SCHED_WAIT] - delay;
    int count = 0;

    if (hit->kind >= WIRE_SCHED_LONG) {
        parts[0] = long_part(hit);
        return 1;
    }
    if (off_queue)
        parts[count++] = (struct event_part){.status = status_off_queue(hit->kind),
                                             .shows_status = true,
                                             .values = {[SCHED_WAIT] = off_queue}};
    if (delay || !count)
        parts[count++] =
            (struct event_part){.status = STATUS_RUNNABLE,
                                .shows_status = true,
                                .values = {[SCHED_WAIT] = delay, [SCHED_DELAY] = delay}};
    parts[0].values[SCHED_COUNT] = hit->values[SCHED_COUNT];
    return count;
}
