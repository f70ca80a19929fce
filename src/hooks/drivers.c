// SPDX-License-Identifier: Apache-2.0
#include "hooks/hooks.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arch/decoder.h"
#include "beam/ports.h"
#include "native/native_code.h"
#include "native/native_symbols.h"
#include "native/parser.h"
#include "util/alloc.h"

/* The jumps with which functions leave for other functions. */

typedef void (*code_exit_visit)(void *context, uint64_t target);

/* Visit the target of each jump that leaves the function: the functions that it tail-calls. `code`
 * is the function's code, at its address in the target. Computed jumps are left out. */
static void tail_jumps(struct parser *parser, const struct code_bytes *code, code_exit_visit visit,
                       void *context)
{
    struct code_bytes rest = *code;
    struct decoder *decoder = parser_decoder(parser);
    struct instruction instruction;

    while (decoder_next(decoder, &rest, &instruction)) {
        uint64_t target = instruction_target(&instruction);

        if (instruction.kind != INSTRUCTION_CALL && target && target - code->address >= code->size)
            visit(context, target);
    }
    decoder_free(decoder);
}

enum {
    DRIVERS_MAX = 256,
    CALLBACKS_MAX = 32,
    PORTS_MAX = 1 << 10,    /* ports that are read */
    FUNCTION_MAX = 1 << 16, /* bytes */
    TAILS_MAX = 4,          /* depth of tail calls that are followed */
};

struct drivers {
    struct vm *vm;
    uint64_t list[DRIVERS_MAX];
    size_t count;
    unsigned int ports;
};

static uint64_t word_at(struct vm *vm, uint64_t address)
{
    uint64_t word = 0;

    return memory_read_u64(vm->memory, address, &word) ? word : 0;
}

static void add_driver(struct drivers *drivers, uint64_t driver)
{
    for (size_t i = 0; i < drivers->count; i++)
        if (drivers->list[i] == driver)
            return;
    if (driver && drivers->count < DRIVERS_MAX)
        drivers->list[drivers->count++] = driver;
}

static bool take_port(void *context, uint64_t index, uint64_t port)
{
    struct drivers *drivers = context;

    (void)index;
    add_driver(drivers, word_at(drivers->vm, port + (uint64_t)drivers->vm->layout.port_drv_ptr));
    return ++drivers->ports < PORTS_MAX;
}

/* Loaded drivers are in a linked list. The VM's own (spawn, fd, forker: erts_init_io(), io.c
 * 25.2.3:2953)
 * are not in it. */
static void find_drivers(struct drivers *drivers)
{
    const struct layout *layout = &drivers->vm->layout;
    struct error ignored;

    ports_each_address(drivers->vm, take_port, drivers, &ignored);
    for (size_t i = 0; i < drivers->count; i++) {
        add_driver(drivers, word_at(drivers->vm, drivers->list[i] + (uint64_t)layout->driver_next));
        add_driver(drivers, word_at(drivers->vm, drivers->list[i] + (uint64_t)layout->driver_prev));
    }
}

/* ---- functions ---- */

struct driver_search {
    struct vm *vm;
    driver_visit visit;
    void *context;
    int tails; /* depth of tail calls at this function */
};

/* False for functions that other code calls too: the VM's interface for drivers, and functions that
 * all of the VM uses. */
static bool is_of_driver(struct elf_file *file, uint64_t function)
{
    static const char *const others[] = {"driver_", "erl_drv_", "erts_", "ethr_"};
    struct native_symbol symbol;

    if (!native_symbol_find(file, function, &symbol))
        return true;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (!strncmp(symbol.name, others[i], strlen(others[i])))
            return false;
    return true;
}

/* The file of the function that starts at this address, and the address where it ends; NULL if no
 * function starts there. */
static struct elf_file *file_of(struct vm *vm, uint64_t function, uint64_t *end)
{
    struct mapping *mapping = mappings_find_code(vm->mappings, function);
    struct elf_file *file = mapping ? mapping_file(vm->mappings, mapping) : NULL;
    uint64_t start;

    if (file && native_code_find_function(file, function, &start, end) && start == function)
        return file;
    return NULL;
}

static void visit_function(struct driver_search *functions, uint64_t function);

static void visit_exit(void *context, uint64_t target)
{
    struct driver_search *functions = context;
    uint64_t end;
    struct elf_file *file = file_of(functions->vm, target, &end);

    if (file && functions->tails < TAILS_MAX && is_of_driver(file, target)) {
        functions->tails++;
        visit_function(functions, target);
        functions->tails--;
    }
}

/* A function that ends in a tail call is no longer on the stack while the called function runs, so
 * the called function is visited too. */
static void visit_function(struct driver_search *functions, uint64_t function)
{
    uint64_t end;
    struct elf_file *file = file_of(functions->vm, function, &end);
    uint8_t *code;

    if (!mappings_find_code(functions->vm->mappings, function) ||
        !functions->visit(functions->context, function) || !file || end <= function ||
        end - function > FUNCTION_MAX)
        return;
    code = xmalloc(end - function);
    if (native_code_read(file, function, code, end - function))
        tail_jumps(file->parser, &(struct code_bytes){code, end - function, function}, visit_exit,
                   functions);
    free(code);
}

static void visit_callbacks(struct driver_search *functions, uint64_t driver)
{
    const struct layout *layout = &functions->vm->layout;
    uint64_t callbacks[CALLBACKS_MAX];
    size_t first = (size_t)layout->driver_start;
    size_t count = ((size_t)layout->driver_emergency_close - first) / sizeof(uint64_t) + 1;

    if (count > CALLBACKS_MAX ||
        !memory_read(functions->vm->memory, driver + first, callbacks, count * sizeof(*callbacks)))
        return;
    for (size_t i = 0; i < count; i++)
        if (callbacks[i])
            visit_function(functions, callbacks[i]);
}

void drivers_each_function(struct vm *vm, driver_visit visit, void *context)
{
    const struct layout *layout = &vm->layout;
    struct drivers drivers = {.vm = vm};

    if (layout->port_drv_ptr < 0 || layout->driver_next < 0 || layout->driver_prev < 0 ||
        layout->driver_start < 0 || layout->driver_emergency_close < layout->driver_start)
        return;
    find_drivers(&drivers);
    for (size_t i = 0; i < drivers.count; i++)
        visit_callbacks(&(struct driver_search){.vm = vm, .visit = visit, .context = context},
                        drivers.list[i]);
}
