// SPDX-License-Identifier: Apache-2.0
#include "beam/module_symbols.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/hash.h"

enum { BUCKETS = 1 << 10 };

struct shared {
    struct module_symbols symbols; /* first: callers have its address */
    size_t strings_size;
    uint64_t hash;
    size_t users;
    struct shared *next; /* in the bucket */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shared *buckets[BUCKETS]; /* by hash */

static size_t ranges_size(const struct gdb_jit_module *table)
{
    return (table->range_count + (size_t)1) * sizeof(*table->ranges);
}

static size_t lines_size(const struct gdb_jit_module *table)
{
    return table->line_count * sizeof(*table->lines);
}

static size_t kinds_size(const struct gdb_jit_module *table)
{
    return table->range_count * sizeof(struct range_kind);
}

static bool are_equal(const struct shared *a, const struct shared *b)
{
    const struct gdb_jit_module *x = &a->symbols.table, *y = &b->symbols.table;

    return a->hash == b->hash && x->range_count == y->range_count &&
           x->line_count == y->line_count && a->strings_size == b->strings_size &&
           !memcmp(x->ranges, y->ranges, ranges_size(x)) &&
           !memcmp(x->lines, y->lines, lines_size(x)) &&
           !memcmp(x->strings, y->strings, a->strings_size) &&
           !memcmp(a->symbols.kinds, b->symbols.kinds, kinds_size(x));
}

static uint64_t hash_of(const struct gdb_jit_module *table, size_t strings_size)
{
    return hash_bytes(table->ranges, ranges_size(table)) ^
           hash_bytes(table->strings, strings_size) * 3;
}

static void free_shared(struct shared *shared)
{
    gdb_jit_free_module(&shared->symbols.table);
    free(shared->symbols.kinds);
    free(shared);
}

/* Return the equal one of the bucket. If there is none, put `shared` there. */
static struct shared *find_or_put(struct shared *shared)
{
    struct shared **bucket = &buckets[shared->hash % BUCKETS];

    for (struct shared *other = *bucket; other; other = other->next)
        if (are_equal(other, shared)) {
            free_shared(shared);
            return other;
        }
    shared->next = *bucket;
    *bucket = shared;
    return shared;
}

const struct module_symbols *module_symbols_share(const char *module, struct gdb_jit_module *table)
{
    struct shared *shared = xcalloc(1, sizeof(*shared));

    shared->symbols.table = *table;
    shared->symbols.kinds = code_kind_of_ranges(module, table);
    shared->strings_size = table->bytes - ranges_size(table) - lines_size(table);
    shared->hash = hash_of(table, shared->strings_size);
    memset(table, 0, sizeof(*table));
    pthread_mutex_lock(&lock);
    shared = find_or_put(shared);
    shared->users++;
    pthread_mutex_unlock(&lock);
    return &shared->symbols;
}

void module_symbols_release(const struct module_symbols *symbols)
{
    struct shared *shared = (struct shared *)symbols, **place;

    if (!shared)
        return;
    pthread_mutex_lock(&lock);
    if (--shared->users == 0) {
        for (place = &buckets[shared->hash % BUCKETS]; *place != shared; place = &(*place)->next)
            ;
        *place = shared->next;
        free_shared(shared);
    }
    pthread_mutex_unlock(&lock);
}
