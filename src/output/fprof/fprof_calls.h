// SPDX-License-Identifier: Apache-2.0
/*
 * What fprof counts: for each process, each pair of a caller and the function that it calls.
 *
 *   add... ──> sort ──> sections ──> free
 *
 * A path has each function of a stack once: a recursive call counts as the return to the first
 * call. So a stack counts once for each of its functions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "util/intern.h"
#include "view/view.h"

/* A function: a number from 1 on, or one of these. */
enum { FPROF_UNDEFINED = 0 }; /* the caller of a process's first function */
static const uint32_t FPROF_SUSPEND = UINT32_MAX, FPROF_COLLECT = UINT32_MAX - 1;

/* What the process did: it ran the last function of the stack, collected garbage, or did not run.
 */
enum fprof_kind { FPROF_OWN, FPROF_GC, FPROF_OFF };

struct fprof_pair {
    uint32_t process; /* a number of the caller's choice */
    uint32_t caller, callee;
};

struct fprof_cost {
    uint64_t samples, acc, own; /* with all callees; of the function itself */
};

/* Where the path has a function. */
struct fprof_place {
    uint32_t generation; /* of the path; another one: the path does not have it */
    uint32_t position;
};

struct fprof_calls {
    struct intern functions; /* const char *: names, which are borrowed */
    struct intern pairs;
    struct fprof_cost *costs; /* by id of the pair */
    size_t cost_room;
    uint32_t *path, generation;
    size_t path_count, path_room;
    struct fprof_place *places; /* by function */
    size_t place_room;
    uint32_t *by_callee, *by_caller; /* after fprof_calls_sort(): ids in the order of the writer */
};

void fprof_calls_init(struct fprof_calls *calls);
void fprof_calls_free(struct fprof_calls *calls);

/* A stack of a process, root first. Names are borrowed: equal ones must be the same pointer, as
 * those of one view are. */
struct fprof_stack {
    uint32_t process;
    const struct view_frame *frames;
    size_t count;
    enum fprof_kind kind;
};

/* Add the cost of a stack. False if it has no function of Erlang. */
bool fprof_calls_add(struct fprof_calls *calls, const struct fprof_stack *stack, uint64_t samples,
                     uint64_t cost);

/* The name of a function that is not one of the above. */
static inline const char *fprof_name(const struct fprof_calls *calls, uint32_t function)
{
    return *(const char *const *)intern_get(&calls->functions, function);
}

/* Sort the pairs by process and callee, and by process and caller; the costliest first within each.
 */
void fprof_calls_sort(struct fprof_calls *calls);

static inline const struct fprof_pair *fprof_pair_get(const struct fprof_calls *calls, uint32_t id)
{
    return intern_get(&calls->pairs, id);
}

/* A function of a process: its callers are by_callee[first...first + count - 1]. */
struct fprof_function {
    uint32_t number;
    size_t first, count;
    struct fprof_cost cost;
};

/* A process: its functions, the costliest first. */
struct fprof_section {
    uint32_t process;
    struct fprof_cost cost; /* sums of the functions; acc has no meaning */
    struct fprof_function *functions;
    size_t count;
    size_t first_pair, pair_count; /* in by_callee and in by_caller */
};

/* Return the sections, to be freed: those of the processes with the most own cost first. */
struct fprof_section *fprof_calls_sections(const struct fprof_calls *calls, size_t *ret_count);
void fprof_sections_free(struct fprof_section *sections, size_t count);

/* The pairs that a function of a section calls: by_caller[*ret_first...]. Returns their number. */
size_t fprof_section_called(const struct fprof_calls *calls, const struct fprof_section *section,
                            uint32_t function, size_t *ret_first);
