// SPDX-License-Identifier: Apache-2.0
#include "agent/segment_profiles.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/unprivileged.h"
#include "util/alloc.h"
#include "util/cursor.h"

enum { ALL_MAX = 256 << 20 }; /* bytes of all profiles of a segment */

struct segment_profiles {
    const void *data;
    size_t size;
    struct cursor cursor;
    struct push_label labels[PROFILE_LABELS_MAX];
};

struct profiles_request {
    int fd;
    const struct push_service *service;
};

static int write_profiles(void *context, int out, struct error *error)
{
    const struct profiles_request *request = context;

    return profile_writer_write(request->fd, out, request->service, error);
}

static struct segment_profiles *map(int fd, struct error *error)
{
    struct segment_profiles *profiles;
    struct stat status;
    void *data = NULL;

    if (fstat(fd, &status) || status.st_size > ALL_MAX) {
        error_set(error, ERROR_FAILED, "its profiles have more than %d MB", ALL_MAX >> 20);
        return NULL;
    }
    if (status.st_size)
        data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        error_set(error, ERROR_FAILED, "its profiles can't be mapped");
        return NULL;
    }
    profiles = xcalloc(1, sizeof(*profiles));
    profiles->data = data;
    profiles->size = (size_t)status.st_size;
    profiles->cursor = cursor_over(data, profiles->size);
    return profiles;
}

struct segment_profiles *segment_profiles_make(int fd, const struct push_service *service,
                                               struct error *error)
{
    struct profiles_request request = {fd, service};
    int out = unprivileged_make(write_profiles, &request, &fd, 1, error);
    struct segment_profiles *profiles = out < 0 ? NULL : map(out, error);

    if (out >= 0)
        close(out);
    return profiles;
}

void segment_profiles_free(struct segment_profiles *profiles)
{
    if (!profiles)
        return;
    if (profiles->size)
        munmap((void *)profiles->data, profiles->size);
    free(profiles);
}

/* Return a text that ends in NUL; "" on a problem. */
static const char *take_text(struct cursor *cursor)
{
    size_t size = cursor_u32(cursor);
    const char *text = cursor_take(cursor, size, "text is cut off");

    if (text && size && !text[size - 1])
        return text;
    cursor_fail(cursor, "text does not end");
    return "";
}

bool segment_profiles_next(struct segment_profiles *profiles, struct push_profile *ret_profile)
{
    struct cursor *cursor = &profiles->cursor;
    struct push_profile profile = {.labels = profiles->labels};

    if (cursor->problem || cursor->at == cursor->end)
        return false;
    cursor_copy(cursor, profile.id, sizeof(profile.id));
    profile.label_count = cursor_u32(cursor);
    if (profile.label_count > PROFILE_LABELS_MAX)
        cursor_fail(cursor, "too many labels");
    for (size_t i = 0; !cursor->problem && i < profile.label_count; i++) {
        profiles->labels[i].name = take_text(cursor);
        profiles->labels[i].value = take_text(cursor);
    }
    profile.size = cursor_u64(cursor);
    profile.data = cursor_take(cursor, profile.size, "profile is cut off");
    *ret_profile = profile;
    return !cursor->problem;
}
