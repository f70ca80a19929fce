// SPDX-License-Identifier: Apache-2.0
/*
 * Read bytes as any file of /proc, as the os-release of a target's root, or as a container
 * runtime's config.json (libFuzzer): each parser of one gets the same text. A process chooses its
 * name, its arguments, its cgroups, its mounts and the paths of its mappings; a module of the
 * kernel the names of its symbols.
 *
 * Files of a process are not opened: the linker puts the functions __wrap_NAME in the place of NAME
 * (FUZZ_WRAPPED in the Makefile).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "native/debug_file.h"
#include "os/capabilities.h"
#include "os/container_annotations.h"
#include "os/local_disk.h"
#include "os/patient_open.h"
#include "os/pod.h"
#include "os/process.h"
#include "os/kernel_settings.h"
#include "os/kernel_symbols.h"
#include "native/mappings.h"
#include "os/probe_holder.h"
#include "os/procfs.h"
#include "os/sockets.h"
#include "profile/threads.h"
#include "util/alloc.h"

enum { SOME_PID = 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* ---- the files ---- */

static struct {
    const char *text;
    size_t size;
} input;

char *__wrap_procfs_read(pid_t pid, const char *name, size_t *size);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__real_fopen(const char *path, const char *mode);

char *__wrap_procfs_read(pid_t pid, const char *name, size_t *size)
{
    char *text = xmalloc(input.size + 1);

    check(pid > 0 && name);
    memcpy(text, input.text, input.size);
    text[input.size] = '\0';
    *size = input.size;
    return text;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    if (strcmp(path, "/proc/1/maps"))
        return __real_fopen(path, mode);
    return input.size ? fmemopen((void *)(uintptr_t)input.text, input.size, "r") : NULL;
}

/* ---- parsers ---- */

static void read_kallsyms(void)
{
    FILE *file = input.size ? fmemopen((void *)(uintptr_t)input.text, input.size, "r") : NULL;
    struct error error;
    struct kernel_symbols *symbols = file ? kernel_symbols_read(file, &error) : NULL;
    const char *module;
    uint64_t offset;

    for (uint64_t address = UINT64_MAX << 12; symbols && address; address <<= 1) {
        const char *name = kernel_symbols_find(symbols, address, &offset, &module);

        check(!name || strlen(name) <= input.size);
    }
    kernel_symbols_free(symbols);
    if (file)
        fclose(file);
}

/* Whatever is found contains the address. */
static void find_mapping(struct mappings *mappings, uint64_t start, uint64_t last)
{
    const struct mapping *found = mappings_find(mappings, start);

    check(!found || (found->start <= start && start < found->end));
    found = mappings_find_code(mappings, last);
    check(!found || (found->executable && found->start <= last && last < found->end));
}

/* Lines of the input can be in any order, so a listed mapping may not be found; then the list is
 * read again. */
static void read_maps(void)
{
    struct error error = {0};
    struct mappings *mappings = mappings_new(SOME_PID, NULL, &error);
    const struct mapping *all;
    int count;

    check(mappings || error.text[0]);
    if (!mappings)
        return;
    all = mappings_all(mappings, &count);
    for (int i = 0; i < count; i++) {
        check(all[i].start < all[i].end && strlen(all[i].path) <= input.size);
        find_mapping(mappings, all[i].start, all[i].end - 1);
        all = mappings_all(mappings, &count);
    }
    mappings_free(mappings);
}

static void read_process(void)
{
    struct process_identity identity = process_identity(SOME_PID);
    uint64_t number, other;
    char name[16], id[65], *arguments;
    size_t size;

    process_identity_boot_ns(&identity);
    check(!identity.start_time || process_is(SOME_PID, &identity));
    check(!process_is_stopped(SOME_PID) || process_exists(SOME_PID));
    process_parent(SOME_PID);
    process_filters_calls(SOME_PID);
    process_resident_bytes(SOME_PID, &number);
    process_peak_resident_bytes(SOME_PID, &number);
    process_thread_times(SOME_PID, SOME_PID, &number, &other);
    process_thread_waits(SOME_PID, SOME_PID, &number, &other);
    process_thread_name(SOME_PID, SOME_PID, name, sizeof(name));
    check(strlen(name) < sizeof(name));
    process_container(SOME_PID, id, sizeof(id));
    check(strlen(id) < sizeof(id));
    process_entry(SOME_PID);
    arguments = process_arguments(SOME_PID, &size);
    check(!size || (!arguments[size - 1] && !arguments[size]));
    free(arguments);
}

/* The mounts are read if other devices have not answered for too long. */
static void read_mounts(void)
{
    const uint64_t disk = makedev(8, 1), other = makedev(0, 99), long_ns = 3000000000;

    silent_servers_note(other, long_ns);
    check(silent_servers_look(SOME_PID, disk) != SILENCE_KNOWN);
    local_disk_has_mount_of(0);
}

static void take_annotation(void *context, const char *key, const char *value)
{
    check(!context && key && value);
}

static void read_pod(const char *text)
{
    static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    int fd = memfd_create("config.json", MFD_CLOEXEC);
    struct pod pod = {0};

    check(fd >= 0 && write(fd, text, input.size) == (ssize_t)input.size &&
          lseek(fd, 0, SEEK_SET) == 0);
    container_annotations(fd, take_annotation, NULL);
    pod_learn(&pod, "/nowhere", text, id);
    check(!pod.uid || strlen(pod.uid) == 36 || strlen(pod.uid) == 32);
    check(!pod.name && !pod.name_space && !pod.container && !pod.service);
    pod_free(&pod);
}

static void read_socket(const char *text)
{
    struct socket_line line;

    for (int table = 0; table < SOCKET_TABLES; table++) {
        if (!socket_table_parse_line((enum socket_table)table, text, &line))
            continue;
        check(line.inode && line.state);
        check(memchr(line.local, 0, sizeof(line.local)) && memchr(line.peer, 0, sizeof(line.peer)));
    }
}

static void read_sockets(const char *text)
{
    char *lines = xstrdup(text), *rest = lines, *line;

    while ((line = strsep(&rest, "\n")))
        read_socket(line);
    free(lines);
}

static void read_text(const char *text)
{
    bool online[8];
    size_t length;
    const char *value = procfs_value(text, "Name", &length);
    uint64_t set;
    uint32_t number;

    check(!value || value + length <= text + strlen(text));
    capabilities_parse(text, &set);
    thread_type_of(text, &number);
    cpus_parse(text, online, sizeof(online));
    kernel_release_parse(text);
    probe_holder_use(text, SOME_PID);
    debug_file_package_of_release(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xmalloc(size + 1);

    memcpy(text, data, size);
    text[size] = '\0';
    input.text = text;
    input.size = size;
    read_text(text);
    read_sockets(text);
    read_process();
    read_pod(text);
    read_mounts();
    read_maps();
    read_kallsyms();
    free(text);
    return 0;
}
