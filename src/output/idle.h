// SPDX-License-Identifier: Apache-2.0
/* Idle processes in event wall: they would hide all others, so graphs and tables leave them out and
 * report the share of the time that they leave out. Lists of samples keep them
 * (output_format.lists_idle). */
#pragma once

#include "output/output.h"
#include "util/buffer.h"

/* True if graphs and tables leave the sample out. */
bool idle_is_left_out(const struct output_source *source, const struct sample *sample);

/* Count a selected sample. */
void idle_count(const struct output_source *source, const struct sample *sample,
                struct recording_idle *idle);

/* Append what an output leaves out: "98.9 % of the time is idle: left out, --idle shows it". Append
 * nothing if it leaves nothing out. */
void idle_text(const struct output_source *source, const struct recording_totals *totals,
               struct buffer *text);
