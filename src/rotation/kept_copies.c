// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rotation/segments_internal.h"

enum { COPIES_MAX = 4096, PATH_ROOM = 512 };

struct kept_copies {
    size_t most;
    uint64_t count; /* that were added */
    char paths[COPIES_MAX][PATH_ROOM];
};

struct kept_copies *kept_copies_new(size_t most)
{
    struct kept_copies *copies =
        mmap(NULL, sizeof(*copies), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (copies == MAP_FAILED)
        return NULL;
    copies->most = most < COPIES_MAX ? most : COPIES_MAX;
    return copies;
}

void kept_copies_free(struct kept_copies *copies)
{
    if (copies)
        munmap(copies, sizeof(*copies));
}

void kept_copies_add(struct kept_copies *copies, const char *path)
{
    char *place = copies->paths[copies->count % copies->most];

    if (strlen(path) >= PATH_ROOM)
        return;
    if (*place)
        unlink(place);
    strcpy(place, path);
    copies->count++;
}
