// SPDX-License-Identifier: Apache-2.0
/* The start of a test program that attaches probes. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/calibration.h"

/* Calibrate. If that is not possible, print the result of the program as TAP, set its exit code and
 * return false. */
static inline bool calibrated(struct calibration *calibration, int *ret_code)
{
    struct error error = {0};

    *ret_code = 0;
    if (geteuid() != 0) {
        puts("1..0 # SKIP probes want root");
        return false;
    }
    if (calibrate(calibration, &error) == 0)
        return true;
    printf("1..1\nnot ok 1 - %s\n", error.text);
    *ret_code = 1;
    return false;
}
