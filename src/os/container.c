// SPDX-License-Identifier: Apache-2.0
/*
 * Names of cgroups by container engine (ID is 64 hex digits):
 *
 *   docker        /docker/ID  /system.slice/docker-ID.scope
 *   containerd    /kubepods/burstable/podUID/ID  .../cri-containerd-ID.scope
 *                 /system.slice/containerd.service/kubepods-podUID.slice:cri-containerd:ID
 *   cri-o         .../crio-ID.scope           its monitor: crio-conmon-ID.scope
 *   podman        .../libpod-ID.scope[/container]  its monitor: libpod-conmon-ID.scope
 *   nspawn        /machine.slice/systemd-nspawn@NAME.service/payload  machine-NAME.scope
 *   lxc, lxd      /lxc.payload.NAME  /lxc.payload/NAME  /lxc/NAME   its monitor: lxc.monitor.NAME
 */
#include "os/process.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_DIGITS = 64, NAME_SIZE = 256 };

static const char *without_prefix(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);

    return strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

static bool cut_suffix(char *name, const char *suffix)
{
    size_t length = strlen(name);
    size_t cut = strlen(suffix);

    if (length < cut || strcmp(name + length - cut, suffix) != 0)
        return false;
    name[length - cut] = '\0';
    return true;
}

/* Return the ID in "docker-ID", "kubepods-podUID.slice:cri-containerd:ID" or "ID", else NULL. A
 * monitor ("conmon-") is not in the container. */
static const char *hex_id(const char *name)
{
    size_t length = strlen(name);
    const char *id;

    if (length < ID_DIGITS)
        return NULL;
    id = name + length - ID_DIGITS;
    if (strspn(id, "0123456789abcdef") != ID_DIGITS)
        return NULL;
    if (id > name && isalnum((unsigned char)id[-1]))
        return NULL;
    return strstr(name, "conmon-") ? NULL : id;
}

/* Undo systemd's escapes: "\x2d" is a "-" in a name (systemd.unit(5)). */
static void unescape(char *name)
{
    char *out = name;

    while (*name) {
        char digits[3] = {0};

        if (name[0] == '\\' && name[1] == 'x' && isxdigit((unsigned char)name[2]) &&
            isxdigit((unsigned char)name[3])) {
            memcpy(digits, name + 2, 2);
            *out++ = (char)strtol(digits, NULL, 16);
            name += 4;
        } else {
            *out++ = *name++;
        }
    }
    *out = '\0';
}

/* The container of a directory of the path, or NULL. Changes `name`. */
static const char *container_of_directory(char *name, const char *parent)
{
    const char *found;
    bool scope = cut_suffix(name, ".scope");

    if ((found = hex_id(name)))
        return found;
    if ((found = without_prefix(name, "lxc.payload.")))
        return found;
    if (strcmp(parent, "lxc") == 0 || strcmp(parent, "lxc.payload") == 0)
        return name;
    if (scope)
        found = without_prefix(name, "machine-");
    else if (cut_suffix(name, ".service"))
        found = without_prefix(name, "systemd-nspawn@");
    if (!found)
        return NULL;
    unescape(name);
    /* libvirt registers virtual machines with systemd-machined too. */
    return without_prefix(found, "qemu-") ? NULL : found;
}

static bool container_of_path(const char *path, size_t length, char *id, size_t size)
{
    const char *end = path + length;
    char parent[NAME_SIZE] = "";
    bool any = false;

    while (path < end) {
        const char *slash = memchr(path, '/', (size_t)(end - path));
        size_t part = (size_t)((slash ? slash : end) - path);
        char name[NAME_SIZE], scratch[NAME_SIZE];
        const char *found;

        snprintf(name, sizeof(name), "%.*s", (int)part, path);
        memcpy(scratch, name, sizeof(name));
        found = part ? container_of_directory(scratch, parent) : NULL;
        if (found && found[0]) {
            snprintf(id, size, "%s", found);
            any = true;
        }
        memcpy(parent, name, sizeof(name));
        path += part + 1;
    }
    return any;
}

bool container_of_cgroup(const char *text, char *id, size_t size)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        const char *controllers = memchr(text, ':', length);
        const char *path = NULL;

        if (controllers)
            path = memchr(controllers + 1, ':', length - (size_t)(controllers + 1 - text));
        if (path && container_of_path(path + 1, length - (size_t)(path + 1 - text), id, size))
            return true;
        text += length + (text[length] == '\n');
    }
    return false;
}
