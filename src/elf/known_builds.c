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
#include "util/files.h"
#include "util/log.h"

/* The tables (known_build_files.S): lines, each with a NUL at its end. The last entry has no build
 * id. */
struct known_build {
    const char *build_id;
    const char *start, *end;
};
extern const struct known_build known_builds[];

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

static const char *line_after(const char *line)
{
    return line + strlen(line) + 1;
}

bool known_builds_read(Elf *elf, int fd, known_function found, void *context)
{
    const struct known_build *build = find_build(elf);
    struct known_code code;
    const char *line;

    if (!build)
        return false;
    line = line_after(build->start); /* the first says what build it is */
    if (sscanf(line, "code %" SCNx64 " %" SCNx64 " %" SCNx32, &code.address, &code.size,
               &code.checksum) != 3 ||
        !has_code(elf, fd, &code)) {
        log_decision("symbols", "a file claims build id %s, but its code is not of that build",
                     build->build_id);
        return false;
    }
    while ((line = line_after(line)) < build->end) {
        uint64_t start, end;
        const char *name;

        if (read_function(line, &code, &start, &end, &name))
            found(context, start, end, name);
    }
    return true;
}
