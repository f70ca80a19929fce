// SPDX-License-Identifier: Apache-2.0
#include "small_output.h"

#include "view/selection.h"

/* Return the selected samples: "013". */
static const char *wanted(struct small_profile *small, const struct selection_options *options,
                          const char *keys)
{
    static char text[SMALL_SAMPLES + 1];
    struct view_options view_options = {.fold_recursion = false};
    struct selection *selection;
    struct error error;
    struct view *view;
    size_t size = 0;

    assert_int_equal(grouping_parse(keys, &view_options.grouping, &error), 0);
    view = view_new(small->profile, &view_options);
    selection = selection_new(options, small->profile, view, small_header.start_monotonic);
    for (int i = 0; i < SMALL_SAMPLES; i++)
        if (selection_wants(selection, &small->samples[i]))
            text[size++] = (char)('0' + i);
    text[size] = '\0';
    selection_free(selection);
    view_free(view);
    return text;
}

static void assert_frames(const char *include, const char *exclude, const char *keys,
                          const char *expected)
{
    struct selection_options options = {.statuses = 0};
    struct small_profile small;
    struct error error;

    small_profile_make(&small);
    if (include)
        assert_int_equal(selection_add_pattern(&options.include, include, &error), 0);
    if (exclude)
        assert_int_equal(selection_add_pattern(&options.exclude, exclude, &error), 0);
    assert_string_equal(wanted(&small, &options, keys), expected);
    selection_options_free(&options);
    profile_free(small.profile);
}

/* A pattern matches a stack by any of its frames, including root frames. */
static void test_pattern_matches_any_frame_of_a_stack(void **state)
{
    (void)state;
    assert_frames("^memcpy$", NULL, "name", "1");
    assert_frames("proc_lib", NULL, "name", "013");
    assert_frames("nothing", NULL, "name", "");
    assert_frames(NULL, "erlang:[+]/2|spin", "name", "1");
    assert_frames("proc_lib", "memcpy", "name", "03");
    assert_frames("^cart$", NULL, "name", "013");
    assert_frames("^cart$", NULL, "status", "");
    assert_frames("busy", NULL, "status,name", "2");
    assert_frames(NULL, "<0[.]85[.]0>", "status,pid", "2");
}

/* A node is selected by its name, its name without the host, or the pid of its VM, and by nothing
 * that is only a part of these. */
static void test_node_is_selected_by_name_or_pid(void **state)
{
    static const struct {
        const char *who, *selected;
    } cases[] = {{"shop@\"web\"", "0123"},
                 {"shop", "0123"},
                 {"100", "0123"},
                 {"sho", ""},
                 {"web", ""},
                 {"10", ""}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct selection_options options = {.statuses = 0};
        struct small_profile small;
        struct error error;

        small_profile_make(&small);
        assert_int_equal(selection_add_node(&options, cases[i].who, &error), 0);
        assert_string_equal(wanted(&small, &options, "name"), cases[i].selected);
        selection_options_free(&options);
        profile_free(small.profile);
    }
}

static void test_nodes_are_listed_if_none_is_selected(void **state)
{
    struct selection_options options = {.statuses = 0};
    struct small_profile small;
    struct error error;

    (void)state;
    small_profile_make(&small);
    assert_int_equal(selection_add_node(&options, "", &error), -1);
    assert_int_equal(error.code, ERROR_USAGE);
    assert_int_equal(selection_add_node(&options, "stock", &error), 0);
    assert_int_equal(suggestion_nothing_selected(&options, small.profile, 4, "samples", &error),
                     -1);
    assert_string_equal(error.text, "the options select none of the 4 samples; no node is 'stock', "
                                    "the nodes are: shop@\"web\" (100)");
    selection_options_free(&options);
    profile_free(small.profile);
}

/* Input of text does not know who spawned whom. */
static void test_missing_parents_are_said(void **state)
{
    struct selection_options options = {.statuses = 0};
    struct small_profile small;
    struct error error;

    (void)state;
    small_profile_make(&small);
    assert_int_equal(selection_add_process(&options.descendants_of, "shop_sup", &error), 0);
    assert_int_equal(suggestion_nothing_selected(&options, small.profile, 4, "samples", &error),
                     -1);
    assert_int_equal(error.code, ERROR_NO_SAMPLES);
    assert_string_equal(error.text, "the recording does not have the parents of processes: "
                                    "--children-of and --descendants-of need a recording (.bfr) of "
                                    "a node");
    selection_options_free(&options);
    profile_free(small.profile);
}

/* Of several patterns one match is enough, to include and to exclude. */
static void test_one_match_of_several_patterns_is_enough(void **state)
{
    struct selection_options options = {.statuses = 0};
    struct small_profile small;
    struct error error;

    (void)state;
    small_profile_make(&small);
    assert_int_equal(selection_add_pattern(&options.include, "spin", &error), 0);
    assert_int_equal(selection_add_pattern(&options.include, "memcpy", &error), 0);
    assert_string_equal(wanted(&small, &options, "name"), "12");
    assert_int_equal(selection_add_pattern(&options.exclude, "nothing", &error), 0);
    assert_int_equal(selection_add_pattern(&options.exclude, "do_syscall", &error), 0);
    assert_string_equal(wanted(&small, &options, "name"), "2");
    selection_options_free(&options);
    profile_free(small.profile);
}

static void test_stack_without_frames_still_has_root_frames(void **state)
{
    struct selection_options options = {.statuses = 0};
    struct small_profile small;
    struct error error;

    (void)state;
    small_profile_make(&small);
    small.samples[0].stack = small.samples[2].stack = 0;
    assert_int_equal(selection_add_pattern(&options.include, "cart|erlang", &error), 0);
    assert_string_equal(wanted(&small, &options, "none"), "3");
    assert_string_equal(wanted(&small, &options, "name"), "013");
    selection_options_free(&options);
    profile_free(small.profile);
}

static void test_bad_pattern_is_refused(void **state)
{
    struct selection_patterns patterns = {.count = 0};
    struct error error;

    (void)state;
    assert_int_equal(selection_add_pattern(&patterns, "a(b", &error), -1);
    assert_int_equal(error.code, ERROR_USAGE);
    assert_non_null(strstr(error.text, "'a(b' is not a regular expression: "));
    assert_int_equal(patterns.count, 0);
}

static void test_samples_are_selected_by_status(void **state)
{
    struct selection_options options = {.statuses = 0};
    struct small_profile small;
    struct error error;

    (void)state;
    small_profile_make(&small);
    small.samples[3].status = STATUS_GARBAGE_COLLECTING;
    small.samples[1].status = STATUS_WAITING;
    assert_int_equal(selection_add_statuses(&options, "garbage_collecting", &error), 0);
    assert_string_equal(wanted(&small, &options, "name"), "3");
    assert_int_equal(selection_add_statuses(&options, "runnable,running", &error), 0);
    assert_string_equal(wanted(&small, &options, "name"), "03");
    for (int i = 0; i < 4; i++) {
        static const char *const bad[] = {"none", "running,", "run", ""};

        assert_int_equal(selection_add_statuses(&options, bad[i], &error), -1);
        assert_int_equal(error.code, ERROR_USAGE);
        assert_non_null(strstr(error.text,
                               "the statuses are: running, runnable, waiting, suspended, "
                               "exiting, garbage_collecting, free, idle, blocked"));
    }
    assert_string_equal(wanted(&small, &options, "name"), "03");
    profile_free(small.profile);
}

/* "waiting" selects all processes that wait, whatever for. */
static void test_waiting_selects_idle_and_blocked_too(void **state)
{
    static const struct {
        const char *names, *expected;
    } cases[] = {{"waiting", "013"}, {"idle", "1"}, {"blocked", "3"}, {"idle,blocked", "13"}};
    struct small_profile small;
    struct error error;

    (void)state;
    small_profile_make(&small);
    small.samples[0].status = STATUS_WAITING;
    small.samples[1].status = STATUS_IDLE;
    small.samples[3].status = STATUS_BLOCKED;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct selection_options options = {.statuses = 0};

        assert_int_equal(selection_add_statuses(&options, cases[i].names, &error), 0);
        assert_string_equal(wanted(&small, &options, "name"), cases[i].expected);
    }
    profile_free(small.profile);
}

static void assert_process(struct small_profile *small, const char *who, const char *expected)
{
    struct selection_options options = {.statuses = 0};
    struct error error;

    assert_int_equal(selection_add_process(&options.processes, who, &error), 0);
    assert_string_equal(wanted(small, &options, "name"), expected);
    selection_options_free(&options);
}

/* A process is selected by any of its names, in full. */
static void test_process_is_selected_by_any_of_its_names(void **state)
{
    struct process_entry other = {.identity = 7, .target = 1};
    struct selection_options options = {.statuses = 0};
    struct small_profile small;
    struct error error;

    (void)state;
    small_profile_make(&small);
    other.pid = profile_string_z(small.profile, "<0.9.0>");
    other.label = profile_string_z(small.profile, "{pool,3}");
    other.initial_call = profile_string_z(small.profile, "shop:init/1");
    small.samples[3].process = profile_process(small.profile, &other);
    assert_process(&small, "cart", "01");
    assert_process(&small, "<0.85.0>", "01");
    assert_process(&small, "<0.9.0>", "3");
    assert_process(&small, "{pool,3}", "3");
    assert_process(&small, "shop:init/1", "3");
    assert_process(&small, "shop:_", "3");
    assert_process(&small, "sho:_", "");
    assert_process(&small, "shop.init:_", "");
    assert_process(&small, ":_", "");
    assert_process(&small, "shop", "");
    assert_process(&small, "car", "");
    assert_int_equal(selection_add_process(&options.processes, "", &error), -1);
    assert_int_equal(error.code, ERROR_USAGE);
    assert_int_equal(selection_add_process(&options.processes, "cart", &error), 0);
    assert_int_equal(selection_add_process(&options.processes, "shop:_", &error), 0);
    assert_string_equal(wanted(&small, &options, "name"), "013");
    selection_options_free(&options);
    profile_free(small.profile);
}

static void test_elixir_module_ends_before_the_last_dot(void **state)
{
    struct process_entry cart = {.identity = 7, .target = 1}, item = {.identity = 8, .target = 1};
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    cart.initial_call = profile_string_z(small.profile, "Shop.Cart.init/1");
    item.initial_call = profile_string_z(small.profile, "Shop.Cart.Item.init/1");
    small.samples[2].process = profile_process(small.profile, &cart);
    small.samples[3].process = profile_process(small.profile, &item);
    assert_process(&small, "Shop.Cart:_", "2");
    assert_process(&small, "Elixir.Shop.Cart:_", "2");
    assert_process(&small, "Shop.Cart.Item:_", "3");
    assert_process(&small, "Shop.Cart.init/1", "2");
    assert_process(&small, "Shop:_", "");
    assert_process(&small, "Shop.Ca:_", "");
    assert_process(&small, "Shop.Cart.init:_", "");
    assert_process(&small, "Elixir.:_", "");
    profile_free(small.profile);
}

/* Names of Elixir are found in the notation of Elixir and of Erlang, others in their own only. */
static void test_elixir_names_are_found_in_either_notation(void **state)
{
    struct process_entry stock = {.identity = 7, .target = 1}, other = {.identity = 8, .target = 1};
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    stock.name = profile_string_z(small.profile, "Shop.Stock");
    stock.initial_call = profile_string_z(small.profile, "Shop.Stock.init/1");
    other.name = profile_string_z(small.profile, "shop.stock");
    small.samples[2].process = profile_process(small.profile, &stock);
    small.samples[3].process = profile_process(small.profile, &other);
    assert_process(&small, "Shop.Stock", "2");
    assert_process(&small, "Elixir.Shop.Stock", "2");
    assert_process(&small, "Shop.Stock.init/1", "2");
    assert_process(&small, "Shop.Stock:init/1", "2");
    assert_process(&small, "Elixir.Shop.Stock:init/1", "2");
    assert_process(&small, "Shop.Stoc", "");
    assert_process(&small, "Shop.Stocks", "");
    assert_process(&small, "Elixir.", "");
    assert_process(&small, "shop.stock", "3");
    assert_process(&small, "shop:stock", "");
    assert_process(&small, "Elixir.shop.stock", "");
    profile_free(small.profile);
}

static void assert_suggested(const struct profile *profile, const char *who, const char *expected)
{
    struct selection_options options = {.statuses = 0};
    struct buffer text = {0};
    struct error error;

    assert_int_equal(selection_add_process(&options.processes, who, &error), 0);
    suggestion_find_names(&options, profile, &text);
    buffer_byte(&text, '\0');
    assert_string_equal(text.data, expected);
    buffer_free(&text);
    selection_options_free(&options);
}

/* A name that no process has comes with the one that is most like it, if one is. */
static void test_similar_names_are_suggested(void **state)
{
    struct process_entry stock = {.identity = 7, .target = 1};
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    stock.name = profile_string_z(small.profile, "Shop.Stock");
    stock.label = profile_string_z(small.profile, "warehouse of the shop");
    stock.ancestors =
        profile_ancestor(small.profile, 0, profile_string_z(small.profile, "shop_sup"));
    profile_process(small.profile, &stock);
    assert_suggested(small.profile, "Elixir.Shop.Stock", "");
    assert_suggested(small.profile, "shop_sup", "");
    assert_suggested(small.profile, "Shop.Stok",
                     "no process is 'Shop.Stok', did you mean 'Shop.Stock'?");
    assert_suggested(small.profile, "shop_supp",
                     "no process is 'shop_supp', did you mean 'shop_sup'?");
    assert_suggested(small.profile, "WAREHOUSE",
                     "no process is 'WAREHOUSE', did you mean 'warehouse of the shop'?");
    assert_suggested(small.profile, "rabbit_channel", "no process is 'rabbit_channel'");
    profile_free(small.profile);
}

static void assert_family(struct small_profile *small, const char *children_of,
                          const char *descendants_of, const char *expected)
{
    struct selection_options options = {.statuses = 0};
    struct error error;

    if (children_of)
        assert_int_equal(selection_add_process(&options.children_of, children_of, &error), 0);
    if (descendants_of)
        assert_int_equal(selection_add_process(&options.descendants_of, descendants_of, &error), 0);
    assert_string_equal(wanted(small, &options, "name"), expected);
    selection_options_free(&options);
}

/* Sample 0 belongs to cart, 1 to its child, 3 to a grandchild. */
static void test_children_and_descendants_are_selected(void **state)
{
    struct process_entry child = {.identity = 7, .target = 1}, grandchild = {.identity = 8};
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    child.parent = small.samples[0].process;
    child.initial_call = profile_string_z(small.profile, "shop:init/1");
    small.samples[1].process = profile_process(small.profile, &child);
    grandchild.parent = small.samples[1].process;
    small.samples[3].process = profile_process(small.profile, &grandchild);
    assert_family(&small, "cart", NULL, "1");
    assert_family(&small, "<0.85.0>", NULL, "1");
    assert_family(&small, "shop:_", NULL, "3");
    assert_family(&small, NULL, "cart", "13");
    assert_family(&small, NULL, "shop:init/1", "3");
    assert_family(&small, "cart", "cart", "1");
    assert_family(&small, "shop:_", "cart", "3");
    assert_family(&small, "cart", "shop:_", "");
    assert_family(&small, NULL, "nobody", "");
    profile_free(small.profile);
}

/* Sample 0 has the ancestors carts and shop_sup, and sample 1 has shop_sup. The process of sample 0
 * spawned the process of sample 3. */
static void test_descendants_are_selected_by_their_ancestors_too(void **state)
{
    struct process_entry carts = {.identity = 7, .target = 1}, shop = {.identity = 8};
    struct process_entry spawned = {.identity = 9};
    struct small_profile small;
    struct profile *p;

    (void)state;
    small_profile_make(&small);
    p = small.profile;
    shop.ancestors = profile_ancestor(p, 0, profile_string_z(p, "shop_sup"));
    carts.ancestors = profile_ancestor(p, shop.ancestors, profile_string_z(p, "<0.3.0>"));
    small.samples[0].process = spawned.parent = profile_process(p, &carts);
    small.samples[1].process = profile_process(p, &shop);
    small.samples[3].process = profile_process(p, &spawned);
    assert_family(&small, "shop_sup", NULL, "1");
    assert_family(&small, "<0.3.0>", NULL, "0");
    assert_family(&small, NULL, "shop_sup", "013");
    assert_family(&small, NULL, "<0.3.0>", "03");
    profile_free(p);
}

/* The recording starts at 1 s; samples are at 2, 2.01, 2.02 and 3 s. */
static void test_samples_are_selected_by_time(void **state)
{
    struct selection_options options = {.from_ns = 1010000000};
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    assert_string_equal(wanted(&small, &options, "name"), "123");
    options.has_end = true;
    options.to_ns = 2000000000;
    assert_string_equal(wanted(&small, &options, "name"), "12");
    options.from_ns = 0;
    options.to_ns = 1;
    assert_string_equal(wanted(&small, &options, "name"), "");
    profile_free(small.profile);
}

/* ---- outputs ---- */

static char *output_of(const struct output_format *format, const char *include)
{
    struct output_settings settings = {.view.grouping = {{GROUP_NAME}}};
    struct small_profile small;
    struct error error;
    char *text;

    small_profile_make(&small);
    assert_int_equal(selection_add_pattern(&settings.selection.include, include, &error), 0);
    settings.selection.from_ns = 500000000;
    text = small_output_of(&small, format, &settings);
    selection_options_free(&settings.selection);
    return text;
}

static void assert_says(const struct output_format *format, const char *expected)
{
    char *text = output_of(format, "memcpy");

    if (!strstr(text, expected))
        fail_msg("no '%s' in: %s", expected, text);
    free(text);
}

/* All outputs have the selected samples; formats with room for it say how many were left out. */
static void test_all_outputs_have_only_the_selected_samples(void **state)
{
    (void)state;
    assert_says(&folded_format, "cart;proc_lib:init_p/5;memcpy;do_syscall_64 1\n");
    assert_says(&summary_format, "samples   1 in 2.0 s");
    assert_says(&summary_format, "left out  3 samples");
    assert_says(&perf_format, "# left out 3 samples");
    assert_says(&svg_format, "3 samples are not selected");
    assert_says(&stats_json_format, "\"left_out\": 3,");
}

/* If no sample is left, there is an error of its own code. */
static void test_selection_of_no_sample_is_an_error_with_its_own_code(void **state)
{
    struct output_settings settings = {.selection.from_ns = 5000000000};
    struct output_request request = {.path = "-", .format = &summary_format, .file = stderr};
    struct small_profile small;
    struct output_result result;
    struct recording *recording;
    struct error error;

    (void)state;
    small_profile_make(&small);
    small_profile_add_events(&small);
    recording = recording_open(small_recording(&small), "test", &error);
    assert_int_equal(output_write(recording, &settings, &request, 1, &result, &error), -1);
    assert_int_equal(error.code, ERROR_NO_SAMPLES);
    assert_string_equal(error.text, "the options select none of the 4 samples");
    recording_close(recording);
    profile_free(small.profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pattern_matches_any_frame_of_a_stack),
        cmocka_unit_test(test_node_is_selected_by_name_or_pid),
        cmocka_unit_test(test_nodes_are_listed_if_none_is_selected),
        cmocka_unit_test(test_missing_parents_are_said),
        cmocka_unit_test(test_one_match_of_several_patterns_is_enough),
        cmocka_unit_test(test_stack_without_frames_still_has_root_frames),
        cmocka_unit_test(test_bad_pattern_is_refused),
        cmocka_unit_test(test_samples_are_selected_by_status),
        cmocka_unit_test(test_waiting_selects_idle_and_blocked_too),
        cmocka_unit_test(test_process_is_selected_by_any_of_its_names),
        cmocka_unit_test(test_elixir_module_ends_before_the_last_dot),
        cmocka_unit_test(test_elixir_names_are_found_in_either_notation),
        cmocka_unit_test(test_similar_names_are_suggested),
        cmocka_unit_test(test_children_and_descendants_are_selected),
        cmocka_unit_test(test_descendants_are_selected_by_their_ancestors_too),
        cmocka_unit_test(test_samples_are_selected_by_time),
        cmocka_unit_test(test_all_outputs_have_only_the_selected_samples),
        cmocka_unit_test(test_selection_of_no_sample_is_an_error_with_its_own_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
