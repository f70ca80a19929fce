// SPDX-License-Identifier: Apache-2.0
#include "os/placed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "os/file_broker.h"

static int cannot_write(const char *path, int code, struct error *error)
{
    return error_set(error, ERROR_FAILED, "can't write %s: %s", path, strerror(code));
}

bool placed_file_is_in_place(const char *path)
{
    struct file_place place;
    struct error ignored;
    bool in_place;

    if (file_broker_is_asked())
        return file_broker_is_in_place(path);
    if (file_place_open(path, &place, &ignored))
        return false;
    in_place = place.in_place;
    file_place_close(&place);
    return in_place;
}

int placed_file_open(struct placed_file *file, const char *path, struct error *error)
{
    int fd;

    *file = (struct placed_file){.place = {.directory = -1, .own = -1}};
    if (file_broker_is_asked())
        return file_broker_open(path, &file->id, error);
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
    *file = (struct placed_file){.place = {.directory = -1, .own = -1}};
}
