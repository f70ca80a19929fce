// SPDX-License-Identifier: Apache-2.0
/*
 * A profile: the tables that samples refer to. Each distinct entry is stored once.
 *
 * Strings, modules, frames, stacks, events, ancestors, processes, threads, targets and spans of
 * traces are interned:
 * equal content gets the same id. Ids are dense, start at 1 (0 is "none") and never change. An
 * entry refers only to entries of its own kind with lower ids, or to entries of other tables. So
 * the tables can be written as a stream (recording/recording.h). Memory grows with distinct
 * content, not with the number of samples.
 *
 * A stack is a node of a tree: (parent, frame). Node 0 is the root of the tree; the deepest node is
 * the leaf of the stack. A sample holds one node.
 *
 *      0 ── lists:map/2 ── foo:bar/1 ── [kernel] ...
 *      root side                        leaf side
 *
 * Stacks do not contain the process: process, status and scheduler are fields of the sample. A view
 * turns them into root frames (view/view.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/metrics.h"

typedef uint32_t string_id;
typedef uint32_t module_id;
typedef uint32_t frame_id;
typedef uint32_t stack_id;
typedef uint32_t event_id;
typedef uint32_t process_id;
typedef uint32_t ancestor_id;
typedef uint32_t thread_id;
typedef uint32_t target_id;
typedef uint32_t trace_span_id;

/* Where machine code is: in a file, the kernel, or a module of the kernel. */
struct module {
    string_id path;     /* as perf calls the dso: "/usr/lib/libc.so.6", "[kernel.kallsyms]" */
    string_id build_id; /* the GNU build id, lower-case hexadecimal; 0: not known */
};

enum frame_kind {
    FRAME_ERLANG = 1, /* a function in loaded code */
    FRAME_BIF,        /* a BIF or NIF as called from Erlang (its C code is FRAME_NATIVE) */
    FRAME_RUNTIME,    /* a fragment of the JIT, such as global::call_bif_shared */
    FRAME_NATIVE,     /* machine code of the VM, a NIF or driver, or a library */
    FRAME_KERNEL,
    FRAME_MARK, /* no code, but a note: "[N words truncated]" */
};

/* The symbol of the mark where frames may be missing. */
#define FRAMES_MISSING "[frames missing]"

/* The symbol of a mark that names an ETS table begins with this: "[table session]". */
#define TABLE_MARK "[table "

/* A frame. `symbol` is the final text ("lists:map/2", "Enum.map/2", "memcpy", "beam.smp+0x1234").
 * `module` is 0 for Erlang code. `file` and `line` are 0 if unknown. `address` is the start of the
 * symbol, not the sampled address, so that equal stacks have the same id. */
struct frame {
    uint64_t address;
    /* Recognizes a native function without a name in other builds (elf/likenesses.h); 0: it can't
     * be recognized. */
    uint64_t likeness;
    string_id symbol;
    module_id module;
    string_id file;
    uint32_t line;
    uint8_t kind;       /* enum frame_kind */
    uint8_t unresolved; /* no name was found for the address */
};

struct stack_node {
    stack_id parent; /* 0: this is the root frame */
    frame_id frame;
};

enum { EVENT_VALUES = 6 };

/* An event (profile/events.h lists them). Each sample of it has a number for each of these values.
 * The first value is the default weight. */
struct event_entry {
    string_id name;       /* "cpu", "gc", "bif:erlang:term_to_binary/1" */
    uint32_t value_count; /* 1..EVENT_VALUES */
    struct event_value {
        string_id name; /* "time" */
        uint32_t unit;  /* enum unit */
    } values[EVENT_VALUES];
};

/* An ancestor of a process, from `$ancestors` of proc_lib. Ancestors form a chain like frames; the
 * outermost supervisor is its root. */
struct ancestor {
    ancestor_id up; /* the next ancestor towards the root; 0: none */
    string_id name; /* registered name when the process was started, else pid */
};

/* An Erlang process as it was when sampled. A changed name makes a new entry. */
struct process_entry {
    uint64_t identity; /* the pid term: distinguishes processes with equal texts */
    target_id target;
    string_id pid;          /* "<0.85.0>" */
    string_id name;         /* registered name, or 0 */
    string_id label;        /* process label, or 0 */
    string_id initial_call; /* "my_server:init/1", or 0 */
    string_id application;  /* that the process belongs to, or 0 */
    process_id parent;      /* the process that spawned it; 0: none or unknown */
    ancestor_id ancestors;  /* the nearest ancestor; 0: none */
    /* 1: the label belongs to one of many short-lived processes, such as the address of a peer. It
     * is shown beside the pid, and does not name a group. */
    uint32_t label_is_detail;
};

/* The name of a process in groups: registered name, else label; 0 if it has neither. */
static inline string_id process_entry_name(const struct process_entry *process)
{
    return process->name || process->label_is_detail ? process->name : process->label;
}

enum scheduler_kind {
    SCHEDULER_NONE = 0, /* not a scheduler thread */
    SCHEDULER_NORMAL,
    SCHEDULER_DIRTY_CPU,
    SCHEDULER_DIRTY_IO,
};

struct thread_entry {
    target_id target;
    uint32_t tid;
    string_id name;            /* the OS thread's name */
    uint16_t scheduler_kind;   /* enum scheduler_kind */
    uint16_t scheduler_number; /* from 1 within its kind, 0 if none */
};

/* A target. Texts are 0 if unknown. */
struct target_entry {
    uint32_t pid;
    uint32_t schedulers, dirty_cpu_schedulers, dirty_io_schedulers;
    uint32_t processes; /* number of processes when attached */
    string_id node, otp_release, erts, flavor, executable, container;
    string_id layout; /* source of the layout: "dwarf" or "table" */
    /* Of which service it is, as a list (util/attribute_list.h): "service.name=shop". */
    string_id attributes;
    string_id host; /* only in a recording of several hosts; else its header has the host */
};

/* A span of a trace of OpenTelemetry. Neither id is 0. */
struct trace_span {
    uint64_t trace_high, trace_low; /* the trace's id */
    uint64_t span;                  /* the span's id */
};

/* Process status, as process_info(status) names it. A waiting process is
 * idle or blocked if its stack shows what it waits for (symbol/frames_internal.h). */
enum process_status {
    STATUS_NONE = 0, /* no process ran */
    STATUS_RUNNING,
    STATUS_RUNNABLE,
    STATUS_WAITING,
    STATUS_SUSPENDED,
    STATUS_EXITING,
    STATUS_GARBAGE_COLLECTING,
    STATUS_FREE,
    STATUS_IDLE,    /* waits for any message in its main loop */
    STATUS_BLOCKED, /* waits inside a call */
    STATUS_COUNT,
};
const char *profile_status_name(enum process_status status); /* "running", ... */
/* True for idle and blocked too. */
bool profile_status_waits(enum process_status status);

/* What a thread does while it runs no Erlang process. */
enum activity {
    ACTIVITY_PROCESS = 0, /* it runs a process */
    ACTIVITY_SCHEDULING,  /* picks work, moves between run queues */
    ACTIVITY_BUSY_WAIT,   /* spins, waiting for work */
    ACTIVITY_SLEEP,       /* goes to sleep or wakes up */
    ACTIVITY_CHECK_IO,    /* polls file descriptors */
    ACTIVITY_PORT,        /* runs a port task; the port's name is sample.detail */
    ACTIVITY_AUX_WORK,    /* delayed frees, thread progress, timers */
    ACTIVITY_ASYNC,       /* async thread of a driver */
    ACTIVITY_POLL,        /* poll thread */
    ACTIVITY_OTHER,       /* any other thread; shown by the thread's name */
    ACTIVITY_COUNT,
};
const char *profile_activity_name(enum activity activity); /* "busy-wait", ... */

enum sample_flag {
    SAMPLE_ERLANG = 1 << 0,    /* an Erlang process ran */
    SAMPLE_COMPLETE = 1 << 1,  /* its stack was walked to the root frame */
    SAMPLE_TRUNCATED = 1 << 2, /* its stack was too deep to copy: the middle is missing */
    SAMPLE_NO_LEAF = 1 << 3,   /* frames on the leaf side are known to be missing */
    SAMPLE_NAMED = 1 << 4,     /* the root frames of its stack already name the process */
    /* Its hit was sure to be sampled, so its values are the hit's: it stands for no other hit. */
    SAMPLE_EXACT = 1 << 5,
    /* Growth or release of the metric that an output shows, if it shows changes. Not recorded. */
    SAMPLE_GROWTH = 1 << 6,
    SAMPLE_RELEASE = 1 << 7,
};

struct sample {
    uint64_t time;                 /* ns, CLOCK_MONOTONIC */
    uint64_t values[EVENT_VALUES]; /* as the event defines them */
    event_id event;
    stack_id stack;
    process_id process; /* 0: no process ran */
    process_id peer;    /* the process that woke this one, or that receives; 0: none or unknown */
    thread_id thread;
    string_id detail;         /* port name, or 0 */
    trace_span_id trace_span; /* that the process works for; 0: none or unknown */
    /* ns: the long slice, or the part of one, that this sample of event sched is of; 0: of none.
     * The values also stand for slices that were not seen. */
    uint64_t slice;
    uint16_t cpu;
    uint8_t status;         /* enum process_status */
    uint8_t activity;       /* enum activity */
    uint8_t microstate;     /* enum microstate (profile/microstates.h) */
    uint8_t flags;          /* enum sample_flag */
    bool is_part;           /* not recorded: the hit was counted in the sample before it */
    struct metrics metrics; /* of the process; unknown if no process ran */
    uint64_t change;        /* size of the growth or release that `flags` show */
};

/* Reasons for lost data, each with a count. One list for the whole program. */
enum loss {
    LOSS_RING_FULL,        /* sample dropped: the ring buffer was full */
    LOSS_BAD_SAMPLE,       /* sample dropped: its bytes are invalid */
    LOSS_STACK_INCOMPLETE, /* Erlang stack does not reach the root frame of the process */
    LOSS_STACK_TRUNCATED,  /* stack too deep to copy: its middle is missing */
    LOSS_STACK_POINTER,    /* exact Erlang stack pointer unknown */
    LOSS_NATIVE_UNWIND,    /* native part not unwound down to Erlang code or the thread's start */
    LOSS_UNKNOWN_ERLANG,   /* frame: Erlang code address without a name */
    LOSS_UNKNOWN_NATIVE,   /* frame: native address without a symbol, shown as file+offset */
    LOSS_KERNEL_STACK,     /* kernel stack cut or not available */
    LOSS_OUT_OF_ORDER,     /* sample's time moved forward to keep the order */
    LOSS_KERNEL_ENTRY,     /* stack unknown: an NMI hit the entry to the kernel */
    LOSS_CLOCK_STOPPED,    /* the guard stopped CPU sampling (wire.h) */
    LOSS_THREAD_TIMES,     /* times of a thread left out: there are THREAD_TIMES_MAX others */
    LOSS_MEMORY,           /* sample has lost its callers or its process: the profile was full */
    LOSS_METRICS,          /* reading of a VM's metric left out: there are NODE_SERIES_MAX series */
    LOSS_READ_FAULT,       /* sample lacks memory of its thread that can't be read (WIRE_FAULT) */
    LOSS_SWEEPS,           /* sweep of event wall missed: this program did something else */
    LOSS_TRACE,            /* sample whose trace could not be read (WIRE_TRACE_UNKNOWN) */
    LOSS_COUNT,
};
const char *profile_loss_name(enum loss loss);     /* "ring_full": the key in JSON */
const char *profile_loss_sentence(enum loss loss); /* for people */

struct profile;

struct profile *profile_new(void);
void profile_free(struct profile *profile);

/* Add an entry and return its id; if there is an equal entry, return the id of that one.
 * profile_string() needs no NUL at the end. Strings are made valid UTF-8 (invalid bytes become
 * U+FFFD) without control characters. */
string_id profile_string(struct profile *profile, const char *text, size_t size);
string_id profile_string_z(struct profile *profile, const char *text);
module_id profile_module(struct profile *profile, const struct module *module);
frame_id profile_frame(struct profile *profile, const struct frame *frame);
stack_id profile_stack(struct profile *profile, stack_id parent, frame_id frame);
event_id profile_event(struct profile *profile, const struct event_entry *event);
ancestor_id profile_ancestor(struct profile *profile, ancestor_id up, string_id name);
process_id profile_process(struct profile *profile, const struct process_entry *process);
thread_id profile_thread(struct profile *profile, const struct thread_entry *thread);
target_id profile_target(struct profile *profile, const struct target_entry *target);
trace_span_id profile_trace_span(struct profile *profile, const struct trace_span *span);

/* Look up an entry by its id, which must be valid (1..count). Pointers are valid until the next
 * call that adds an entry of the same kind, texts until the profile is freed. */
const char *profile_text(const struct profile *profile, string_id id); /* "" for 0 */
const struct module *profile_get_module(const struct profile *profile, module_id id);
const char *profile_module_path(const struct profile *profile, module_id id); /* "" for 0 */
const struct frame *profile_get_frame(const struct profile *profile, frame_id id);
const struct stack_node *profile_get_stack(const struct profile *profile, stack_id id);
const struct event_entry *profile_get_event(const struct profile *profile, event_id id);
const struct ancestor *profile_get_ancestor(const struct profile *profile, ancestor_id id);
const struct process_entry *profile_get_process(const struct profile *profile, process_id id);
const struct thread_entry *profile_get_thread(const struct profile *profile, thread_id id);
const struct target_entry *profile_get_target(const struct profile *profile, target_id id);
const struct trace_span *profile_get_trace_span(const struct profile *profile, trace_span_id id);

/* The frames that two stacks have in common on the root side. */
stack_id profile_common_stack(const struct profile *profile, stack_id one, stack_id other);

/* The number of entries of each kind, which is also the highest id. */
struct profile_counts {
    uint32_t strings, modules, frames, stacks, events, ancestors, processes, threads, targets,
        trace_spans;
};
struct profile_counts profile_counts(const struct profile *profile);

/* Return the bytes of memory that all entries take at most. */
uint64_t profile_size(const struct profile *profile);

/*
 * Let the program take `memory` bytes with the profile and the outputs made from it. A profile that
 * has reached its share is full: it takes no new stacks, processes and spans of traces. A new stack
 * becomes its leaf below the frame "[left out: --max-memory]". A new process becomes an entry of
 * that name, one for each initial call. Entries that are in the tables already are found as before.
 *
 * An overfull profile takes no new strings either: each becomes that text. New frames become that
 * frame; new modules and ancestors become none. So memory has a bound, whatever the target does.
 */
void profile_limit(struct profile *profile, uint64_t memory);
/* Make the profile full now. */
void profile_fill(struct profile *profile);
bool profile_is_full(const struct profile *profile);

/* True if the profile is larger than one may be where the program may use `memory` bytes. */
bool profile_exceeds(const struct profile *profile, uint64_t memory);

/* True if the entry stands for others, which the full profile did not take. */
bool profile_process_is_left_out(const struct profile *profile, process_id id);

/* True if the full profile has left out the callers of the sample, its process or its peer. */
bool profile_has_left_out(const struct profile *profile, const struct sample *sample);
