// SPDX-License-Identifier: Apache-2.0
#include "output/output.h"

#include "output/number_text.h"
#include "profile/events.h"
#include "util/number.h"

bool idle_is_left_out(const struct output_source *source, const struct sample *sample)
{
    return sample->status == STATUS_IDLE && sample->event == source->idle_event;
}

void idle_count(const struct output_source *source, const struct sample *sample,
                struct recording_idle *idle)
{
    if (sample->event != source->idle_event)
        return;
    idle->wall_ns = saturating_sum(idle->wall_ns, sample->values[WALL_TIME]);
    if (!idle_is_left_out(source, sample))
        return;
    idle->idle_ns = saturating_sum(idle->idle_ns, sample->values[WALL_TIME]);
    idle->samples++;
}

void idle_text(const struct output_source *source, const struct recording_totals *totals,
               struct buffer *text)
{
    const struct recording_idle *idle = &totals->idle;

    if (idle->samples && (!source->event || source->event == source->idle_event))
        buffer_format(text, "%.1f %% of the time is idle: left out, --idle shows it",
                      number_text_percent(idle->idle_ns, idle->wall_ns));
}
