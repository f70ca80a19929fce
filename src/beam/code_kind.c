// SPDX-License-Identifier: Apache-2.0
#include "beam/code_kind.h"

#include <string.h>

#include "util/alloc.h"

enum code_kind code_kind_of(const char *module, const char *symbol)
{
    if (!strcmp(module, "erts_beamasm"))
        return CODE_FRAGMENT;
    if (strstr(symbol, "::code"))
        return CODE_HEADER;
    return strstr(symbol, "::") ? CODE_FRAGMENT : CODE_FUNCTION;
}

enum match { WHOLE, START, PART, END };

static bool matches(const char *symbol, enum match match, const char *text)
{
    size_t length = strlen(symbol), size = strlen(text);

    switch (match) {
    case WHOLE:
        return !strcmp(symbol, text);
    case START:
        return !strncmp(symbol, text, size);
    case PART:
        return strstr(symbol, text);
    case END:
        break;
    }
    return length >= size && !strcmp(symbol + length - size, text);
}

enum fragment code_kind_of_fragment(const char *symbol)
{
    /* The first match counts. handle_call_fun_error, for a call of a term that is no fun, returns
     * what to call instead. */
    static const struct {
        enum match match;
        const char *text;
        enum fragment fragment;
    } names[] = {
        {WHOLE, "global::process_main", FRAGMENT_PROCESS_MAIN},
        {WHOLE, "erts_beamasm:run_process/3", FRAGMENT_RUN_PROCESS},
        {WHOLE, "global::garbage_collect", FRAGMENT_GARBAGE_COLLECT},
        {WHOLE, "global::i_test_yield_shared", FRAGMENT_TEST_YIELD},
        {WHOLE, "global::dispatch_return", FRAGMENT_DISPATCH_RETURN},
        {START, "global::call_light_bif", FRAGMENT_CALL_LIGHT_BIF},
        {START, "global::call_bif", FRAGMENT_CALL_BIF},
        {START, "global::call_nif", FRAGMENT_CALL_NIF},
        {START, "global::bs_init_bits", FRAGMENT_INIT_BITS},
        {START, "global::i_length_", FRAGMENT_LENGTH},
        {PART, "return_to_trace", FRAGMENT_TRACE},
        {PART, "return_time_trace", FRAGMENT_TIME_TRACE},
        {PART, "return_trace", FRAGMENT_RETURN_TRACE},
        {PART, "exception_trace", FRAGMENT_RETURN_TRACE},
        {PART, "call_trace_return", FRAGMENT_RETURN_TRACE},
        {PART, "_trace", FRAGMENT_TRACE},
        {WHOLE, "global::handle_call_fun_error", FRAGMENT_OTHER},
        {START, "global::handle_", FRAGMENT_RAISE},
        {START, "global::raise_", FRAGMENT_RAISE},
        {WHOLE, "global::process_exit", FRAGMENT_RAISE},
        {END, "_error_shared", FRAGMENT_RAISE},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (matches(symbol, names[i].match, names[i].text))
            return names[i].fragment;
    return FRAGMENT_OTHER;
}

static const char *symbol_of(const struct gdb_jit_module *symbols, uint32_t range)
{
    return symbols->strings + symbols->ranges[range].symbol;
}

static bool continues_in_next(const struct gdb_jit_module *symbols, uint32_t range)
{
    return range + 1 < symbols->range_count &&
           symbols->ranges[range + 1].start == symbols->ranges[range].end &&
           !strcmp(symbol_of(symbols, range + 1), symbol_of(symbols, range));
}

struct range_kind *code_kind_of_ranges(const char *module, const struct gdb_jit_module *symbols)
{
    struct range_kind *kinds = xcalloc((size_t)symbols->range_count + 1, sizeof(*kinds));

    for (uint32_t i = 0; i < symbols->range_count; i++) {
        const char *symbol = symbol_of(symbols, i);
        enum code_kind kind = code_kind_of(module, symbol);
        enum fragment fragment =
            kind == CODE_FRAGMENT ? code_kind_of_fragment(symbol) : FRAGMENT_NONE;

        kinds[i] = (struct range_kind){(uint8_t)kind, (uint8_t)fragment,
                                       kind == CODE_FUNCTION && continues_in_next(symbols, i)};
    }
    return kinds;
}
