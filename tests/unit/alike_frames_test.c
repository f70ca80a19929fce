// SPDX-License-Identifier: Apache-2.0
/* Functions without a name of two builds: which are taken for one, and what a recording keeps of
 * them. */
#include "seen_recording.h"

#include "profile/alike_frames.h"
#include "profile/profile_remap.h"

#define VM "/usr/bin/beam.smp"

static frame_id nameless(struct profile *profile, const char *path, const char *build,
                         const char *symbol, uint64_t likeness)
{
    const struct module module = {profile_string_z(profile, path),
                                  profile_string_z(profile, build)};

    return profile_frame(profile, &(struct frame){.likeness = likeness,
                                                  .symbol = profile_string_z(profile, symbol),
                                                  .module = profile_module(profile, &module),
                                                  .kind = FRAME_NATIVE,
                                                  .unresolved = 1});
}

static const char *name_of(const struct alike_frames *alike, const struct profile *profile,
                           frame_id frame)
{
    const char *name = alike_frames_name(alike, profile, profile_get_frame(profile, frame));

    return name ? name : "";
}

/* Frames are alike if they have one likeness, in files of one name and two builds. */
static void test_frames_of_two_builds_are_alike_by_likeness_and_file(void **state)
{
    struct profile *one = profile_new(), *two = profile_new();
    struct alike_frames *alike;
    frame_id moved[] = {nameless(one, VM, "aa", "beam.smp+0x10", 7),
                        nameless(two, "/opt/beam.smp", "bb", "beam.smp+0x20", 7)};
    frame_id unlike[] = {nameless(one, VM, "aa", "beam.smp+0x30", 8),
                         nameless(two, VM, "bb", "beam.smp+0x30", 9)};
    frame_id unknown[] = {nameless(one, VM, "aa", "beam.smp+0x40", 0),
                          nameless(two, VM, "bb", "beam.smp+0x40", 0)};
    frame_id same[] = {nameless(one, VM, "aa", "beam.smp+0x50", 10),
                       nameless(two, VM, "aa", "beam.smp+0x50", 10)};
    frame_id elsewhere[] = {nameless(one, "/a.so", "aa", "a.so+0x60", 11),
                            nameless(two, "/b.so", "bb", "b.so+0x60", 11)};

    (void)state;
    alike = alike_frames_find(one, two);
    assert_string_equal(name_of(alike, one, moved[0]), "~beam.smp+0x20");
    assert_string_equal(name_of(alike, two, moved[1]), "~beam.smp+0x20");
    for (int i = 0; i < 2; i++) {
        const struct profile *profile = i ? two : one;

        assert_string_equal(name_of(alike, profile, unlike[i]), "");
        assert_string_equal(name_of(alike, profile, unknown[i]), "");
        assert_string_equal(name_of(alike, profile, same[i]), "");
        assert_string_equal(name_of(alike, profile, elsewhere[i]), "");
    }
    alike_frames_free(alike);
    profile_free(one);
    profile_free(two);
}

/* The first recording has VMs of two builds, and the second a VM of one of them: both frames of the
 * first get the name from the second. */
static void test_frames_of_a_third_build_get_the_same_name(void **state)
{
    struct profile *one = profile_new(), *two = profile_new();
    frame_id first = nameless(one, VM, "aa", "beam.smp+0x10", 7);
    frame_id second = nameless(one, VM, "bb", "beam.smp+0x20", 7);
    frame_id other = nameless(two, VM, "bb", "beam.smp+0x20", 7);
    struct alike_frames *alike = alike_frames_find(one, two);

    (void)state;
    assert_string_equal(name_of(alike, one, first), "~beam.smp+0x20");
    assert_string_equal(name_of(alike, one, second), "~beam.smp+0x20");
    assert_string_equal(name_of(alike, two, other), "~beam.smp+0x20");
    alike_frames_free(alike);
    profile_free(one);
    profile_free(two);
}

/* Copied frames that are alike have the common name, and count as named. */
static void test_copied_frames_have_their_common_name(void **state)
{
    struct profile *one = profile_new(), *two = profile_new(), *to = profile_new();
    struct sample sample = {.stack =
                                profile_stack(one, 0, nameless(one, VM, "aa", "beam.smp+0x10", 7))};
    struct alike_frames *alike;
    struct profile_remap remap = {.from = one, .to = to};
    const struct frame *frame;

    (void)state;
    nameless(two, VM, "bb", "beam.smp+0x20", 7);
    remap.alike = alike = alike_frames_find(one, two);
    profile_remap_sample(&remap, &sample);
    frame = profile_get_frame(to, profile_get_stack(to, sample.stack)->frame);
    assert_string_equal(profile_text(to, frame->symbol), "~beam.smp+0x20");
    assert_int_equal(frame->unresolved, 0);
    assert_int_equal(frame->likeness, 0);
    profile_remap_free(&remap);
    alike_frames_free(alike);
    profile_free(one);
    profile_free(two);
    profile_free(to);
}

/* Decode the record of a frame. Return what is wrong with it; "": nothing. */
static const char *problem_of(enum frame_kind kind, bool unresolved, uint64_t likeness)
{
    struct record_decoder decoder = {0};
    struct profile *profile = profile_new();
    struct buffer bytes = {0};
    struct cursor cursor;
    struct sample sample;

    buffer_byte(&bytes, RECORD_FRAME_OF_LIKENESS);
    buffer_put(&bytes, "\0\0\0\0\0", 5); /* address, symbol, module, file, line */
    buffer_byte(&bytes, (char)kind);
    buffer_byte(&bytes, unresolved ? 1 : 0);
    buffer_put(&bytes, &likeness, sizeof(likeness));
    cursor = cursor_over(bytes.data, bytes.size);
    record_decode(&decoder, &cursor, profile, &sample);
    if (!cursor.problem)
        assert_int_equal(profile_get_frame(profile, 1)->likeness, likeness);
    record_decoder_free(&decoder);
    buffer_free(&bytes);
    profile_free(profile);
    return cursor.problem ? cursor.problem : "";
}

static void test_likeness_is_of_a_native_function_without_a_name(void **state)
{
    (void)state;
    assert_string_equal(problem_of(FRAME_NATIVE, true, UINT64_MAX), "");
    assert_string_equal(problem_of(FRAME_NATIVE, true, 0), "likeness is 0");
    assert_string_equal(problem_of(FRAME_NATIVE, false, 7), "likeness of a frame that has a name");
    assert_string_equal(problem_of(FRAME_ERLANG, true, 7), "likeness of a frame that has a name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_of_two_builds_are_alike_by_likeness_and_file),
        cmocka_unit_test(test_frames_of_a_third_build_get_the_same_name),
        cmocka_unit_test(test_copied_frames_have_their_common_name),
        cmocka_unit_test(test_likeness_is_of_a_native_function_without_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
