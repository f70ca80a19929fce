// SPDX-License-Identifier: Apache-2.0
#include "agent/roster.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "output/protobuf/wire_types.h"
#include "util/alloc.h"
#include "util/seqlock.h"
#include "util/utf8.h"

enum { TRIES = 1000 }; /* of reading while it is written, which takes less than 1 ms */

struct roster {
    struct seqlock lock;
    uint64_t count;
    struct roster_vm of[ROSTER_MAX];
};

static int can_not_share(struct error *error)
{
    return error_set(error, ERROR_FAILED, "the list of VMs can't be shared: %s", strerror(errno));
}

struct roster *roster_new(int *ret_file, struct error *error)
{
    struct roster *roster = MAP_FAILED;

    *ret_file = memfd_create("roster", MFD_CLOEXEC);
    if (*ret_file >= 0 && !ftruncate(*ret_file, sizeof(*roster)))
        roster = mmap(NULL, sizeof(*roster), PROT_READ | PROT_WRITE, MAP_SHARED, *ret_file, 0);
    if (roster != MAP_FAILED && !madvise(roster, sizeof(*roster), MADV_DONTFORK))
        return roster;
    can_not_share(error);
    if (roster != MAP_FAILED)
        roster_free(roster);
    if (*ret_file >= 0)
        close(*ret_file);
    *ret_file = -1;
    return NULL;
}

void roster_free(struct roster *roster)
{
    if (roster)
        munmap(roster, sizeof(*roster));
}

static void put(struct roster_vm *vm, const struct target *target, const struct profile *profile)
{
    const struct target_entry *entry =
        profile_get_target(profile, symbolizer_target(target->symbolizer));
    const char *node = profile_text(profile, entry->node);

    vm->pid = target->vm->pid;
    vm->identity = target->vm->identity;
    utf8_copy(vm->node, sizeof(vm->node), wire_node_has_name(node) ? node : "");
}

void roster_write(struct roster *roster, const struct targets *targets,
                  const struct profile *profile)
{
    uint64_t count = 0;

    seqlock_write_begin(&roster->lock);
    for (size_t i = 0; i < targets->count && count < ROSTER_MAX; i++)
        if (!targets->of[i]->ended && targets->of[i]->symbolizer)
            put(&roster->of[count++], targets->of[i], profile);
    roster->count = count;
    seqlock_write_end(&roster->lock);
}

static bool copy(const struct roster *roster, struct roster_vm *vms, size_t *ret_count)
{
    uint64_t version;

    for (int i = 0; i < TRIES; i++, sched_yield()) {
        if (!seqlock_read_begin(&roster->lock, &version))
            continue;
        *ret_count = roster->count;
        memcpy(vms, roster->of, sizeof(roster->of));
        if (seqlock_read_end(&roster->lock, version))
            return true;
    }
    return false;
}

struct roster_vm *roster_read(int file, size_t *ret_count, struct error *error)
{
    struct roster *roster = mmap(NULL, sizeof(*roster), PROT_READ, MAP_SHARED, file, 0);
    struct roster_vm *vms;
    bool done;

    *ret_count = 0;
    if (roster == MAP_FAILED) {
        can_not_share(error);
        return NULL;
    }
    vms = xcalloc(ROSTER_MAX, sizeof(*vms));
    done = copy(roster, vms, ret_count);
    roster_free(roster);
    if (done)
        return vms;
    free(vms);
    error_set(error, ERROR_FAILED, "the list of VMs is written all the time");
    return NULL;
}
