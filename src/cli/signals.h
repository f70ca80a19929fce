// SPDX-License-Identifier: Apache-2.0
/* What signals do that end a program or steer it. A signal that was ignored when the program
 * started (nohup) stays ignored, apart from SIGINT and SIGTERM during a recording. */
#pragma once

/* End the recording, which is then written (util/stop.h). So does the end of a terminal. A pipe
 * without a reader is an error of writing. */
void signals_end_recording(void);

/* Pause the recording at SIGUSR1, and resume it at the next one; write a snapshot at SIGUSR2
 * (util/steering_signals.h). */
void signals_steer_recording(void);

/* End the program at once, without temporary files. */
void signals_end_program(void);
