// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/call_filter.h"
#include "os/descriptors.h"
#include "test_folder.h"

/* What fails, or NULL. */
typedef const char *(*case_function)(void);

static bool refused(long result)
{
    return result == -1 && errno == ENOSYS;
}

/* Files can be made, written, mapped, listed, renamed and removed; memory grows. */
static const char *files_work(void)
{
    char text[4] = "";
    struct rlimit limit;
    FILE *file;
    int fd;

    file = fopen("x", "w");
    if (!file || fputs("abc", file) < 0 || fclose(file) || rename("x", "y"))
        return "write";
    fd = open("y", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, 3) != 3 || strcmp(text, "abc") != 0)
        return "read";
    if (mmap(NULL, 3, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
        return "mmap";
    free(malloc(100 << 20));
    if (isatty(fd) || errno != ENOTTY)
        return "isatty";
    if (getrlimit(RLIMIT_NOFILE, &limit) || close(fd) || unlink("y"))
        return "unlink";
    return NULL;
}

static const char *others_do_not(void)
{
    static char *const none[] = {NULL};
    struct rlimit limit = {0};

    if (!refused(socket(AF_UNIX, SOCK_STREAM, 0)))
        return "socket";
    if (!refused(execve("/bin/true", none, none)))
        return "execve";
    if (!refused(ptrace(PTRACE_TRACEME, 0, NULL, NULL)))
        return "ptrace";
    if (!refused(fork()))
        return "fork";
    if (!refused(kill(getppid(), 0)))
        return "kill";
    if (!refused(ioctl(0, TIOCSTI, "x")))
        return "ioctl";
    if (!refused(setuid(1)))
        return "setuid";
    if (!refused(prlimit(getppid(), RLIMIT_CORE, NULL, &limit)))
        return "prlimit";
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        return "mmap";
    return NULL;
}

static void *do_nothing(void *nothing)
{
    return nothing;
}

/* Threads and processes can be started, signalled and talked to, and pass a descriptor on. */
static const char *children_work(void)
{
    int sockets[2], status = 0;
    pthread_t thread;
    pid_t child;
    char byte = 0;

    if (pthread_create(&thread, NULL, do_nothing, NULL) || pthread_join(thread, NULL))
        return "thread";
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets))
        return "socketpair";
    child = fork();
    if (child == 0) {
        descriptor_send(sockets[1], sockets[1]);
        for (;;)
            sched_yield();
    }
    if (child < 0 || poll(&(struct pollfd){.fd = sockets[0], .events = POLLIN}, 1, 10000) != 1 ||
        descriptor_receive(sockets[0]) < 0)
        return "fork";
    if (kill(child, SIGKILL) || waitpid(child, &status, 0) != child || WTERMSIG(status) != SIGKILL)
        return "kill";
    return read(sockets[1], &byte, 0) == 0 ? NULL : "read";
}

/* The file "y" exists. */
static const char *reading_works(void)
{
    int fd = open("y", O_RDONLY | O_CLOEXEC);
    char byte = 0;

    if (fd < 0 || read(fd, &byte, 1) != 1 || byte != 'y' || close(fd))
        return "read";
    fd = open(".", O_PATH | O_DIRECTORY);
    return fd < 0 || faccessat(fd, "y", R_OK, 0) ? "folder" : NULL;
}

static const char *writing_does_not(void)
{
    static const int flags[] = {O_WRONLY, O_RDWR, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC,
                                O_TMPFILE | O_RDWR};

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (!refused(open(flags[i] & O_CREAT ? "z" : "y", flags[i], 0600)))
            return "open";
    if (!refused(rename("y", "z")) || !refused(unlink("y")) || !refused(mkdir("z", 0700)) ||
        !refused(link("y", "z")) || !refused(symlink("y", "z")))
        return "name";
    if (!refused(chmod("y", 0777)) || !refused(truncate("y", 0)) || !refused(chown("y", 1, 1)))
        return "attributes";
    return NULL;
}

static const char *programs_do_not(void)
{
    static char *const none[] = {NULL};

    if (!refused(execve("/bin/true", none, none)))
        return "execve";
    if (!refused(socket(AF_UNIX, SOCK_STREAM, 0)))
        return "socket";
    if (!refused(ptrace(PTRACE_TRACEME, 0, NULL, NULL)))
        return "ptrace";
    return refused(setuid(1)) ? NULL : "setuid";
}

/* Connections of the network can be made, those of Unix sockets can't, in either way. */
static const char *network_works(void)
{
    int sockets[2], on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)) ||
        ioctl(fd, FIONREAD, &on))
        return "socket";
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 || errno != ECONNREFUSED)
        return "connect";
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
        return "socketpair";
    if (!refused(socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets)))
        return "socketpair of datagrams";
    if (!refused(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets)))
        return "socketpair of packets";
    if (!refused(mount("none", "/", NULL, MS_REMOUNT, NULL)))
        return "mount";
    return programs_do_not();
}

static int without_power(void)
{
    return call_filter_without_power(false);
}

static int without_power_but_the_network(void)
{
    return call_filter_without_power(true);
}

/* No program is started, nothing is changed outside of this process. */
static const char *power_is_gone(void)
{
    static char *const none[] = {NULL};
    struct iovec nothing = {0};

    if (!refused(execve("/bin/true", none, none)) ||
        !refused(syscall(SYS_execveat, AT_FDCWD, "/bin/true", none, none, 0)))
        return "execve";
    if (!refused(ptrace(PTRACE_TRACEME, 0, NULL, NULL)))
        return "ptrace";
    if (!refused(process_vm_writev(getppid(), &nothing, 1, &nothing, 1, 0)))
        return "process_vm_writev";
    if (!refused(mount("none", "/", NULL, MS_REMOUNT, NULL)) || !refused(chroot("/")))
        return "mount";
    if (!refused(syscall(SYS_init_module, NULL, 0, "")) || !refused(setuid(0)))
        return "module";
    if (!refused(syscall(SYS_io_uring_setup, 1, NULL)))
        return "io_uring";
    if (!refused(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL)) ||
        !refused(syscall(SYS_clone3, NULL, 0)))
        return "clone";
    if (!refused(unshare(CLONE_NEWNS)) || !refused(unshare(CLONE_FILES | CLONE_NEWUSER)))
        return "unshare";
#ifdef __x86_64__
    if (!refused(syscall(0x40000000 | 520, "/bin/true", none, none))) /* execve() of x32 */
        return "x32";
#endif
    return unshare(CLONE_FILES) ? "descriptors" : NULL;
}

/* What recording does works: files, memory of others, children, and a narrower filter for these. */
static const char *recording_works(void)
{
    char byte = 1, copy = 0;
    int pair[2];
    struct iovec from = {&byte, 1}, to = {&copy, 1};
    const char *problem = files_work();

    if (problem || (problem = children_work()))
        return problem;
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != 1 || copy != 1)
        return "process_vm_readv";
    if (!refused(socket(AF_UNIX, SOCK_STREAM, 0)) || !refused(socket(AF_INET, SOCK_STREAM, 0)))
        return "socket";
    if (!refused(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return "socketpair";
    if (accept4(-1, NULL, NULL, 0) >= 0 || errno != EBADF)
        return "accept4";
    return call_filter_files_only() ? "the second filter" : others_do_not();
}

static const char *sockets_work(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0) < 0 || socket(AF_INET, SOCK_STREAM, 0) < 0 ? "socket"
                                                                                      : NULL;
}

/* abort() works, so that a failed check ends the test. */
static const char *abort_works(void)
{
    abort();
}

/* A thread that ran before there was a filter. */
static int wakeup[2];

static void *call_socket(void *ret_refused)
{
    char byte;

    if (read(wakeup[0], &byte, 1) == 1)
        *(bool *)ret_refused = refused(socket(AF_UNIX, SOCK_STREAM, 0));
    return NULL;
}

static void test_filter_holds_for_threads_that_run(void **state)
{
    int status;
    pid_t child;

    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* there is no filter then */
#endif
    child = fork();
    if (child == 0) {
        bool is_refused = false;
        pthread_t thread;

        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (pipe(wakeup) || pthread_create(&thread, NULL, call_socket, &is_refused) ||
            call_filter_files_only() || write(wakeup[1], "", 1) != 1 || pthread_join(thread, NULL))
            _exit(2);
        _exit(is_refused ? 0 : 1);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static int status_with(int (*filter)(void), case_function function)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        const struct rlimit no_core = {0};
        const char *problem = "the filter itself";

        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGABRT, SIG_DFL);
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (filter() == 0)
            problem = function();
        if (problem)
            dprintf(STDERR_FILENO, "%s\n", problem);
        _exit(problem ? 1 : 0);
    }
    waitpid(child, &status, 0);
    return status;
}

static int status_of(case_function function)
{
    return status_with(call_filter_files_only, function);
}

static void test_filter_permits_files_only(void **state)
{
    (void)state;
    assert_int_equal(folder_enter(), 0);
#ifdef __SANITIZE_ADDRESS__
    skip(); /* there is no filter then */
#endif
    assert_int_equal(status_of(files_work), 0);
    assert_int_equal(status_of(others_do_not), 0);
    assert_int_equal(WTERMSIG(status_of(abort_works)), SIGABRT);
}

static void test_filter_of_the_network_permits_no_unix_socket(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* there is no filter then */
#endif
    assert_int_equal(status_with(call_filter_network, network_works), 0);
}

static void test_filter_permits_children_that_run_no_program(void **state)
{
    (void)state;
    assert_int_equal(folder_enter(), 0);
#ifdef __SANITIZE_ADDRESS__
    skip(); /* there is no filter then */
#endif
    assert_int_equal(status_with(call_filter_read_files_and_children, children_work), 0);
    assert_int_equal(status_with(call_filter_read_files_and_children, programs_do_not), 0);
}

static void test_filter_of_recording_takes_power_only(void **state)
{
    (void)state;
    assert_int_equal(folder_enter(), 0);
#ifdef __SANITIZE_ADDRESS__
    skip(); /* there is no filter then */
#endif
    assert_int_equal(status_with(without_power, power_is_gone), 0);
    assert_int_equal(status_with(without_power, recording_works), 0);
    assert_int_equal(status_with(without_power_but_the_network, power_is_gone), 0);
    assert_int_equal(status_with(without_power_but_the_network, sockets_work), 0);
}

static void test_filter_permits_files_to_be_read_only(void **state)
{
    FILE *file;

    (void)state;
    assert_int_equal(folder_enter(), 0);
#ifdef __SANITIZE_ADDRESS__
    skip(); /* there is no filter then */
#endif
    file = fopen("y", "w");
    assert_non_null(file);
    fputs("y", file);
    fclose(file);
    assert_int_equal(status_with(call_filter_read_files_and_children, reading_works), 0);
    assert_int_equal(status_with(call_filter_read_files_and_children, writing_does_not), 0);
    unlink("y");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_filter_permits_files_only, leave_folder),
        cmocka_unit_test_teardown(test_filter_permits_children_that_run_no_program, leave_folder),
        cmocka_unit_test(test_filter_of_the_network_permits_no_unix_socket),
        cmocka_unit_test_teardown(test_filter_permits_files_to_be_read_only, leave_folder),
        cmocka_unit_test_teardown(test_filter_of_recording_takes_power_only, leave_folder),
        cmocka_unit_test(test_filter_holds_for_threads_that_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
