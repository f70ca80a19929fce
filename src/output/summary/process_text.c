// SPDX-License-Identifier: Apache-2.0
#include "output/summary/process_text.h"

void process_text(const struct profile *profile, process_id id, struct buffer *text)
{
    const struct process_entry *process = profile_get_process(profile, id);
    string_id name = process->name    ? process->name
                     : process->label ? process->label
                                      : process->initial_call;

    buffer_text(text, profile_text(profile, process->pid));
    if (name)
        buffer_format(text, " %.90s", profile_text(profile, name));
}
