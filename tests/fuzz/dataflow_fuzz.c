// SPDX-License-Identifier: Apache-2.0
/* Use bytes as machine code, like that of a hostile target's executable or JIT (libFuzzer). */
#include "native/dataflow.h"

#include <stdlib.h>
#include <string.h>

#include "native/parser.h"
#include "flow_visits.h"

enum { START = 0x10000 };

struct input {
    const uint8_t *data;
    size_t size;
};

static bool read_input(void *context, uint64_t address, void *buffer, size_t size)
{
    const struct input *input = context;
    uint64_t at = address - START;

    if (at > input->size || size > input->size - at)
        return false;
    memcpy(buffer, input->data + at, size);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    const struct flow_code code = {.parser = parser_here(),
                                   .read = read_input,
                                   .context = &input,
                                   .start = START,
                                   .end = START + size,
                                   .follow_literals = true};
    const struct flow_visitor visitor = {.call = look_at_call, .store = look_at_store};

    flow_follow(&code, &visitor);
    parser_release(code.parser);
    return 0;
}
