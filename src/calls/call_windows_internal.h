// SPDX-License-Identifier: Apache-2.0
/* What the files of call_windows.h share. */
#pragma once

#include "budget/budget.h"
#include "budget/windows.h"
#include "calls/call_windows.h"

enum {
    CALL_WINDOWS_GROUP = 0, /* the budget's only group: all breakpoints */
    CALL_WINDOWS_GROUPS = WIRE_CALL_FUNCTIONS,
};

/* The VM at one moment. */
struct call_moment {
    uint64_t time, work;
};

/* A function that is counted, or was. */
struct windowed_function {
    struct call_moment began, ended; /* when it came and left; time 0: it has not */
    struct call_moment opened;       /* when its window opened, */
    uint64_t opened_calls, calls;    /* and its calls until then, and at the last look */
    bool is_scaled;                  /* some of its calls were not counted */
    struct estimate estimate;
};

struct call_windows {
    struct call_windows_options options;
    struct budget *budget; /* NULL: no limit */
    enum vm_counter counter_of_work;
    struct call_moment began, opened, ended;
    bool is_open, is_scaled;
    double cost;     /* of hits, when last paid for, ns */
    uint64_t earned; /* the time of the last income */
    uint64_t cpu;    /* of the VM, ns */
    uint64_t count;
    double covered_ns, longest_ns;
    uint32_t listed[WIRE_CALL_FUNCTIONS]; /* the functions that are counted, by group */
    size_t listed_count;
    uint32_t group, groups;
    uint32_t order[CALL_WINDOWS_GROUPS];                     /* the groups of this round, */
    uint32_t at;                                             /* and the next one's place */
    struct windowed_function functions[WIRE_CALL_FUNCTIONS]; /* by number */
};

/* Look at the VM. Calls come with reductions more evenly than with time: hits slow the VM down. */
struct call_moment call_windows_look(const struct call_windows *windows, uint64_t now);
/* The same; and look at the calls of the group. */
struct call_moment call_windows_look_at_group(struct call_windows *windows, uint64_t now);

/* Count these functions in place of those of before, in groups. */
void call_windows_list(struct call_windows *windows, const uint32_t *functions, size_t count);
/* From now on the numbers of calls of the listed functions are estimates. */
void call_windows_scale_all(struct call_windows *windows);
/* The function is counted from now on. */
void call_windows_begin_function(struct call_windows *windows, uint32_t function,
                                 struct call_moment now);

/* Set the breakpoints of a group. */
int call_windows_arm(struct call_windows *windows, uint32_t group, struct error *error);

/* Open the counter for the next group. Each call stands for `scale` calls of its group. */
int call_windows_open(struct call_windows *windows, double scale, struct error *error);
/* Close the counter, and report it to the budget. */
void call_windows_close(struct call_windows *windows);
/* Close the counter. The budget does not know: its own window continues. */
void call_windows_end_turn(struct call_windows *windows);

/* End the window of a function whose calls were just read. The window stands for its own time and
 * for `unseen` ns. */
void call_windows_end_window(const struct call_windows *windows, struct windowed_function *function,
                             const struct call_moment *end, double unseen);

/* Pay for what has happened since this CPU time of the thread, while the counter is open. */
void call_windows_pay(struct call_windows *windows, uint64_t cpu);

/* True while the counter is open, and is to stay so. */
bool call_windows_stay_open(const struct call_windows *windows);
