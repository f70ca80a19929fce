// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>

#include "util/steering_signals.h"
#include "util/stop.h"

static void handle_unless_ignored(int signal, const struct sigaction *action)
{
    struct sigaction before;

    if (sigaction(signal, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(signal, action, NULL);
}

/* A limit of file sizes (ulimit -f) is an error of writing. */
static void ignore_file_limit(void)
{
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
}

void signals_end_recording(void)
{
    struct sigaction action = {.sa_handler = stop_request};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    handle_unless_ignored(SIGHUP, &action);
    handle_unless_ignored(SIGQUIT, &action);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    ignore_file_limit();
}

void signals_steer_recording(void)
{
    struct sigaction action = {.sa_handler = steering_signals_note_pause, .sa_flags = SA_RESTART};

    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = steering_signals_note_snapshot;
    sigaction(SIGUSR2, &action, NULL);
}

void signals_end_program(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        handle_unless_ignored(ends[i], &(struct sigaction){.sa_handler = stop_now});
    ignore_file_limit();
}
