// SPDX-License-Identifier: Apache-2.0
/* A file that is written at a place (util/file_place.h): opened by this process, or by the one that
 * opens files for it (os/file_broker.h), or copied there by another (os/courier.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"
#include "util/file_place.h"

struct placed_file {
    struct file_place place;
    char *temporary; /* its name; NULL: written in place, or published */
    uint32_t id;     /* at the process that has opened it, from 1; 0: this process */
    int local;       /* the file that is copied to the place; -1: nothing */
};

/* Check that the file can be written. *ret_in_place: as placed_file_is_in_place(). Return 0, or -1
 * with error. */
int placed_file_check(const char *path, bool *ret_in_place, struct error *error);

/* True if `path` names a device or a pipe, where nothing can be published. */
bool placed_file_is_in_place(const char *path);

/* Open the file that `path` will name when it is published; a device or pipe at once. Return a
 * descriptor, or -1 with error. */
int placed_file_open(struct placed_file *file, const char *path, struct error *error);

/* Give the file its name, when all is written. `path`: for the error. Return 0, or -1. */
int placed_file_publish(struct placed_file *file, const char *path, struct error *error);

/* Remove the file unless it was published or is written in place. */
void placed_file_close(struct placed_file *file);
