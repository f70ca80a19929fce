// SPDX-License-Identifier: Apache-2.0
/*
 * Run a program whose system calls on files of one folder fail, as on a broken disk (EIO), on a
 * full one (ENOSPC) or beyond a user's quota (EDQUOT).
 *
 *      failing_calls CALL ERRNO AFTER FOLDER PROGRAM [ARGUMENT...]
 *
 * CALL is write, close, create or rename. The first AFTER bytes that are written, or calls of the
 * other kinds, succeed. The kernel asks this program about each such call
 * (SECCOMP_RET_USER_NOTIF), so calls from inside of the C library fail too.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS_MAX = 8 };

struct failure {
    const char *name;
    int calls[CALLS_MAX]; /* each with the descriptor, or the directory of the path, first */
    bool has_path;        /* the second argument is one */
};

static const struct failure failures[] = {
    {"write", {SYS_write, SYS_writev, SYS_pwrite64, SYS_copy_file_range}, false},
    {"close", {SYS_close}, false},
    {"create", {SYS_openat}, true},
    {"rename", {SYS_renameat, SYS_renameat2}, true},
};

static void check(bool is_right, const char *what)
{
    if (is_right)
        return;
    perror(what);
    exit(99);
}

/* Let the kernel ask about these calls; return the descriptor that gets its questions. */
static int ask(const struct failure *failure)
{
    struct sock_filter code[2 * CALLS_MAX + 2];
    unsigned short size = 0;
    int fd;

    code[size++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < CALLS_MAX && (i == 0 || failure->calls[i]); i++) {
        code[size++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                    (uint32_t)failure->calls[i], 0, 1);
        code[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    }
    code[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
    fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                      &(struct sock_fprog){size, code});
    check(fd >= 0, "seccomp");
    return fd;
}

/* Start the program; return the descriptor of the questions about its calls. */
static int start(const struct failure *failure, char **command, pid_t *ret_child)
{
    int *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int pidfd, questions;

    check(shared != MAP_FAILED, "mmap");
    *ret_child = fork();
    check(*ret_child >= 0, "fork");
    if (*ret_child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        __atomic_store_n(shared, ask(failure), __ATOMIC_SEQ_CST);
        while (__atomic_load_n(shared, __ATOMIC_SEQ_CST)) /* no call that it asks about */
            ;
        execvp(command[0], command);
        _exit(99);
    }
    while (!__atomic_load_n(shared, __ATOMIC_SEQ_CST))
        usleep(1000);
    pidfd = (int)syscall(SYS_pidfd_open, *ret_child, 0);
    questions = (int)syscall(SYS_pidfd_getfd, pidfd, *shared, 0);
    check(questions >= 0, "pidfd_getfd");
    __atomic_store_n(shared, 0, __ATOMIC_SEQ_CST);
    return questions;
}

/* The path of the file, or of the directory, that the call is about; "" if unknown. */
static void path_of(const struct failure *failure, const struct seccomp_notif *question, char *path,
                    size_t size)
{
    char link[64];
    int memory;
    ssize_t got;

    memset(path, 0, size);
    snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)question->pid, (int)question->data.args[0]);
    if ((int)question->data.args[0] != AT_FDCWD) {
        got = readlink(link, path, size - 1);
        path[got > 0 ? got : 0] = '\0';
        return;
    }
    if (!failure->has_path)
        return;
    snprintf(link, sizeof(link), "/proc/%d/mem", (int)question->pid);
    memory = open(link, O_RDONLY | O_CLOEXEC);
    (void)!pread(memory, path, size - 1, (off_t)question->data.args[1]);
    close(memory);
}

static bool is_meant(const struct failure *failure, const struct seccomp_notif *question,
                     const char *folder)
{
    char path[512];

    if (question->data.nr == SYS_openat && !(question->data.args[2] & O_CREAT))
        return false;
    path_of(failure, question, path, sizeof(path));
    return strncmp(path, folder, strlen(folder)) == 0;
}

static uint64_t weight(const struct seccomp_notif *question)
{
    return question->data.nr == SYS_write || question->data.nr == SYS_pwrite64
               ? question->data.args[2]
               : 1;
}

static void answer(const struct failure *failure, int questions, int code, const char *folder,
                   uint64_t *after)
{
    struct seccomp_notif question = {0};
    struct seccomp_notif_resp response = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

    if (ioctl(questions, SECCOMP_IOCTL_NOTIF_RECV, &question))
        return; /* the process was killed */
    if (is_meant(failure, &question, folder)) {
        uint64_t amount = weight(&question);

        if (amount > *after)
            response = (struct seccomp_notif_resp){.error = -code};
        *after -= amount > *after ? *after : amount;
    }
    response.id = question.id;
    ioctl(questions, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

int main(int argc, char **argv)
{
    const struct failure *failure = NULL;
    uint64_t after;
    int questions, status;
    pid_t child;

    for (size_t i = 0; argc > 5 && i < sizeof(failures) / sizeof(*failures); i++)
        if (!strcmp(failures[i].name, argv[1]))
            failure = &failures[i];
    if (!failure)
        return 2;
    after = strtoull(argv[3], NULL, 10);
    questions = start(failure, argv + 5, &child);
    while (waitpid(child, &status, WNOHANG) == 0)
        if (poll(&(struct pollfd){questions, POLLIN, 0}, 1, 20) > 0)
            answer(failure, questions, atoi(argv[2]), argv[4], &after);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
