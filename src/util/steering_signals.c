// SPDX-License-Identifier: Apache-2.0
#include "util/steering_signals.h"

volatile unsigned steering_signals_pause, steering_signals_snapshot;

void steering_signals_note_pause(int signal)
{
    (void)signal;
    steering_signals_pause++;
}

void steering_signals_note_snapshot(int signal)
{
    (void)signal;
    steering_signals_snapshot++;
}
