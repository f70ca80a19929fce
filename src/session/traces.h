// SPDX-License-Identifier: Apache-2.0
/* Finds out whether a target uses OpenTelemetry, and has its traces read from then on. */
#pragma once

#include "capture/programs.h"
#include "session/target.h"

/* Call about once a second: a VM can load OpenTelemetry at any time. */
void traces_look(struct programs *programs, struct target *target);
