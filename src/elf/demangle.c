// SPDX-License-Identifier: Apache-2.0
#include "elf/symbols_internal.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util/alloc.h"

/*
 * Names of Rust symbols, by libiberty. Any user can make an ELF file with hostile names, so the
 * time and the memory of each name are limited. libiberty limits the depth of recursion only. Back
 * references of v0 names double the text with each few characters.
 */

enum {
    LONGEST_NAME = 1024,
    LONGEST_TEXT = 4096,
    LIFETIME_DIGITS = 2, /* base 62 */
};

struct demangled_text {
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
    struct demangled_text *text = context;

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

/* Turn "_ZN6my_nif4calc17h0123456789abcdefE" (legacy) or "_RNvCs1234_6my_nif4calc" (v0) into
 * "my_nif::calc", without the hash. The result is malloc'ed. NULL if `name` is not Rust's, or if
 * the name or its readable form is too long. */
static char *demangle_rust(const char *name)
{
    struct demangled_text text = {.size = 0};

    if ((strncmp(name, "_R", 2) != 0 && strncmp(name, "_ZN", 3) != 0) ||
        strlen(name) > LONGEST_NAME || has_many_lifetimes(name))
        return NULL;
    if (setjmp(text.stop) || !rust_demangle_callback(name, DMGL_NO_OPTS, append, &text) ||
        text.is_too_long || !text.size)
        return NULL;
    return xstrndup(text.bytes, text.size);
}

/* libstdc++; <cxxabi.h> is for C++ only. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier): it is what C++ reserves such names for */
char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);

/* A back reference to an earlier part of the name can double the length of the result, so a hostile
 * file could ask for gigabytes. Names beyond these bounds stay mangled. */
enum { MOST_REFERENCES = 20 };

/* Count "S_", "S1A_", "T_", "T0_": back references of the Itanium C++ ABI, 5.1.10. */
static int count_references(const char *name)
{
    int count = 0;

    for (; *name; name++) {
        const char *end = name + 1;

        if (*name != 'S' && *name != 'T')
            continue;
        while (isdigit((unsigned char)*end) || isupper((unsigned char)*end))
            end++;
        count += *end == '_';
    }
    return count;
}

/* True if `text` may follow the parameter list. */
static bool is_qualifier(const char *text)
{
    return text[0] == '\0' || strncmp(text, " const", 6) == 0 ||
           strncmp(text, " volatile", 9) == 0 || strncmp(text, " &", 2) == 0 ||
           strncmp(text, " [", 2) == 0;
}

/* Cut off the parameter list and what follows it (" const", " [clone .cold]"). */
static void drop_parameters(char *name)
{
    char *close = strrchr(name, ')');
    int depth = 0;

    if (!close || !is_qualifier(close + 1))
        return;
    for (char *at = close; at > name; at--) {
        depth += *at == ')';
        depth -= *at == '(';
        if (depth == 0) {
            *at = '\0';
            return;
        }
    }
}

static char *demangle_cpp(const char *name)
{
    char *text;
    int status;

    if (strncmp(name, "_Z", 2) != 0 || strlen(name) > LONGEST_NAME ||
        count_references(name) > MOST_REFERENCES)
        return NULL;
    text = __cxa_demangle(name, NULL, NULL, &status);
    if (text)
        drop_parameters(text);
    return text;
}

char *demangle(const char *name)
{
    char *text = demangle_rust(name); /* first: to C++, older names of Rust are names of C++ */

    return text ? text : demangle_cpp(name);
}
