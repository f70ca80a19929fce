// SPDX-License-Identifier: Apache-2.0
#include "agent/dumper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/child_memory.h"
#include "agent/dump_node.h"
#include "beam/vm.h"
#include "os/child.h"
#include "os/descriptors.h"
#include "os/own_limits.h"
#include "os/privileges.h"
#include "output/dump/writers.h"
#include "session/dump_take.h"

enum {
    CPU_SECONDS = 20, /* that a dump may take, */
    SECONDS = 40,     /* and by the clock */
    NICE = 10,        /* the VM's own threads come first */
    REAP_MS = 50,     /* between two looks at children */
    /* A child takes a moment to end when its dump is answered. */
    MOMENT_LOOKS = 20,
    MOMENT_LOOK_US = 10000,
    NODE_ROOM = 512,
};

struct dump_order {
    char node[NODE_ROOM]; /* "": the only VM */
    bool as_json;
};

/* Carries the file, if the code is 0. */
struct dump_reply {
    int code;
    bool is_busy;
    char text[sizeof(((struct error *)NULL)->text)];
};

int dumper_open_channel(int ret_ends[2], struct error *error)
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_ends) == 0)
        return 0;
    return error_set(error, ERROR_FAILED, "no socket can be made: %s", strerror(errno));
}

/* Send a message that carries `fd`; -1: none. It does not wait. */
static bool send_with(int socket, void *data, size_t size, int fd)
{
    struct iovec part = {data, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union descriptor_room room;

    if (fd >= 0)
        descriptor_put(&message, &room, fd);
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size;
}

/* Receive a message of `size` bytes. *ret_fd is the descriptor in it; -1: nothing. */
static bool receive_with(int socket, void *data, size_t size, int *ret_fd)
{
    struct iovec part = {data, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union descriptor_room room;
    ssize_t received;

    descriptor_expect(&message, &room);
    received = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    *ret_fd = received < 0 ? -1 : descriptor_take(&message);
    if (received == (ssize_t)size)
        return true;
    if (*ret_fd >= 0)
        close(*ret_fd);
    *ret_fd = -1;
    return false;
}

/* ---- the child ---- */

static int write_dump(struct vm *vm, bool as_json, int out, struct error *error)
{
    const struct dump_request request = {.sections = DUMP_ALL};
    struct profile *profile = profile_new();
    struct dump dump = {0};
    struct error unsampled; /* processes that run have no stack then, as the dump shows */
    FILE *file = fdopen(out, "w");
    bool failed;

    if (dump_take(vm, &request, profile, &dump, &unsampled, error))
        return -1;
    if (file)
        (as_json ? dump_write_json : dump_write_text)(file, &dump);
    failed = !file || fflush(file) || ferror(file);
    return failed ? error_set(error, ERROR_FAILED, "the dump can't be written: %s", strerror(errno))
                  : 0;
}

static int take(const struct dumper_options *options, const struct dump_order *order, int out,
                struct error *error)
{
    size_t count;
    struct roster_vm *vms = roster_read(options->roster, &count, error);
    const struct roster_vm *found = vms ? dump_node_find(vms, count, order->node, error) : NULL;
    struct vm *vm;

    if (!found)
        return -1;
    vm = vm_open_now(found->pid, 0, error);
    if (!vm)
        return error_prefix(error, "process %d", (int)found->pid);
    if (!process_is(found->pid, &found->identity))
        return error_set(error, ERROR_NO_PROCESS, "process %d has ended", (int)found->pid);
    return write_dump(vm, order->as_json, out, error);
}

static void limit_child(void)
{
    child_memory_look();      /* the limit may have changed since the agent began */
    signal(SIGXFSZ, SIG_IGN); /* an error of writing */
    alarm(SECONDS);
    setpriority(PRIO_PROCESS, 0, NICE);
    own_limits_set(RLIMIT_FSIZE, child_memory() / 2);
    own_limits_set(RLIMIT_CPU, CPU_SECONDS);
    own_limits_set_room(child_memory());
}

/* The end of the process frees all that it has. SIGALRM or SIGXCPU ends a dump that takes too long;
 * the connection then ends without an answer. */
static void run_child(const struct dumper_options *options, const struct dump_order *order,
                      pid_t parent, int connection)
{
    int kept[] = {connection, options->roster, STDERR_FILENO, options->log_file};
    struct dump_reply reply = {.code = 0};
    struct error error;
    int out;

    child_end_with(parent);
    child_begin("beamflame-dump", kept, options->log_file >= 0 ? 4 : 3);
    limit_child();
    out = memfd_create("dump", MFD_CLOEXEC);
    if (out < 0)
        error_set(&error, ERROR_FAILED, "no file in memory can be made: %s", strerror(errno));
    if (out < 0 || child_check_room(&error) || take(options, order, out, &error)) {
        reply.code = (int)error.code;
        snprintf(reply.text, sizeof(reply.text), "%s", error.text);
    }
    send_with(connection, &reply, sizeof(reply), reply.code ? -1 : out);
    _exit(0);
}

/* ---- the dumper ---- */

struct dumper {
    const struct dumper_options *options;
    pid_t children[DUMPS_AT_ONCE]; /* 0: none */
};

static bool any_child(struct dumper *dumper)
{
    bool any = false;

    for (int i = 0; i < DUMPS_AT_ONCE; i++) {
        if (dumper->children[i] && waitpid(dumper->children[i], NULL, WNOHANG) != 0)
            dumper->children[i] = 0;
        any |= dumper->children[i] != 0;
    }
    return any;
}

/* Find a place for a child. Return DUMPS_AT_ONCE if there is none for a moment. */
static int find_place(struct dumper *dumper)
{
    int place = DUMPS_AT_ONCE;

    for (int look = 0; look < MOMENT_LOOKS && place == DUMPS_AT_ONCE; look++) {
        if (look)
            usleep(MOMENT_LOOK_US);
        any_child(dumper);
        for (place = 0; place < DUMPS_AT_ONCE && dumper->children[place];)
            place++;
    }
    return place;
}

static void refuse(int connection, bool is_busy, const char *why)
{
    struct dump_reply reply = {.code = ERROR_FAILED, .is_busy = is_busy};

    snprintf(reply.text, sizeof(reply.text), "%s", why);
    send_with(connection, &reply, sizeof(reply), -1);
}

static void take_request(struct dumper *dumper)
{
    struct dump_order order = {0};
    int connection, place;
    pid_t own = getpid(), pid;

    if (!receive_with(dumper->options->channel, &order, sizeof(order), &connection) ||
        connection < 0)
        return;
    order.node[sizeof(order.node) - 1] = '\0';
    place = find_place(dumper);
    if (place == DUMPS_AT_ONCE) {
        refuse(connection, true, "other dumps are being taken: try again");
    } else {
        pid = fork();
        if (pid == 0)
            run_child(dumper->options, &order, own, connection);
        if (pid < 0)
            refuse(connection, false, "can't start a process: " CHILD_ADVICE);
        dumper->children[place] = pid < 0 ? 0 : pid;
    }
    close(connection);
}

static void run(void *context, int end_fd)
{
    struct dumper dumper = {.options = context};
    struct pollfd polled[] = {{.fd = end_fd, .events = POLLIN},
                              {.fd = dumper.options->channel, .events = POLLIN}};

    privileges_observe();
    while (!polled[0].revents) {
        bool waits = any_child(&dumper);

        if (poll(polled, 2, waits ? REAP_MS : -1) < 0)
            continue;
        if (polled[1].revents)
            take_request(&dumper);
    }
    _exit(0); /* children end with it */
}

int dumper_start(struct worker *worker, const struct dumper_options *options, struct error *error)
{
    struct dumper_options own = *options;

    return worker_start(
        worker,
        &(struct worker_job){.name = "beamflame-dumps",
                             .run = run,
                             .context = &own,
                             .kept = {options->channel, options->roster, options->log_file, -1}},
        error);
}

/* ---- requests ---- */

static int await(int connection, bool *ret_busy, struct error *error)
{
    struct pollfd polled = {.fd = connection, .events = POLLIN};
    struct dump_reply reply = {.code = 0};
    int fd, ready;

    do
        ready = poll(&polled, 1, (SECONDS + 5) * 1000);
    while (ready < 0 && errno == EINTR);
    if (ready <= 0 || !receive_with(connection, &reply, sizeof(reply), &fd))
        return error_set(error, ERROR_FAILED,
                         "the process that took the dump has ended: it may take %d s, %d s of CPU "
                         "time, and %d MB or 1/%d of the memory of the agent's control group",
                         SECONDS, CPU_SECONDS, CHILD_MEMORY_MB, CHILD_MEMORY_SHARE);
    *ret_busy = reply.is_busy;
    if (reply.code == 0 && fd >= 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return error_set(error, reply.code ? (enum error_code)reply.code : ERROR_FAILED, "%.*s",
                     (int)sizeof(reply.text) - 1, reply.text);
}

int dumper_request(int channel, const char *node, bool as_json, bool *ret_busy, struct error *error)
{
    struct dump_order order = {.as_json = as_json};
    int ends[2], fd = -1;
    bool sent;

    *ret_busy = false;
    if (node && strlen(node) >= sizeof(order.node))
        return error_set(error, ERROR_NO_PROCESS, "no VM has so long a name");
    snprintf(order.node, sizeof(order.node), "%s", node ? node : "");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return error_set(error, ERROR_FAILED, "no socket can be made: %s", strerror(errno));
    sent = send_with(channel, &order, sizeof(order), ends[1]);
    close(ends[1]);
    if (sent)
        fd = await(ends[0], ret_busy, error);
    else
        error_set(error, ERROR_FAILED, "the process that takes dumps can't be reached: %s",
                  strerror(errno));
    close(ends[0]);
    return fd;
}
