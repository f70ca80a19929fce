// SPDX-License-Identifier: Apache-2.0
/*
 * Where a file is written: an open directory, and a name in it. Other users may change the path
 * meanwhile, and may have prepared it: links, pipes and files that they made are refused.
 *
 *   open ──> create, write ──> publish      a file that appears complete or not at all
 *        ──> write_in_place                 a device or a pipe
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "util/error.h"

struct file_place {
    int directory;
    char *name;
    bool exists;
    struct stat old; /* of the existing file, which is not a link */
    bool in_place;   /* a device or a pipe: a rename would replace it by a file */
    int own;         /* own descriptor that the path names (/dev/stdout, /dev/fd/3); -1: none */
};

/* Find the place of `path`. A symbolic link as the last name is followed only if both the link and
 * its directory belong to this user or root, and nobody else can write to that directory. A link
 * before the last name is followed as folder_open() says (util/folder.h). Refuse a file or pipe of
 * another user in a directory that all can write. -1 with error. */
int file_place_open(const char *path, struct file_place *place, struct error *error);
void file_place_close(struct file_place *place);

/* Open the folder of `path`, as folder_open() does. */
int file_place_folder(const char *path, char **ret_refused);

/* Rename and remove what has this name itself, in the folder of the path. -1 with errno, for
 * folder_problem(). */
int file_place_rename(const char *from, const char *to);
int file_place_unlink(const char *path);

/* Remove temporary files that killed processes have left for this place. */
void file_place_clean(const struct file_place *place);

/* Create ".NAME.PID-RANDOM.tmp" in the directory, for `flags` O_WRONLY or O_RDWR. Only this user
 * can open it. Return its descriptor and its name, to be freed, or -1 with errno. If a signal ends
 * the program before it is published or removed, it is removed (util/stop.h). */
int file_place_create(const struct file_place *place, int flags, char **ret_temporary);
/* Give the temporary file the owner and mode of the file that it replaces, and the name of the
 * place. The umask decides on the mode of a new file. -1 with errno. */
int file_place_publish(const struct file_place *place, const char *temporary);
void file_place_remove(const struct file_place *place, const char *temporary);
/* Let others open a file that was made for this user alone, as the umask says. */
void file_place_open_up(int fd);
/* True if the open file `fd` still has this name. */
bool file_place_has(const struct file_place *place, int fd);

/* Open a place that is in_place. It waits for the reader of a pipe; a signal ends that. Return the
 * descriptor, or -1 with errno. */
int file_place_write_in_place(const struct file_place *place);

/* Open a file or pipe to append to it; create the file if it does not exist. Nothing waits for the
 * reader of a pipe: without one it is an error, and what does not fit into it is not written.
 * Return the descriptor, or -1 with error. */
int file_place_append(const char *path, struct error *error);
