// SPDX-License-Identifier: Apache-2.0
#include "session/code_check.h"

#include <string.h>

#include "os/code_changes.h"
#include "os/probe_holder.h"
#include "util/buffer.h"

enum { SHOWN = 16 }; /* changes that are listed */

/* The changes as text: "beam.smp+0x1a2b: 55 is cc". */
struct list {
    struct buffer text;
    int count;
};

static void append_bytes(struct buffer *text, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size && i < CODE_CHANGE_BYTES; i++)
        buffer_format(text, "%s%02x", i ? " " : "", bytes[i]);
    if (size > CODE_CHANGE_BYTES)
        buffer_text(text, "...");
}

static void note(void *context, const struct code_change *change)
{
    struct list *list = context;
    const char *slash = strrchr(change->path, '/');

    if (list->count++ >= SHOWN)
        return;
    buffer_format(&list->text, "%s%s+0x%llx has ", list->count > 1 ? ", " : "",
                  slash ? slash + 1 : change->path, (unsigned long long)change->file_offset);
    append_bytes(&list->text, change->in_memory, change->size);
    buffer_text(&list->text, " for ");
    append_bytes(&list->text, change->in_file, change->size);
}

static int compare(pid_t pid, struct memory *memory, struct list *list,
                   struct code_comparison *comparison, struct error *error)
{
    struct mappings *mappings = mappings_new(pid, memory, error);

    if (!mappings)
        return -1;
    buffer_free(&list->text);
    list->count = 0;
    *comparison = code_compare(mappings, memory, note, list);
    buffer_byte(&list->text, '\0');
    mappings_free(mappings);
    return 0;
}

static void add_changes(struct findings *findings, const char *check, pid_t pid,
                        const struct list *list, const struct code_comparison *comparison)
{
    unsigned long long changes = comparison->changes, breakpoints = comparison->breakpoints;
    const char *more = changes > SHOWN ? ", ..." : "";
    char name[16];
    pid_t holder = probe_holder(pid, name, sizeof(name));

    if (holder)
        findings_warning(findings, check, "run this again when no profiler runs",
                         "%llu places differ from their files; probes may be attached now, by "
                         "process %d (%s): %s%s",
                         changes, (int)holder, name, list->text.data, more);
    else if (breakpoints == changes)
        findings_warning(findings, check,
                         "harmless; recording the same events again removes it, and so does the "
                         "end of the node (docs/safety.md)",
                         "%llu breakpoints are left over: %s%s", breakpoints, list->text.data,
                         more);
    else
        findings_warning(findings, check,
                         "find what has changed them (breakpoints are cc); a restart of the node "
                         "removes the changes",
                         "%llu places differ from their files, %llu by a breakpoint: %s%s", changes,
                         breakpoints, list->text.data, more);
}

void code_check(struct findings *findings, const char *check, pid_t pid, struct memory *memory)
{
    struct code_comparison comparison;
    struct list list = {0};
    struct error error;
    int result = compare(pid, memory, &list, &comparison, &error);

    /* Code that was loaded or unloaded meanwhile looks like a change. */
    if (result == 0 && comparison.changes)
        result = compare(pid, memory, &list, &comparison, &error);
    if (result)
        findings_warning(findings, check, "see the findings above", "not compared: %s", error.text);
    else if (comparison.changes)
        add_changes(findings, check, pid, &list, &comparison);
    else if (comparison.left_out || comparison.unread || !comparison.files)
        findings_warning(findings, check, "run as root",
                         "%d mappings equal their files; %d files can't be opened, %llu bytes "
                         "can't be read",
                         comparison.files, comparison.left_out,
                         (unsigned long long)comparison.unread);
    else
        findings_ok(findings, check, "equals its %d files (%llu KB)", comparison.files,
                    (unsigned long long)(comparison.bytes >> 10));
    buffer_free(&list.text);
}
