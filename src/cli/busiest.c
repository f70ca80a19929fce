// SPDX-License-Identifier: Apache-2.0
#include "cli/busiest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

void busiest_free(struct busiest *busiest)
{
    free(busiest->samples);
}

void busiest_count(struct busiest *busiest, process_id process)
{
    if (!process)
        return;
    if (process >= busiest->room) {
        uint32_t room = process * 2;

        busiest->samples = xreallocarray(busiest->samples, room, sizeof(*busiest->samples));
        memset(busiest->samples + busiest->room, 0,
               (room - busiest->room) * sizeof(*busiest->samples));
        busiest->room = room;
    }
    busiest->samples[process]++;
    busiest->total++;
}

void busiest_note(struct busiest *busiest, const struct profile *profile)
{
    uint32_t most = 0;
    process_id who = 0;

    for (process_id id = 1; id < busiest->room; id++) {
        if (busiest->samples[id] > most) {
            most = busiest->samples[id];
            who = id;
        }
        busiest->samples[id] = 0;
    }
    busiest->name[0] = 0;
    if (who) {
        const struct process_entry *entry = profile_get_process(profile, who);
        string_id name = entry->name    ? entry->name
                         : entry->label ? entry->label
                                        : entry->initial_call;

        snprintf(busiest->name, sizeof(busiest->name), "%s %.90s",
                 profile_text(profile, entry->pid), profile_text(profile, name));
        busiest->share = (double)most / busiest->total;
    }
    busiest->total = 0;
}
