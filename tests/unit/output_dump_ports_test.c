// SPDX-License-Identifier: Apache-2.0
/* Ports and sockets of a dump, as text and as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "output/dump/writers.h"
#include "util/alloc.h"

static struct profile *profile;
static struct dump dump;

static string_id string(const char *text)
{
    return profile_string_z(profile, text);
}

static int start(void **state)
{
    struct target_entry target = {.pid = 4711};

    (void)state;
    profile = profile_new();
    target.otp_release = string("27");
    dump = (struct dump){.profile = profile, .sections = 1 << DUMP_PORTS};
    dump.target = profile_target(profile, &target);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    dump_free(&dump);
    profile_free(profile);
    return 0;
}

static void add_port(const struct dump_port *port)
{
    struct dump_ports *ports = &dump.ports;

    ports->ports = xgrow(ports->ports, &ports->room, ports->count, sizeof(*ports->ports));
    ports->ports[ports->count++] = *port;
}

static void add_socket(const struct dump_socket *socket)
{
    struct dump_ports *ports = &dump.ports;

    ports->sockets =
        xgrow(ports->sockets, &ports->socket_room, ports->socket_count, sizeof(*ports->sockets));
    ports->sockets[ports->socket_count++] = *socket;
}

static process_id owner(void)
{
    const struct process_entry entry = {
        .target = dump.target, .identity = 85, .pid = string("<0.85.0>"), .name = string("cart")};

    return profile_process(profile, &entry);
}

/* A program, a connection with queues, and a listening socket without a port. */
static void add_some(void)
{
    add_port(&(struct dump_port){.id = string("#Port<0.3>"),
                                 .name = string("cat '  busy\n"),
                                 .driver = string("spawn"),
                                 .registered = string("cat"),
                                 .bytes_in = 5,
                                 .bytes_out = 6,
                                 .os_pid = 77,
                                 .flags = PORT_CLOSING,
                                 .socket = {.fd = -1}});
    add_port(&(struct dump_port){.id = string("#Port<0.4>"),
                                 .name = string("tcp_inet"),
                                 .driver = string("tcp_inet"),
                                 .owner = owner(),
                                 .bytes_out = 2000,
                                 .queue = 1000,
                                 .flags = PORT_BUSY | PORT_DISTRIBUTION,
                                 .socket = {.fd = 17,
                                            .protocol = string("tcp"),
                                            .state = string("established"),
                                            .local = string("127.0.0.1:80"),
                                            .peer = string("127.0.0.1:999"),
                                            .has_queues = true,
                                            .send_queue = 300},
                                 .has_traffic = true,
                                 .octets_in = 40,
                                 .octets_out = 1900});
    add_socket(&(struct dump_socket){.fd = 21,
                                     .protocol = string("tcp6"),
                                     .state = string("listen"),
                                     .local = string("[::]:443"),
                                     .is_listening = true,
                                     .has_queues = true,
                                     .receive_queue = 1234567});
    dump_ports_sort(&dump.ports);
}

static char *written(void (*write)(FILE *file, const struct dump *dump))
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    write(file, &dump);
    fclose(file);
    return text;
}

static void assert_has(void (*write)(FILE *file, const struct dump *dump), const char *expected)
{
    char *text = written(write);

    if (!strstr(text, expected))
        fail_msg("no\n%s\nin\n%s", expected, text);
    free(text);
}

static void assert_lacks(void (*write)(FILE *file, const struct dump *dump), const char *part)
{
    char *text = written(write);

    if (strstr(text, part))
        fail_msg("%s in\n%s", part, text);
    free(text);
}

static void test_the_largest_queue_comes_first(void **state)
{
    (void)state;
    add_some();
    assert_has(
        dump_write_text,
        "2 ports, 1 sockets without a port; queued: 1.0 kB in ports, 300 B to send, 0 B to "
        "receive\n"
        "  #Port<0.4>     tcp_inet  <0.85.0> cart  queue 1.0 kB  in 40 B  out 1.9 kB  busy  "
        "distribution  tcp established 127.0.0.1:80 to 127.0.0.1:999  to send 300 B\n"
        "  #Port<0.3>     spawn 'cat \\'  busy\xef\xbf\xbd' registered as cat  in 5 B  out 6 B "
        " OS process 77  closing\n"
        "  no port        descriptor 21  tcp6 listen [::]:443  1,234,567 to accept\n");
}

static void test_json_has_every_port_and_socket(void **state)
{
    (void)state;
    add_some();
    assert_has(
        dump_write_json,
        "\"ports_gone\":0,\n\"ports_lost\":0,\n"
        "\"ports\":[\n"
        "{\"id\":\"#Port<0.4>\",\"name\":\"tcp_inet\",\"driver\":\"tcp_inet\","
        "\"registered_name\":null,\"owner\":{\"pid\":\"<0.85.0>\",\"name\":\"cart\","
        "\"label\":null,\"initial_call\":null},\"queue_size\":1000,\"input\":0,\"output\":2000,"
        "\"busy\":true,\"closing\":false,\"distribution\":true,\"recv_oct\":40,\"send_oct\":1900,"
        "\"socket\":{\"descriptor\":17,\"protocol\":\"tcp\",\"state\":\"established\","
        "\"local\":\"127.0.0.1:80\",\"peer\":\"127.0.0.1:999\",\"send_queue\":300,"
        "\"receive_queue\":0}},\n"
        "{\"id\":\"#Port<0.3>\",\"name\":\"cat '  busy\xef\xbf\xbd\",\"driver\":\"spawn\","
        "\"registered_name\":\"cat\",\"owner\":null,\"queue_size\":0,\"input\":5,\"output\":6,"
        "\"os_pid\":77,\"busy\":false,\"closing\":true,\"distribution\":false}\n"
        "],\n"
        "\"sockets_cut\":false,\n"
        "\"sockets\":[\n"
        "{\"descriptor\":21,\"protocol\":\"tcp6\",\"state\":\"listen\",\"local\":\"[::]:443\","
        "\"peer\":null,\"to_accept\":1234567}\n"
        "]\n}\n");
}

static void test_text_shows_a_part_of_many(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 30; i++) {
        char id[32];

        snprintf(id, sizeof(id), "#Port<0.%d>", (int)i);
        add_port(&(struct dump_port){.id = string(id), .queue = i * 100, .socket.fd = -1});
        add_socket(&(struct dump_socket){
            .fd = (int)i, .protocol = string("udp"), .has_queues = true, .receive_queue = i});
    }
    dump_ports_sort(&dump.ports);
    assert_has(dump_write_text, "; the 20 largest queues:\n  #Port<0.29> ");
    assert_has(dump_write_text, "  #Port<0.10> ");
    assert_lacks(dump_write_text, "  #Port<0.9> ");
    assert_has(dump_write_json, "#Port<0.0>");
}

static void test_what_is_unknown_is_said(void **state)
{
    (void)state;
    dump.ports.unknown = string("no layout");
    dump.ports.no_sockets = string("no files");
    dump.ports.gone = 3;
    assert_has(
        dump_write_text,
        "? ports, ? sockets without a port; queued: 0 B in ports, 0 B to send, 0 B to receive\n"
        "ports are not known: no layout\nsockets are not known: no files\n"
        "3 ports started or ended meanwhile\n");
    assert_has(dump_write_json, "\"ports\":null,\n\"ports_unknown\":\"no layout\",\n"
                                "\"sockets\":null,\n\"sockets_unknown\":\"no files\"\n}\n");
    dump.of_core = dump.ports.is_cut = true;
    dump.ports.lost = 4;
    assert_has(dump_write_text, "3 ports are not in the core\n4 other ports were not read: there "
                                "are too many\nthe list of sockets is cut");
}

static void test_ports_are_written_if_requested(void **state)
{
    (void)state;
    add_some();
    dump.sections = 1 << DUMP_PROCESSES;
    assert_lacks(dump_write_text, "Port");
    assert_lacks(dump_write_json, "ports");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(test_the_largest_queue_comes_first),  TEST(test_json_has_every_port_and_socket),
        TEST(test_text_shows_a_part_of_many),      TEST(test_what_is_unknown_is_said),
        TEST(test_ports_are_written_if_requested),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
