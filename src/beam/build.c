// SPDX-License-Identifier: Apache-2.0
/*
 * Two things in its file identify a BEAM. It exports functions for drivers and NIFs, so their names
 * are in its dynamic string table: one read excludes nearly all other programs. And its data
 * contain the banner, a format string that has the same form in all releases
 * (erl_bif_info.c 25.2.3:85, erts_system_version):
 *
 *   Erlang/OTP 25%s [erts-13.1.5] [source] [64-bit] [smp:%beu:%beu] ... [jit:ns%s]
 *
 * The data also contain the text of the config.h of the build (erl_bif_info.c, erlang:system_info
 * of build_type and config_h). Its "#define X" and "#undef X" lines say how the structs were built.
 *
 * The C library is known by its loader, which the program names.
 */
#include "beam/vm_internal.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beam/features.h"
#include "util/alloc.h"
#include "util/files.h"

enum {
    HEADERS_MAX = 64,
    DYNAMIC_MAX = 64 << 10,
    STRINGS_MAX = 64 << 20,
    SEGMENT_MAX = 256 << 20,
    LOADER_MAX = 4096,
};

struct bytes {
    char *data;
    size_t size;
};

/* The needed part of an ELF file. Section headers are not read: they can be stripped. */
struct image {
    int fd;
    int count;
    Elf64_Phdr headers[HEADERS_MAX];
};

/* 1 if the file is a 64-bit ELF program of this byte order, 0 if not, -1 if it can't be read. */
static int read_headers(int fd, struct image *image)
{
    const unsigned char order =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    Elf64_Ehdr header;
    size_t size;

    if (files_read_at(fd, 0, &header, sizeof(header)) != sizeof(header))
        return errno == EACCES || errno == EIO ? -1 : 0;
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != order || header.e_phentsize != sizeof(Elf64_Phdr) ||
        header.e_phnum > HEADERS_MAX)
        return 0;
    image->fd = fd;
    image->count = header.e_phnum;
    size = (size_t)image->count * sizeof(Elf64_Phdr);
    return files_read_at(fd, header.e_phoff, image->headers, size) == size;
}

static struct bytes read_bytes(int fd, uint64_t offset, uint64_t size, uint64_t max)
{
    char *data;

    if (size == 0 || size > max)
        return (struct bytes){0};
    data = xmalloc(size);
    if (files_read_at(fd, offset, data, size) == size)
        return (struct bytes){data, size};
    free(data);
    return (struct bytes){0};
}

static bool file_offset(const struct image *image, uint64_t address, uint64_t *offset)
{
    for (int i = 0; i < image->count; i++) {
        const Elf64_Phdr *header = &image->headers[i];

        if (header->p_type == PT_LOAD && address >= header->p_vaddr &&
            address - header->p_vaddr < header->p_filesz) {
            *offset = header->p_offset + (address - header->p_vaddr);
            return true;
        }
    }
    return false;
}

/* The string table of the dynamic symbols, empty if there is none. */
static struct bytes read_dynamic_strings(const struct image *image)
{
    struct bytes none = {0}, dynamic = none;
    uint64_t table = 0, size = 0, offset;

    for (int i = 0; i < image->count && !dynamic.data; i++) {
        if (image->headers[i].p_type == PT_DYNAMIC)
            dynamic = read_bytes(image->fd, image->headers[i].p_offset, image->headers[i].p_filesz,
                                 DYNAMIC_MAX);
    }
    for (size_t at = 0; dynamic.data && at + sizeof(Elf64_Dyn) <= dynamic.size;
         at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;

        memcpy(&entry, dynamic.data + at, sizeof(entry));
        if (entry.d_tag == DT_STRTAB)
            table = entry.d_un.d_ptr;
        else if (entry.d_tag == DT_STRSZ)
            size = entry.d_un.d_val;
    }
    free(dynamic.data);
    return file_offset(image, table, &offset) ? read_bytes(image->fd, offset, size, STRINGS_MAX)
                                              : none;
}

static bool contains(struct bytes bytes, const char *text)
{
    return bytes.data && memmem(bytes.data, bytes.size, text, strlen(text));
}

static bool offers_drivers(const struct image *image)
{
    struct bytes strings = read_dynamic_strings(image);
    bool offers = contains(strings, "erl_drv_") && contains(strings, "enif_");

    free(strings.data);
    return offers;
}

/* Parse the banner at `text`. It is not NUL-terminated within the bytes. */
static bool parse_banner(const char *text, size_t size, struct build *build)
{
    static const char *const specials[] = {"lock-counting", "lock-checking", "debug-compiled"};
    char banner[512], *end, *erts;
    size_t length = strnlen(text, size < sizeof(banner) ? size : sizeof(banner) - 1);

    memcpy(banner, text, length);
    banner[length < sizeof(banner) ? length : sizeof(banner) - 1] = '\0';
    build->special[0] = '\0';
    build->otp_release = (int)strtol(banner + strlen("Erlang/OTP "), &end, 10);
    erts = strstr(banner, " [erts-");
    if (build->otp_release < 1 || build->otp_release > 999 || !erts)
        return false;
    erts += strlen(" [erts-");
    length = strcspn(erts, "]");
    if (length == 0 || length >= sizeof(build->erts) || !erts[length])
        return false;
    memcpy(build->erts, erts, length);
    build->erts[length] = '\0';
    build->jit = strstr(banner, " [jit");
    if (!strstr(banner, "[64-bit]"))
        strcpy(build->special, "32-bit words");
    for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
        if (strstr(banner, specials[i]))
            strcpy(build->special, specials[i]);
    }
    return true;
}

static bool find_banner(struct bytes bytes, struct build *build)
{
    static const char start[] = "Erlang/OTP ";
    const char *at = bytes.data, *end = at ? at + bytes.size : NULL;

    while (at && (at = memmem(at, (size_t)(end - at), start, sizeof(start) - 1))) {
        const char *digit = at + sizeof(start) - 1;

        if (digit < end && isdigit((unsigned char)*digit) &&
            parse_banner(at, (size_t)(end - at), build))
            return true;
        at = digit;
    }
    return false;
}

/* The text of config.h has a line for each option, set or not. */
static bool read_config(struct bytes bytes, struct build *build)
{
    if (!contains(bytes, "USE_VM_PROBES"))
        return false;
    build->native_stack = contains(bytes, "\n#define NATIVE_ERLANG_STACK ");
    build->frame_pointer_field = contains(bytes, "\n#define ERLANG_FRAME_POINTERS ");
    build->vm_probes = contains(bytes, "\n#define USE_VM_PROBES ");
    return true;
}

/* Banner and config text can be in any segment. The executable segment is the largest and the least
 * likely, so it is read last. */
static bool search_segments(const struct image *image, struct build *build)
{
    bool banner = false, config = false;

    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < image->count && !(banner && config); i++) {
            const Elf64_Phdr *header = &image->headers[i];
            struct bytes bytes;

            if (header->p_type != PT_LOAD || (header->p_flags & PF_X ? 1 : 0) != pass)
                continue;
            bytes = read_bytes(image->fd, header->p_offset, header->p_filesz, SEGMENT_MAX);
            banner = banner || find_banner(bytes, build);
            config = config || read_config(bytes, build);
            free(bytes.data);
        }
    }
    build->native_stack &= build->jit;
    return banner;
}

/* "/lib/ld-musl-x86_64.so.1", "/lib64/ld-linux-x86-64.so.2". A distribution can keep it elsewhere.
 */
static enum libc find_libc(const struct image *image)
{
    enum libc libc = LIBC_UNKNOWN;

    for (int i = 0; i < image->count; i++) {
        const Elf64_Phdr *header = &image->headers[i];
        struct bytes loader;

        if (header->p_type != PT_INTERP)
            continue;
        loader = read_bytes(image->fd, header->p_offset, header->p_filesz, LOADER_MAX);
        if (contains(loader, "/ld-musl-"))
            libc = LIBC_MUSL;
        else if (contains(loader, "/ld-linux-"))
            libc = LIBC_GLIBC;
        free(loader.data);
    }
    return libc;
}

int build_identify(int fd, struct build *build, struct error *error)
{
    struct image image = {0};
    struct build found = {0};
    int readable = read_headers(fd, &image);

    if (readable < 0)
        return error_set(error, ERROR_FAILED, "the executable can't be read: %s", strerror(errno));
    if (!readable || !offers_drivers(&image))
        return 0;
    if (!search_segments(&image, &found))
        return 0;
    found.libc = find_libc(&image);
    *build = found;
    return 1;
}

/* Until OTP 26, the JIT keeps the Erlang stack on the machine stack only with a C library whose
 * signal handlers it can move elsewhere (sys_signal_stack.c 27.3.4.1:38). */
int build_check(const struct build *build, struct error *error)
{
    if (!build->jit || build->native_stack || features_of(build).apart_stacks_known)
        return 0;
    return error_set(error, ERROR_UNSUPPORTED,
                     "OTP %d (erts %s) %s is not supported: its JIT keeps Erlang stacks apart from "
                     "the machine stack, and beamflame knows these of OTP 25 only; run OTP 25, OTP "
                     "27 or later, or an image with glibc (Debian, Ubuntu)",
                     build->otp_release, build->erts,
                     build->libc == LIBC_MUSL ? "built against musl"
                                              : "built without NATIVE_ERLANG_STACK");
}
