// SPDX-License-Identifier: Apache-2.0
/* The units of values. */
#pragma once

enum unit {
    UNIT_COUNT = 1,
    UNIT_NS,
    UNIT_WORDS, /* of 8 bytes */
    UNIT_BYTES,
    UNIT_END,
};
const char *unit_name(enum unit unit); /* "count", "ns", ... */
