// SPDX-License-Identifier: Apache-2.0
/* What signals do that end a program. A signal that was ignored when the program started
 * (nohup) stays ignored, apart from SIGINT and SIGTERM during a recording. */
#pragma once

/* End the recording, which is then written (util/stop.h). So does the end of a terminal. A pipe
 * without a reader is an error of writing. */
void signals_end_recording(void);

/* End the program at once, without temporary files. */
void signals_end_program(void);
