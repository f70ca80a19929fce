// SPDX-License-Identifier: Apache-2.0
#include "session/targets.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/capabilities.h"
#include "os/standard_input.h"
#include "os/user.h"
#include "util/log.h"

/* The child's report if it can't become the command. */
struct failure {
    bool of_user; /* it can't become the user */
    int code;     /* errno */
};

/* execve(2) gives signals with a handler their default action, and leaves ignored ones ignored. */
static void reset_signals(void)
{
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction action;

        if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN &&
            number != SIGHUP)
            sigaction(number, &by_default, NULL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Close all descriptors from 3 on, but `kept`. */
static void close_others(unsigned int kept)
{
    if (kept > STDERR_FILENO + 1)
        close_range(STDERR_FILENO + 1, kept - 1, 0);
    close_range(kept + 1, ~0u, 0);
}

/* Become the command, or report why that fails. `user` is NULL if the user stays. */
static void become(char **command, const struct user *user, int report)
{
    struct failure failure = {.of_user = true};

    reset_signals();
    standard_input_give_back();
    close_others((unsigned int)report);
    if (user ? user_become(user) == 0 : geteuid() == 0 || capabilities_keep(0) == 0) {
        if (user)
            user_set_environment(user);
        execvp(command[0], command);
        failure.of_user = false;
    }
    failure.code = errno;
    if (write(report, &failure, sizeof(failure)) < 0)
        _exit(126);
    _exit(127);
}

static int failed(const char *command, const struct user *user, const struct failure *failure,
                  struct error *error)
{
    if (!failure->of_user)
        return error_set(error, ERROR_FAILED, "can't start '%s': %s", command,
                         strerror(failure->code));
    return error_set(error, failure->code == EPERM ? ERROR_PERMISSION : ERROR_FAILED,
                     "can't start '%s' as user %s: %s%s", command,
                     user && user->name ? user->name : "of sudo", strerror(failure->code),
                     failure->code == EPERM ? " (run as root)" : "");
}

static pid_t start_as(char **command, const struct user *user, struct error *error)
{
    struct failure failure;
    int report[2];
    bool has_failed;
    pid_t child;

    if (pipe2(report, O_CLOEXEC))
        return error_set(error, ERROR_FAILED, "can't make a pipe: %s", strerror(errno));
    child = fork();
    if (child == 0)
        become(command, user, report[1]);
    close(report[1]);
    if (child < 0) {
        error_set(error, ERROR_FAILED, "can't start a process: %s", strerror(errno));
        close(report[0]);
        return -1;
    }
    has_failed = read(report[0], &failure, sizeof(failure)) == (ssize_t)sizeof(failure);
    close(report[0]);
    if (!has_failed)
        return child;
    waitpid(child, NULL, 0);
    return failed(command[0], user, &failure, error);
}

pid_t command_start(char **command, const char *user, struct error *error)
{
    struct user found = {0};
    bool changes = true;
    pid_t child;

    if (!user)
        changes = user_who_became_root(&found);
    else if (user_named(user, &found, error))
        return -1;
    if (changes && found.uid == geteuid() && found.uid == getuid()) {
        user_free(&found);
        changes = false;
    }
    if (changes)
        log_decision("targets", "'%s' runs as user %u (%s)", command[0], (unsigned int)found.uid,
                     user ? "--user" : "who became root to start beamflame");
    child = start_as(command, changes ? &found : NULL, error);
    user_free(&found);
    return child;
}
