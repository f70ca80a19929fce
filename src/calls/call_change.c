// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "beam/function_name.h"
#include "calls/call_watch_internal.h"
#include "util/clock.h"

/* Functions, by number. */
struct function_numbers {
    uint32_t of[WIRE_CALL_FUNCTIONS];
    size_t count;
};

static struct function_numbers counted_now(const struct call_watch *watch)
{
    struct function_numbers numbers;
    const uint32_t *functions = call_windows_functions(watch->windows, &numbers.count);

    memcpy(numbers.of, functions, numbers.count * sizeof(*functions));
    return numbers;
}

static bool is_counted(const struct call_watch *watch, const struct function_numbers *numbers,
                       const char *symbol)
{
    for (size_t i = 0; i < numbers->count; i++)
        if (!strcmp(watch->functions.of[numbers->of[i]].symbol, symbol))
            return true;
    return false;
}

/* ---- functions that come ---- */

/* Give a function the next number. */
static int number_function(struct call_watch *watch, const struct counted_function *function,
                           struct error *error)
{
    uint32_t number = (uint32_t)watch->functions.count;

    if (number == WIRE_CALL_FUNCTIONS)
        return error_set(error, ERROR_USAGE,
                         "a run counts at most %d functions, with those that were removed: begin "
                         "another one",
                         WIRE_CALL_FUNCTIONS);
    call_functions_add(&watch->functions, function);
    call_watch_find_entries(watch, number);
    if (watch->entry_counts[number])
        return 0;
    return error_set(error, ERROR_UNSUPPORTED,
                     "the entry of %s can't be found: the VM has no name before it",
                     function->symbol);
}

/* Append the functions that are not counted now. A function that was counted before gets another
 * number: each number has one time in which it was counted. */
static int append_new(struct call_watch *watch, const struct call_functions *found,
                      struct function_numbers *numbers, struct error *error)
{
    size_t before = numbers->count;

    for (size_t i = 0; i < found->count; i++) {
        if (is_counted(watch, numbers, found->of[i].symbol))
            continue;
        if (number_function(watch, &found->of[i], error))
            return -1;
        numbers->of[numbers->count++] = (uint32_t)watch->functions.count - 1;
    }
    if (numbers->count > before)
        return 0;
    return error_set(error, ERROR_USAGE, "%s is counted already", found->of[0].symbol);
}

static int append_named(struct call_watch *watch, const char *text,
                        struct function_numbers *numbers, struct error *error)
{
    struct call_functions found = {0};
    struct function_name name;
    int result;

    if (function_name_parse(text, &name, error))
        return -1;
    result = call_functions_find(watch->vm, watch->code, &name, 1, &found, error);
    if (!result && watch->followed)
        result = call_functions_check_returns(&found, error);
    if (!result)
        result = append_new(watch, &found, numbers, error);
    call_functions_free(&found);
    return result;
}

int call_watch_add(struct call_watch *watch, const char *name, struct error *error)
{
    struct function_numbers numbers = counted_now(watch);
    int failed = append_named(watch, name, &numbers, error);

    call_rates_functions(watch->rates, (uint32_t)watch->functions.count);
    return failed ? 1 : call_windows_change(watch->windows, numbers.of, numbers.count, error);
}

/* ---- functions that leave ---- */

static int take_out(const struct call_watch *watch, const char *text,
                    struct function_numbers *numbers, struct error *error)
{
    struct function_name name;
    size_t before = numbers->count;

    if (function_name_parse(text, &name, error))
        return -1;
    numbers->count = 0;
    for (size_t i = 0; i < before; i++)
        if (!function_name_matches(&name, watch->functions.of[numbers->of[i]].symbol))
            numbers->of[numbers->count++] = numbers->of[i];
    if (numbers->count == before)
        return error_set(error, ERROR_USAGE, "%s is not counted", text);
    if (!numbers->count)
        return error_set(error, ERROR_USAGE,
                         "no function would be left: 'beamflame ctl stop' ends the count");
    return 0;
}

int call_watch_remove(struct call_watch *watch, const char *name, struct error *error)
{
    struct function_numbers numbers = counted_now(watch);

    return take_out(watch, name, &numbers, error)
               ? 1
               : call_windows_change(watch->windows, numbers.of, numbers.count, error);
}

/* ---- status ---- */

struct call_watch_status call_watch_status(const struct call_watch *watch)
{
    struct function_numbers numbers = counted_now(watch);
    struct call_watch_status status = {
        .seconds = (double)(clock_ns(CLOCK_MONOTONIC) - watch->began) / 1e9,
        .hits = call_counter_hits(watch->counter),
        .count = numbers.count,
        .groups = call_windows_groups(watch->windows),
        .pid = watch->vm->pid,
    };

    for (size_t i = 0; i < numbers.count; i++)
        status.functions[i] = watch->functions.of[numbers.of[i]].symbol;
    return status;
}
