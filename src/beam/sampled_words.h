// SPDX-License-Identifier: Apache-2.0
/* The words of the VM's structs that a sample contains: those that wire_fields.h lists. */
#pragma once

#include "beam/layout.h"
#include "wire.h"

struct wire_words sampled_process_words(const struct layout *layout);
struct wire_words sampled_scheduler_words(const struct layout *layout);
