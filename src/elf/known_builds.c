// SPDX-License-Identifier: Apache-2.0
#include "elf/known_builds.h"

#include <gelf.h>
#include <inttypes.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/build_id.h"
#include "util/alloc.h"
#include "util/files.h"
#include "util/log.h"

/* The tables, each compressed (known_build_files.S). The last entry has no build id. */
struct known_build {
    const char *build_id;
    const uint8_t *start, *end;
};
extern const struct known_build known_builds[];

enum {
    TABLE_MAX = 4 << 20, /* bytes; a table has some 200 KB */
    UNPACKER_MAX = 96 << 20,
};

/* The code that a table describes. */
struct known_code {
    uint64_t address, size;
    uint32_t checksum; /* CRC-32 of its bytes */
};

static const struct known_build *find_build(Elf *elf)
{
    const struct build_id id = build_id_of_elf(elf);
    const struct build_id_text text = build_id_text(&id);

    for (const struct known_build *build = known_builds; text.text[0] && build->build_id; build++)
        if (!strcmp(build->build_id, text.text))
            return build;
    return NULL;
}

/* Return the text of a table, malloc'ed, with a NUL. */
static char *unpack(const struct known_build *build, size_t *ret_size)
{
    uint64_t memory = UNPACKER_MAX;
    size_t from = 0, to = 0;
    char *text = xmalloc(TABLE_MAX);

    if (lzma_stream_buffer_decode(&memory, 0, NULL, build->start, &from,
                                  (size_t)(build->end - build->start), (uint8_t *)text, &to,
                                  TABLE_MAX - 1) != LZMA_OK) {
        free(text);
        return NULL;
    }
    text[to] = '\0';
    *ret_size = to + 1;
    return xrealloc(text, to + 1);
}

static bool has_bytes(int fd, uint64_t offset, const struct known_code *code)
{
    uint8_t bytes[1 << 14];
    uint32_t sum = 0;

    for (uint64_t at = 0; at < code->size;) {
        uint64_t rest = code->size - at;
        size_t wanted = rest < sizeof(bytes) ? (size_t)rest : sizeof(bytes);

        if (files_read_at(fd, offset + at, bytes, wanted) != wanted)
            return false;
        sum = lzma_crc32(bytes, wanted, sum);
        at += wanted;
    }
    return sum == code->checksum;
}

/* True if an executable segment of the file is this code. */
static bool has_code(Elf *elf, int fd, const struct known_code *code)
{
    GElf_Phdr segment;

    for (int i = 0; gelf_getphdr(elf, i, &segment); i++)
        if (segment.p_type == PT_LOAD && segment.p_flags & PF_X &&
            segment.p_vaddr == code->address && segment.p_filesz == code->size)
            return has_bytes(fd, segment.p_offset, code);
    return false;
}

/* Read "START SIZE NAME". False if the function is not within the code. */
static bool read_function(const char *line, const struct known_code *code, uint64_t *start,
                          uint64_t *end, const char **name)
{
    char *at;
    uint64_t size;

    *start = strtoull(line, &at, 16);
    size = strtoull(at, &at, 16);
    *end = *start + size;
    *name = at + 1;
    return *at == ' ' && size && *start >= code->address && *start - code->address < code->size &&
           size <= code->size - (*start - code->address);
}

char *known_builds_read(Elf *elf, int fd, known_function found, void *context, size_t *ret_size)
{
    const struct known_build *build = find_build(elf);
    char *text = build ? unpack(build, ret_size) : NULL, *rest = text, *line;
    struct known_code code;

    if (!text)
        return NULL;
    strsep(&rest, "\n"); /* what build it is */
    line = strsep(&rest, "\n");
    if (!line ||
        sscanf(line, "code %" SCNx64 " %" SCNx64 " %" SCNx32, &code.address, &code.size,
               &code.checksum) != 3 ||
        !has_code(elf, fd, &code)) {
        log_decision("symbols", "a file claims build id %s, but its code is not of that build",
                     build->build_id);
        free(text);
        return NULL;
    }
    while ((line = strsep(&rest, "\n"))) {
        uint64_t start, end;
        const char *name;

        if (read_function(line, &code, &start, &end, &name))
            found(context, start, end, name);
    }
    return text;
}
