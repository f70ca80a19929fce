// SPDX-License-Identifier: Apache-2.0
#include "os/patient_open.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "os/local_disk.h"
#include "os/patience.h"
#include "os/procfs.h"
#include "util/clock.h"

enum {
    SILENT_MAX = 16,
    ANSWERED_MAX = 64,
    LEFT_MAX = 32, /* processes that are left behind at the same time */
    PERIODS = 5,   /* BUDGET_NS are there again after PERIODS times as long */
};
static const uint64_t SILENT_NS = 10000000000; /* the server gets another request after that */
static const int64_t BUDGET_NS = 2000000000;

static struct {
    pthread_mutex_t lock;
    struct {
        uint64_t device, since; /* ns, CLOCK_MONOTONIC */
    } devices[SILENT_MAX];
    uint64_t answered[ANSWERED_MAX];
    unsigned int next, next_answered;
    int64_t budget;   /* ns */
    uint64_t updated; /* when it was computed */
} known = {.lock = PTHREAD_MUTEX_INITIALIZER, .budget = BUDGET_NS};

static bool is_silent(uint64_t device, uint64_t now)
{
    for (int i = 0; i < SILENT_MAX; i++)
        if (known.devices[i].since && known.devices[i].device == device &&
            now - known.devices[i].since < SILENT_NS)
            return true;
    return false;
}

static bool has_answered(uint64_t device)
{
    for (int i = 0; i < ANSWERED_MAX; i++)
        if (known.answered[i] == device)
            return true;
    return false;
}

static bool is_used_up(uint64_t now)
{
    if (known.updated)
        known.budget += (int64_t)((now - known.updated) / PERIODS);
    if (known.budget > BUDGET_NS)
        known.budget = BUDGET_NS;
    known.updated = now;
    return known.budget <= 0 || patience_left() >= LEFT_MAX;
}

/* ---- local file systems ---- */

/* True if the line of /proc/PID/mountinfo (proc_pid_mountinfo(5)) is of a local file system on this
 * device. The fields have no spaces. */
static bool is_line_of(const char *line, const char *device)
{
    const char *number = strchr(line, ' '), *type = strstr(line, " - ");
    size_t size = strlen(device);

    number = number ? strchr(number + 1, ' ') : NULL;
    if (!number || !type || strncmp(number + 1, device, size) != 0 || number[1 + size] != ' ')
        return false;
    return local_disk_is_type(type + 3, strcspn(type + 3, " "));
}

/* The device is in the list of mounts that the process sees. */
static bool is_local(pid_t pid, uint64_t device)
{
    size_t size;
    char *text = procfs_read(pid, "mountinfo", &size), *rest = NULL, number[32];
    bool found = false;

    snprintf(number, sizeof(number), "%u:%u", major(device), minor(device));
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line && !found;
         line = strtok_r(NULL, "\n", &rest))
        found = is_line_of(line, number);
    free(text);
    return found;
}

/* ---- what others call ---- */

enum silence silent_servers_look(pid_t pid, uint64_t device)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    bool silent, others;

    pthread_mutex_lock(&known.lock);
    silent = is_silent(device, now);
    others = is_used_up(now) && !has_answered(device);
    pthread_mutex_unlock(&known.lock);
    if (silent)
        return SILENCE_KNOWN;
    return others && !is_local(pid, device) ? SILENCE_OF_OTHERS : SILENCE_NONE;
}

void silent_servers_note(uint64_t device, uint64_t waited_ns)
{
    pthread_mutex_lock(&known.lock);
    known.devices[known.next].device = device;
    known.devices[known.next].since = clock_ns(CLOCK_MONOTONIC);
    known.next = (known.next + 1) % SILENT_MAX;
    known.budget -= (int64_t)waited_ns;
    pthread_mutex_unlock(&known.lock);
}

void silent_servers_note_answer(uint64_t device)
{
    pthread_mutex_lock(&known.lock);
    if (!has_answered(device)) {
        known.answered[known.next_answered] = device;
        known.next_answered = (known.next_answered + 1) % ANSWERED_MAX;
    }
    pthread_mutex_unlock(&known.lock);
}
