// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/process.h"
#include "os/procfs.h"
#include "util/clock.h"

enum { NO_PID = 0x7ffffff0 };

static bool contains(const pid_t *ids, size_t count, pid_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == id)
            return true;
    }
    return false;
}

/* The list contains this process, in ascending order. */
static void test_list_of_processes_is_in_ascending_order(void **state)
{
    struct error error;
    size_t count = 0;
    pid_t *pids = process_list(&count, &error);

    (void)state;
    assert_non_null(pids);
    assert_true(contains(pids, count, getpid()));
    for (size_t i = 1; i < count; i++)
        assert_true(pids[i - 1] < pids[i]);
    free(pids);
}

/* A living process exists and has an identity, even with odd characters in its name; a reaped one
 * has neither. */
static void test_only_a_living_process_has_a_start_time(void **state)
{
    struct process_identity here = process_identity(getpid()), identity;
    char name[16];
    pid_t child;

    (void)state;
    assert_true(here.start_time > 0);
    assert_true(here.start_stack > 0);
    process_thread_name(getpid(), getpid(), name, sizeof(name));
    assert_int_equal(prctl(PR_SET_NAME, "a) R (1 2 3"), 0);
    assert_true(process_is(getpid(), &here));
    assert_int_equal(prctl(PR_SET_NAME, name), 0);
    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    assert_true(process_exists(child));
    identity = process_identity(child);
    assert_true(identity.start_time >= here.start_time);
    assert_true(process_is(child, &identity));
    assert_true(process_runs(child, &identity));
    assert_false(process_runs(child, &(struct process_identity){1, 1}));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
    assert_false(process_runs(child, &identity)); /* a zombie */
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(process_exists(child));
    assert_true(process_identity(child).start_time == 0);
    assert_false(process_is(child, &identity));
    assert_false(process_runs(child, &identity));
    assert_false(process_exists(0));
}

/* exec() ends an identity: the stack begins elsewhere, if addresses are random. */
static void test_identity_ends_at_exec(void **state)
{
    struct process_identity before, after;
    int ready[2];
    pid_t child;
    char byte;

    (void)state;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        execlp("sleep", "sleep", "60", (char *)NULL);
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
    before = process_identity(child);
    kill(child, SIGCONT);
    assert_int_equal(read(ready[0], &byte, 1), 0); /* closed by exec() */
    close(ready[0]);
    after = process_identity(child);
    assert_true(after.start_time == before.start_time);
    assert_false(process_is(child, &before));
    assert_true(process_is(child, &after));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* The start is in the kernel's clock: not before the parent's, and not after now. */
static void test_start_is_in_time_since_boot(void **state)
{
    struct process_identity own = process_identity(getpid());
    uint64_t start = process_identity_boot_ns(&own);

    (void)state;
    assert_true(start % 10000000 == 0);
    assert_true(start <= clock_ns(CLOCK_BOOTTIME));
    assert_true(clock_ns(CLOCK_BOOTTIME) - start < 3600 * (uint64_t)1000000000);
}

/* A process is stopped from SIGSTOP to SIGCONT, and at no other time. */
static void test_process_is_stopped_until_it_continues(void **state)
{
    pid_t child = fork();
    int status;

    (void)state;
    if (child == 0) {
        prctl(PR_SET_NAME, "a) T (1 2 3");
        raise(SIGSTOP);
        pause();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(process_is_stopped(child));
    assert_true(process_exists(child));
    kill(child, SIGCONT);
    assert_int_equal(waitpid(child, &status, WCONTINUED), child);
    assert_false(process_is_stopped(child));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(process_is_stopped(child));
    assert_false(process_is_stopped(getpid()));
}

/* Arguments are returned one by one, also empty ones, with an additional NUL at the end. */
static void test_arguments_are_returned_one_by_one(void **state)
{
    static const char expected[] = "-x\0\0beam\0";
    int go[2], ready[2];
    char byte = 0, *arguments;
    size_t size = 0;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(go) | pipe(ready), 0);
    child = fork();
    if (child == 0) {
        dup2(go[0], STDIN_FILENO);
        dup2(ready[1], STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", "echo; read line", "-x", "", "beam", (char *)NULL);
        _exit(127);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    arguments = process_arguments(child, &size);
    assert_non_null(arguments);
    assert_true(size > sizeof(expected));
    assert_memory_equal(arguments + size + 1 - sizeof(expected), expected, sizeof(expected));
    free(arguments);
    assert_int_equal(write(go[1], "\n", 1), 1);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_null(process_arguments(child, &size));
    close(go[0]);
    close(go[1]);
    close(ready[0]);
    close(ready[1]);
}

struct named_thread {
    pthread_barrier_t barrier;
    pid_t tid;
};

static void *run_named(void *argument)
{
    struct named_thread *thread = argument;

    prctl(PR_SET_NAME, "1_scheduler");
    thread->tid = gettid();
    pthread_barrier_wait(&thread->barrier);
    pthread_barrier_wait(&thread->barrier);
    return NULL;
}

/* Threads are listed with their names; a process that has ended gives an error and "". */
static void test_threads_are_listed_with_their_names(void **state)
{
    struct named_thread thread;
    struct error error = {0};
    size_t count = 99;
    char name[16];
    pthread_t id;
    pid_t *tids;

    (void)state;
    pthread_barrier_init(&thread.barrier, NULL, 2);
    assert_int_equal(pthread_create(&id, NULL, run_named, &thread), 0);
    pthread_barrier_wait(&thread.barrier);
    tids = process_threads(getpid(), &count, &error);
    assert_non_null(tids);
    assert_true(contains(tids, count, getpid()));
    assert_true(contains(tids, count, thread.tid));
    process_thread_name(getpid(), thread.tid, name, sizeof(name));
    assert_string_equal(name, "1_scheduler");
    pthread_barrier_wait(&thread.barrier);
    pthread_join(id, NULL);
    free(tids);

    count = 99;
    assert_null(process_threads(NO_PID, &count, &error));
    assert_int_equal(error.code, ERROR_NO_PROCESS);
    assert_int_equal(count, 99);
    process_thread_name(NO_PID, NO_PID, name, sizeof(name));
    assert_string_equal(name, "");
}

/* CPU time grows with the work, and is less than the elapsed time. */
static void test_cpu_time_of_a_thread_grows_with_its_work(void **state)
{
    uint64_t cpu[2], wait[2], before;
    volatile uint64_t sum = 0;

    (void)state;
    if (!process_thread_times(getpid(), getpid(), &cpu[0], &wait[0]))
        skip(); /* a kernel without CONFIG_SCHED_INFO */
    before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - before < 30000000)
        sum++;
    usleep(1000); /* a running thread is accounted when it stops */
    assert_true(process_thread_times(getpid(), getpid(), &cpu[1], &wait[1]));
    assert_in_range(cpu[1] - cpu[0], 25000000, 1000000000);
    assert_true(wait[1] >= wait[0]);
    assert_false(process_thread_times(NO_PID, NO_PID, &cpu[0], &wait[0]));
}

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2 "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "pod2dfc5c8b_8f3a_4f65_9c0e_7a1b5a1e0a11"

static const struct {
    const char *cgroup, *id;
} samples[] = {
    /* docker, v1, v2 with either driver, in docker */
    {"12:pids:/docker/" ID "\n0::/\n", ID},
    {"0::/system.slice/docker-" ID ".scope\n", ID},
    {"4:memory:/docker/" ID "/init.scope\n", ID},
    {"0::/docker/" ID "/docker/" ID2, ID2},
    /* containerd, with its own or the systemd driver; a cgroup path that systemd did not accept */
    {"0::/kubepods/burstable/pod2dfc5c8b-8f3a/" ID "\n", ID},
    {"0::/kubepods.slice/kubepods-" POD ".slice/cri-containerd-" ID ".scope\n", ID},
    {"1:name=systemd:/system.slice/containerd.service/kubepods-" POD ".slice:cri-containerd:" ID,
     ID},
    /* kind: containerd in docker */
    {"0::/system.slice/docker-" ID ".scope/kubelet.slice/cri-containerd-" ID2 ".scope", ID2},
    /* cri-o and its monitor */
    {"0::/kubepods.slice/kubepods-" POD ".slice/crio-" ID ".scope\n", ID},
    {"0::/kubepods.slice/kubepods-" POD ".slice/crio-conmon-" ID ".scope\n", ""},
    /* podman, as root and as a user, and its monitor */
    {"0::/machine.slice/libpod-" ID ".scope/container\n", ID},
    {"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container",
     ID},
    {"0::/machine.slice/libpod-conmon-" ID ".scope\n", ""},
    /* systemd-nspawn, by unit and by hand; a virtual machine is no container */
    {"0::/machine.slice/systemd-nspawn@sid.service/payload\n", "sid"},
    {"0::/machine.slice/machine-otp\\x2d29.scope/payload\n", "otp-29"},
    {"0::/machine.slice/machine-qemu\\x2d1\\x2dvm.scope\n", ""},
    /* lxc and its monitor */
    {"0::/lxc.payload.web/system.slice/ejabberd.service\n", "web"},
    {"5:cpu:/lxc/web\n", "web"},
    {"0::/lxc.payload/web/init.scope\n", "web"},
    {"0::/lxc.monitor.web\n", ""},
    /* the host; a name that is too short, one that is too long; invalid text */
    {"0::/system.slice/rabbitmq-server.service\n", ""},
    {"0::/\n", ""},
    {"0::/docker/0123456789abcdef\n", ""},
    {"0::/docker/a" ID "\n", ""},
    {"", ""},
    {":", ""},
    {"no colons at all /docker/" ID, ""},
    {"\n\n::\n0::" ID "\n", ID},
    {"0::/lxc/\n", ""},
};

/* The cgroup names of container engines give their container's id, and other names give none. */
static void test_cgroup_names_give_the_container_id(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        char id[80] = "";

        assert_int_equal(container_of_cgroup(samples[i].cgroup, id, sizeof(id)),
                         samples[i].id[0] != '\0');
        assert_string_equal(id, samples[i].id);
    }
}

/* A small buffer cuts the id; an unknown process gives "". */
static void test_container_id_is_cut_to_a_small_buffer(void **state)
{
    char id[8] = "before";

    (void)state;
    assert_false(container_of_cgroup("0::/init.scope", id, sizeof(id)));
    assert_string_equal(id, "before");
    assert_true(container_of_cgroup("0::/docker/" ID, id, sizeof(id)));
    assert_string_equal(id, "0123456");
    process_container(NO_PID, id, sizeof(id));
    assert_string_equal(id, "");
}

/* The peak covers memory that is free again, but not memory of the program before exec(). The child
 * starts with the memory of this process, as a child of vfork() does. */
static void test_peak_memory_does_not_cover_the_time_before_exec(void **state)
{
    enum { SIZE = 64 << 20 };
    char *memory = malloc(SIZE), *sleeping[] = {"sleep", "100", NULL};
    uint64_t peak = 0;
    pid_t child;

    (void)state;
    assert_non_null(memory);
    memset(memory, 1, SIZE);
    assert_int_equal(posix_spawnp(&child, "sleep", NULL, NULL, sleeping, NULL), 0);
    free(memory);
    assert_true(process_peak_resident_bytes(getpid(), &peak));
    assert_true(peak >= SIZE);
    assert_true(process_peak_resident_bytes(child, &peak));
    assert_in_range(peak, 1, SIZE - 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_false(process_peak_resident_bytes(NO_PID, &peak));
}

/* A value is found at the start of a line only, by its whole key. */
static void test_value_is_found_by_its_whole_key(void **state)
{
    static const char text[] = "Name:\tPid:\t1\nNSpid:\t2\nPid:\t34\nTail:\t5";
    const char *value;
    size_t length;

    (void)state;
    value = procfs_value(text, "Pid", &length);
    assert_ptr_equal(value, strstr(text, "34"));
    assert_int_equal(length, 2);
    assert_non_null(procfs_value(text, "Tail", &length));
    assert_int_equal(length, 1);
    assert_null(procfs_value(text, "pid", &length));
    assert_null(procfs_value("", "Pid", &length));
}

static void test_entry_point_is_that_of_the_auxiliary_vector(void **state)
{
    (void)state;
    assert_int_equal(process_entry(getpid()), getauxval(AT_ENTRY));
    assert_int_equal(process_entry(NO_PID), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_of_processes_is_in_ascending_order),
        cmocka_unit_test(test_only_a_living_process_has_a_start_time),
        cmocka_unit_test(test_arguments_are_returned_one_by_one),
        cmocka_unit_test(test_threads_are_listed_with_their_names),
        cmocka_unit_test(test_cpu_time_of_a_thread_grows_with_its_work),
        cmocka_unit_test(test_peak_memory_does_not_cover_the_time_before_exec),
        cmocka_unit_test(test_entry_point_is_that_of_the_auxiliary_vector),
        cmocka_unit_test(test_value_is_found_by_its_whole_key),
        cmocka_unit_test(test_cgroup_names_give_the_container_id),
        cmocka_unit_test(test_container_id_is_cut_to_a_small_buffer),
        cmocka_unit_test(test_identity_ends_at_exec),
        cmocka_unit_test(test_start_is_in_time_since_boot),
        cmocka_unit_test(test_process_is_stopped_until_it_continues),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
