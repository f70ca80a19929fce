// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "beam/process_info.h"
#include "fake_target.h"

static const char *const atoms_of_vm[] = {
    "false",
    "true",
    "rabbit_amqqueue_process",
    "rabbit_channel",
    "rabbit_reader",
    "resource",
    "queue",
    "rabbit_writer",
    "unknown",
    "log",
    "ok",
    "ldap_pool",
    "db_update",
    "other",
};
enum {
    FALSE,
    TRUE,
    QUEUE_PROCESS,
    CHANNEL,
    READER,
    RESOURCE,
    QUEUE,
    WRITER,
    UNKNOWN,
    LOG,
    OK,
    LDAP_POOL,
    DB_UPDATE,
    OTHER,
    ATOMS
};

struct bench {
    struct fake_target *target;
    struct vm vm;
    struct atoms *atoms;
    struct pid_encoding encoding;
    struct read_cache cache;
    struct name_keys keys;
    struct process_info info;
    struct dictionary_names names;
};

static int start(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));

    *state = b;
    b->target = fake_target_new();
    b->atoms = fake_vm_with_atoms(b->target, &b->vm, 25, atoms_of_vm, ATOMS);
    read_cache_init(&b->cache, b->vm.memory);
    b->names = (struct dictionary_names){&b->vm,    b->atoms, &b->encoding,
                                         &b->cache, &b->keys, .info = &b->info};
    dictionary_names_begin(&b->names);
    return 0;
}

static int stop(void **state)
{
    struct bench *b = *state;

    atoms_free(b->atoms);
    free(b->target);
    free(b);
    return 0;
}

static uint64_t atom(uint64_t index)
{
    return fake_atom_term(index);
}

/* A heap binary: header, size, bytes. */
static uint64_t binary(struct bench *b, const char *text)
{
    size_t size = strlen(text);
    uint64_t address = fake_room(b->target, 16 + size);

    fake_put_u64(b->target, address, 0x24 | (1 + (size + 7) / 8) << 6);
    fake_put_u64(b->target, address + 8, size);
    fake_put(b->target, address + 16, text, size);
    return address | 2;
}

static uint64_t string(struct bench *b, const char *text)
{
    uint64_t tail = 0x3b;

    for (size_t i = strlen(text); i-- > 0;)
        tail = fake_cons(b->target, fake_small((unsigned char)text[i]), tail);
    return tail;
}

/* The label after one more entry of the dictionary; the memory of all terms has been written. */
static const char *after(struct bench *b, const char *key, uint64_t value)
{
    read_cache_init(&b->cache, b->vm.memory);
    dictionary_names_visit(&b->names, key, value);
    return b->info.label;
}

/* The same, of a dictionary that has this entry alone. */
static const char *alone(struct bench *b, const char *key, uint64_t value)
{
    dictionary_names_begin(&b->names);
    return after(b, key, value);
}

static uint64_t queue(struct bench *b, uint64_t module, const char *name)
{
    uint64_t resource =
        FAKE_TUPLE(b->target, 4, atom(RESOURCE), binary(b, "/"), atom(QUEUE), binary(b, name));

    return FAKE_TUPLE(b->target, 2, atom(module), resource);
}

static void test_queue_of_rabbitmq_is_a_name(void **state)
{
    struct bench *b = *state;

    assert_string_equal(alone(b, "process_name", queue(b, QUEUE_PROCESS, "orders")),
                        "queue 'orders' in vhost '/'");
    assert_false(b->info.label_is_detail);
    assert_string_equal(alone(b, "process_name",
                              queue(b, OTHER,
                                    "gr\xc3\xb6\xc3\x9f"
                                    "e")),
                        "other queue 'gr\xc3\xb6\xc3\x9f"
                        "e' in vhost '/'");
    assert_false(b->info.label_is_detail);
}

static void test_connection_and_channel_of_rabbitmq_are_details(void **state)
{
    struct bench *b = *state;
    uint64_t peer = binary(b, "[::1]:4711 -> [::1]:5672");
    uint64_t channel = FAKE_TUPLE(b->target, 2, peer, fake_small(3));

    assert_string_equal(alone(b, "process_name", FAKE_TUPLE(b->target, 2, atom(READER), peer)),
                        "connection [::1]:4711 -> [::1]:5672");
    assert_true(b->info.label_is_detail);
    assert_string_equal(alone(b, "process_name", FAKE_TUPLE(b->target, 2, atom(CHANNEL), channel)),
                        "channel [::1]:4711 -> [::1]:5672 (3)");
    assert_true(b->info.label_is_detail);
    assert_string_equal(alone(b, "process_name", FAKE_TUPLE(b->target, 2, atom(WRITER), channel)),
                        "rabbit_writer [::1]:4711 -> [::1]:5672 (3)");
    assert_string_equal(
        alone(b, "process_name", FAKE_TUPLE(b->target, 2, atom(CHANNEL), atom(UNKNOWN))),
        "channel unknown");
}

/* Other software may use the same keys. */
static void test_values_of_another_form_give_no_label(void **state)
{
    struct bench *b = *state;
    uint64_t small = FAKE_TUPLE(b->target, 2, fake_small(1), fake_small(2));
    uint64_t triple = FAKE_TUPLE(b->target, 3, atom(READER), atom(OK), atom(OK));
    uint64_t nested = FAKE_TUPLE(b->target, 2, atom(CHANNEL), triple);
    uint64_t wild = 0x7777777777777772;

    static const char *const keys[] = {"process_name", "worker_pool_name", "couch_file_fd",
                                       "io_priority", "log"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        assert_string_equal(alone(b, keys[i], fake_small(7)), "");
        assert_string_equal(alone(b, keys[i], wild), "");
        assert_string_equal(alone(b, keys[i], FAKE_TUPLE(b->target, 2, wild, wild)), "");
        assert_string_equal(alone(b, keys[i], FAKE_TUPLE(b->target, 2, atom(LOG), wild)), "");
    }
    assert_string_equal(alone(b, "process_name", small), "");
    assert_string_equal(alone(b, "process_name", triple), "");
    assert_string_equal(alone(b, "process_name", nested), "");
    assert_string_equal(alone(b, "log", FAKE_TUPLE(b->target, 3, atom(LOG), atom(OK), atom(OTHER))),
                        "");
    assert_string_equal(alone(b, "io_priority", small), "");
    assert_false(b->info.label_is_detail);
}

static void test_other_known_software_is_named(void **state)
{
    struct bench *b = *state;
    uint64_t log = FAKE_TUPLE(b->target, 15, atom(LOG), atom(OK), atom(OTHER), 0x3b, 0x3b, 0x3b,
                              0x3b, 0x3b, 0x3b, 0x3b, 0x3b, 0x3b, 0x3b, 0x3b, 0x3b);
    uint64_t file = FAKE_TUPLE(b->target, 2, atom(OK), string(b, "/data/a.couch"));
    uint64_t work = FAKE_TUPLE(b->target, 3, atom(DB_UPDATE), binary(b, "shop"), binary(b, "by"));

    assert_string_equal(alone(b, "log", log), "disk_log other");
    assert_string_equal(alone(b, "couch_file_fd", file), "couch_file /data/a.couch");
    assert_string_equal(alone(b, "io_priority", work), "db_update shop by");
    assert_string_equal(alone(b, "worker_pool_name", atom(LDAP_POOL)), "worker of ldap_pool");
    assert_false(b->info.label_is_detail);
}

/* Whatever the order in the dictionary: keys of the user in theirs, the label, known software. */
static void test_better_key_wins_in_any_order(void **state)
{
    struct bench *b = *state;
    uint64_t reader = FAKE_TUPLE(b->target, 2, atom(READER), binary(b, "peer"));
    struct error error;

    name_keys_add(&b->keys, "shop/2", &error);
    name_keys_add(&b->keys, "till", &error);
    assert_string_equal(after(b, "process_name", reader), "connection peer");
    assert_true(b->info.label_is_detail);
    assert_string_equal(after(b, "$process_label", fake_small(1)), "1");
    assert_false(b->info.label_is_detail);
    assert_string_equal(after(b, "till", atom(OTHER)), "other");
    assert_string_equal(after(b, "shop", FAKE_TUPLE(b->target, 2, atom(OK), string(b, "x"))),
                        "\"x\"");
    assert_string_equal(after(b, "till", atom(OK)), "\"x\"");
    assert_string_equal(after(b, "$process_label", fake_small(1)), "\"x\"");
    assert_string_equal(after(b, "process_name", reader), "\"x\"");
    assert_false(b->info.label_is_detail);
}

/* A key of the user whose value has no such element, or can't be read, leaves the next one. */
static void test_unfit_value_of_a_users_key_is_no_label(void **state)
{
    struct bench *b = *state;
    struct error error;

    uint64_t pair = FAKE_TUPLE(b->target, 2, atom(OK), atom(OTHER), atom(QUEUE));

    name_keys_add(&b->keys, "shop/3", &error);
    name_keys_add(&b->keys, "shop/1", &error);
    assert_string_equal(alone(b, "shop", atom(OK)), "");
    assert_string_equal(alone(b, "shop", string(b, "abc")), "");
    assert_string_equal(alone(b, "shop", pair), "ok");
    assert_string_equal(
        alone(b, "shop", FAKE_TUPLE(b->target, 3, atom(OK), atom(OTHER), 0x7777777777777772)),
        "ok");
    assert_string_equal(
        alone(b, "shop", FAKE_TUPLE(b->target, 3, atom(OK), atom(OTHER), fake_small(9))), "9");
}

static const char *after_other(struct bench *b, uint64_t key, uint64_t value)
{
    read_cache_init(&b->cache, b->vm.memory);
    dictionary_names_begin(&b->names);
    dictionary_names_visit_other(&b->names, key, value);
    return b->info.label;
}

/* A text in double quotes is a binary for Elixir, and a list of characters for Erlang. */
static void test_texts_are_keys(void **state)
{
    struct bench *b = *state;
    struct error error;

    assert_string_equal(after_other(b, binary(b, "t4"), fake_small(7)), "");
    name_keys_add(&b->keys, "\"t4\"", &error);
    name_keys_add(&b->keys, "<<\"gr\xc3\xbcn\">>", &error);
    assert_string_equal(after_other(b, binary(b, "t4"), fake_small(7)), "7");
    assert_string_equal(after_other(b, string(b, "t4"), fake_small(8)), "8");
    assert_string_equal(after_other(b, binary(b, "gr\xc3\xbcn"), fake_small(9)), "9");
    assert_string_equal(after_other(b, string(b, "gr\xfcn"), fake_small(9)), "");
    assert_string_equal(after_other(b, binary(b, "t"), fake_small(7)), "");
    assert_string_equal(after_other(b, binary(b, "t40"), fake_small(7)), "");
    assert_string_equal(after_other(b, string(b, "t"), fake_small(7)), "");
    assert_string_equal(after_other(b, string(b, "t40"), fake_small(7)), "");
    assert_string_equal(after_other(b, fake_small(4), fake_small(7)), "");
    assert_string_equal(after_other(b, FAKE_TUPLE(b->target, 1, atom(OK)), fake_small(7)), "");
    assert_string_equal(after_other(b, 0x7777777777777772, fake_small(7)), "");
    assert_string_equal(alone(b, "t4", fake_small(7)), "");
}

/* Keys of a dictionary are unique: a second entry is of a chain that is damaged or a circle. */
static void test_key_is_read_once(void **state)
{
    struct bench *b = *state;

    assert_string_equal(after(b, "$process_label", 0x7777777777777772), "");
    assert_string_equal(after(b, "$process_label", fake_small(1)), "");
}

/* The label has room for 259 bytes, and ends with a whole character. */
static void test_long_name_is_cut(void **state)
{
    struct bench *b = *state;
    char name[512];

    for (size_t i = 0; i < 255; i++)
        memcpy(name + 2 * i, "\xc3\xa4", 2);
    name[510] = '\0';
    alone(b, "process_name", queue(b, QUEUE_PROCESS, name));
    assert_int_equal(strlen(b->info.label), 259);
    assert_memory_equal(b->info.label, "queue '\xc3\xa4\xc3\xa4", 11);
    assert_memory_equal(b->info.label + 257, "\xc3\xa4", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_queue_of_rabbitmq_is_a_name, start, stop),
        cmocka_unit_test_setup_teardown(test_connection_and_channel_of_rabbitmq_are_details, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_values_of_another_form_give_no_label, start, stop),
        cmocka_unit_test_setup_teardown(test_other_known_software_is_named, start, stop),
        cmocka_unit_test_setup_teardown(test_better_key_wins_in_any_order, start, stop),
        cmocka_unit_test_setup_teardown(test_unfit_value_of_a_users_key_is_no_label, start, stop),
        cmocka_unit_test_setup_teardown(test_texts_are_keys, start, stop),
        cmocka_unit_test_setup_teardown(test_key_is_read_once, start, stop),
        cmocka_unit_test_setup_teardown(test_long_name_is_cut, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
