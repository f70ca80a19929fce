// SPDX-License-Identifier: Apache-2.0
#include "small_output.h"

/* A process that gets a name has one section, which shows the name and has all of its time. */
static void test_process_that_gets_a_name_has_one_section(void **state)
{
    static const char process[] = "\n[{ \"<0.85.0>\"";
    struct small_profile small;
    const char *found;
    char *text;

    (void)state;
    small_profile_make(&small);
    small.samples[3].process = profile_process(
        small.profile, &(struct process_entry){.identity = 0x553,
                                               .target = 1,
                                               .pid = profile_string_z(small.profile, "<0.85.0>"),
                                               .name = profile_string_z(small.profile, "till")});
    text = small_output(&small, &fprof_format, &(struct view_options){.grouping = {{GROUP_NAME}}});
    found = strstr(text, process);
    if (!found || strstr(found + 1, process) || !strstr(text, "%% till") || strstr(text, "%% cart"))
        fail_msg("%s", text);
    assert_non_null(strstr(found, " 3, ")); /* samples */
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process_that_gets_a_name_has_one_section),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
