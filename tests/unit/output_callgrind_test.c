// SPDX-License-Identifier: Apache-2.0
/* Self and call costs of functions, in callgrind's format. */
#include "small_output.h"

#define HEAD                                                                                       \
    "# callgrind format\nversion: 1\ncreator: beamflame 0.1.0\ncmd: beamflame -p 100\n"            \
    "positions: line\nevent: time : time of cpu, in ns\nevents: time\n"

/* The file has the self cost of each function, and the inclusive cost of its calls. */
static void test_functions_have_self_and_inclusive_costs(void **state)
{
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    small.samples[1].stack = small.samples[2].stack;
    assert_output(&small, &callgrind_format,
                  HEAD "summary: 40000000\n"
                       "\nob=Erlang\nfl=???\nfn=cart\n"
                       "cob=Erlang\ncfl=???\ncfn=proc_lib:init_p/5\ncalls=2 0\n0 20000000\n"
                       "cob=/usr/bin/beam.smp\ncfl=???\ncfn=spin\ncalls=1 0\n0 10000000\n"
                       "\nob=Erlang\nfl=???\nfn=proc_lib:init_p/5\n"
                       "cob=Erlang\ncfl=???\ncfn=erlang:+/2\ncalls=2 0\n0 20000000\n"
                       "\nob=Erlang\nfl=???\nfn=erlang:+/2\n0 20000000\n"
                       "\nob=/usr/bin/beam.smp\nfl=???\nfn=spin\n0 20000000\n"
                       "\nob=Erlang\nfl=???\nfn=[scheduler] busy-wait\n"
                       "cob=/usr/bin/beam.smp\ncfl=???\ncfn=spin\ncalls=1 0\n0 10000000\n");
}

/* A call that is in a stack several times costs the stack's value once; calls on different lines
 * are separate. */
static void test_recursive_call_costs_its_value_once(void **state)
{
    struct small_profile small;
    stack_id stack = 0;

    (void)state;
    small_profile_make(&small);
    for (int i = 0; i < 3; i++)
        stack = small_call(small.profile, stack, "a:f/1", 10);
    stack = small_call(small.profile, stack, "a:f/1", 20);
    for (int i = 0; i < SMALL_SAMPLES; i++) {
        small.samples[i].stack = stack;
        small.samples[i].process = small.samples[0].process;
        small.samples[i].activity = 0;
    }
    assert_output(&small, &callgrind_format,
                  HEAD "summary: 40000000\n"
                       "\nob=Erlang\nfl=???\nfn=cart\n"
                       "cob=Erlang\ncfl=a.erl\ncfn=a:f/1\ncalls=4 0\n0 40000000\n"
                       "\nob=Erlang\nfl=a.erl\nfn=a:f/1\n20 40000000\n"
                       "cob=Erlang\ncfl=a.erl\ncfn=a:f/1\ncalls=4 0\n10 40000000\n");
}

/* A function is one function whether the file of a frame is known or not. A line of an included
 * file names that file. */
static void test_function_is_one_with_and_without_a_file(void **state)
{
    struct small_profile small;
    struct profile *p;
    stack_id without, within, included;

    (void)state;
    small_profile_make(&small);
    p = small.profile;
    without = profile_stack(p, 0, small_frame(p, "a:f/1", "", FRAME_ERLANG, 1));
    within = small_call(p, 0, "a:f/1", 10);
    included =
        profile_stack(p, 0,
                      profile_frame(p, &(struct frame){.symbol = profile_string_z(p, "a:f/1"),
                                                       .file = profile_string_z(p, "a.hrl"),
                                                       .line = 3,
                                                       .kind = FRAME_ERLANG}));
    for (int i = 0; i < SMALL_SAMPLES; i++) {
        small.samples[i].stack = i == 0 ? without : i == 1 ? included : within;
        small.samples[i].process = small.samples[0].process;
        small.samples[i].activity = 0;
    }
    assert_output(&small, &callgrind_format,
                  HEAD "summary: 40000000\n"
                       "\nob=Erlang\nfl=???\nfn=cart\n"
                       "cob=Erlang\ncfl=a.hrl\ncfn=a:f/1\ncalls=4 0\n0 40000000\n"
                       "\nob=Erlang\nfl=a.hrl\nfn=a:f/1\n0 10000000\n3 10000000\n"
                       "fi=a.erl\n10 20000000\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_have_self_and_inclusive_costs),
        cmocka_unit_test(test_recursive_call_costs_its_value_once),
        cmocka_unit_test(test_function_is_one_with_and_without_a_file),
    };

    return cmocka_run_group_tests_name("output_callgrind", tests, NULL, NULL);
}
