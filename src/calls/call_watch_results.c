// SPDX-License-Identifier: Apache-2.0
#include "calls/call_watch_internal.h"

void call_watch_report(const struct call_watch *watch, struct call_report *report)
{
    call_report_make(&(struct call_results){&watch->functions, watch->counter, watch->windows,
                                            watch->names, watch->followed, watch->words,
                                            watch->splits, watch->slow, watch->arguments,
                                            watch->matches ? watch->has_pattern : NULL,
                                            watch->rates},
                     report);
}

const struct call_counter *call_watch_counter(const struct call_watch *watch)
{
    return watch->counter;
}

const struct call_windows *call_watch_windows(const struct call_watch *watch)
{
    return watch->windows;
}

enum caller_kind call_watch_caller(struct call_watch *watch, const struct wire_call_key *row,
                                   struct call_named *ret_caller)
{
    const struct wire_call_key caller = {.code = row->code, .who = row->caller};

    /* Callers of earlier code were named before it changed. */
    if (row->code == watch->code_number)
        call_names_see_caller(watch->names, &caller);
    return call_names_find_caller(watch->names, &caller, ret_caller);
}
