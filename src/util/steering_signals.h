// SPDX-License-Identifier: Apache-2.0
/* Signals that steer a recording. The main loop compares the counts with those it knows. */
#pragma once

/* Signals to pause, or to resume if the recording is paused. */
extern volatile unsigned steering_signals_pause;

/* Signals to write a snapshot. */
extern volatile unsigned steering_signals_snapshot;

/* Handlers of SIGUSR1 and SIGUSR2. */
void steering_signals_note_pause(int signal);
void steering_signals_note_snapshot(int signal);
