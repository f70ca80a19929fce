// SPDX-License-Identifier: Apache-2.0
/*
 * What a sample counts in outputs that count samples: 1, or more for a sample that stands for more
 * time than one period of the sampling frequency (as when only part of the time was observed).
 * So all formats agree, and numbers stay numbers of samples where all are alike.
 */
#pragma once

#include "profile/recording.h"

static inline uint64_t sample_count(const struct recording_header *header,
                                    const struct sample *sample)
{
    uint64_t period = header->frequency ? 1000000000u / header->frequency : 0;
    uint64_t count =
        period ? sample->values[0] / period + (sample->values[0] % period >= period / 2) : 1;

    return count ? count : 1;
}
