// SPDX-License-Identifier: Apache-2.0
/* The process that writes the outputs of one segment. */
#pragma once

#include <stdnoreturn.h>

#include "rotation/segment_source.h"

/* Write the segment, and end this process, which fork() has just made. Its outputs are written by a
 * process of its own, with nothing (os/confined.h). If that dies, the recording is kept. */
noreturn void segment_writer_run(const struct segment_context *context,
                                 const struct segment_source *source);
