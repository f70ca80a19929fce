// SPDX-License-Identifier: Apache-2.0
#include "session/session_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "output/summary/summary_text.h"
#include "util/alloc.h"

void busiest_free(struct busiest *busiest)
{
    free(busiest->samples);
}

void busiest_count(struct busiest *busiest, process_id process)
{
    if (!process)
        return;
    busiest->samples = xgrow(busiest->samples, &busiest->room, process, sizeof(*busiest->samples));
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
        struct buffer text = {0};

        summary_text_of_process(profile, who, &text);
        snprintf(busiest->name, sizeof(busiest->name), "%.*s", (int)text.size, text.data);
        buffer_free(&text);
        busiest->share = (double)most / busiest->total;
    }
    busiest->total = 0;
}
