// SPDX-License-Identifier: Apache-2.0
#include "session/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/alloc.h"

void findings_cut(struct findings *findings, size_t count)
{
    for (; findings->count > count; findings->count--) {
        const struct finding *last = &findings->all[findings->count - 1];

        free(last->check);
        free(last->found);
        free(last->advice);
    }
}

void findings_free(struct findings *findings)
{
    findings_cut(findings, 0);
    free(findings->all);
    *findings = (struct findings){0};
}

static char *print(const char *format, va_list args)
{
    char text[1024]; /* longer than the text of an error */

    vsnprintf(text, sizeof(text), format, args);
    return xstrdup(text);
}

/* Takes `found`. */
static void add(struct findings *findings, const char *check, enum finding_status status,
                enum error_code code, const char *advice, char *found)
{
    findings->all = xgrow(findings->all, &findings->room, findings->count, sizeof(*findings->all));
    findings->all[findings->count++] = (struct finding){
        .check = xstrdup(check),
        .status = status,
        .found = found,
        .advice = xstrdup(advice),
        .code = code,
    };
}

void findings_ok(struct findings *findings, const char *check, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(findings, check, FINDING_OK, ERROR_NONE, "", print(format, args));
    va_end(args);
}

void findings_warning(struct findings *findings, const char *check, const char *advice,
                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(findings, check, FINDING_WARNING, ERROR_NONE, advice, print(format, args));
    va_end(args);
}

void findings_missing(struct findings *findings, const char *check, enum error_code code,
                      const char *advice, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(findings, check, FINDING_MISSING, code, advice, print(format, args));
    va_end(args);
}

enum error_code findings_worst(const struct findings *findings)
{
    enum error_code worst = ERROR_NONE;

    for (size_t i = 0; i < findings->count; i++)
        if (findings->all[i].code > worst)
            worst = findings->all[i].code;
    return worst;
}

const char *finding_status_name(enum finding_status status)
{
    static const char *const names[] = {
        [FINDING_OK] = "ok",
        [FINDING_WARNING] = "warning",
        [FINDING_MISSING] = "missing",
    };

    return names[status];
}
