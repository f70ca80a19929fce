// SPDX-License-Identifier: Apache-2.0
#include "native/native_inlined.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/debug_fetch.h"
#include "native/debug_file.h"
#include "native/elf_file.h"
#include "util/alloc.h"
#include "util/log.h"

static bool enabled;

void native_inlined_enable(void)
{
    enabled = true;
}

bool native_inlined_is_enabled(void)
{
    return enabled;
}

/* As elf_file_ask(). Without an answer, the file keeps its names and its rules for unwinding. */
static bool ask(struct elf_file *file, enum elf_call call, uint64_t address, int fd,
                struct buffer *answer)
{
    if (file->is_lost)
        return false;
    if (elf_file_ask(file, call, address, NULL, fd, answer))
        return true;
    file->is_lost = false;
    file->debug_information = DEBUG_INFORMATION_REFUSED;
    log_decision("symbols", "the debug information of %s can't be read", file->path);
    return false;
}

/* Let the parser keep the debug information. */
static bool has_debug_information(struct elf_file *file)
{
    bool is_asked = file->debug_information != DEBUG_INFORMATION_UNKNOWN &&
                    file->debug_epoch == parser_epoch(file->parser) &&
                    file->debug_version == debug_fetch_version();
    struct buffer answer = {0};
    int fd;

    if (is_asked || file->debug_information == DEBUG_INFORMATION_REFUSED)
        return file->debug_information == DEBUG_INFORMATION_KEPT;
    fd = file->opened.has_own_symbols ? -1 : debug_file_open(file);
    if (ask(file, ELF_DEBUG_INFORMATION, 0, fd, &answer))
        file->debug_information = answer.size ? DEBUG_INFORMATION_KEPT : DEBUG_INFORMATION_NONE;
    file->debug_epoch = parser_epoch(file->parser);
    file->debug_version = debug_fetch_version();
    if (fd >= 0)
        close(fd);
    buffer_free(&answer);
    return file->debug_information == DEBUG_INFORMATION_KEPT;
}

/* Take a function of the answer. Return the bytes that it has there, 0 if they are not sound. */
static size_t take(const struct elf_file *file, const char *bytes, size_t size,
                   native_inlined_found found, void *context)
{
    struct native_inlined function;
    struct elf_inlined head;
    char *name, *path;

    if (size < sizeof(head))
        return 0;
    memcpy(&head, bytes, sizeof(head));
    size -= sizeof(head);
    if (head.name_bytes > size || head.file_bytes > size - head.name_bytes)
        return 0;
    name = xstrndup(bytes + sizeof(head), head.name_bytes);
    path = xstrndup(bytes + sizeof(head) + head.name_bytes, head.file_bytes);
    function = (struct native_inlined){
        .name = name,
        .address = head.start ? head.start + file->bias : 0,
        .file = path,
        .line = head.line,
        .is_container = !name[0],
    };
    found(context, &function);
    free(name);
    free(path);
    return sizeof(head) + head.name_bytes + head.file_bytes;
}

void native_inlined_each(struct elf_file *file, uint64_t address, native_inlined_found found,
                         void *context)
{
    struct buffer answer = {0};

    if (has_debug_information(file) && ask(file, ELF_INLINED, address - file->bias, -1, &answer))
        for (size_t at = 0, bytes = 1; bytes && at < answer.size; at += bytes)
            bytes = take(file, answer.data + at, answer.size - at, found, context);
    buffer_free(&answer);
}
