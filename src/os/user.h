// SPDX-License-Identifier: Apache-2.0
/* The user who runs a program through sudo, and how a process becomes a user. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"

/* All zero is no user. */
struct user {
    uid_t uid;
    gid_t gid;
    char *name;         /* NULL: the user is not in the password database */
    char *home, *shell; /* never NULL in a user */
};

/* Find a user of the password database, by name or by number. Return 0, or -1 with ERROR_USAGE. */
int user_named(const char *name, struct user *ret_user, struct error *error);

/* Find the user who became root by sudo, doas or pkexec to start this process, by the environment.
 * False if there is none: another user than root started the process, or root did. */
bool user_who_became_root(struct user *ret_user);

void user_free(struct user *user);

/* Become the user for good: user and group ids, supplementary groups, no capabilities. Return 0, or
 * -1 with errno; the process may have lost a part of its rights then, and must end. */
int user_become(const struct user *user);

/* Set the environment of this process as `su` does for the user, and remove the variables of
 * sudo, doas and pkexec. */
void user_set_environment(const struct user *user);
