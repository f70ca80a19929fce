// SPDX-License-Identifier: Apache-2.0
/*
 * The profile: everything that was seen, each thing stored once.
 *
 * Strings, modules, frames, stacks, events, ancestors, processes, threads and targets are interned:
 * the same content gives the same id, ids are dense, start at 1 (0 is "none") and never change, and
 * an entry only refers to entries with lower ids of its own kind or to other tables. So the tables
 * can be written as a stream (profile/recording.h) and memory grows with distinct content, not with
 * samples.
 *
 * A stack is a node of a tree: (parent, frame). Node 0 is the root; the node that is deepest in
 * the tree is the leaf of the stack. A sample holds one node.
 *
 *      0 ── lists:map/2 ── foo:bar/1 ── [kernel] ...
 *      root side                        leaf side
 *
 * Stacks do not hold who ran: processes, status and scheduler are fields of the sample, and
 * become root frames when a view is made (profile/view.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/metrics.h"
#include "profile/unit.h"

typedef uint32_t string_id;
typedef uint32_t module_id;
typedef uint32_t frame_id;
typedef uint32_t stack_id;
typedef uint32_t event_id;
typedef uint32_t process_id;
typedef uint32_t ancestor_id;
typedef uint32_t thread_id;
typedef uint32_t target_id;

/* What machine code is in: a file, the kernel, or a module of that. */
struct module {
    string_id path;     /* as perf calls the dso: "/usr/lib/libc.so.6", "[kernel.kallsyms]" */
    string_id build_id; /* the GNU build id, lower-case hexadecimal; 0: not known */
};

enum frame_kind {
    FRAME_ERLANG = 1, /* a function in loaded code */
    FRAME_BIF,        /* a BIF or NIF as called from Erlang (its C code is FRAME_NATIVE) */
    FRAME_RUNTIME,    /* code fragment of the JIT itself, such as global::call_bif_shared */
    FRAME_NATIVE,     /* machine code of the VM, a NIF or driver, or a library */
    FRAME_KERNEL,
    FRAME_MARK, /* no code: "[N words truncated]" and the like */
};

/* Content of a frame; strings as ids. `symbol` is final text ("lists:map/2", "Enum.map/2",
 * "memcpy", "beam.smp+0x1234"). `module` is 0 for Erlang code, `file` and `line` are where not
 * known. `address` is where the symbol starts, not where the sample was, so that equal stacks are
 * equal. */
struct frame {
    uint64_t address;
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

/* What samples are taken of (profile/events.h lists them). Each sample of the event has a number
 * for each of its values; the first is the one that counts where none is asked for. */
struct event_entry {
    string_id name;       /* "cpu", "gc", "bif:erlang:term_to_binary/1" */
    uint32_t value_count; /* 1..EVENT_VALUES */
    struct event_value {
        string_id name; /* "time" */
        uint32_t unit;  /* enum unit */
    } values[EVENT_VALUES];
};

/* What started a process, as proc_lib keeps it in `$ancestors`: a chain like that of a stack, the
 * outermost supervisor being its root. */
struct ancestor {
    ancestor_id up; /* its own ancestors; 0: none */
    string_id name; /* registered, when the process was started; else its pid */
};

/* An Erlang process as it looked when sampled; a new entry when a name changes. */
struct process_entry {
    uint64_t identity; /* the pid term's bits: tells apart processes with equal text */
    target_id target;
    string_id pid;          /* "<0.85.0>" */
    string_id name;         /* registered name, or 0 */
    string_id label;        /* process label, or 0 */
    string_id initial_call; /* "my_server:init/1", or 0 */
    string_id application;  /* that it belongs to, or 0 */
    process_id parent;      /* who spawned it; 0: nobody, or not known */
    ancestor_id ancestors;  /* the nearest one; 0: none */
};

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
    uint16_t scheduler_number; /* 1.. within its kind, 0 if none */
};

/* A VM that was profiled. Texts are 0 where not known. */
struct target_entry {
    uint32_t pid;
    uint32_t schedulers, dirty_cpu_schedulers, dirty_io_schedulers;
    uint32_t processes; /* when attached */
    string_id node, otp_release, erts, flavor, executable, container;
    string_id layout; /* where struct layouts came from: "dwarf" or "table" */
    string_id host;   /* of a recording of several hosts; else the recording's is meant */
};

/* Process status as process_info(status) would name it. */
enum process_status {
    STATUS_NONE = 0, /* no process ran */
    STATUS_RUNNING,
    STATUS_RUNNABLE,
    STATUS_WAITING,
    STATUS_SUSPENDED,
    STATUS_EXITING,
    STATUS_GARBAGE_COLLECTING,
    STATUS_FREE,
    STATUS_COUNT,
};
const char *process_status_name(enum process_status status); /* "running", ... */

/* What a thread did that ran no Erlang process. */
enum activity {
    ACTIVITY_PROCESS = 0, /* it ran one */
    ACTIVITY_SCHEDULING,  /* picks work, moves between run queues */
    ACTIVITY_BUSY_WAIT,   /* spins, waiting for work */
    ACTIVITY_SLEEP,       /* goes to sleep or wakes up */
    ACTIVITY_CHECK_IO,    /* polls file descriptors */
    ACTIVITY_PORT,        /* runs a port task; the port's name is sample.detail */
    ACTIVITY_AUX_WORK,    /* delayed frees, thread progress, timers */
    ACTIVITY_ASYNC,       /* async thread of a driver */
    ACTIVITY_POLL,        /* poll thread */
    ACTIVITY_OTHER,       /* any other thread; told by the thread's name */
    ACTIVITY_COUNT,
};
const char *activity_name(enum activity activity); /* "busy-wait", ... */

enum sample_flag {
    SAMPLE_ERLANG = 1 << 0,    /* an Erlang process ran */
    SAMPLE_COMPLETE = 1 << 1,  /* its stack was walked to the bottom frame */
    SAMPLE_TRUNCATED = 1 << 2, /* the middle of its stack was too deep to copy */
    SAMPLE_NO_LEAF = 1 << 3,   /* frames on the leaf side are known to be missing */
    SAMPLE_NAMED = 1 << 4,     /* who ran is told by the frames at the root of its stack */
    /* Of the metric that an output shows, if it shows changes; not recorded. */
    SAMPLE_GROWTH = 1 << 5,
    SAMPLE_RELEASE = 1 << 6,
};

struct sample {
    uint64_t time;                 /* ns, CLOCK_MONOTONIC */
    uint64_t values[EVENT_VALUES]; /* that the sample stands for, as its event defines them */
    event_id event;
    stack_id stack;
    process_id process; /* 0: none ran */
    process_id peer;    /* the other one: who woke this one, who receives; 0: none, or not known */
    thread_id thread;
    string_id detail; /* port name, or 0 */
    uint16_t cpu;
    uint8_t status;         /* enum process_status */
    uint8_t activity;       /* enum activity */
    uint8_t microstate;     /* enum microstate (profile/microstates.h) */
    uint8_t flags;          /* enum sample_flag */
    struct metrics metrics; /* of the process; nothing is known where none ran */
    uint64_t change;        /* by how much its metric has grown, or was released: as the flags */
};

/* Things lost, counted by reason; one list for the whole program. */
enum loss {
    LOSS_RING_FULL,        /* sample dropped: the ring buffer was full */
    LOSS_BAD_SAMPLE,       /* sample dropped: its bytes make no sense */
    LOSS_STACK_INCOMPLETE, /* Erlang stack did not reach the process' bottom frame */
    LOSS_STACK_TRUNCATED,  /* middle of the stack was too deep to copy */
    LOSS_STACK_POINTER,    /* exact Erlang stack pointer not known */
    LOSS_NATIVE_UNWIND,    /* native part not unwound down to Erlang code or the thread's start */
    LOSS_UNKNOWN_ERLANG,   /* frame: Erlang code address without a name */
    LOSS_UNKNOWN_NATIVE,   /* frame: native address without a symbol, shown as file+offset */
    LOSS_KERNEL_STACK,     /* kernel stack cut or not available */
    LOSS_OUT_OF_ORDER,     /* sample's time moved forward to keep the order */
    LOSS_KERNEL_ENTRY,     /* stack not known: an NMI hit the entry to the kernel */
    LOSS_CLOCK_STOPPED,    /* the guard stopped CPU sampling (wire.h) */
    LOSS_COUNT,
};
const char *loss_name(enum loss loss);     /* "ring_full": the key in JSON */
const char *loss_sentence(enum loss loss); /* for people */

struct profile;

struct profile *profile_new(void);
void profile_free(struct profile *profile);

/* Intern; the id of the equal entry if there is one. Strings need no NUL at the end and are made
 * valid UTF-8 (bad bytes become U+FFFD) without control characters. */
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

/* Look up by id; the id must be one that was handed out (1..count). Pointers are valid until the
 * next call that interns the same kind, texts until the profile is freed. */
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

/* How many of each there are (the highest id). */
struct profile_counts {
    uint32_t strings, modules, frames, stacks, events, ancestors, processes, threads, targets;
};
struct profile_counts profile_counts(const struct profile *profile);
