// SPDX-License-Identifier: Apache-2.0
#include "calls/call_arguments.h"

#include <stdlib.h>

#include "beam/pid_encoding.h"
#include "calls/argument_text.h"
#include "util/alloc.h"
#include "util/intern.h"

struct seen_arguments {
    struct wire_arguments_key key;
    char *text;
    bool is_cut;
};

struct call_arguments {
    const struct call_counter *counter;
    struct atoms *atoms;
    struct pid_encoding encoding;
    bool shapes_only;
    struct intern seen;
};

struct call_arguments *call_arguments_new(struct vm *vm, struct atoms *atoms,
                                          const struct call_counter *counter, bool shapes_only,
                                          struct error *error)
{
    struct call_arguments *arguments = xcalloc(1, sizeof(*arguments));

    *arguments =
        (struct call_arguments){.counter = counter, .atoms = atoms, .shapes_only = shapes_only};
    intern_init(&arguments->seen, sizeof(struct seen_arguments), sizeof(struct wire_arguments_key));
    if (pid_encoding_read(vm, &arguments->encoding, error) == 0)
        return arguments;
    call_arguments_free(arguments);
    return NULL;
}

void call_arguments_free(struct call_arguments *arguments)
{
    if (!arguments)
        return;
    for (uint32_t id = 1; id <= arguments->seen.count; id++)
        free(((const struct seen_arguments *)intern_get(&arguments->seen, id))->text);
    intern_free(&arguments->seen);
    free(arguments);
}

char *call_arguments_text(const struct call_arguments *arguments, const struct wire_arguments *copy,
                          bool *ret_is_cut)
{
    const struct argument_names names = {arguments->atoms, &arguments->encoding};
    struct buffer text = {0};

    *ret_is_cut = argument_text(&names, copy, arguments->shapes_only, &text);
    buffer_byte(&text, '\0');
    return text.data;
}

static void see(void *context, const struct wire_arguments_key *key,
                const struct wire_arguments_row *row)
{
    struct call_arguments *arguments = context;
    struct seen_arguments entry = {.key = *key};

    if (key->function >= WIRE_CALL_FUNCTIONS || intern_find(&arguments->seen, &entry))
        return;
    entry.text = call_arguments_text(arguments, &row->arguments, &entry.is_cut);
    intern_add(&arguments->seen, &entry);
}

void call_arguments_see(struct call_arguments *arguments)
{
    call_counter_each_arguments(arguments->counter, see, arguments);
}

struct named_arguments call_arguments_of(const struct call_arguments *arguments,
                                         const struct wire_arguments_key *key)
{
    const struct seen_arguments wanted = {.key = *key}, *found;
    uint32_t id = intern_find(&arguments->seen, &wanted);

    if (!id)
        return (struct named_arguments){NULL, false};
    found = intern_get(&arguments->seen, id);
    return (struct named_arguments){found->text, found->is_cut};
}
