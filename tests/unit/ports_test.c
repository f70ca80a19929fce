// SPDX-License-Identifier: Apache-2.0
/* Ports of a fake VM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "beam/ports.h"
#include "fake_target.h"

enum { PORTS = 1024, FD = 17, PID = 5 << 4 | 3, PORT_TAG = 7, REGISTERED = 9 };

static struct vm vm;
static struct fake_target *target;
static uint64_t slots;

struct seen {
    struct port_info ports[8];
    size_t count;
};

static int start(void **state)
{
    const struct layout *layout = &vm.layout;
    uint64_t table;

    (void)state;
    memset(&vm, 0, sizeof(vm));
    target = fake_target_new();
    fake_release(&vm, 25);
    vm.memory = &target->memory;
    table = vm.roots.port_table = fake_room(target, 512);
    slots = fake_room(target, PORTS * sizeof(uint64_t));
    fake_put_u64(target, table + (uint64_t)layout->ptab_tab, slots);
    fake_put_u32(target, table + (uint64_t)layout->ptab_max, PORTS);
    fake_put_u32(target, table + (uint64_t)layout->ptab_pix_mask, PORTS - 1);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    free(target);
    return 0;
}

static uint64_t text(const char *string)
{
    uint64_t at = fake_room(target, strlen(string) + 1);

    fake_put(target, at, string, strlen(string) + 1);
    return at;
}

static void field(uint64_t port, int32_t offset, uint64_t value)
{
    fake_put_u64(target, port + (uint64_t)offset, value);
}

static uint64_t id_of(uint32_t index, uint32_t number)
{
    return (uint64_t)index << 32 | number << 4 | PORT_TAG;
}

/* Return the address of a port in slot `index`, #Port<0.NUMBER>. */
static uint64_t port(uint32_t index, uint32_t number, const char *driver, const char *name)
{
    const struct layout *layout = &vm.layout;
    uint64_t at = fake_room(target, (size_t)layout->sizeof_port);
    uint64_t driver_at = fake_room(target, 256);

    fake_put_u64(target, slots + index * sizeof(uint64_t), at);
    fake_put_u64(target, driver_at + (uint64_t)layout->driver_name, text(driver));
    field(at, layout->port_id, id_of(index, number));
    field(at, layout->port_drv_ptr, driver_at);
    field(at, layout->port_name, text(name));
    return at;
}

/* Give the port a socket; return the address of its inet_descriptor. */
static uint64_t inet(uint64_t port, uint64_t id)
{
    const struct layout *layout = &vm.layout;
    uint64_t at = fake_room(target, 1024);

    field(port, layout->port_drv_data, at);
    fake_put_u32(target, at + (uint64_t)layout->inet_socket, FD);
    field(at, layout->inet_port, port);
    field(at, layout->inet_dport, id);
    field(at, layout->inet_recv_oct, 1000);
    field(at, layout->inet_send_oct, 2000);
    return at;
}

static bool see(void *context, const struct port_info *info)
{
    struct seen *seen = context;

    assert_true(seen->count < 8);
    seen->ports[seen->count++] = *info;
    return true;
}

static struct seen see_all(uint64_t expected_gone)
{
    struct seen seen = {.count = 0};
    struct error error;
    struct port_counts counts = {0};

    assert_int_equal(ports_each(&vm, see, &seen, &counts, &error), 0);
    assert_int_equal(counts.gone, expected_gone);
    assert_int_equal(counts.lost, 0);
    return seen;
}

static void test_ports_have_what_port_info_says(void **state)
{
    const struct layout *layout = &vm.layout;
    uint64_t at = port(7, 12, "spawn", "cat -u");
    uint64_t reg = fake_room(target, 64);
    struct seen seen;

    (void)state;
    fake_put_u64(target, reg + (uint64_t)layout->regproc_name, fake_atom_term(REGISTERED));
    field(at, layout->port_reg, reg);
    field(at, layout->port_connected, PID);
    field(at, layout->port_bytes_in, 5);
    field(at, layout->port_bytes_out, 6);
    field(at, layout->port_ioq_size, 7);
    field(at, layout->port_os_pid, 4711);
    fake_put_u32(target, at + (uint64_t)layout->port_state, ERTS_PORT_SFLG_CLOSING);
    fake_put_u32(target, at + (uint64_t)layout->port_sched_flags, ERTS_PTS_FLG_BUSY_PORT);
    seen = see_all(0);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.ports[0].text, "#Port<0.12>");
    assert_string_equal(seen.ports[0].driver, "spawn");
    assert_string_equal(seen.ports[0].name, "cat -u");
    assert_int_equal(seen.ports[0].owner, PID);
    assert_int_equal(seen.ports[0].registered, fake_atom_term(REGISTERED));
    assert_int_equal(seen.ports[0].bytes_in, 5);
    assert_int_equal(seen.ports[0].bytes_out, 6);
    assert_int_equal(seen.ports[0].queue, 7);
    assert_int_equal(seen.ports[0].os_pid, 4711);
    assert_int_equal(seen.ports[0].state, ERTS_PORT_SFLG_CLOSING);
    assert_int_equal(seen.ports[0].tasks, ERTS_PTS_FLG_BUSY_PORT);
    assert_int_equal(seen.ports[0].socket.fd, -1);
}

/* No program runs, nobody is connected, and names can't be read. */
static void test_what_is_unknown_is_left_out(void **state)
{
    const struct layout *layout = &vm.layout;
    uint64_t at = port(7, 12, "spawn", "cat");
    struct seen seen;

    (void)state;
    field(at, layout->port_os_pid, (uint64_t)-1);
    field(at, layout->port_connected, 0x3b); /* NIL */
    field(at, layout->port_reg, 0x1234);
    field(at, layout->port_name, 0x1234);
    field(at, layout->port_drv_ptr, 0x1234);
    seen = see_all(0);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.ports[0].os_pid, 0);
    assert_int_equal(seen.ports[0].owner, 0);
    assert_int_equal(seen.ports[0].registered, 0);
    assert_string_equal(seen.ports[0].name, "");
    assert_string_equal(seen.ports[0].driver, "");
}

static void test_a_long_name_is_cut(void **state)
{
    char name[2 * PORT_NAME_BYTES];
    struct seen seen;

    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    port(1, 1, "spawn", name);
    seen = see_all(0);
    assert_int_equal(strlen(seen.ports[0].name), PORT_NAME_BYTES - 1);
}

/* A port that is being opened, one of another slot, a pid, and memory that is not mapped. */
static void test_other_structs_are_no_ports(void **state)
{
    uint64_t opening = port(1, 1, "spawn", "a"), moved = port(2, 2, "spawn", "b"),
             process = port(3, 3, "spawn", "c");
    struct seen seen;

    (void)state;
    fake_put_u32(target, opening + (uint64_t)vm.layout.port_state, ERTS_PORT_SFLG_INITIALIZING);
    field(moved, vm.layout.port_id, id_of(9, 2));
    field(process, vm.layout.port_id, PID);
    fake_put_u64(target, slots + 4 * sizeof(uint64_t), 0x1234);
    port(5, 5, "spawn", "d");
    seen = see_all(4);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.ports[0].text, "#Port<0.5>");
}

static bool count_port(void *context, const struct port_info *info)
{
    (void)info;
    ++*(size_t *)context;
    return true;
}

/* More ports than are read at once; half of them can't be read. */
static void test_all_ports_of_a_full_table_are_seen(void **state)
{
    size_t size = (size_t)vm.layout.sizeof_port, count = 0;
    uint64_t first = port(0, 0, "spawn", "x");
    struct port_counts counts = {0};
    struct error error;

    (void)state;
    for (uint32_t i = 1; i < PORTS; i++) {
        uint64_t copy = fake_room(target, size);

        fake_put(target, copy, target->bytes + (first - FAKE_BASE), size);
        field(copy, vm.layout.port_id, id_of(i, i));
        fake_put_u64(target, slots + i * sizeof(uint64_t), i % 2 ? 0x1234 : copy);
    }
    assert_int_equal(ports_each(&vm, count_port, &count, &counts, &error), 0);
    assert_int_equal(count, PORTS / 2);
    assert_int_equal(counts.gone, PORTS / 2);
}

static void test_sockets_belong_to_ports_that_they_point_to(void **state)
{
    uint64_t tcp = port(1, 1, "tcp_inet", "tcp_inet"), udp = port(2, 2, "udp_inet", "udp_inet"),
             other = port(3, 3, "my_inet", "my_inet"), foreign = port(4, 4, "tcp_inet", "tcp_inet"),
             copied = port(5, 5, "tcp_inet", "tcp_inet");
    struct seen seen;

    (void)state;
    inet(tcp, id_of(1, 1));
    inet(udp, id_of(2, 3)); /* of an earlier port */
    inet(other, id_of(3, 3));
    field(foreign, vm.layout.port_drv_data, 0x1234);
    field(inet(copied, id_of(5, 5)), vm.layout.inet_port, tcp);
    seen = see_all(0);
    assert_int_equal(seen.count, 5);
    assert_int_equal(seen.ports[0].socket.fd, FD);
    assert_true(seen.ports[0].socket.has_traffic);
    assert_int_equal(seen.ports[0].socket.octets_in, 1000);
    assert_int_equal(seen.ports[0].socket.octets_out, 2000);
    for (size_t i = 1; i < 5; i++) {
        assert_int_equal(seen.ports[i].socket.fd, -1);
        assert_false(seen.ports[i].socket.has_traffic);
    }
}

static void test_traffic_is_unknown_where_its_place_is(void **state)
{
    uint64_t tcp = port(1, 1, "tcp_inet", "tcp_inet");
    struct seen seen;

    (void)state;
    inet(tcp, id_of(1, 1));
    vm.layout.inet_recv_oct = -1;
    seen = see_all(0);
    assert_int_equal(seen.ports[0].socket.fd, FD);
    assert_false(seen.ports[0].socket.has_traffic);
}

static void test_a_descriptor_that_changed_is_not_confirmed(void **state)
{
    uint64_t first = port(1, 1, "tcp_inet", "tcp_inet"), second = port(2, 2, "tcp_inet", "x");
    uint64_t closed = inet(second, id_of(2, 2));
    struct port_descriptor ports[] = {
        {first, id_of(1, 1), FD, 0}, {second, id_of(2, 2), FD, 1}, {0x1234, id_of(3, 3), FD, 2}};

    (void)state;
    inet(first, id_of(1, 1));
    fake_put_u32(target, closed + (uint64_t)vm.layout.inet_socket, (uint32_t)-1);
    ports_confirm_descriptors(&vm, ports, 3);
    assert_int_equal(ports[0].fd, FD);
    assert_int_equal(ports[1].fd, -1);
    assert_int_equal(ports[2].fd, -1);
}

static void test_ports_without_layout_or_table_are_an_error(void **state)
{
    struct error error = {0};
    struct seen seen = {.count = 0};
    struct port_counts counts = {0};

    (void)state;
    port(1, 1, "spawn", "a");
    vm.layout.port_ioq_size = -1;
    assert_int_equal(ports_each(&vm, see, &seen, &counts, &error), -1);
    assert_string_equal(error.text, "the ports of OTP 25 are not known");
    vm.layout = fake_layout(25);
    vm.layout.port_state = vm.layout.sizeof_port - 4; /* outside of the struct, as DWARF may say */
    assert_int_equal(ports_each(&vm, see, &seen, &counts, &error), -1);
    vm.layout = fake_layout(25);
    vm.roots.port_table = 0;
    assert_int_equal(ports_each(&vm, see, &seen, &counts, &error), -1);
    assert_int_equal(seen.count, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(test_ports_have_what_port_info_says),
        TEST(test_what_is_unknown_is_left_out),
        TEST(test_a_long_name_is_cut),
        TEST(test_other_structs_are_no_ports),
        TEST(test_all_ports_of_a_full_table_are_seen),
        TEST(test_sockets_belong_to_ports_that_they_point_to),
        TEST(test_traffic_is_unknown_where_its_place_is),
        TEST(test_a_descriptor_that_changed_is_not_confirmed),
        TEST(test_ports_without_layout_or_table_are_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
