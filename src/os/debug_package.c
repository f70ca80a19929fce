// SPDX-License-Identifier: Apache-2.0
#include "os/debug_package.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/mappings.h"
#include "os/open_in_root.h"
#include "util/read_at.h"

enum { OS_RELEASE_MAX = 8192 };

/* True if a line "KEY=..." lists `word`: ID=debian, ID_LIKE="rhel fedora" (os-release(5)). */
static bool line_lists(const char *line, size_t length, const char *word)
{
    size_t size = strlen(word);

    for (size_t at = strcspn(line, "=") + 1; at + size <= length; at++)
        if (strncmp(line + at, word, size) == 0 && strchr("=\" '", line[at - 1]) &&
            (at + size == length || strchr("\" '", line[at + size])))
            return true;
    return false;
}

static bool is_like(const char *os_release, const char *word)
{
    for (const char *line = os_release; *line;) {
        size_t length = strcspn(line, "\n");

        if ((strncmp(line, "ID=", 3) == 0 || strncmp(line, "ID_LIKE=", 8) == 0) &&
            line_lists(line, length, word))
            return true;
        line += length + (line[length] == '\n');
    }
    return false;
}

const char *debug_package_of_release(const char *os_release)
{
    static const char *const packages[][2] = {
        {"debian", "erlang-base-dbgsym"},
        {"ubuntu", "erlang-base-dbgsym"},
    };

    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
        if (is_like(os_release, packages[i][0]))
            return packages[i][1];
    return NULL;
}

/* The package of the distribution that the process of `file` sees. NULL if the file is not where
 * distributions have it. */
static const char *package_of(const struct elf_file *file)
{
    char text[OS_RELEASE_MAX + 1];
    int fd;

    if (!file->root || (strncmp(file->path, "/usr/lib/erlang/", 16) != 0 &&
                        strncmp(file->path, "/usr/lib64/erlang/", 18) != 0))
        return NULL;
    fd = open_in_root(file->root, "/etc/os-release");
    if (fd < 0)
        return NULL;
    text[read_at(fd, 0, text, OS_RELEASE_MAX)] = '\0';
    close(fd);
    return debug_package_of_release(text);
}

void debug_advice(const struct elf_file *file, char *text, size_t size)
{
    const char *package = package_of(file);
    const struct build_id_text id = build_id_text(&file->build_id);

    if (!id.text[0])
        snprintf(text, size, "%s%s, or run a VM that is not stripped",
                 package ? "install " : "install its debug symbols", package ? package : "");
    else
        snprintf(text, size, "%s%s%s/usr/lib/debug/.build-id/%.2s/%s.debug",
                 package ? "install " : "", package ? package : "",
                 package ? ", which has " : "install its debug symbols as ", id.text, id.text + 2);
}
