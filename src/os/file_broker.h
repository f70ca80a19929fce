// SPDX-License-Identifier: Apache-2.0
/*
 * Opens files for a process that may open none (os/confined.h). That process asks through a socket;
 * its parent, which has the rights, opens the files and passes their descriptors.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

/* ---- the process with the rights ---- */

/* The files that the other process may have. The functions that open return a descriptor, or -1
 * with error.
 * */
struct file_broker {
    void *context;
    /* True if an output may be written to `path`. */
    bool (*permits)(void *context, const char *path);
    /* Open an input, which the other process calls `path`. */
    int (*open_input)(void *context, const char *path, struct error *error);
    /* Open an unnamed file to write and read. NULL: there is none. */
    int (*open_temporary)(void *context, struct error *error);
};

/* Answer what comes through the socket until its other end is closed. Remove the outputs that were
 * not published. Return true if the other process has said that it has written all. */
bool file_broker_serve(const struct file_broker *broker, int socket);

/* ---- the process without ---- */

/* Ask through the socket from now on. */
void file_broker_ask_through(int socket);

/* True if this process asks another one. */
bool file_broker_is_asked(void);

/* Each returns a descriptor, or -1 with error. */
int file_broker_input(const char *path, struct error *error);
int file_broker_temporary(struct error *error);
/* *ret_id is for file_broker_publish(), which must not be called before the file is closed. */
int file_broker_open(const char *path, uint32_t *ret_id, struct error *error);

/* As placed_file_is_in_place(). */
bool file_broker_is_in_place(const char *path);

/* Return 0, or -1 with error. */
int file_broker_publish(uint32_t id, struct error *error);

/* Say that all is written. */
void file_broker_complete(void);
