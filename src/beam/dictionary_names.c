// SPDX-License-Identifier: Apache-2.0
/*
 * What known software puts into the dictionaries of its processes. Values are recognized by their
 * form, because other software may use the same keys.
 *
 *   process_name      {Module, Identity}. Identity is #resource{virtual_host, kind, name}, the name
 *                     of a connection, or {Connection, Channel}.
 *                     RabbitMQ v4.0.5: deps/rabbit_common/src/rabbit_misc.erl:1141,
 *                     deps/rabbit_common/include/resource.hrl:8; the same in v3.10.8 and v4.3.5
 *   worker_pool_name  name of the pool of a worker.
 *                     RabbitMQ v4.0.5: deps/rabbit_common/src/worker_pool_worker.erl:76
 *   couch_file_fd     {Fd, Path}. CouchDB 3.4.2: src/couch/src/couch_file.erl:433
 *   io_priority       {Work, Database} or {Work, Database, Index}.
 *                     CouchDB 3.4.2: src/couch/src/couch_db_updater.erl:36,
 *                     src/couch_index/src/couch_index_updater.erl:116
 *   log               #log{status, name, ...}.
 *                     disk_log.erl 25.2.3:950, disk_log.hrl 25.2.3:149
 */
#include "beam/process_info.h"

#include <string.h>

#include "beam/erlang_escape.h"
#include "beam/term.h"
#include "util/buffer.h"
#include "util/utf8.h"

enum { TUPLE_READ = 4, PLAIN_BYTES = 600 };

/* Kinds of keys; the lowest that is found is the label. Keys of the user come first. */
enum key_kind {
    KIND_LABEL = NAME_KEYS_MAX,
    KIND_RABBITMQ,
    KIND_RABBITMQ_WORKER,
    KIND_COUCHDB_FILE,
    KIND_COUCHDB_WORK,
    KIND_DISK_LOG,
    KINDS,
};

/* A label under construction. */
struct label {
    struct buffer text;
    bool is_detail;
};

/* A tuple: its first elements. */
struct tuple {
    uint64_t arity, elements[TUPLE_READ];
};

static bool read_tuple(struct dictionary_names *names, uint64_t term, struct tuple *tuple)
{
    uint64_t header, count;

    if (!term_is_boxed(term) ||
        !memory_read_cached(names->cache, term_address(term), &header, sizeof(header)) ||
        !term_is_header(header) || term_header_kind(header) != ARITYVAL_SUBTAG)
        return false;
    tuple->arity = term_header_words(header);
    count = tuple->arity < TUPLE_READ ? tuple->arity : TUPLE_READ;
    return memory_read_cached(names->cache, term_address(term) + sizeof(header), tuple->elements,
                              count * sizeof(*tuple->elements));
}

/* Return the first element of a record if it is an atom, else "". */
static const char *tag_of(struct dictionary_names *names, const struct tuple *tuple)
{
    const char *tag = tuple->arity ? atom_text(names->atoms, tuple->elements[0]) : NULL;

    return tag ? tag : "";
}

/* Append an atom, or the text of a binary or string without its quotes; other terms as Erlang
 * writes them. */
static bool put_plain(struct dictionary_names *names, uint64_t term, struct label *label)
{
    static const struct {
        const char *open, *close;
    } quotes[] = {{"<<\"", "\">>"}, {"<<\"", "\"/utf8>>"}, {"\"", "\""}, {"'", "'"}};
    char plain[PLAIN_BYTES], *from = plain;
    size_t size;

    if (!term_format(names->vm, names->atoms, names->encoding, term, plain, sizeof(plain)))
        return false;
    size = strlen(plain);
    for (size_t i = 0; i < sizeof(quotes) / sizeof(*quotes); i++) {
        size_t open = strlen(quotes[i].open), close = strlen(quotes[i].close);

        if (size < open + close || strncmp(plain, quotes[i].open, open) != 0 ||
            strcmp(plain + size - close, quotes[i].close) != 0)
            continue;
        from += open;
        size -= open + close;
        break;
    }
    buffer_put(&label->text, from, size);
    return true;
}

/* As rabbit_misc:rs/1 does: queue 'orders' in vhost '/'. */
static bool put_resource(struct dictionary_names *names, const struct tuple *resource,
                         struct label *label)
{
    bool known = put_plain(names, resource->elements[2], label);

    buffer_text(&label->text, " '");
    known = known && put_plain(names, resource->elements[3], label);
    buffer_text(&label->text, "' in vhost '");
    known = known && put_plain(names, resource->elements[1], label);
    buffer_byte(&label->text, '\'');
    return known;
}

/* The connection and the number of a channel. */
static bool put_channel(struct dictionary_names *names, const struct tuple *channel,
                        struct label *label)
{
    if (!put_plain(names, channel->elements[0], label))
        return false;
    buffer_format(&label->text, " (%lld)", (long long)term_small(channel->elements[1]));
    return true;
}

static bool put_rabbitmq(struct dictionary_names *names, uint64_t value, struct label *label)
{
    struct tuple whole, part;
    const char *module;

    if (!read_tuple(names, value, &whole) || whole.arity != 2)
        return false;
    module = tag_of(names, &whole);
    if (!strcmp(module, "rabbit_channel"))
        buffer_text(&label->text, "channel ");
    else if (!strcmp(module, "rabbit_reader"))
        buffer_text(&label->text, "connection ");
    else if (!*module)
        return false;
    else if (strcmp(module, "rabbit_amqqueue_process") != 0)
        buffer_format(&label->text, "%s ", module);
    if (!read_tuple(names, whole.elements[1], &part)) {
        label->is_detail = true;
        return put_plain(names, whole.elements[1], label);
    }
    if (part.arity == 4 && !strcmp(tag_of(names, &part), "resource"))
        return put_resource(names, &part, label);
    label->is_detail = true;
    return part.arity == 2 && term_is_small(part.elements[1]) && put_channel(names, &part, label);
}

static bool put_rabbitmq_worker(struct dictionary_names *names, uint64_t value, struct label *label)
{
    buffer_text(&label->text, "worker of ");
    return term_is_atom(value) && put_plain(names, value, label);
}

static bool put_couchdb_file(struct dictionary_names *names, uint64_t value, struct label *label)
{
    struct tuple file;

    buffer_text(&label->text, "couch_file ");
    return read_tuple(names, value, &file) && file.arity == 2 &&
           put_plain(names, file.elements[1], label);
}

static bool put_couchdb_work(struct dictionary_names *names, uint64_t value, struct label *label)
{
    struct tuple work;

    if (!read_tuple(names, value, &work) || work.arity < 2 || work.arity > 3)
        return false;
    buffer_text(&label->text, tag_of(names, &work));
    for (uint64_t i = 1; i < work.arity; i++) {
        buffer_byte(&label->text, ' ');
        if (!put_plain(names, work.elements[i], label))
            return false;
    }
    return *tag_of(names, &work);
}

static bool put_disk_log(struct dictionary_names *names, uint64_t value, struct label *label)
{
    enum { LOG_FIELDS = 14 }; /* without the tag */
    struct tuple log;

    buffer_text(&label->text, "disk_log ");
    return read_tuple(names, value, &log) && log.arity > LOG_FIELDS &&
           !strcmp(tag_of(names, &log), "log") && put_plain(names, log.elements[2], label);
}

static bool put_term(struct dictionary_names *names, uint64_t value, struct label *label)
{
    char term[sizeof(names->info->label)];

    if (!term_format(names->vm, names->atoms, names->encoding, value, term, sizeof(term)))
        return false;
    buffer_text(&label->text, term);
    return true;
}

typedef bool (*put_function)(struct dictionary_names *names, uint64_t value, struct label *label);

static const struct {
    enum key_kind kind;
    const char *key;
    put_function put;
} known_keys[] = {
    {KIND_LABEL, "$process_label", put_term},
    {KIND_RABBITMQ, "process_name", put_rabbitmq},
    {KIND_RABBITMQ_WORKER, "worker_pool_name", put_rabbitmq_worker},
    {KIND_COUCHDB_FILE, "couch_file_fd", put_couchdb_file},
    {KIND_COUCHDB_WORK, "io_priority", put_couchdb_work},
    {KIND_DISK_LOG, "log", put_disk_log},
};

void dictionary_names_begin(struct dictionary_names *names)
{
    names->best = KINDS;
    names->tried = 0;
    names->info->label[0] = '\0';
    names->info->label_is_detail = false;
}

/* True for a kind that is better than the label's. Keys are unique, so a second entry with the same
 * key is an error of reading. */
static bool is_wanted(const struct dictionary_names *names, uint32_t kind)
{
    return kind < names->best && !(names->tried & 1U << kind);
}

/* Make this value the label if it is better than the one that there is. */
static void take(struct dictionary_names *names, uint32_t kind, put_function put, uint64_t value)
{
    struct label label = {0};

    if (!is_wanted(names, kind))
        return;
    names->tried |= 1U << kind;
    if (put(names, value, &label)) {
        names->best = kind;
        names->info->label_is_detail = label.is_detail;
        erlang_escape_copy(&label.text, names->info->label, sizeof(names->info->label));
    }
    buffer_free(&label.text);
}

static bool find_element(struct dictionary_names *names, uint32_t element, uint64_t *value)
{
    struct tuple tuple;

    return read_tuple(names, *value, &tuple) && element <= tuple.arity &&
           memory_read_cached(names->cache, term_address(*value) + element * sizeof(*value), value,
                              sizeof(*value));
}

/* True if the term is a binary with this text. */
static bool is_binary(struct dictionary_names *names, uint64_t term, const char *text)
{
    const struct vm *vm = names->vm;
    char bytes[NAME_KEY_BYTES];
    struct term_bytes where;

    return term_is_boxed(term) &&
           term_binary(vm->memory, &vm->layout, vm->features.binaries_in_bits, term_address(term),
                       &where) &&
           where.size == strlen(text) && where.size <= sizeof(bytes) &&
           memory_read(vm->memory, where.address, bytes, where.size) &&
           !memcmp(bytes, text, where.size);
}

/* True if the term is a list of the characters of this text. */
static bool is_characters(struct dictionary_names *names, uint64_t term, const char *text)
{
    size_t left = strlen(text), length;
    uint64_t cell[2];
    uint32_t point;

    for (; left && term_is_list(term); term = cell[1]) {
        length = utf8_decode(text, left, &point);
        if (!length || !memory_read_cached(names->cache, term_address(term), cell, sizeof(cell)) ||
            !term_is_small(cell[0]) || term_small(cell[0]) != point)
            return false;
        text += length;
        left -= length;
    }
    return !left && term == TAG_IMMED2_NIL;
}

/* True if the term is this key. */
static bool is_key(struct dictionary_names *names, uint64_t term, enum name_key_kind kind,
                   const char *text)
{
    const char *atom;

    if (kind == NAME_KEY_ATOM) {
        atom = atom_text(names->atoms, term);
        return atom && !strcmp(atom, text);
    }
    return is_binary(names, term, text) ||
           (kind == NAME_KEY_STRING && is_characters(names, term, text));
}

/* header | size | keys, a tuple | values... (erl_map.h 25.2.3:38, flatmap_t): at most 32 keys.
 * Larger maps are trees. */
static bool find_in_map(struct dictionary_names *names, const struct name_key *key, uint64_t *value)
{
    uint64_t map[3], keys[MAP_SMALL_MAP_LIMIT];

    if (!term_is_boxed(*value) ||
        !memory_read_cached(names->cache, term_address(*value), map, sizeof(map)) ||
        !term_is_flat_map(map[0]) || map[1] > MAP_SMALL_MAP_LIMIT ||
        !memory_read_cached(names->cache, term_address(map[2]) + sizeof(*keys), keys,
                            map[1] * sizeof(*keys)))
        return false;
    for (uint64_t i = 0; i < map[1]; i++) {
        if (is_key(names, keys[i], key->map_key_kind, key->map_key))
            return memory_read_cached(names->cache,
                                      term_address(*value) + sizeof(map) + i * sizeof(*value),
                                      value, sizeof(*value));
    }
    return false;
}

/* Find the part of the value that a key of the user selects. False if there is none. */
static bool find_part(struct dictionary_names *names, const struct name_key *key, uint64_t *value)
{
    if (key->element)
        return find_element(names, key->element, value);
    return !key->map_key[0] || find_in_map(names, key, value);
}

/* Take the value of the user's key with number `i`. */
static void take_user_key(struct dictionary_names *names, uint32_t i, uint64_t value)
{
    if (find_part(names, &names->keys->keys[i], &value))
        take(names, i, put_term, value);
}

static void visit_user_keys(struct dictionary_names *names, const char *key, uint64_t value)
{
    for (uint32_t i = 0; i < names->keys->count; i++) {
        const struct name_key *own = &names->keys->keys[i];

        if (own->kind == NAME_KEY_ATOM && !strcmp(own->atom, key) && is_wanted(names, i))
            take_user_key(names, i, value);
    }
}

void dictionary_names_visit_other(struct dictionary_names *names, uint64_t key, uint64_t value)
{
    for (uint32_t i = 0; names->keys && i < names->keys->count; i++) {
        const struct name_key *own = &names->keys->keys[i];

        if (own->kind != NAME_KEY_ATOM && is_wanted(names, i) &&
            is_key(names, key, own->kind, own->atom))
            take_user_key(names, i, value);
    }
}

void dictionary_names_visit(struct dictionary_names *names, const char *key, uint64_t value)
{
    if (names->keys)
        visit_user_keys(names, key, value);
    for (size_t i = 0; i < sizeof(known_keys) / sizeof(*known_keys); i++)
        if (!strcmp(known_keys[i].key, key))
            take(names, known_keys[i].kind, known_keys[i].put, value);
}
