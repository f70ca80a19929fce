// SPDX-License-Identifier: Apache-2.0
#include "agent/sender.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/segment_profiles.h"
#include "agent/name_numbers.h"
#include "agent/spool.h"
#include "os/fence.h"
#include "os/privileges.h"
#include "push/push_client.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/random.h"

enum {
    PAUSE_MS = 500,          /* between two looks at the spool */
    LAST_SECONDS = 10,       /* to send the rest at the end */
    FAULTS_MOST = 10,        /* answers 500 to one request, before it counts as refused */
    FAILURES_MOST = 3,       /* to make profiles of a recording */
    BATCH_MAX = 64,          /* profiles in a request */
    BATCH_BYTES = 768 << 10, /* not compressed, without the last profile of a request, which has as
                              * much at most: services take 2 MB and more */
};

/* The state of the process. */
struct sender_state {
    const struct push_service *service;
    const struct sender_options *options;
    struct push_client *client;
    struct push_backoff backoff;
    struct name_numbers *sent;
    struct spool_list spool;
    struct spool_glance glance;
    bool found;        /* the last list had recordings to send */
    int end_fd;        /* readable or closed: the end is near */
    uint64_t end_ns;   /* CLOCK_MONOTONIC; 0: not yet */
    bool hands_over;   /* another process continues: only the request that runs is finished */
    int recording;     /* descriptor of the recording that is being sent */
    unsigned failures; /* in a row, to make profiles */
    bool fails, has_warned;
    long status_before; /* of the last reply */
    char refusal[256];
    char spool_problem[256]; /* what was reported last; "" if all is well */
    struct service_status *status;
};

/* ---- the end ---- */

/* Wait, or less if the agent ends. */
static void pause_ms(struct sender_state *state, int ms)
{
    struct pollfd end = {.fd = state->end_ns ? -1 : state->end_fd, .events = POLLIN};
    char byte;

    if (poll(&end, 1, ms) <= 0)
        return;
    state->end_ns = clock_ns(CLOCK_MONOTONIC) + LAST_SECONDS * 1000000000ULL;
    state->hands_over = read(state->end_fd, &byte, 1) == 1;
}

static bool is_over(const struct sender_state *state)
{
    return state->end_ns && clock_ns(CLOCK_MONOTONIC) >= state->end_ns;
}

/* A request asks this while it runs. */
static bool must_stop(void *context)
{
    struct sender_state *state = context;

    pause_ms(state, 0);
    return is_over(state);
}

/* ---- reports ---- */

/* Report that the service fails, or takes profiles again: once, not at each try. */
static void report(struct sender_state *state, const struct push_reply *reply)
{
    const char *name = state->service->name;

    if (reply->outcome == PUSH_ACCEPTED) {
        if (state->fails)
            state->options->warn("service %s takes profiles again", name);
        if (reply->reason[0] && !state->has_warned)
            state->options->warn("service %s takes profiles with a warning: %s", name,
                                 reply->reason);
        state->has_warned |= reply->reason[0] != '\0';
    } else if (!state->fails || state->status_before != reply->status) {
        state->options->warn("service %s does not take profiles: %s", name, reply->reason);
    }
    state->fails = reply->outcome != PUSH_ACCEPTED;
    state->status_before = reply->status;
}

/* Report a problem of the spool once. */
static void report_spool(struct sender_state *state, const char *problem)
{
    if (strcmp(state->spool_problem, problem) != 0)
        state->options->warn("can't save the progress of service %s: %s", state->service->name,
                             problem);
    snprintf(state->spool_problem, sizeof(state->spool_problem), "%s", problem);
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

    for (uint64_t now;
         !is_over(state) && !state->hands_over && (now = clock_ns(CLOCK_MONOTONIC)) < until;) {
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
    uint64_t rejected = reply->rejected < profiles ? reply->rejected : profiles;

    if (reply->outcome != PUSH_ACCEPTED) {
        status->retries++;
        return;
    }
    status->requests++;
    status->profiles += profiles - rejected;
    status->refused += rejected;
    status->bytes += reply->sent;
    status->accepted_at = (uint64_t)time(NULL);
}

/* True if the service has read the profiles and does not want them. Other refusals come from a
 * wrong configuration or a proxy, and end when these are mended. */
static bool is_refusal(const struct push_reply *reply, unsigned tries)
{
    bool is_fault = reply->status >= 500 && reply->status != 502 && reply->status != 503 &&
                    reply->status != 504;

    if (is_fault && tries >= FAULTS_MOST)
        return true;
    return reply->outcome == PUSH_REFUSED && (reply->status == 400 || reply->status == 413 ||
                                              reply->status == 415 || reply->status == 422);
}

enum batch_end {
    BATCH_DONE,    /* it was taken, or refused */
    BATCH_NO_TIME, /* the agent ends, or another process continues */
    BATCH_REMOVED, /* the recording has left the spool */
};

/* Send a request until the service takes or refuses it. */
static enum batch_end send_request(struct sender_state *state, const struct push_profile *profiles,
                                   size_t count, bool *ret_refused)
{
    const struct push_stop stop = {must_stop, state};
    struct stat status;

    *ret_refused = false;
    for (unsigned tries = 1; !is_over(state) && !(state->hands_over && tries > 1); tries++) {
        struct push_reply reply;

        if (fstat(state->recording, &status) == 0 && !status.st_nlink)
            return BATCH_REMOVED;
        reply = push_client_send(state->client, profiles, count, &stop);
        log_detail("push", "%s: status %ld, %" PRIu64 " bytes, %zu profiles", state->service->name,
                   reply.status, reply.sent, count);
        *ret_refused = is_refusal(&reply, tries);
        if (*ret_refused)
            snprintf(state->refusal, sizeof(state->refusal), "%s", reply.reason);
        else
            report(state, &reply);
        if (*ret_refused)
            return BATCH_DONE;
        count_reply(state->status, &reply, count);
        if (reply.outcome != PUSH_ACCEPTED)
            reply.outcome = PUSH_LATER;
        back_off(state, &reply);
        if (reply.outcome == PUSH_ACCEPTED)
            return BATCH_DONE;
    }
    return BATCH_NO_TIME;
}

/* Send profiles together. If the service refuses them, send each alone: only some may be bad. */
static enum batch_end send_batch(struct sender_state *state, const char *recording,
                                 const struct push_profile *profiles, size_t count)
{
    bool refused;
    enum batch_end end = send_request(state, profiles, count, &refused);

    if (end != BATCH_DONE || !refused)
        return end;
    if (count == 1) {
        state->status->refused++;
        skip(state, recording, state->refusal);
    }
    for (size_t i = 0; count > 1 && i < count && end == BATCH_DONE; i++)
        end = send_batch(state, recording, &profiles[i], 1);
    return end;
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

    if (name_numbers_set(state->sent, name, count, &state->spool, &error))
        report_spool(state, error.text);
    else
        state->spool_problem[0] = '\0';
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
    size_t sent = name_numbers_get(state->sent, name), count;
    enum batch_end end = BATCH_DONE;

    skip_sent(all, sent);
    while (end == BATCH_DONE && (count = take_batch(state, all, batch, labels))) {
        end = send_batch(state, name, batch, count);
        sent += count;
        if (end == BATCH_DONE)
            note_sent(state, name, sent);
        pause_ms(state, 0);
        if (state->hands_over)
            end = BATCH_NO_TIME;
    }
    if (end == BATCH_DONE)
        note_sent(state, name, SIZE_MAX);
    free(labels);
    free(batch);
}

/* Profiles could not be made. The machine may lack memory or processes for a while, so this is
 * tried again. */
static void note_unreadable(struct sender_state *state, const char *name, const char *problem)
{
    if (++state->failures < FAILURES_MOST) {
        pause_ms(state, PAUSE_MS);
        return;
    }
    state->failures = 0;
    state->status->unreadable++;
    skip(state, name, problem);
    note_sent(state, name, SIZE_MAX);
}

static void send_recording(struct sender_state *state, const char *name)
{
    char *path = xasprintf("%s/%s", state->options->directory, name);
    struct segment_profiles *profiles;
    struct error error;

    state->recording = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    free(path);
    if (state->recording < 0 && errno == ENOENT)
        return; /* it has just left the spool */
    profiles = segment_profiles_make(state->recording, state->service, &error);
    if (profiles) {
        state->failures = 0;
        send_profiles(state, name, profiles);
    } else {
        note_unreadable(state, name, error.text);
    }
    segment_profiles_free(profiles);
    if (state->recording >= 0)
        close(state->recording);
}

/* Send the recordings that the service does not have, the oldest first. False if it has all. */
static bool send_waiting(struct sender_state *state)
{
    struct error error;
    bool found = false, is_known = !state->found && !state->end_ns;

    if (!spool_may_have_changed(state->options->directory, &state->glance) && is_known)
        return false;
    if (spool_list(state->options->directory, &state->spool, &error)) {
        report_spool(state, error.text);
        return false;
    }
    for (size_t i = 0; i < state->spool.count && !is_over(state) && !state->hands_over; i++) {
        if (name_numbers_get(state->sent, state->spool.of[i].name) == SIZE_MAX)
            continue;
        found = true;
        send_recording(state, state->spool.of[i].name);
        if (state->failures)
            break; /* this recording is tried again before the next one */
        pause_ms(state, 0);
    }
    spool_list_free(&state->spool);
    state->found = found;
    return found;
}

/* Wait until the sender of a killed agent, or of the configuration before, has ended: it sends the
 * same. The lock is held until this process ends. False if this one is to end before. */
static bool take_turn(struct sender_state *state)
{
    char *path = xasprintf("%s/%s.lock", state->options->directory, state->service->name);
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    bool is_ours = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;

    free(path);
    while (fd >= 0 && !is_ours && !is_over(state) && !state->hands_over) {
        pause_ms(state, PAUSE_MS);
        is_ours = flock(fd, LOCK_EX | LOCK_NB) == 0;
    }
    return is_ours || fd < 0; /* without a file the spool can't be written either */
}

/* Make the client, which loads libcurl: after the rights have ended, and before the filter of
 * system calls, which lets no code be loaded. Without one nothing is sent. */
static struct push_client *make_client(const struct push_service *service,
                                       const struct sender_options *options)
{
    struct error error;
    struct push_client *client = push_client_new(service, &error);

    if (!client) {
        options->warn("nothing is sent to service %s: %s", service->name, error.text);
        _exit(WORKER_CAN_NOT_RUN);
    }
    return client;
}

static void run(struct push_client *client, const struct push_service *service,
                const struct sender_options *options, struct service_status *status, int end_fd)
{
    struct sender_state state = {
        .service = service,
        .options = options,
        .client = client,
        .end_fd = end_fd,
        .status = status,
    };

    if (!take_turn(&state))
        _exit(0);
    state.sent = name_numbers_open(options->directory, service->name, SPOOL_SENT);
    for (;;) {
        bool found = send_waiting(&state);

        if (is_over(&state) || state.hands_over || (!found && state.end_ns))
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
    file_fence_read_beside(fence, service->password_file);
    file_fence_read_beside(fence, service->token_file);
    file_fence_read_beside(fence, service->ca_file);
    return fence;
}

struct sender_job {
    const struct push_service *service;
    const struct sender_options *options;
    struct service_status *status;
};

static void run_start(void *context, int end_fd)
{
    const struct sender_job *start = context;
    struct push_client *client;

    tzset(); /* reads files */
    privileges_send(fence_of(start->service, start->options->directory));
    client = make_client(start->service, start->options);
    privileges_send_only();
    run(client, start->service, start->options, start->status, end_fd);
}

int sender_start(struct worker *worker, const struct push_service *service,
                 const struct sender_options *options, struct service_status *status,
                 struct error *error)
{
    struct sender_job start = {service, options, status};
    const struct worker_job job = {.name = "beamflame-send",
                                   .run = run_start,
                                   .context = &start,
                                   .kept = {options->log_file, -1, -1, -1}};

    return worker_start(worker, &job, error);
}

void senders_await(struct worker *workers, size_t count)
{
    const uint64_t until = clock_ns(CLOCK_MONOTONIC) + (LAST_SECONDS + 2) * 1000000000ULL;

    for (size_t i = 0; i < count; i++)
        worker_await(&workers[i], until);
}
