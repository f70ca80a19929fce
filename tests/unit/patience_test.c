// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native/memory.h"
#include "os/descriptors.h"
#include "os/patience.h"
#include "os/patient_open.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/stop.h"

enum { PAGE = 4096, NOBODY = 65534 };

static uint64_t seconds_since(uint64_t began)
{
    return (clock_ns(CLOCK_MONOTONIC) - began) / 1000000000;
}

/* ---- patience_run() ---- */

static atomic_int dropped;

static void add_one(void *work)
{
    ++*(int *)work;
}

static void drop(void *work)
{
    (void)work;
    dropped++;
}

static void test_work_that_ends_belongs_to_the_caller(void **state)
{
    int number = 6;

    (void)state;
    assert_true(patience_run(add_one, drop, &number));
    assert_int_equal(number, 7);
    assert_int_equal(dropped, 0);
}

/* ---- patient_open() ---- */

static int open_self(void *work)
{
    (void)work;
    return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

static int open_nothing(void *work)
{
    (void)work;
    return -1;
}

/* The file is open here, although another process has opened it. Nothing else stays open. */
static void test_file_that_is_opened_apart_is_open_here(void **state)
{
    int before = dup(0), fd, after;
    char magic[5] = "";

    (void)state;
    close(before);
    assert_true(patient_open(open_self, drop, NULL, &fd));
    assert_int_equal(read(fd, magic, sizeof(magic) - 1), sizeof(magic) - 1);
    assert_string_equal(magic, "\177ELF");
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    assert_true(patient_open(open_nothing, drop, NULL, &fd));
    assert_int_equal(fd, -1);
    after = dup(0);
    close(after);
    assert_int_equal(after, before);
    assert_int_equal(dropped, 0);
}

/* A file that is known by its name alone is opened for the reader; a process that lets it open has
 * no descriptor that could be read. */
static void test_file_is_opened_for_its_reader(void **state)
{
    int before = dup(0), path_fd = open("/proc/self/exe", O_PATH | O_CLOEXEC), socket, fd, after;
    char magic[5] = "";

    (void)state;
    close(before);
    socket = patient_open_for_reading(path_fd);
    assert_true(socket >= 0);
    assert_int_equal(read(path_fd, magic, 1), -1);
    fd = descriptor_receive(socket);
    assert_int_equal(read(fd, magic, sizeof(magic) - 1), sizeof(magic) - 1);
    assert_string_equal(magic, "\177ELF");
    assert_int_equal(descriptor_receive(socket), -1);
    close(fd);
    close(socket);
    close(path_fd);
    assert_int_equal(patient_open_for_reading(path_fd), -1); /* there is no such descriptor */
    assert_int_not_equal(errno, EBUSY);
    after = dup(0);
    close(after);
    assert_int_equal(after, before);
}

/* ---- no thread ---- */

/* Become a user who may start no thread. Return 0 if work then fails with EAGAIN and is dropped. */
static int try_without_threads(void)
{
    const struct rlimit none = {0};
    int number = 6, fd = 0;

    if (setrlimit(RLIMIT_NPROC, &none) || (geteuid() == 0 && setuid(NOBODY)))
        return 1;
    if (patience_run(add_one, drop, &number) || errno != EAGAIN || dropped != 1 || number != 6)
        return 2;
    if (patient_open(open_self, drop, NULL, &fd) || errno != EAGAIN || dropped != 2 || fd != -1)
        return 3;
    return 0;
}

static void test_work_without_a_thread_fails_and_is_dropped(void **state)
{
    pid_t child = fork();
    int status;

    (void)state;
    if (child == 0)
        _exit(try_without_threads());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- pages that are held back ---- */

/* Return a page that nobody fills; NULL where that is not permitted. */
static char *held_page(int *ret_fd)
{
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register held = {.mode = UFFDIO_REGISTER_MODE_MISSING};
    char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

    *ret_fd = fd;
    held.range.start = (uintptr_t)page;
    held.range.len = PAGE;
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &held))
        return NULL;
    return page;
}

static void read_held(void *work)
{
    struct iovec page = {work, 1}, copy = {&(char){0}, 1};

    process_vm_readv(getpid(), &copy, 1, &page, 1, 0);
}

static void test_work_that_hangs_is_left_and_dropped_later(void **state)
{
    uint64_t began = clock_ns(CLOCK_MONOTONIC);
    struct uffdio_zeropage zero = {.range = {.len = PAGE}};
    int fd;
    char *page = held_page(&fd);

    (void)state;
    if (!page)
        skip();
    zero.range.start = (uintptr_t)page;
    assert_false(patience_run(read_held, drop, page));
    assert_int_equal(dropped, 0);
    assert_in_range(seconds_since(began), 0, 2);
    assert_int_equal(ioctl(fd, UFFDIO_ZEROPAGE, &zero), 0);
    for (int i = 0; i < 100 && !dropped; i++)
        usleep(20000);
    assert_int_equal(dropped, 1);
    close(fd);
}

static void sleep_long(void *work)
{
    for (int i = 0; i < 30; i++)
        usleep(50000);
    ++*(int *)work;
}

/* The time does not count, for on a busy machine all takes long. */
static void test_work_that_is_slow_but_does_not_hang_is_awaited(void **state)
{
    int number = 6;

    (void)state;
    assert_true(patience_run(sleep_long, drop, &number));
    assert_int_equal(number, 7);
}

static void test_read_of_a_held_page_fails_and_so_do_all_later_ones(void **state)
{
    struct memory *memory = memory_of_process(getpid());
    uint64_t word = 7, copy, began = clock_ns(CLOCK_MONOTONIC);
    int fd;
    char *page = held_page(&fd);

    (void)state;
    if (!page)
        skip();
    assert_true(memory_read_u64(memory, (uintptr_t)&word, &copy));
    assert_false(memory_read_u64(memory, (uintptr_t)page, &copy));
    assert_true(memory->is_held);
    assert_false(memory_read_u64(memory, (uintptr_t)&word, &copy));
    assert_in_range(seconds_since(began), 0, 2);
    memory_free(memory);
    close(fd); /* the kernel continues the read */
    usleep(100000);
}

/* ---- a page that is taken away between the look and the read ---- */

enum { MISSED = 77 };

static void say(pid_t pid)
{
    (void)pid;
}

/* Fill the page, read it, take it away, and read it again. The end of a millisecond between the
 * reads spoils that: the second one is patient then. */
static void read_what_is_taken_away(void)
{
    struct memory *memory = memory_of_process(getpid());
    struct uffdio_zeropage zero = {.range = {.len = PAGE}};
    uint64_t word;
    char *page;
    int fd;

    signal(SIGTERM, stop_request);
    stop_guard_start(say);
    page = held_page(&fd);
    zero.range.start = (uintptr_t)page;
    if (ioctl(fd, UFFDIO_ZEROPAGE, &zero) || !memory_read_u64(memory, (uintptr_t)page, &word) ||
        madvise(page, PAGE, MADV_DONTNEED) || memory_read_u64(memory, (uintptr_t)page, &word))
        _exit(1);
    _exit(MISSED);
}

/* Wait at most `seconds` for the child. */
static bool ends_within(pid_t child, uint64_t seconds, int *status)
{
    const uint64_t began = clock_ns(CLOCK_MONOTONIC);

    while (waitpid(child, status, WNOHANG) == 0) {
        if (seconds_since(began) >= seconds)
            return false;
        usleep(10000);
    }
    return true;
}

static int try_to_end(void)
{
    pid_t child = fork();
    int status;

    if (child == 0)
        read_what_is_taken_away();
    if (!ends_within(child, 1, &status)) {
        kill(child, SIGTERM);
        if (!ends_within(child, 10, &status)) {
            kill(child, SIGKILL);
            fail_msg("the read goes on");
        }
    }
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_signal_ends_a_read_that_is_held(void **state)
{
    int status = MISSED, fd;

    (void)state;
    if (!held_page(&fd))
        skip();
    for (int i = 0; i < 50 && status == MISSED; i++)
        status = try_to_end();
    assert_int_equal(status, ERROR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_that_ends_belongs_to_the_caller),
        cmocka_unit_test(test_file_that_is_opened_apart_is_open_here),
        cmocka_unit_test(test_file_is_opened_for_its_reader),
        cmocka_unit_test(test_work_without_a_thread_fails_and_is_dropped),
        cmocka_unit_test(test_read_of_a_held_page_fails_and_so_do_all_later_ones),
        cmocka_unit_test(test_signal_ends_a_read_that_is_held),
        cmocka_unit_test(test_work_that_hangs_is_left_and_dropped_later),
        cmocka_unit_test(test_work_that_is_slow_but_does_not_hang_is_awaited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
