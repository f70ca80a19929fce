// SPDX-License-Identifier: Apache-2.0
/* What signals that end programs do to this one. Those that whoever started the program has ignored
 * (nohup) stay ignored, apart from SIGINT and SIGTERM for a recording. */
#pragma once

/* End the recording, which is then written (util/stop.h). So does the end of a terminal. A pipe
 * without a reader is an error of writing. */
void signals_end_recording(void);

/* End the program at once, without temporary files. */
void signals_end_program(void);
