// SPDX-License-Identifier: Apache-2.0
#include "agent/sender.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/segment_profiles.h"
#include "agent/sent_list.h"
#include "agent/spool.h"
#include "os/child.h"
#include "os/file_fence.h"
#include "os/privileges.h"
#include "push/push_backoff.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/random.h"

enum {
    PAUSE_MS = 500,        /* between two looks at the spool */
    LAST_SECONDS = 10,     /* to send what is left at the end */
    BATCH_MAX = 64,        /* profiles in a request */
    BATCH_BYTES = 1 << 20, /* not compressed; services take 2 MB and more */
};

/* The state of the process. */
struct sender_state {
    const struct push_service *service;
    const struct sender_options *options;
    struct push_client *client;
    struct push_backoff backoff;
    struct sent_list *sent;
    struct spool_list spool;
    int end_fd;      /* readable or closed: the end is near */
    uint64_t end_ns; /* CLOCK_MONOTONIC; 0: not yet */
    volatile int stop;
    char problem[256]; /* what was reported last; "" if all is well */
    struct service_status *status;
};

/* ---- the end ---- */

/* Wait, or less if the agent ends. */
static void pause_ms(struct sender_state *state, int ms)
{
    struct pollfd end = {.fd = state->end_ns ? -1 : state->end_fd, .events = POLLIN};

    if (poll(&end, 1, ms) > 0)
        state->end_ns = clock_ns(CLOCK_MONOTONIC) + LAST_SECONDS * 1000000000ULL;
}

static bool is_over(const struct sender_state *state)
{
    return state->end_ns && clock_ns(CLOCK_MONOTONIC) >= state->end_ns;
}

/* ---- what is reported ---- */

/* Report a problem once, not at each try. */
static void report(struct sender_state *state, const char *problem)
{
    const char *name = state->service->name;

    if (!strcmp(state->problem, problem))
        return;
    if (problem[0])
        state->options->warn("service %s does not take profiles: %s", name, problem);
    else
        state->options->warn("service %s takes profiles again", name);
    strncpy(state->problem, problem, sizeof(state->problem) - 1);
}

static void skip(struct sender_state *state, const char *recording, const char *problem)
{
    state->options->warn("%s is not sent to service %s: %s", recording, state->service->name,
                         problem);
}

/* ---- sending ---- */

/* Wait before the next try. */
static void back_off(struct sender_state *state, const struct push_reply *reply)
{
    double random = (double)random_word() / (double)UINT64_MAX;
    double seconds = push_backoff_wait(&state->backoff, reply, random);
    uint64_t until = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);

    for (uint64_t now; !is_over(state) && (now = clock_ns(CLOCK_MONOTONIC)) < until;) {
        uint64_t left = (until - now) / 1000000 + 1;
        bool was_ending = state->end_ns != 0;

        pause_ms(state, left < PAUSE_MS ? (int)left : PAUSE_MS);
        if (!was_ending && state->end_ns)
            return; /* one more try */
    }
}

static void count_reply(struct service_status *status, const struct push_reply *reply,
                        size_t profiles)
{
    switch (reply->outcome) {
    case PUSH_ACCEPTED:
        status->requests++;
        status->profiles += profiles - (reply->rejected < profiles ? reply->rejected : profiles);
        status->refused += reply->rejected;
        status->bytes += reply->sent;
        status->accepted_at = (uint64_t)time(NULL);
        break;
    case PUSH_REFUSED:
        status->refused += profiles;
        break;
    case PUSH_LATER:
        status->retries++;
        break;
    }
}

/* Send a request until the service takes or refuses it. False at the end. */
static bool send_batch(struct sender_state *state, const struct push_profile *profiles,
                       size_t count)
{
    while (!is_over(state)) {
        struct push_reply reply = push_send(state->client, profiles, count, &state->stop);

        log_detail("push", "%s: status %ld, %" PRIu64 " bytes, %zu profiles", state->service->name,
                   reply.status, reply.sent, count);
        count_reply(state->status, &reply, count);
        report(state, reply.reason);
        if (reply.outcome != PUSH_LATER)
            return true;
        back_off(state, &reply);
    }
    return false;
}

/* Take the profiles of the next request. Return their number. */
static size_t take_batch(const struct sender_state *state, struct segment_profiles *all,
                         struct push_profile *batch, struct push_label *labels)
{
    size_t most = state->service->protocol == PUSH_OTLP ? 1 : BATCH_MAX, count = 0, bytes = 0;

    while (count < most && bytes < BATCH_BYTES && segment_profiles_next(all, &batch[count])) {
        struct push_label *own = &labels[count * PROFILE_LABELS_MAX];

        if (batch[count].label_count)
            memcpy(own, batch[count].labels, batch[count].label_count * sizeof(*own));
        batch[count].labels = own;
        bytes += batch[count++].size;
    }
    return count;
}

static void note_sent(struct sender_state *state, const char *name, size_t count)
{
    struct error error;

    if (sent_list_set(state->sent, name, count, &state->spool, &error))
        report(state, error.text);
}

static void skip_sent(struct segment_profiles *all, size_t count)
{
    struct push_profile sent;

    while (count-- && segment_profiles_next(all, &sent))
        ;
}

/* Send the profiles of a recording that the service does not have. */
static void send_profiles(struct sender_state *state, const char *name,
                          struct segment_profiles *all)
{
    struct push_profile *batch = xcalloc(BATCH_MAX, sizeof(*batch));
    struct push_label *labels = xcalloc((size_t)BATCH_MAX * PROFILE_LABELS_MAX, sizeof(*labels));
    size_t sent = sent_list_count(state->sent, name), count;
    bool goes_on = true;

    skip_sent(all, sent);
    while (goes_on && (count = take_batch(state, all, batch, labels))) {
        goes_on = send_batch(state, batch, count);
        sent += count;
        if (goes_on)
            note_sent(state, name, sent);
    }
    if (goes_on)
        note_sent(state, name, SIZE_MAX);
    free(labels);
    free(batch);
}

static void send_recording(struct sender_state *state, const char *name)
{
    char *path = xasprintf("%s/%s", state->options->directory, name);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct segment_profiles *profiles = NULL;
    struct error error;

    if (fd < 0)
        error_set(&error, ERROR_FAILED, "it can't be opened: %s", strerror(errno));
    else
        profiles = segment_profiles_make(fd, state->service->protocol, &error);
    if (profiles) {
        send_profiles(state, name, profiles);
    } else {
        state->status->unreadable++;
        skip(state, name, error.text);
        note_sent(state, name, SIZE_MAX);
    }
    segment_profiles_free(profiles);
    if (fd >= 0)
        close(fd);
    free(path);
}

/* Send the oldest recording that the service does not have. False if it has all. */
static bool send_next(struct sender_state *state)
{
    const char *oldest = NULL;
    struct error error;
    size_t waiting = 0;

    if (spool_list(state->options->directory, &state->spool, &error)) {
        report(state, error.text);
        return false;
    }
    for (size_t i = state->spool.count; i-- > 0;)
        if (sent_list_count(state->sent, state->spool.of[i].name) != SIZE_MAX) {
            oldest = state->spool.of[i].name;
            waiting++;
        }
    state->status->waiting = waiting;
    if (oldest)
        send_recording(state, oldest);
    spool_list_free(&state->spool);
    return oldest != NULL;
}

/* Make the client, which loads libcurl, before the rights end. Without one nothing is sent. */
static struct push_client *make_client(const struct push_service *service,
                                       const struct sender_options *options)
{
    struct error error;
    struct push_client *client = push_client_new(service, &error);

    if (!client) {
        options->warn("nothing is sent to service %s: %s", service->name, error.text);
        _exit((int)error.code);
    }
    return client;
}

static void run(struct push_client *client, const struct push_service *service,
                const struct sender_options *options, struct service_status *status, int end_fd)
{
    struct sender_state state = {
        .service = service,
        .options = options,
        .sent = sent_list_open(options->directory, service->name),
        .client = client,
        .end_fd = end_fd,
        .status = status,
    };

    for (;;) {
        bool found = send_next(&state);

        if (is_over(&state) || (!found && state.end_ns))
            break;
        if (!found || state.end_ns == 0)
            pause_ms(&state, found ? 0 : PAUSE_MS);
    }
    _exit(0);
}

/* ---- the process ---- */

static struct file_fence *fence_of(const struct push_service *service, const char *directory)
{
    struct file_fence *fence = file_fence_new();

    file_fence_write_in(fence, directory);
    file_fence_read(fence, service->password_file);
    file_fence_read(fence, service->token_file);
    file_fence_read(fence, service->ca_file);
    return fence;
}

int sender_start(struct sender *sender, const struct push_service *service,
                 const struct sender_options *options, struct service_status *status,
                 struct error *error)
{
    int ends[2];

    *sender = (struct sender){.service = service, .end_fd = -1};
    if (pipe2(ends, O_CLOEXEC))
        return error_set(error, ERROR_FAILED, "no pipe can be made: %s", strerror(errno));
    sender->pid = fork();
    if (sender->pid == 0) {
        int kept[] = {ends[0], STDERR_FILENO, options->log_file};
        struct push_client *client;

        child_begin("beamflame-send", kept, options->log_file < 0 ? 2 : 3);
        client = make_client(service, options);
        tzset(); /* reads files */
        privileges_send(fence_of(service, options->directory));
        run(client, service, options, status, ends[0]);
    }
    close(ends[0]);
    if (sender->pid < 0) {
        close(ends[1]);
        sender->pid = 0;
        return error_set(error, ERROR_FAILED, "can't start the process that sends to %s: %s",
                         service->name, CHILD_ADVICE);
    }
    sender->end_fd = ends[1];
    return 0;
}

bool sender_has_ended(struct sender *sender)
{
    if (!sender->pid || waitpid(sender->pid, NULL, WNOHANG) != sender->pid)
        return !sender->pid;
    close(sender->end_fd);
    sender->pid = 0;
    return true;
}

void sender_end(struct sender *sender)
{
    enum { TRIES = (LAST_SECONDS + 2) * 20 };

    if (!sender->pid)
        return;
    close(sender->end_fd);
    for (int i = 0; i < TRIES; i++) {
        if (waitpid(sender->pid, NULL, WNOHANG) == sender->pid)
            return;
        usleep(1000000 / 20);
    }
    kill(sender->pid, SIGKILL);
    child_await(sender->pid);
}
