// SPDX-License-Identifier: Apache-2.0
#include "agent/http/metric_text.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static const char TOTAL[] = "_total";

/* Prometheus lists formats with weights. The list has OpenMetrics if Prometheus can read it. */
bool metric_text_is_open(const char *accept)
{
    return accept && strcasestr(accept, "application/openmetrics-text");
}

/* The size of a family's name. */
static int name_size(const struct metric_text *out, const struct metric_family *family)
{
    size_t size = strlen(family->name), total = strlen(TOTAL);

    if (out->is_open && size > total && !strcmp(family->name + size - total, TOTAL))
        size -= total;
    return (int)size;
}

void metric_text_family(const struct metric_text *out, const struct metric_family *family)
{
    int size = name_size(out, family);

    buffer_format(out->text, "# HELP %.*s %s\n# TYPE %.*s %s\n", size, family->name, family->help,
                  size, family->name, family->type);
}

void metric_text_put(const struct metric_text *out, const struct metric_family *family,
                     const char *suffix, const char *labels, double value)
{
    buffer_format(out->text, "%s%s", family->name, suffix);
    if (*labels)
        buffer_format(out->text, "{%s}", labels);
    if (value == floor(value) && fabs(value) < 0x1p53)
        buffer_format(out->text, " %.0f\n", value);
    else
        buffer_format(out->text, " %.12g\n", value);
}

void metric_text_label(struct buffer *labels, const char *name, const char *value)
{
    buffer_format(labels, "%s%s=\"", labels->size ? "," : "", name);
    for (; *value; value++) {
        if (*value == '\n') {
            buffer_text(labels, "\\n");
            continue;
        }
        if (*value == '"' || *value == '\\')
            buffer_byte(labels, '\\');
        buffer_byte(labels, *value);
    }
    buffer_byte(labels, '"');
}

void metric_text_end(const struct metric_text *out)
{
    if (out->is_open)
        buffer_text(out->text, "# EOF\n");
}
