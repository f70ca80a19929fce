// SPDX-License-Identifier: Apache-2.0
/* Probes on 5-byte nops: the effect on this kernel, and the decision that follows. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/calibration.h"
#include "capture/probe_safety.h"
#include "native/memory.h"

static struct calibration calibration;

/* Like code of a target. */
__asm__(".pushsection .text\n.balign 16\n"
        ".type place_of_nop5, @function\nplace_of_nop5:\n"
        ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\nret\n.size place_of_nop5, . - place_of_nop5\n"
        ".type place_of_push, @function\nplace_of_push:\n"
        "push %rbp\npop %rbp\nret\n.size place_of_push, . - place_of_push\n.popsection\n");
void place_of_nop5(void) __attribute__((visibility("hidden")));
void place_of_push(void) __attribute__((visibility("hidden")));

/* A probe is harmless only if a trial has shown it. */
static void test_probe_on_nop5_is_harmless_only_after_a_full_trial(void **state)
{
    static const struct {
        struct nop5_trial trial;
        bool harmless;
    } trials[] = {
        {{.runs = 20, .hits = 20, .changed = 0}, true},
        {{.runs = 20, .hits = 20, .changed = 1}, false},
        {{.runs = 20, .hits = 20, .changed = 76}, false},
        {{.runs = 20, .hits = 0, .changed = 0}, false},
        {{.runs = 20, .hits = 19, .changed = 0}, false},
        {{.runs = 1, .hits = 1, .changed = 0}, false}, /* the kernel had no time to change it */
        {{.runs = 0, .hits = 0, .changed = 0}, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
        assert_int_equal(probe_safety_nop5_is_harmless(&trials[i].trial), trials[i].harmless);
}

/* Each run hits the probe. A kernel that changes red zones does so at each hit except the first,
 * and writes four words. */
static void test_each_run_of_the_trial_hits_the_probe(void **state)
{
    struct nop5_trial trial;
    struct error error = {0};

    (void)state;
    assert_int_equal(probe_safety_try_nop5(calibration.way, &trial, &error), 0);
    assert_true(trial.runs > 1);
    assert_int_equal(trial.hits, trial.runs);
    printf("# %llu runs, %llu words of red zones changed\n", (unsigned long long)trial.runs,
           (unsigned long long)trial.changed);
    assert_true(trial.changed == 0 || trial.changed == 4 * (trial.runs - 1));
}

/* Only a 5-byte nop is refused, and only if the kernel changes the red zone. */
static void test_nop5_is_refused_if_the_kernel_changes_red_zones(void **state)
{
    struct memory *memory = memory_of_process(getpid());
    struct error error = {0};
    struct mappings *mappings = mappings_new(getpid(), memory, &error);
    struct probe_point point;
    struct nop5_trial trial;
    int refused;

    (void)state;
    assert_non_null(mappings);
    assert_int_equal(probe_link_point(mappings, (uintptr_t)place_of_push, &point, &error), 0);
    assert_int_equal(probe_safety_check_nop5(calibration.way, &point, &error), 0);
    assert_int_equal(probe_safety_try_nop5(calibration.way, &trial, &error), 0);
    assert_int_equal(probe_link_point(mappings, (uintptr_t)place_of_nop5, &point, &error), 0);
    refused = probe_safety_check_nop5(calibration.way, &point, &error);
    assert_int_equal(refused, trial.changed ? -1 : 0);
    if (refused) {
        assert_int_equal(error.code, ERROR_UNSUPPORTED);
        assert_non_null(strstr(error.text, "nop of five bytes"));
    }
    mappings_free(mappings);
    memory_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe_on_nop5_is_harmless_only_after_a_full_trial),
        cmocka_unit_test(test_each_run_of_the_trial_hits_the_probe),
        cmocka_unit_test(test_nop5_is_refused_if_the_kernel_changes_red_zones),
    };
    struct error error = {0};

    libbpf_set_print(NULL);
    if (geteuid() != 0)
        return cmocka_run_group_tests_name("decision", (const struct CMUnitTest[]){tests[0]}, NULL,
                                           NULL);
    if (calibrate(&calibration, &error) != 0) {
        printf("1..1\nnot ok 1 - %s\n", error.text);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
