// SPDX-License-Identifier: Apache-2.0
#include "os/user.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/capabilities.h"
#include "util/alloc.h"
#include "util/span.h"

extern char **environ;

static const char DEFAULT_SHELL[] = "/bin/sh";

static void take(const struct passwd *entry, struct user *ret_user)
{
    *ret_user = (struct user){
        .uid = entry->pw_uid,
        .gid = entry->pw_gid,
        .name = xstrdup(entry->pw_name),
        .home = xstrdup(entry->pw_dir[0] ? entry->pw_dir : "/"),
        .shell = xstrdup(entry->pw_shell[0] ? entry->pw_shell : DEFAULT_SHELL),
    };
}

/* Parse a user or group id. (uid_t)-1 stands for "no change" in calls of the kernel. */
static bool parse_id(const char *text, unsigned int *id)
{
    unsigned long value;
    char *end;

    if (!text || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    value = strtoul(text, &end, 10);
    if (*end || errno || value >= UINT_MAX)
        return false;
    *id = (unsigned int)value;
    return true;
}

int user_named(const char *name, struct user *ret_user, struct error *error)
{
    const struct passwd *entry = getpwnam(name);
    unsigned int uid;

    if (!entry && parse_id(name, &uid))
        entry = getpwuid(uid);
    if (!entry)
        return error_set(error, ERROR_USAGE, "there is no user '%s'", name);
    take(entry, ret_user);
    return 0;
}

/* The user with this id, whose group is `gid` if the password database does not have the user. */
static void by_id(uid_t uid, gid_t gid, struct user *ret_user)
{
    const struct passwd *entry = getpwuid(uid);

    if (entry)
        take(entry, ret_user);
    else
        *ret_user = (struct user){
            .uid = uid, .gid = gid, .home = xstrdup("/"), .shell = xstrdup(DEFAULT_SHELL)};
}

/* sudo(8) sets SUDO_UID and SUDO_GID, pkexec(1) PKEXEC_UID, doas(1) DOAS_USER. */
bool user_who_became_root(struct user *ret_user)
{
    const char *doas = getenv("DOAS_USER");
    struct error ignored;
    unsigned int uid, gid;

    /* The variables of a process that is not root's can have any values. */
    if (getuid() || geteuid())
        return false;
    if (parse_id(getenv("SUDO_UID"), &uid) && parse_id(getenv("SUDO_GID"), &gid)) {
        by_id(uid, gid, ret_user);
    } else if (parse_id(getenv("PKEXEC_UID"), &uid)) {
        by_id(uid, uid, ret_user);
    } else if (!doas || user_named(doas, ret_user, &ignored)) {
        return false;
    }
    if (ret_user->uid)
        return true;
    user_free(ret_user);
    return false;
}

void user_free(struct user *user)
{
    free(user->name);
    free(user->home);
    free(user->shell);
    *user = (struct user){0};
}

int user_become(const struct user *user)
{
    if (user->name ? initgroups(user->name, user->gid) : setgroups(1, &user->gid))
        return -1;
    if (setresgid(user->gid, user->gid, user->gid) || setresuid(user->uid, user->uid, user->uid))
        return -1;
    return user->uid ? capabilities_keep(0) : 0;
}

static void unset_all(const char *prefix)
{
    for (char **variable = environ; variable && *variable;) {
        char *name;

        if (!begins_with(*variable, prefix)) {
            variable++;
            continue;
        }
        name = xstrndup(*variable, strcspn(*variable, "="));
        variable = unsetenv(name) ? variable + 1 : environ;
        free(name);
    }
}

void user_set_environment(const struct user *user)
{
    unset_all("SUDO_");
    unset_all("DOAS_");
    unset_all("PKEXEC_");
    unsetenv("MAIL"); /* root's */
    setenv("HOME", user->home, 1);
    setenv("SHELL", user->shell, 1);
    if (user->name) {
        setenv("USER", user->name, 1);
        setenv("LOGNAME", user->name, 1);
    } else {
        unsetenv("USER");
        unsetenv("LOGNAME");
    }
}
