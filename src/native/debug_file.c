// SPDX-License-Identifier: Apache-2.0
#include "native/debug_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "native/debug_fetch.h"
#include "native/elf_file.h"
#include "native/mappings.h"
#include "os/patience.h"
#include "os/patient_open.h"
#include "os/procfs.h"
#include "util/alloc.h"
#include "util/log.h"
#include "util/files.h"
#include "util/stop.h"

enum {
    CHECKED_MAX = 256 << 20, /* bytes of a file that is only known by its checksum */
};

static const char HOST[] = "/"; /* the root directory of the host */

#define BY_BUILD_ID "/usr/lib/debug/.build-id"

struct wanted {
    struct parser *parser;
    struct build_id id;
    const char *link;  /* in .gnu_debuglink; NULL: none */
    uint32_t checksum; /* of the file that `link` names */
};

static bool same_checksum(int fd, uint32_t checksum)
{
    uLong sum = crc32(0, NULL, 0);
    uint8_t bytes[1 << 14];
    off_t at = 0;
    ssize_t got = -1; /* of a file that is too large to check */

    while (at < CHECKED_MAX && !stop_is_overdue() &&
           (got = pread(fd, bytes, sizeof(bytes), at)) > 0) {
        sum = crc32(sum, bytes, (uInt)got);
        at += got;
    }
    return got == 0 && sum == checksum;
}

/* ---- files that may not answer ---- */

struct candidate {
    char *root, *path;
    bool has_checksum; /* else any file will do */
    uint32_t checksum;
    bool is_other; /* there is such a file, with another checksum */
};

static void drop_candidate(void *work)
{
    struct candidate *candidate = work;

    free(candidate->root);
    free(candidate->path);
    free(candidate);
}

/* Find the file, and see that it can be read. */
static int find_readable(void *work)
{
    struct candidate *candidate = work;
    int path_fd = procfs_find_in_root(candidate->root, candidate->path);
    int fd = path_fd >= 0 ? procfs_reopen(path_fd) : -1;
    char byte;

    if (fd >= 0 && candidate->has_checksum)
        candidate->is_other = !same_checksum(fd, candidate->checksum);
    else if (fd >= 0)
        (void)!pread(fd, &byte, sizeof(byte), 0);
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && !candidate->is_other)
        return path_fd;
    if (path_fd >= 0)
        close(path_fd);
    return -1;
}

/* The root directory whose file server did not answer last. It is not asked again, because each
 * time takes a while. */
static char silent_root[64];

static void note_silence(const char *root, const char *path)
{
    snprintf(silent_root, sizeof(silent_root), "%s", root);
    log_decision("debug file",
                 "the file server of %s in %s does not answer: no more debug files are looked for "
                 "there",
                 path, root);
}

/* Return a descriptor (O_PATH) of the file; -1 if it is not there. `checksum` is the wanted file's;
 * NULL: any will do. `*ret_exists`: there is such a file, with any checksum. */
static int open_candidate(const char *root, const char *path, const uint32_t *checksum,
                          bool *ret_exists)
{
    struct candidate *candidate;
    int fd;

    *ret_exists = false;
    if (!strcmp(root, silent_root))
        return -1;
    candidate = xcalloc(1, sizeof(*candidate));
    *candidate = (struct candidate){.root = xstrdup(root),
                                    .path = xstrdup(path),
                                    .has_checksum = checksum != NULL,
                                    .checksum = checksum ? *checksum : 0};
    if (patient_open(find_readable, drop_candidate, candidate, &fd)) {
        *ret_exists = fd >= 0 || candidate->is_other;
        drop_candidate(candidate);
        return fd;
    }
    if (errno == EBUSY)
        note_silence(root, path);
    return -1;
}

/* ---- places ---- */

enum { PLACES_MAX = 16 };

/* The places that the user names: absolute paths. */
static struct {
    char *paths[PLACES_MAX];
    size_t count;
} named;

int debug_file_add_place(const char *path, struct error *error)
{
    char *real;

    if (named.count == PLACES_MAX)
        return error_set(error, ERROR_USAGE, "--symbols may be given %d times at most", PLACES_MAX);
    real = realpath(path, NULL);
    if (!real)
        return error_set(error, ERROR_USAGE, "can't use the symbols in '%s': %s", path,
                         strerror(errno));
    named.paths[named.count++] = real;
    return 0;
}

static bool same_build_id(int fd, const struct wanted *wanted)
{
    struct build_id id = elf_file_build_id(wanted->parser, fd);

    return build_id_equal(&id, &wanted->id);
}

/* Open `path` in `root` if it is the wanted file. Takes `path`, which is malloc'ed. */
static int open_wanted(const struct wanted *wanted, const char *root, char *path)
{
    bool exists;
    int fd = open_candidate(root, path, wanted->id.size ? NULL : &wanted->checksum, &exists);

    if (fd >= 0 && wanted->id.size && !same_build_id(fd, wanted)) {
        close(fd);
        fd = -1;
    }
    log_detail("debug file", "%s in %s: %s", path, root,
               fd >= 0  ? "it fits"
               : exists ? "it is of another build"
                        : "no such file");
    free(path);
    return fd;
}

/* `directory` is in `place`, which is "" or a directory of the root. */
static int open_by_build_id(const struct wanted *wanted, const char *root, const char *place,
                            const char *directory)
{
    const struct build_id_text id = build_id_text(&wanted->id);

    if (wanted->id.size < 2)
        return -1;
    return open_wanted(wanted, root,
                       xasprintf("%s%s/%.2s/%s.debug", place, directory, id.text, id.text + 2));
}

static int open_by_link(const struct wanted *wanted, const char *root, const char *path)
{
    static const char *const places[][2] = {
        {"", "/"},
        {"", "/.debug/"},
        {"/usr/lib/debug", "/"},
    };
    int directory = (int)(strrchr(path, '/') - path);
    int fd = -1;

    if (!wanted->link)
        return -1;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && fd < 0; i++)
        fd = open_wanted(
            wanted, root,
            xasprintf("%s%.*s%s%s", places[i][0], directory, path, places[i][1], wanted->link));
    return fd;
}

/* Search in a directory as debuginfod's clients have it (debuginfod-find(1), "CACHE"). */
static int open_in_cache(const struct wanted *wanted, const char *directory)
{
    return wanted->id.size ? open_wanted(wanted, HOST,
                                         xasprintf("%s/%s/debuginfo", directory,
                                                   build_id_text(&wanted->id).text))
                           : -1;
}

/* Search in a place that the user names. A directory may be that of debug files, the root that
 * packages with debug files were unpacked into, or the cache of debuginfod's clients. */
static int open_in_place(const struct wanted *wanted, const char *place)
{
    static const char *const directories[] = {"", "/.build-id", BY_BUILD_ID};
    int fd = open_wanted(wanted, HOST, xstrdup(place));

    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]) && fd < 0; i++)
        fd = open_by_build_id(wanted, HOST, place, directories[i]);
    if (fd < 0)
        fd = open_in_cache(wanted, place);
    if (fd < 0 && wanted->link)
        fd = open_wanted(wanted, HOST, xasprintf("%s/%s", place, wanted->link));
    return fd;
}

static struct wanted wanted_of(const struct elf_file *file)
{
    return (struct wanted){
        .parser = file->parser,
        .id = file->build_id,
        .link = file->opened.link[0] ? file->opened.link : NULL,
        .checksum = file->opened.checksum,
    };
}

static int open_anywhere(const struct elf_file *file, const struct wanted *wanted)
{
    int fd = -1;

    for (size_t i = 0; i < named.count && fd < 0; i++)
        fd = open_in_place(wanted, named.paths[i]);
    if (fd < 0)
        fd = open_by_build_id(wanted, file->root, "", BY_BUILD_ID);
    if (fd < 0)
        fd = open_by_link(wanted, file->root, file->path);
    if (fd < 0)
        fd = open_by_build_id(wanted, HOST, "", BY_BUILD_ID);
    if (fd < 0)
        fd = open_by_link(wanted, HOST, file->path);
    return fd < 0 && debug_fetch_cache() ? open_in_cache(wanted, debug_fetch_cache()) : fd;
}

static void say_result(const struct elf_file *file, const struct wanted *wanted, int fd)
{
    char link[64], path[PATH_MAX] = "";

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (fd >= 0 && readlink(link, path, sizeof(path) - 1) < 0)
        path[0] = '\0';
    log_write("debug file", "of %s, build id %s: %s", file->path,
              wanted->id.size ? build_id_text(&wanted->id).text : "unknown",
              fd >= 0 ? path : "not found, by build id or by .gnu_debuglink");
}

int debug_file_open(struct elf_file *file)
{
    const struct wanted wanted = wanted_of(file);
    int fd;

    if (!file->root || file->path[0] != '/' ||
        (file->has_no_debug_file && !debug_fetch_has(&file->build_id)))
        return -1;
    fd = open_anywhere(file, &wanted);
    file->has_no_debug_file = fd < 0;
    if (log_wants(LOG_DECISION))
        say_result(file, &wanted, fd);
    return fd;
}

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

const char *debug_file_package_of_release(const char *os_release)
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

static const char OS_RELEASE[] = "/etc/os-release";

struct os_release {
    char root[64];
    char text[OS_RELEASE_MAX + 1];
};

static void read_os_release(void *work)
{
    struct os_release *release = work;
    int fd = procfs_open_in_root(release->root, OS_RELEASE);

    if (fd < 0)
        return;
    files_read_at(fd, 0, release->text, OS_RELEASE_MAX);
    close(fd);
}

/* The package of the distribution that the process of `file` sees. NULL if the file is not where
 * distributions have it. */
static const char *package_of(const struct elf_file *file)
{
    struct os_release *release;
    const char *package = NULL;

    if (!file->root || !strcmp(file->root, silent_root) ||
        (strncmp(file->path, "/usr/lib/erlang/", 16) != 0 &&
         strncmp(file->path, "/usr/lib64/erlang/", 18) != 0))
        return NULL;
    release = xcalloc(1, sizeof(*release));
    snprintf(release->root, sizeof(release->root), "%s", file->root);
    if (patience_run(read_os_release, free, release)) {
        package = debug_file_package_of_release(release->text);
        free(release);
    } else if (errno == EBUSY) {
        note_silence(file->root, OS_RELEASE);
    }
    return package;
}

void debug_file_advice(const struct elf_file *file, char *text, size_t size)
{
    const char *package = package_of(file);
    const struct build_id_text id = build_id_text(&file->build_id);

    if (!id.text[0])
        snprintf(text, size, "%s%s, or run a VM that is not stripped",
                 package ? "install " : "install its debug symbols", package ? package : "");
    else
        snprintf(text, size,
                 "%s%s%s" BY_BUILD_ID "/%.2s/%s.debug, or record with --symbols PATH|URL",
                 package ? "install " : "", package ? package : "",
                 package ? ", which has " : "install its debug symbols as ", id.text, id.text + 2);
}
