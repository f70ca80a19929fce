// SPDX-License-Identifier: Apache-2.0
#include "rotation/segment_node.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "util/alloc.h"

enum {
    HASH_LENGTH = 8,
    /* Bytes of NODE. A file name has at most 255: the time, a long event, the longest suffix and
     * the suffix of a temporary file must fit. */
    NODE_MAX = 80,
};

/* FNV-1a. A name has the same hash in each run, so that later runs recognise it. */
static uint32_t name_hash(const char *name)
{
    uint32_t hash = 2166136261U;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619U;
    return hash;
}

char *segment_node_name(const char *node)
{
    char *plain = strlen(node) <= NODE_MAX
                      ? xstrdup(node)
                      : xasprintf("%.*s-%08x", NODE_MAX - HASH_LENGTH - 1, node, name_hash(node));

    for (char *at = plain; *at; at++)
        if (!isascii(*at) || (!isalnum((unsigned char)*at) && !strchr("._-@", *at)))
            *at = '-';
    return plain;
}
