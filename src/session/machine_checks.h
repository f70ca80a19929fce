// SPDX-License-Identifier: Apache-2.0
/* Checks of the kernel and its settings, and of what this process may do. */
#pragma once

#include "session/findings.h"

void machine_checks(struct findings *findings);
