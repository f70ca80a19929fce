// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dwarf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/decoder.h"
#include "os/call_filter.h"
#include "native/cfi_internal.h"
#include "native/elf_file.h"
#include "native/native_symbols.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/stop.h"

/* Time that a look at the clock takes, and the time of all looks. */
static uint64_t look_ns, skew_ns;

/* The clock of this program, instead of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    long result = syscall(SYS_clock_gettime, clock, time);
    uint64_t ns = (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;

    skew_ns += look_ns;
    ns += skew_ns;
    *time = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    return (int)result;
}

static bool is_named(int pid, const char *name)
{
    char path[64], found[32] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/comm", pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    if (fscanf(file, "%31s", found) != 1)
        found[0] = '\0';
    fclose(file);
    return !strcmp(found, name);
}

/* The first child of process `pid` with this name; 0 if it has none. */
static pid_t named_child(pid_t pid, const char *name)
{
    char path[64];
    int child, found = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    file = fopen(path, "re");
    assert_non_null(file);
    while (!found && fscanf(file, "%d", &child) == 1)
        if (is_named(child, name))
            found = child;
    fclose(file);
    return found;
}

/* The parser of process `pid`, which has answered a request; 0 if it has none. */
static pid_t child_of(pid_t pid)
{
    return named_child(pid, "beamflame-elf");
}

static struct elf_file *open_self(struct parser *parser)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct elf_file *file = elf_file_of_fd(parser, fd, NULL, "self");

    assert_non_null(file);
    return file;
}

static bool knows_main(struct elf_file *file)
{
    return native_symbol_address(file, "main") != 0;
}

/* Lines of /proc/PID/status must have these values. */
static void assert_status(pid_t pid, const char *key, const char *value)
{
    char path[64], line[256], found[64] = "none";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        if (!strncmp(line, key, strlen(key)))
            sscanf(line + strlen(key), ": %63s", found);
    fclose(file);
    assert_string_equal(found, value);
}

/* The process that parses files can do nothing else: it has no capability, can't get one, and the
 * kernel refuses most of its system calls. */
static void test_parser_has_no_rights(void **state)
{
    struct parser *parser = parser_start();
    struct elf_file *file = open_self(parser);
    pid_t child = child_of(getpid());

    (void)state;
    assert_true(child > 0);
    assert_true(knows_main(file));
    assert_status(child, "CapPrm", "0000000000000000");
    assert_status(child, "CapEff", "0000000000000000");
    assert_status(child, "NoNewPrivs", "1");
    assert_status(child, "Seccomp", CALL_FILTER_IS_MISSING ? "0" : "2");
    elf_file_free(file);
    parser_release(parser);
    assert_int_equal(child_of(getpid()), 0);
}

/* The descriptors of the program are not the parser's. */
static void test_parser_has_no_descriptors_of_the_program(void **state)
{
    int secret = open("/etc/passwd", O_RDONLY); /* without O_CLOEXEC */
    struct parser *parser = parser_start();
    char path[64];

    (void)state;
    assert_true(secret > 2);
    elf_file_free(open_self(parser));
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)child_of(getpid()), secret);
    assert_int_equal(access(path, F_OK), secret == 3 ? 0 : -1); /* 3 is its socket */
    parser_release(parser);
    close(secret);
}

/* A file that ends the parser is lost. The others are opened again. */
static void test_file_that_ends_the_parser_is_lost_alone(void **state)
{
    struct parser *parser = parser_start();
    struct elf_file *bad = open_self(parser), *good = open_self(parser);

    (void)state;
    assert_true(knows_main(bad));
    kill(child_of(getpid()), SIGKILL);
    assert_false(knows_main(bad)); /* it is taken for the cause */
    assert_true(knows_main(good));
    assert_false(knows_main(bad));
    assert_int_equal(parser_epoch(parser), 1);
    elf_file_free(bad);
    elf_file_free(good);
    parser_release(parser);
}

static bool decodes(struct decoder *decoder)
{
    static const uint8_t bytes[] = {0x55}; /* push rbp */
    struct code_bytes code = {bytes, sizeof(bytes), 0x1000};
    struct instruction instruction;

    return decoder_next(decoder, &code, &instruction);
}

/* Machine code is decoded by the parser, and nowhere else. Code that ends it is unknown; other code
 * is decoded by the next one. */
static void test_code_that_ends_the_parser_is_unknown_alone(void **state)
{
    struct parser *parser = parser_start();
    struct decoder *bad = parser_decoder(parser), *good = parser_decoder(parser);
    struct elf_file *file = open_self(parser);

    (void)state;
    kill(child_of(getpid()), SIGKILL);
    assert_false(decodes(bad));
    assert_int_equal(child_of(getpid()), 0);
    assert_false(decodes(bad)); /* it is taken for the cause */
    assert_int_equal(child_of(getpid()), 0);
    assert_true(decodes(good));
    assert_true(child_of(getpid()) > 0);
    assert_true(knows_main(file)); /* it is opened again */
    assert_int_equal(parser_epoch(parser), 1);
    decoder_free(bad);
    decoder_free(good);
    elf_file_free(file);
    parser_release(parser);
}

/* A parser that ends again and again is not started for ever. */
static void test_parser_is_started_a_few_times_only(void **state)
{
    struct parser *parser = parser_start();
    int starts = 0;

    (void)state;
    for (int i = 0; i < 10; i++) {
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        struct elf_file *file = elf_file_of_fd(parser, fd, NULL, "self");

        if (!file)
            continue;
        starts++;
        kill(child_of(getpid()), SIGKILL);
        assert_false(knows_main(file));
        elf_file_free(file);
    }
    assert_in_range(starts, 2, 6);
    parser_release(parser);
}

/* The number in kB of a line of /proc/PID/smaps_rollup. */
static long kilobytes(pid_t pid, const char *key)
{
    char path[64], line[256];
    long found = -1;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
    file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        if (!strncmp(line, key, strlen(key)))
            found = atol(line + strlen(key) + 1);
    fclose(file);
    return found;
}

/* Memory that this process takes after the first parser was started is not in a later parser. */
static void test_parser_does_not_copy_the_memory_of_the_program(void **state)
{
    enum { TAKEN = 64 << 20 };
    struct parser *first = parser_start(), *second;
    struct elf_file *file;
    volatile char *taken = xmalloc(TAKEN);

    (void)state;
    for (size_t i = 0; i < TAKEN; i += 4096)
        taken[i] = 1;
    parser_release(first);
    second = parser_start();
    file = open_self(second);
    assert_true(kilobytes(getpid(), "Rss") > TAKEN / 1024);
    assert_in_range(kilobytes(child_of(getpid()), "Rss"), 1, TAKEN / 1024 / 2);
    elf_file_free(file);
    parser_release(second);
    free((char *)taken);
}

/* If the process that forks parsers is killed, those that it has forked live on, and another one
 * forks the next. */
static void test_parsers_outlive_the_process_that_forked_them(void **state)
{
    struct parser *before = parser_start(), *after;
    struct elf_file *old = open_self(before), *new;
    pid_t server = named_child(getpid(), "beamflame-fork");

    (void)state;
    assert_true(server > 0);
    assert_status(server, "CapEff", "0000000000000000");
    kill(server, SIGKILL);
    after = parser_start();
    assert_true(parser_has_started(after));
    new = open_self(after);
    assert_true(knows_main(old));
    assert_true(knows_main(new));
    assert_int_equal(parser_epoch(before), 0);
    assert_int_not_equal(named_child(getpid(), "beamflame-fork"), server);
    elf_file_free(old);
    elf_file_free(new);
    parser_release(before);
    parser_release(after);
}

/* A parser without a request for a minute ends, of an idle VM after 1 s, and the next request
 * starts it. This is no crash: it can happen more often. */
static void test_parser_that_is_not_in_use_rests(void **state)
{
    struct parser *parser = parser_start();
    struct elf_file *file = open_self(parser);
    pid_t first = child_of(getpid()), second;

    (void)state;
    for (int i = 0; i < 10; i++) {
        bool is_idle = i % 2;

        assert_true(knows_main(file));
        second = child_of(getpid());
        assert_int_equal(second == first, i == 0);
        skew_ns += is_idle ? 900000000 : 59000000000;
        parser_rest(parser, is_idle);
        assert_int_equal(child_of(getpid()), second);
        skew_ns += 2000000000;
        parser_rest(parser, is_idle);
        assert_int_equal(child_of(getpid()), 0);
    }
    elf_file_free(file);
    parser_release(parser);
}

/* Where many run, a parser ends sooner. The few that are left stay. */
static void test_many_parsers_rest_soon(void **state)
{
    enum { COUNT = 12, FEW = 8 };
    struct parser *parsers[COUNT];
    int left = 0;

    (void)state;
    for (int i = 0; i < COUNT; i++)
        parsers[i] = parser_start();
    skew_ns += 9000000000;
    for (int i = 0; i < COUNT; i++)
        parser_rest(parsers[i], false);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(parser_epoch(parsers[i]), 0);
    skew_ns += 2000000000;
    for (int i = 0; i < COUNT; i++)
        parser_rest(parsers[i], false);
    for (int i = 0; i < COUNT; i++) {
        left += parser_epoch(parsers[i]) == 0;
        parser_release(parsers[i]);
    }
    assert_int_equal(left, FEW);
}

/* A parser that delays each answer, but not for long enough to be ended, is not asked without end.
 * It is asked again when more time has passed. */
static void test_slow_answers_have_a_limit_in_all(void **state)
{
    const struct elf_request request = {.call = ELF_INSTRUCTIONS, .text_bytes = 1};
    struct parser *parser = parser_start();
    struct buffer answer = {0};
    int answers = 0;

    (void)state;
    look_ns = 10000000000;
    while (answers < 100 && parser_ask(parser, &request, "\x55", -1, &answer))
        answers++;
    look_ns = 0;
    assert_in_range(answers, 6, 10);
    assert_int_equal(parser_epoch(parser), 0);
    skew_ns += 3600000000000;
    assert_true(parser_ask(parser, &request, "\x55", -1, &answer));
    buffer_free(&answer);
    parser_release(parser);
}

/* A parser that hangs does not keep the program from ending. */
static void test_parser_that_hangs_does_not_delay_the_end(void **state)
{
    struct parser *parser = parser_start();
    struct elf_file *file = open_self(parser);
    uint64_t began = clock_ns(CLOCK_MONOTONIC);

    (void)state;
    kill(child_of(getpid()), SIGSTOP);
    stop_request(SIGTERM);
    assert_false(knows_main(file));
    assert_in_range(clock_ns(CLOCK_MONOTONIC) - began, 0, 1500000000);
    assert_int_equal(child_of(getpid()), 0);
    stop_requested = 0;
    elf_file_free(file);
    parser_release(parser);
}

static void test_parser_that_hangs_over_code_does_not_delay_the_end(void **state)
{
    struct parser *parser = parser_start();
    struct decoder *decoder = parser_decoder(parser);
    uint64_t began = clock_ns(CLOCK_MONOTONIC);

    (void)state;
    assert_true(decodes(decoder));
    decoder_free(decoder);
    decoder = parser_decoder(parser);
    kill(child_of(getpid()), SIGSTOP);
    stop_request(SIGTERM);
    assert_false(decodes(decoder));
    assert_in_range(clock_ns(CLOCK_MONOTONIC) - began, 0, 1500000000);
    stop_requested = 0;
    decoder_free(decoder);
    parser_release(parser);
}

/* A parser ends with the program, even if that is killed. */
static void test_parser_ends_with_its_program(void **state)
{
    int told[2];
    pid_t program, parser = 0;

    (void)state;
    assert_int_equal(pipe(told), 0);
    program = fork();
    if (program == 0) {
        elf_file_free(open_self(parser_start()));
        parser = child_of(getpid());
        _exit(write(told[1], &parser, sizeof(parser)) == sizeof(parser) && pause());
    }
    assert_int_equal(read(told[0], &parser, sizeof(parser)), sizeof(parser));
    assert_int_equal(kill(parser, 0), 0);
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    for (int i = 0; i < 100 && kill(parser, 0) == 0; i++)
        usleep(20000);
    assert_int_equal(kill(parser, 0), -1);
    close(told[0]);
    close(told[1]);
}

/* ---- rules that are not trusted ---- */

struct made {
    struct cfi_rule rule;
    struct cfi_place places[2];
    struct cfi_op ops[2];
};

static struct made sound_rule(void)
{
    return (struct made){
        .rule = {.place_count = 2, .op_count = 2, .cfa_register = CPU_SP, .cfa_offset = 8},
        .places = {{.reg = CPU_PC, .kind = PLACE_AT_CFA, .value = -8},
                   {.reg = CPU_SP, .kind = PLACE_EXPRESSION, .value = 0, .op_count = 2}},
        .ops = {{.code = CFI_PUSH_NUMBER, .number = 1}, {.code = DW_OP_neg}},
    };
}

static void test_rules_of_a_parser_that_lies_are_refused(void **state)
{
    struct made made = sound_rule();

    (void)state;
    assert_true(cfi_rule_is_sound(&made.rule, sizeof(made)));
    assert_false(cfi_rule_is_sound(&made.rule, sizeof(made) - 1));
    assert_false(cfi_rule_is_sound(&made.rule, sizeof(made) + 1));
    assert_false(cfi_rule_is_sound(&made.rule, 3));
    made.rule.place_count = 255;
    assert_false(cfi_rule_is_sound(&made.rule, sizeof(made)));
    made = sound_rule();
    made.rule.op_count = UINT16_MAX;
    assert_false(cfi_rule_is_sound(&made.rule, sizeof(made)));
    made = sound_rule();
    made.rule.cfa_ops = 3;
    assert_false(cfi_rule_is_sound(&made.rule, sizeof(made)));
    made = sound_rule();
    made.rule.cfa_register = CPU_REGISTERS;
    assert_false(cfi_rule_is_sound(&made.rule, sizeof(made)));
    made = sound_rule();
    made.places[0].reg = CPU_REGISTERS;
    assert_false(cfi_rule_is_sound(&made.rule, sizeof(made)));
    made = sound_rule();
    made.places[1].value = 1; /* its two operations begin behind the first */
    assert_false(cfi_rule_is_sound(&made.rule, sizeof(made)));
    made = sound_rule();
    made.places[0] = (struct cfi_place){.kind = PLACE_REGISTER, .value = -1};
    assert_false(cfi_rule_is_sound(&made.rule, sizeof(made)));
    made = sound_rule();
    made.places[0].kind = 200;
    assert_false(cfi_rule_is_sound(&made.rule, sizeof(made)));
    made = sound_rule();
    made.ops[1].reg = 64;
    assert_false(cfi_rule_is_sound(&made.rule, sizeof(made)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parser_has_no_rights),
        cmocka_unit_test(test_parser_has_no_descriptors_of_the_program),
        cmocka_unit_test(test_file_that_ends_the_parser_is_lost_alone),
        cmocka_unit_test(test_code_that_ends_the_parser_is_unknown_alone),
        cmocka_unit_test(test_parser_is_started_a_few_times_only),
        cmocka_unit_test(test_parser_does_not_copy_the_memory_of_the_program),
        cmocka_unit_test(test_parsers_outlive_the_process_that_forked_them),
        cmocka_unit_test(test_parser_that_is_not_in_use_rests),
        cmocka_unit_test(test_many_parsers_rest_soon),
        cmocka_unit_test(test_slow_answers_have_a_limit_in_all),
        cmocka_unit_test(test_parser_that_hangs_does_not_delay_the_end),
        cmocka_unit_test(test_parser_that_hangs_over_code_does_not_delay_the_end),
        cmocka_unit_test(test_parser_ends_with_its_program),
        cmocka_unit_test(test_rules_of_a_parser_that_lies_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
