// SPDX-License-Identifier: Apache-2.0
#include "os/placed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/courier.h"
#include "os/file_broker.h"

static int cannot_write(const char *path, int code, struct error *error)
{
    return error_set(error, ERROR_FAILED, "can't write %s: %s", path, strerror(code));
}

/* Check that a file can be created, by creating one: permissions are not enough (/proc, a read-only
 * mount). Return 0, or -1 with errno. */
static int check_creation(const struct file_place *place)
{
    char *temporary;
    int fd = file_place_create(place, O_WRONLY, &temporary);

    if (fd < 0)
        return -1;
    close(fd);
    file_place_remove(place, temporary);
    free(temporary);
    return 0;
}

static int check_in_place(const struct file_place *place)
{
    return place->own >= 0 ? fcntl(place->own, F_GETFD) < 0
                           : faccessat(place->directory, place->name, W_OK, 0);
}

int placed_file_check(const char *path, bool *ret_in_place, struct error *error)
{
    struct file_place place;
    int result = 0;

    if (courier_look(path, error))
        return -1;
    if (courier_has(path))
        return courier_check(path, ret_in_place, error);
    if (file_place_open(path, &place, error))
        return -1;
    *ret_in_place = place.in_place;
    if (place.in_place ? check_in_place(&place) : check_creation(&place))
        result = cannot_write(path, errno, error);
    file_place_close(&place);
    return result;
}

bool placed_file_is_in_place(const char *path)
{
    struct file_place place;
    struct error ignored;
    bool in_place = false;

    if (file_broker_is_asked())
        return file_broker_is_in_place(path);
    if (courier_look(path, &ignored))
        return false;
    if (courier_has(path))
        return courier_check(path, &in_place, &ignored) == 0 && in_place;
    if (file_place_open(path, &place, &ignored))
        return false;
    in_place = place.in_place;
    file_place_close(&place);
    return in_place;
}

static const struct placed_file nothing = {.place = {.directory = -1, .own = -1}, .local = -1};

/* Write to a local file, which is copied when it is published. */
static int open_local(struct placed_file *file, const char *path, struct error *error)
{
    int fd = courier_local_file();

    file->local = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (fd >= 0 && file->local >= 0)
        return fd;
    cannot_write(path, errno, error);
    if (fd >= 0)
        close(fd);
    return -1;
}

int placed_file_open(struct placed_file *file, const char *path, struct error *error)
{
    int fd;

    *file = nothing;
    if (file_broker_is_asked())
        return file_broker_open(path, &file->id, error);
    if (courier_has(path))
        return open_local(file, path, error);
    if (file_place_open(path, &file->place, error))
        return -1;
    if (!file->place.in_place)
        file_place_clean(&file->place);
    fd = file->place.in_place ? file_place_write_in_place(&file->place)
                              : file_place_create(&file->place, O_WRONLY, &file->temporary);
    return fd < 0 ? cannot_write(path, errno, error) : fd;
}

int placed_file_publish(struct placed_file *file, const char *path, struct error *error)
{
    if (file->id)
        return file_broker_publish(file->id, error);
    if (file->local >= 0)
        return courier_deliver(path, file->local, error);
    if (!file->temporary)
        return 0;
    if (file_place_publish(&file->place, file->temporary))
        return cannot_write(path, errno, error);
    free(file->temporary);
    file->temporary = NULL;
    return 0;
}

void placed_file_close(struct placed_file *file)
{
    if (file->temporary)
        file_place_remove(&file->place, file->temporary);
    file_place_close(&file->place);
    free(file->temporary);
    if (file->local >= 0)
        close(file->local);
    *file = nothing;
}
