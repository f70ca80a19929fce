// SPDX-License-Identifier: Apache-2.0
/* Descriptors whose close() may wait for a file server that does not answer (os/patient_open.h). */
#pragma once

#include <stdbool.h>

/* Close `fd` without waiting. This must be the only thread of the process: it gets another table of
 * descriptors. False if no process can be started; then `fd` stays open. */
bool descriptor_leave(int fd);
