// SPDX-License-Identifier: Apache-2.0
#include "capture/alarms.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "os/descriptors.h"
#include "os/privileges.h"
#include "os/thread_start.h"
#include "util/alloc.h"

struct sleeper {
    uint32_t first_slot, count;
    struct governor *governor;
};

struct alarms {
    struct ring_buffer *ring;
    int stop_fd; /* an eventfd: readable when the thread is to end */
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* guards the sleepers */
    struct sleeper *sleepers;
    size_t count, room;
};

static int ring_alarm(void *context, void *data, size_t size)
{
    struct alarms *alarms = context;
    uint32_t slot;

    if (size != sizeof(slot))
        return 0;
    memcpy(&slot, data, sizeof(slot));
    pthread_mutex_lock(&alarms->lock);
    for (size_t i = 0; i < alarms->count; i++)
        if (slot - alarms->sleepers[i].first_slot < alarms->sleepers[i].count)
            governor_wake(alarms->sleepers[i].governor);
    pthread_mutex_unlock(&alarms->lock);
    return 0;
}

static void *wait_for_alarms(void *argument)
{
    struct alarms *alarms = argument;
    struct pollfd fds[] = {
        {.fd = ring_buffer__epoll_fd(alarms->ring), .events = POLLIN},
        {.fd = alarms->stop_fd, .events = POLLIN},
    };

    governor_take_precedence();
    privileges_give_up();
    while (!fds[1].revents) {
        if (poll(fds, 2, -1) > 0 && fds[0].revents)
            ring_buffer__consume(alarms->ring);
    }
    return NULL;
}

struct alarms *alarms_new(void)
{
    struct alarms *alarms = xcalloc(1, sizeof(*alarms));

    pthread_mutex_init(&alarms->lock, NULL);
    alarms->stop_fd = -1;
    return alarms;
}

int alarms_start(struct alarms *alarms, const struct programs *programs, struct error *error)
{
    int code;

    alarms->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (alarms->stop_fd >= 0)
        alarms->ring = ring_buffer__new(programs_alarms_fd(programs), ring_alarm, alarms, NULL);
    code = alarms->ring ? thread_start(&alarms->thread, NULL, wait_for_alarms, alarms) : errno;
    alarms->started = code == 0;
    if (!code)
        return 0;
    if (descriptors_ran_out(code, error))
        return -1;
    return error_set(error, ERROR_FAILED, "alarms of probes can't be received: %s", strerror(code));
}

void alarms_free(struct alarms *alarms)
{
    if (!alarms)
        return;
    if (alarms->started) {
        eventfd_write(alarms->stop_fd, 1);
        pthread_join(alarms->thread, NULL);
    }
    ring_buffer__free(alarms->ring);
    if (alarms->stop_fd >= 0)
        close(alarms->stop_fd);
    pthread_mutex_destroy(&alarms->lock);
    free(alarms->sleepers);
    free(alarms);
}

void alarms_join(struct alarms *alarms, uint32_t first_slot, uint32_t count,
                 struct governor *governor)
{
    pthread_mutex_lock(&alarms->lock);
    alarms->sleepers =
        xgrow(alarms->sleepers, &alarms->room, alarms->count, sizeof(*alarms->sleepers));
    alarms->sleepers[alarms->count++] = (struct sleeper){first_slot, count, governor};
    pthread_mutex_unlock(&alarms->lock);
}

void alarms_leave(struct alarms *alarms, const struct governor *governor)
{
    size_t kept = 0;

    pthread_mutex_lock(&alarms->lock);
    for (size_t i = 0; i < alarms->count; i++)
        if (alarms->sleepers[i].governor != governor)
            alarms->sleepers[kept++] = alarms->sleepers[i];
    alarms->count = kept;
    pthread_mutex_unlock(&alarms->lock);
}
