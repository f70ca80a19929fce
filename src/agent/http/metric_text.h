// SPDX-License-Identifier: Apache-2.0
/*
 * The text formats of metrics: Prometheus's (exposition format 0.0.4), and OpenMetrics 1.0. In the
 * latter, a counter's family has its name without "_total", and "# EOF" is the last line.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/buffer.h"

struct metric_text {
    struct buffer *text;
    bool is_open; /* OpenMetrics */
};

/* A family of series. `type`: "gauge", "counter" or "histogram". Names of counters end with
 * "_total". */
struct metric_family {
    const char *name, *type, *help;
};

/* True if the header "Accept" asks for OpenMetrics. NULL: there is none. */
bool metric_text_is_open(const char *accept);

/* Begin a family: its series follow. */
void metric_text_family(const struct metric_text *out, const struct metric_family *family);

/* Write a number. `suffix` is added to the family's name, "" for none; `labels` is a list such as
 * `node="shop",le="1"`, "" for none. */
void metric_text_put(const struct metric_text *out, const struct metric_family *family,
                     const char *suffix, const char *labels, double value);

/* Append a label to a list of labels, which has no NUL at the end. */
void metric_text_label(struct buffer *labels, const char *name, const char *value);

void metric_text_end(const struct metric_text *out);
