// SPDX-License-Identifier: Apache-2.0
/* Loading a program that the kernel's verifier refuses. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibration.skel.h"
#include "capture/bpf_load.h"
#include "util/log.h"

static char heard[1 << 16];

static void hear(const char *area, const char *line)
{
    size_t used = strlen(heard);

    snprintf(heard + used, sizeof(heard) - used, "%s|%s\n", area, line);
}

/* Open the calibration's program. `broken`: the last instructions return r5, which the call of a
 * helper before them has made unreadable. */
static struct calibration_bpf *open_program(bool broken)
{
    struct calibration_bpf *skeleton = calibration_bpf__open();
    struct bpf_program *program;
    struct bpf_insn *code;
    size_t count;

    assert_non_null(skeleton);
    if (!broken)
        return skeleton;
    program = skeleton->progs.count_hit;
    count = bpf_program__insn_cnt(program);
    assert_true(count > 2);
    code = malloc(count * sizeof(*code));
    assert_non_null(code);
    memcpy(code, bpf_program__insns(program), count * sizeof(*code));
    code[count - 2] = (struct bpf_insn){
        .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_5};
    assert_int_equal(bpf_program__set_insns(program, code, count), 0);
    free(code);
    return skeleton;
}

static int load(bool broken, struct error *error)
{
    struct calibration_bpf *skeleton = open_program(broken);
    int result = bpf_load(skeleton->skeleton, error);

    calibration_bpf__destroy(skeleton);
    return result;
}

static void test_valid_program_is_loaded_and_named(void **state)
{
    struct error error = {0};

    (void)state;
    heard[0] = '\0';
    log_listen(LOG_DECISION, hear);
    assert_int_equal(load(false, &error), 0);
    log_listen(LOG_OFF, hear);
    assert_non_null(strstr(heard, "bpf|loaded program count_hit (uprobe)"));
}

static void test_refused_program_gives_the_reason_of_the_verifier(void **state)
{
    struct error error = {0};

    (void)state;
    heard[0] = '\0';
    assert_int_equal(load(true, &error), -1);
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "Permission denied: count_hit: R5 !read_ok"));
    assert_string_equal(heard, "");
}

static void test_whole_log_of_the_verifier_is_logged(void **state)
{
    struct error error = {0};

    (void)state;
    heard[0] = '\0';
    log_listen(LOG_DECISION, hear);
    assert_int_equal(load(true, &error), -1);
    log_listen(LOG_OFF, hear);
    assert_non_null(strstr(heard, "verifier|the kernel refused program count_hit:"));
    assert_non_null(strstr(heard, "r0 = r5"));
    assert_non_null(strstr(heard, "verifier|R5 !read_ok"));
    assert_non_null(strstr(heard, "verifier|processed "));
    assert_non_null(strstr(heard, "bpf|libbpf: prog 'count_hit'")); /* its warning */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid_program_is_loaded_and_named),
        cmocka_unit_test(test_refused_program_gives_the_reason_of_the_verifier),
        cmocka_unit_test(test_whole_log_of_the_verifier_is_logged),
    };

    if (geteuid() != 0) {
        puts("1..0 # SKIP BPF programs want root");
        return 0;
    }
    bpf_load_log_messages();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
