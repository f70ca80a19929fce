// SPDX-License-Identifier: Apache-2.0
/* Drivers of a fake VM; their functions are in this program, made by the assembler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "beam/ptab.h"
#include "hooks/hooks.h"
#include "fake_target.h"

/* clang-format off */
#define FUNCTION(name, ...) \
    extern const uint8_t name[]; \
    __asm__(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" \
            ".cfi_startproc\n" #__VA_ARGS__ "\n.cfi_endproc\n.size " #name ", . - " #name "\n.popsection\n")
FUNCTION(inet_start, ret);
FUNCTION(inet_close, test %edi, %edi; jne inet_start; ret);
FUNCTION(driver_free, ret);
FUNCTION(inet_send, test %edi, %edi; je driver_free; jmp inet_close);
FUNCTION(inet_outputv, jmp inet_send);
FUNCTION(inet_called, ret);
FUNCTION(inet_control, call inet_called; movabs $0xe9e9e9e9e9e9e9e9, %rax; 1: dec %eax; jne 1b; ret);
FUNCTION(fd_start, ret);
FUNCTION(unused_start, ret);
/* clang-format on */

enum { PORTS = 1024, DRIVER_BYTES = 256 };

static struct vm vm;
static struct fake_target *target;
static uint64_t ports;

struct seen {
    uint64_t functions[64];
    size_t count;
};

static int start(void **state)
{
    struct error error;

    (void)state;
    memset(&vm, 0, sizeof(vm));
    target = fake_target_new();
    vm.layout = fake_layout(27);
    vm.memory = &target->memory;
    vm.mappings = mappings_new(getpid(), &target->memory, &error);
    assert_non_null(vm.mappings);
    vm.roots.port_table = fake_room(target, 512);
    ports = fake_room(target, PORTS * sizeof(uint64_t));
    fake_put_u64(target, vm.roots.port_table + (uint64_t)vm.layout.ptab_tab, ports);
    fake_put(target, vm.roots.port_table + (uint64_t)vm.layout.ptab_max, &(uint32_t){PORTS}, 4);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    mappings_free(vm.mappings);
    free(target);
    return 0;
}

static uint64_t driver(const uint8_t *first, const uint8_t *outputv, const uint8_t *control)
{
    uint64_t at = fake_room(target, DRIVER_BYTES);

    fake_put_u64(target, at + 72, (uint64_t)(uintptr_t)first);
    fake_put_u64(target, at + 112, (uint64_t)(uintptr_t)outputv);
    fake_put_u64(target, at + 120, (uint64_t)(uintptr_t)control);
    return at;
}

static void port(unsigned int index, uint64_t driver_address)
{
    uint64_t at = fake_room(target, 1024);

    fake_put_u64(target, ports + index * sizeof(uint64_t), at);
    fake_put_u64(target, at + (uint64_t)vm.layout.port_drv_ptr, driver_address);
}

static bool see(void *context, uint64_t function)
{
    struct seen *seen = context;

    for (size_t i = 0; i < seen->count; i++)
        if (seen->functions[i] == function)
            return false;
    assert_true(seen->count < 64);
    seen->functions[seen->count++] = function;
    return true;
}

static void assert_seen(const uint8_t *const *expected, size_t count)
{
    struct seen seen = {.count = 0};

    drivers_each_function(&vm, see, &seen);
    assert_int_equal(seen.count, count);
    for (size_t i = 0; i < count; i++) {
        bool found = false;

        for (size_t k = 0; k < seen.count; k++)
            found |= seen.functions[k] == (uint64_t)(uintptr_t)expected[i];
        if (!found)
            fail_msg("function %zu", i);
    }
}

/* The callbacks of each port's driver are found, once for two ports, and the functions that
 * callbacks tail-call. Not found: the functions of the driver interface, functions of calls that
 * return, and bytes that only look like a jump. */
static void test_callbacks_of_drivers_are_found_with_their_tail_calls(void **state)
{
    static const uint8_t *const expected[] = {inet_start, inet_outputv, inet_control,
                                              inet_send,  inet_close,   fd_start};
    uint64_t inet = driver(inet_start, inet_outputv, inet_control);

    (void)state;
    port(3, inet);
    port(5, driver(fd_start, NULL, (const uint8_t *)8));
    port(9, inet);
    port(PORTS - 1, 0x1234);
    assert_seen(expected, 6);
}

/* Drivers without a port are found by their neighbours in the list, in both directions, even if the
 * list is circular. */
static void test_drivers_without_a_port_are_found_by_the_list(void **state)
{
    static const uint8_t *const expected[] = {inet_start, fd_start, unused_start};
    uint64_t first = driver(inet_start, NULL, NULL), second = driver(fd_start, NULL, NULL),
             third = driver(unused_start, NULL, NULL);

    (void)state;
    fake_put_u64(target, first, second);
    fake_put_u64(target, second, third);
    fake_put_u64(target, second + 8, first);
    fake_put_u64(target, third, first);
    port(0, second);
    assert_seen(expected, 3);
}

static void test_no_drivers_are_found_without_table_or_layout(void **state)
{
    (void)state;
    port(3, driver(inet_start, NULL, NULL));
    vm.layout.driver_next = -1;
    assert_seen(NULL, 0);
    vm.layout = fake_layout(27);
    vm.roots.port_table = 0;
    assert_seen(NULL, 0);
    vm.roots.port_table = 0x1234;
    assert_seen(NULL, 0);
}

/* The newest port is known by the queue of port numbers; a table without a queue (+Q legacy) and no
 * table have none. */
static void test_newest_port_is_known_by_the_queue(void **state)
{
    uint64_t table = vm.roots.port_table;
    uint32_t newest = 0;

    (void)state;
    fake_put(target, table + (uint64_t)vm.layout.ptab_aid_ix, &(uint32_t){7}, 4);
    assert_false(ptab_read_newest(&vm, table, &newest));
    fake_put_u64(target, table + (uint64_t)vm.layout.ptab_free_id_data, ports);
    assert_true(ptab_read_newest(&vm, table, &newest));
    assert_int_equal(newest, 7);
    assert_false(ptab_read_newest(&vm, 0, &newest));
    vm.layout.ptab_aid_ix = -1;
    assert_false(ptab_read_newest(&vm, table, &newest));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_callbacks_of_drivers_are_found_with_their_tail_calls,
                                        start, stop),
        cmocka_unit_test_setup_teardown(test_drivers_without_a_port_are_found_by_the_list, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_no_drivers_are_found_without_table_or_layout, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_newest_port_is_known_by_the_queue, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
