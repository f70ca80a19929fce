// SPDX-License-Identifier: Apache-2.0
#include "input/frame_kind.h"

/* True for "/tmp/perf-100.map", which contains code of a JIT. */
static bool is_map(struct span module)
{
    const char *base = memrchr(module.at, '/', module.size);
    struct span name = base ? span_skip(module, (size_t)(base - module.at) + 1) : module;
    uint64_t pid;

    if (!span_begins(name, "perf-"))
        return false;
    name = span_skip(name, strlen("perf-"));
    return span_take_number(&name, UINT64_MAX, &pid) && span_is(name, ".map");
}

enum frame_kind frame_kind_of_code(uint64_t address, struct span module)
{
    /* The upper half of addresses belongs to the kernel, on x86-64 and arm64. */
    if (address >> 63 || span_begins(module, "[kernel.") || span_begins(module, "[guest.kernel."))
        return FRAME_KERNEL;
    return is_map(module) ? FRAME_ERLANG : FRAME_NATIVE;
}

/* True for "lists:map/2", also with text after it. */
static bool is_function(struct span text)
{
    const char *colon = memchr(text.at, ':', text.size);
    const char *slash = memrchr(text.at, '/', text.size);

    return colon && slash && colon > text.at && slash > colon + 1 &&
           slash + 1 < text.at + text.size && is_digit(slash[1]);
}

enum frame_kind frame_kind_of_text(struct span text)
{
    if (span_begins(text, "["))
        return FRAME_MARK;
    if (span_ends(text, "_[k]")) /* stackcollapse-perf.pl --kernel */
        return FRAME_KERNEL;
    return is_function(text) || span_ends(text, "_[j]") ? FRAME_ERLANG : FRAME_NATIVE;
}
