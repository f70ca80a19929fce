// SPDX-License-Identifier: Apache-2.0
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/terminal.h"
#include "os/descriptors.h"
#include "os/privileges.h"
#include "os/user.h"
#include "util/files.h"

/* Exit codes of a shell that can't run its command; the child has the second one without a pager.
 */
enum { CANNOT_RUN = 126, NOT_FOUND = 127 };

const struct command_option pager_option_list[] = {
    {"no-pager", 0, NULL, "Print a long text at once, not through a pager.", option_set_true, NULL,
     0},
    {0},
};

/* ---- which pager ---- */

/* Return the pager that the user chose, as a command of the shell; NULL: none. */
static const char *chosen_pager(void)
{
    const char *own = getenv("BEAMFLAME_PAGER");

    return own ? own : getenv("PAGER");
}

/* True for a value that switches the pager off. */
static bool is_no_pager(const char *command)
{
    return command && (!command[0] || !strcmp(command, "cat"));
}

static bool can_have_pager(void)
{
    const char *term = getenv("TERM");

    /* A pager in the background would be stopped when it reads the terminal. */
    return isatty(STDOUT_FILENO) && tcgetpgrp(STDOUT_FILENO) == getpgrp() && term && *term &&
           strcmp(term, "dumb") != 0 && !is_no_pager(chosen_pager());
}

/* ---- the process that becomes the pager ---- */

/* A value that the user set is kept. */
static void set_environment(void)
{
    setenv("LESS", "FRX", 0);
    setenv("LESSCHARSET", "utf-8", 0); /* what beamflame prints */
}

/* A pager starts programs and writes files as its user wants: it has the rights of who started
 * beamflame, also through sudo, and no others. */
static int become_caller(void)
{
    struct user user;

    if (setresgid(getgid(), getgid(), getgid()) || setresuid(getuid(), getuid(), getuid()))
        return -1;
    if (!user_who_became_root(&user))
        return 0;
    if (user_become(&user))
        return -1;
    user_set_environment(&user);
    user_free(&user);
    return 0;
}

static noreturn void become_pager(const struct pager *pager, int start, pid_t parent)
{
    int kept[] = {STDOUT_FILENO, STDERR_FILENO, pager->text, start};
    const char *command = chosen_pager();
    char byte;

    (void)descriptors_keep_only(kept, sizeof(kept) / sizeof(*kept));
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* less restores the terminal at this signal */
    if (getppid() != parent || read(start, &byte, 1) != 1)
        _exit(0);
    close(start);
    dup2(pager->text, STDIN_FILENO);
    lseek(STDIN_FILENO, 0, SEEK_SET);
    close(pager->text);
    if (become_caller())
        _exit(NOT_FOUND);
    privileges_give_up();
    set_environment();
    if (command)
        execl("/bin/sh", "sh", "-c", command, NULL);
    else
        execlp("less", "less", NULL);
    _exit(NOT_FOUND);
}

/* Fork the process. Return 0, or -1: there is no pager then. */
static int start_child(struct pager *pager)
{
    pid_t parent = getpid();
    int fds[2];

    if (pipe2(fds, O_CLOEXEC))
        return -1;
    pager->child = fork();
    if (pager->child == 0) {
        close(fds[1]);
        become_pager(pager, fds[0], parent);
    }
    close(fds[0]);
    pager->start = fds[1];
    if (pager->child > 0)
        return 0;
    close(fds[1]);
    return -1;
}

void pager_begin(struct pager *pager, bool off)
{
    *pager = (struct pager){.text = -1};
    if (off || !can_have_pager())
        return;
    pager->rows = (size_t)terminal_height(STDOUT_FILENO);
    pager->columns = terminal_width(STDOUT_FILENO);
    pager->text = pager->rows ? memfd_create("text", MFD_CLOEXEC) : -1;
    pager->terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (pager->text < 0 || pager->terminal < 0 || start_child(pager)) {
        close(pager->text);
        close(pager->terminal);
        pager->child = 0;
        return;
    }
    fflush(stdout);
    signal(SIGXFSZ, SIG_IGN); /* the limit is for files: a write that fails is reported */
    dup2(pager->text, STDOUT_FILENO);
}

/* ---- the text ---- */

/* Let the child become the pager, and wait for its end. Return false if there is no pager. */
static bool run_pager(const struct pager *pager)
{
    int status;

    if (write(pager->start, "", 1) != 1)
        return false;
    while (waitpid(pager->child, &status, 0) < 0)
        if (errno != EINTR)
            return true;
    return !WIFEXITED(status) || WEXITSTATUS(status) < CANNOT_RUN ||
           WEXITSTATUS(status) > NOT_FOUND;
}

/* Show the text by the pager. Return false if there is none. Keys that end or stop a program are
 * for the pager alone, which restores the terminal. */
static bool show(const struct pager *pager)
{
    bool is_shown;

    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN); /* Ctrl-C can have ended the child already */
    is_shown = run_pager(pager);
    signal(SIGINT, SIG_DFL); /* the text may have to be printed at once, which takes its time */
    signal(SIGQUIT, SIG_DFL);
    return is_shown;
}

/* Show the text. Return 0, or -1 with errno. */
static int put_text(const struct pager *pager, const char *text, size_t size)
{
    if (terminal_rows(text, size, pager->columns, pager->rows) >= pager->rows && show(pager))
        return 0;
    return files_write_all(pager->terminal, text, size);
}

int pager_end(struct pager *pager, int code)
{
    struct error error;
    off_t size;
    char *text;
    int failed = 0;

    if (!pager->child)
        return code;
    fflush(stdout);
    size = lseek(pager->text, 0, SEEK_END);
    text = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, pager->text, 0) : NULL;
    if (text && (text == MAP_FAILED || put_text(pager, text, (size_t)size)))
        failed = errno;
    if (text && text != MAP_FAILED)
        munmap(text, (size_t)size);
    close(pager->start);
    dup2(pager->terminal, STDOUT_FILENO);
    close(pager->terminal);
    close(pager->text);
    if (!failed)
        return code;
    error_set(&error, ERROR_FAILED, "can't write the text: %s", strerror(failed));
    return message_error(&error);
}
