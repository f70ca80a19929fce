// SPDX-License-Identifier: Apache-2.0
#include "native/usdt.h"

#include <stdlib.h>

#include "native/elf_file.h"
#include "util/alloc.h"
#include "util/cursor.h"

enum { PROBES_MAX = 1 << 16 };

/* Visit the probes of an answer; count them. False if a visit ended it. */
static bool visit_answer(const struct buffer *answer, usdt_visit visit, void *context,
                         uint64_t *count)
{
    struct cursor cursor = cursor_over(answer->data, answer->size);
    bool more = true;

    while (more && cursor.at < cursor.end) {
        struct elf_probe probe = {0};
        const char *provider, *name;
        struct usdt_probe visited;

        cursor_copy(&cursor, &probe, sizeof(probe));
        provider = cursor_take(&cursor, probe.provider_bytes, "provider is cut off");
        name = cursor_take(&cursor, probe.name_bytes, "name is cut off");
        if (!name)
            return false;
        visited = (struct usdt_probe){
            .provider = xstrndup(provider, probe.provider_bytes),
            .name = xstrndup(name, probe.name_bytes),
            .file_offset = probe.file_offset,
            .semaphore_offset = probe.semaphore_offset,
        };
        more = visit(context, &visited);
        free((char *)visited.provider);
        free((char *)visited.name);
        ++*count;
    }
    return more;
}

void usdt_each(struct elf_file *file, usdt_visit visit, void *context)
{
    struct buffer answer = {0};
    uint64_t count = 0;

    while (count < PROBES_MAX && elf_file_ask(file, ELF_PROBES, count, NULL, -1, &answer) &&
           answer.size && visit_answer(&answer, visit, context, &count))
        ;
    buffer_free(&answer);
}
