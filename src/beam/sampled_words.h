// SPDX-License-Identifier: Apache-2.0
/*
 * The words of the VM's structs that a sample contains. The kernel side copies no other words,
 * because the cost of a sample grows with its bytes (docs/measurements.md, "Overhead"). A field of
 * Process or ErtsSchedulerData that is read from a sample must be listed here.
 */
#pragma once

#include "beam/layout.h"
#include "wire.h"

struct wire_words sampled_process_words(const struct layout *layout);
struct wire_words sampled_scheduler_words(const struct layout *layout);
