// SPDX-License-Identifier: Apache-2.0
#include "small_output.h"

#include "output/frame_tree.h"
#include "output/svg/svg_internal.h"

static const struct view_options by_name = {.grouping = {{GROUP_NAME}}};

static size_t occurrences(const char *text, const char *of)
{
    size_t count = 0;

    for (; (text = strstr(text, of)); text += strlen(of))
        count++;
    return count;
}

/* Each frame has its box, full name, count and share; XML's special characters are escaped. */
static void test_each_frame_has_its_name_count_and_share(void **state)
{
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    text = small_output(&small, &svg_format, &by_name);
    assert_non_null(strstr(text, "<title>all (4 samples, 100.00%)</title>"));
    assert_non_null(strstr(text, "<title>proc_lib:init_p/5 (3 samples, 75.00%)</title>"));
    assert_non_null(strstr(text, "<title>erlang:+/2 (2 samples, 50.00%)</title>"));
    assert_non_null(strstr(text, ">shop@&quot;web&quot;, pid 100, OTP 27</text>"));
    assert_non_null(strstr(text, "2.5 s, 4 samples of cpu-clock at 100 Hz"));
    assert_non_null(strstr(text, ">lost or incomplete: ring_full 2, unknown_native 1</text>"));
    assert_int_equal(occurrences(text, "<title>"), 8);
    assert_string_equal(text + strlen(text) - 7, "</svg>\n");
    free(text);
}

/* Times of less than a period are added up, and each sum is rounded once: 0.6, 0.6 and 0.4 periods,
 * and 0.4. */
static void test_sums_of_fractions_of_a_period_are_rounded_once(void **state)
{
    static const uint64_t times[SMALL_SAMPLES] = {6000000, 4000000, 4000000, 6000000};
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    for (int i = 0; i < SMALL_SAMPLES; i++)
        small.samples[i].values[CPU_TIME] = times[i];
    text = small_output(&small, &svg_format, &by_name);
    assert_non_null(strstr(text, "<title>all (2 samples, 100.00%)</title>"));
    assert_non_null(strstr(text, "<title>erlang:+/2 (1 samples, 60.00%)</title>"));
    assert_non_null(strstr(text, "<title>spin (less than 1 sample, 20.00%)</title>"));
    free(text);
}

static void test_text_is_escaped_for_xml(void **state)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    (void)state;
    svg_style_put_text(file, "a<b>&\"c\" tail", 9);
    fclose(file);
    assert_string_equal(text, "a&lt;b&gt;&amp;&quot;c&quot; ");
    free(text);
}

/* A label never has more cells than fit into its frame, and ends in ".." if it was cut. */
static void test_labels_fit_into_their_frames(void **state)
{
    struct small_profile small;
    char *text, name[601];

    (void)state;
    memset(name, 'w', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    small_profile_make(&small);
    small.samples[0].stack =
        profile_stack(small.profile, 0, small_frame(small.profile, name, "", FRAME_ERLANG, 1));
    text = small_output(&small, &svg_format, &by_name);
    /* A quarter of the graph is 312 px; without gap and insets that is room for 45 cells of 6.63
     * px. */
    name[0] = '>';
    strcpy(name + 1 + 43, "..</text>");
    assert_non_null(strstr(text, name));
    free(text);
}

static void add(struct frame_tree *tree, const char **texts, size_t depth, uint64_t count)
{
    struct view_frame frames[400] = {{0}};

    for (size_t i = 0; i < depth; i++)
        frames[i] = (struct view_frame){.text = texts ? texts[i] : "m:f/1", .kind = FRAME_ERLANG};
    frame_tree_add(tree, frames, depth, count);
}

/* Children are inside their parent, side by side, ordered by name; boxes too narrow to see are left
 * out. */
static void test_children_lie_inside_their_parent(void **state)
{
    static const char a[] = "a", b[] = "b", c[] = "c";
    struct frame_tree tree;
    struct svg_layout layout;

    (void)state;
    frame_tree_init(&tree, "all");
    add(&tree, (const char *[]){b}, 1, 3000);
    add(&tree, (const char *[]){a, c}, 2, 999);
    add(&tree, (const char *[]){c}, 1, 1);
    frame_tree_finish(&tree);
    svg_layout_make(&layout, &tree, 10, 40);
    assert_int_equal(layout.count, 4); /* the single sample of c would be 0.01 px wide */
    assert_int_equal(layout.levels, 3);
    assert_string_equal(tree.nodes[layout.boxes[1].node].text, "a");
    assert_float_equal(layout.boxes[1].x, 10, 1e-9);
    assert_float_equal(layout.boxes[1].width, 9.99, 1e-9);
    assert_string_equal(tree.nodes[layout.boxes[2].node].text, "c");
    assert_int_equal(layout.boxes[2].level, 2);
    assert_string_equal(tree.nodes[layout.boxes[3].node].text, "b");
    assert_float_equal(layout.boxes[3].x, 19.99, 1e-9);
    assert_float_equal(layout.boxes[3].width, 30, 1e-9);
    svg_layout_free(&layout);
    frame_tree_free(&tree);
}

/* A stack that is too deep to draw ends in one box that says so. */
static void test_deep_stack_is_cut(void **state)
{
    struct frame_tree tree;
    struct svg_layout layout;

    (void)state;
    frame_tree_init(&tree, "all");
    add(&tree, NULL, 400, 1);
    frame_tree_finish(&tree);
    svg_layout_make(&layout, &tree, 0, 100);
    assert_int_equal(layout.levels, SVG_MAX_DEPTH + 1);
    assert_true(layout.boxes[layout.count - 1].cut);
    assert_false(layout.boxes[layout.count - 2].cut);
    svg_layout_free(&layout);
    frame_tree_free(&tree);
}

/* Browsers round to bytes in another way. */
static void assert_near(struct svg_colour colour, unsigned expected)
{
    unsigned long got = strtoul(colour.text + 1, NULL, 16);

    for (int bits = 0; bits < 24; bits += 8)
        assert_in_range((got >> bits & 255) + 1 - (expected >> bits & 255), 0, 2);
}

/* Frames have the kinds and colours of the page: these are what Chromium makes of those in
 * web/view/theme.js. */
static void test_frames_have_the_colours_of_the_page(void **state)
{
    static const struct {
        enum frame_kind kind;
        const char *text;
        bool is_root;
        enum svg_kind expected;
    } cases[] = {
        {FRAME_MARK, "cart", true, SVG_ROOT},
        {FRAME_MARK, "[table session]", false, SVG_MARK},
        {FRAME_ERLANG, "lists:map/2", true, SVG_ERLANG},
        {FRAME_ERLANG, "Shop.Cart.add/2", false, SVG_ELIXIR},
        {FRAME_ERLANG, "'Shop':add/2", false, SVG_ERLANG},
        {FRAME_BIF, "ets:insert/2", false, SVG_BIF},
        {FRAME_RUNTIME, "global::call_bif_shared", false, SVG_RUNTIME},
        {FRAME_NATIVE, "do_minor.isra.0", false, SVG_COLLECTION},
        {FRAME_NATIVE, "memmove", false, SVG_NATIVE},
        {FRAME_KERNEL, "do_minor_fault", false, SVG_KERNEL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(svg_kind_of(cases[i].kind, cases[i].text, cases[i].is_root),
                         cases[i].expected);
    /* A module's functions share a shade, and shades stay near the colour of the kind. */
    assert_string_equal(svg_frame_colour(SVG_ERLANG, SVG_NO_CHANGE, "lists:map/2").text,
                        svg_frame_colour(SVG_ERLANG, SVG_NO_CHANGE, "lists:foldl/3").text);
    assert_string_equal(svg_frame_colour(SVG_ELIXIR, SVG_NO_CHANGE, "Shop.Cart.add/2").text,
                        svg_frame_colour(SVG_ELIXIR, SVG_NO_CHANGE, "Shop.Cart.init/1").text);
    assert_near(svg_kind_colour(SVG_ROOT), 0xe2e9f1);
    assert_near(svg_kind_colour(SVG_ERLANG), 0xf2ab6d);
    assert_near(svg_kind_colour(SVG_NATIVE), 0x75b7f7);
    assert_near(svg_kind_colour(SVG_ELIXIR), 0xb989c0);
    assert_near(svg_kind_colour(SVG_COLLECTION), 0xe25c4d);
    assert_near(svg_change_colour(SVG_RELEASE), 0x4c9deb);
}

/* A label that does not fit loses its module first. */
static void test_labels_lose_their_module_first(void **state)
{
    static const char *const cases[][2] = {
        {"lists:map/2", "map/2"},
        {"'my mod':f/1", "f/1"},
        {"global::call_bif_shared", "call_bif_shared"},
        {"Shop.Cart.add/2", "add/2"},
        {"do_minor.isra.0", "do_minor.isra.0"},
        {"libc.so.6+0x10", "libc.so.6+0x10"},
        {"lists:", "lists:"},
        {"Shop.", "Shop."},
        {":x", ":x"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(svg_without_module(cases[i][0]), cases[i][1]);
}

/* The y of the box of `title`, in the text of a graph. */
static double y_of(const char *text, const char *title)
{
    const char *at = strstr(text, title);

    assert_non_null(at);
    at = strstr(at, " y=\"");
    assert_non_null(at);
    return strtod(at + strlen(" y=\""), NULL);
}

/* The root is at the bottom, and of a graph that is higher than a window at the top. The head says
 * which. */
static void test_root_is_in_sight(void **state)
{
    struct small_profile small;
    char *text;

    (void)state;
    for (int depth = 3; depth < 100; depth += 60) {
        small_profile_make(&small);
        for (int i = 0; i < depth; i++)
            small.samples[0].stack =
                small_call(small.profile, small.samples[0].stack, "m:f/1", (uint32_t)i);
        text = small_output(&small, &svg_format, &by_name);
        assert_true((y_of(text, "<title>all ") > y_of(text, "<title>cart ")) == (depth < 50));
        assert_non_null(strstr(text, depth < 50 ? ">root at the bottom<" : ">root at the top<"));
        free(text);
    }
}

/* The legend has the kinds that are drawn. */
static void test_legend_has_the_kinds_that_are_drawn(void **state)
{
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    text = small_output(&small, &svg_format, &by_name);
    assert_non_null(strstr(text, ">process</text>"));
    assert_non_null(strstr(text, ">Erlang</text>"));
    assert_non_null(strstr(text, ">kernel</text>"));
    assert_null(strstr(text, ">Elixir</text>"));
    assert_null(strstr(text, ">garbage collection</text>"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_frame_has_its_name_count_and_share),
        cmocka_unit_test(test_sums_of_fractions_of_a_period_are_rounded_once),
        cmocka_unit_test(test_text_is_escaped_for_xml),
        cmocka_unit_test(test_labels_fit_into_their_frames),
        cmocka_unit_test(test_children_lie_inside_their_parent),
        cmocka_unit_test(test_deep_stack_is_cut),
        cmocka_unit_test(test_frames_have_the_colours_of_the_page),
        cmocka_unit_test(test_labels_lose_their_module_first),
        cmocka_unit_test(test_root_is_in_sight),
        cmocka_unit_test(test_legend_has_the_kinds_that_are_drawn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
