// SPDX-License-Identifier: Apache-2.0
#include "session/trigger.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beam/process_sweep.h"
#include "session/options.h"
#include "util/alloc.h"

static const struct trigger_syntax {
    const char *name;
    enum trigger_kind kind;
    const char *unit; /* units that may follow the number */
} kinds[] = {
    {"cpu", TRIGGER_CPU, "%"},
    {"gc", TRIGGER_GC, "%"},
    {"memory", TRIGGER_MEMORY, "kMG"},
    {"runq", TRIGGER_RUNQ, ""},
};

static int no_such(const char *text, struct error *error)
{
    return error_set(
        error, ERROR_USAGE,
        "there is no trigger '%s'; the triggers are: cpu>PERCENT%%, gc>PERCENT%%, memory>BYTES (k, "
        "M, G), runq>N, METRIC>N of any process, process NAME METRIC>N, exit. "
        "METRIC: " STRUCT_METRICS,
        text);
}

/* A copy without spaces at its ends, which the caller frees. */
static char *trimmed(const char *text, size_t size)
{
    while (size && *text == ' ') {
        text++;
        size--;
    }
    while (size && text[size - 1] == ' ')
        size--;
    return xstrndup(text, size);
}

/* Parse the number. `units` may follow it: a percent sign, letters of sizes, or none. */
static int parse_limit(const char *text, const char *units, const char *whole, double *limit,
                       struct error *error)
{
    char *end;
    double value = strtod(text, &end);
    const char *unit = *end && !end[1] ? strchr(units, *end) : NULL;

    if (end == text || (*end && !unit) || !isfinite(value) || value < 0)
        return error_set(error, ERROR_USAGE, "trigger '%s': '%s' is not a number%s", whole, text,
                         *units == '%' ? " (of percent)"
                         : *units      ? " (of bytes, or with k, M or G)"
                                       : "");
    if (unit && *units != '%')
        value = ldexp(value, 10 * (int)(unit - units + 1));
    *limit = value;
    return 0;
}

/* Parse "NAME METRIC". The name may contain spaces. */
static int parse_named(const char *text, struct trigger *trigger, struct error *error)
{
    const char *space = strrchr(text, ' ');
    char *name = space ? trimmed(text, (size_t)(space - text)) : xstrdup("");

    if (!name[0] || !metric_find(space + 1, &trigger->metric) ||
        !process_top_ranks(trigger->metric)) {
        free(name);
        return no_such(trigger->text, error);
    }
    trigger->kind = TRIGGER_PROCESS;
    trigger->process = name;
    return 0;
}

/* Parse what is compared. *units: units that may follow the number. */
static int parse_subject(const char *text, struct trigger *trigger, const char **units,
                         struct error *error)
{
    static const char process[] = "process ";

    *units = "";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(text, kinds[i].name) != 0)
            continue;
        trigger->kind = kinds[i].kind;
        *units = kinds[i].unit;
        return 0;
    }
    if (!strncmp(text, process, strlen(process)))
        return parse_named(text + strlen(process), trigger, error);
    trigger->kind = TRIGGER_PROCESS;
    if (!metric_find(text, &trigger->metric) || !process_top_ranks(trigger->metric))
        return no_such(trigger->text, error);
    return 0;
}

int trigger_parse(const char *text, struct trigger *trigger, struct error *error)
{
    /* The last '>': a pid ends in one, too. */
    const char *sign = strrchr(text, '>'), *units;
    char *subject, *limit;
    int result;

    *trigger = (struct trigger){.text = text};
    if (!strcmp(text, "exit")) {
        trigger->kind = TRIGGER_EXIT;
        return 0;
    }
    if (!sign)
        return no_such(text, error);
    subject = trimmed(text, (size_t)(sign - text));
    limit = trimmed(sign + 1, strlen(sign + 1));
    result = parse_subject(subject, trigger, &units, error);
    if (!result)
        result = parse_limit(limit, units, text, &trigger->limit, error);
    free(subject);
    free(limit);
    if (result)
        trigger_free(trigger);
    return result;
}

void trigger_free(struct trigger *trigger)
{
    free(trigger->process);
    trigger->process = NULL;
}
