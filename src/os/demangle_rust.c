// SPDX-License-Identifier: Apache-2.0
/*
 * Names of Rust symbols, by libiberty. Any user can make an ELF file with hostile names, so the
 * time and the memory of each name are limited. libiberty limits the depth of recursion only. Back
 * references of v0 names double the text with each few characters.
 */
#include "os/demangle_rust.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util/alloc.h"

enum {
    LONGEST_NAME = 1024,
    LONGEST_TEXT = 4096,
    LIFETIME_DIGITS = 2, /* base 62 */
};

struct text {
    char bytes[LONGEST_TEXT];
    size_t size;
    bool is_too_long;
    jmp_buf stop;
};

static bool is_ascii(const char *bytes, size_t size)
{
    while (size > 0 && (unsigned char)*bytes < 0x80)
        bytes++, size--;
    return size == 0;
}

/* Append to a text, or end the demangling of a text that is too long. The demangler holds memory
 * only while it passes text from Punycode, which is not ASCII: then the next call ends it. */
static void append(const char *bytes, size_t size, void *context)
{
    struct text *text = context;

    if (!size)
        return; /* `bytes` can be NULL */
    if (size > sizeof(text->bytes) - text->size)
        text->is_too_long = true;
    if (text->is_too_long) {
        if (is_ascii(bytes, size))
            longjmp(text->stop, 1);
        return;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
}

/* True if a function pointer ("F") or trait object ("D") has a large number of lifetimes ("G").
 * libiberty counts to that number even in the parts of a name that it does not pass on. */
static bool has_many_lifetimes(const char *name)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    for (const char *at = name; (at = strpbrk(at, "FD")); at++) {
        size_t size = at[1] == 'G' ? strspn(at + 2, digits) : 0;

        if (size > LIFETIME_DIGITS && at[2 + size] == '_')
            return true;
    }
    return false;
}

char *demangle_rust(const char *name)
{
    struct text text = {.size = 0};

    if ((strncmp(name, "_R", 2) != 0 && strncmp(name, "_ZN", 3) != 0) ||
        strlen(name) > LONGEST_NAME || has_many_lifetimes(name))
        return NULL;
    if (setjmp(text.stop) || !rust_demangle_callback(name, DMGL_NO_OPTS, append, &text) ||
        text.is_too_long || !text.size)
        return NULL;
    return xstrndup(text.bytes, text.size);
}
