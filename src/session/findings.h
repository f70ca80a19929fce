// SPDX-License-Identifier: Apache-2.0
/* The findings of the checks of the machine and of VMs, for `beamflame doctor`. */
#pragma once

#include <stddef.h>

#include "util/error.h"

enum finding_status {
    FINDING_OK,
    FINDING_WARNING, /* beamflame works, with a limit */
    FINDING_MISSING, /* beamflame does not work without it */
};

struct finding {
    char *check; /* "clocksource"; "vm 4711 gc" */
    enum finding_status status;
    char *found;
    char *advice;         /* what to do; "" if ok */
    enum error_code code; /* ERROR_NONE unless missing */
};

struct findings {
    struct finding *all;
    size_t count, room;
};

void findings_free(struct findings *findings);

/* Keep the first `count` findings only. */
void findings_cut(struct findings *findings, size_t count);

/* Append a finding. `format`... is what was found. */
void findings_ok(struct findings *findings, const char *check, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void findings_warning(struct findings *findings, const char *check, const char *advice,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));
void findings_missing(struct findings *findings, const char *check, enum error_code code,
                      const char *advice, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The highest code of a finding: 3 for a process that is not a VM, 4 for a missing permission, 5
 * for a kernel or VM that is not supported. */
enum error_code findings_worst(const struct findings *findings);

/* "ok", "warning", "missing". */
const char *finding_status_name(enum finding_status status);
