// SPDX-License-Identifier: Apache-2.0
/*
 * Which words of a VM's structs are in a sample. The kernel side hands over these and no others,
 * for what a sample costs grows with its bytes (docs/measurements.md, "Overhead"). A field of
 * Process or ErtsSchedulerData that is read from a sample has to be listed here.
 */
#pragma once

#include "beam/layout.h"
#include "wire.h"

struct wire_words sampled_process_words(const struct layout *layout);
struct wire_words sampled_scheduler_words(const struct layout *layout);
