// SPDX-License-Identifier: Apache-2.0
/*
 * Samples of real nodes of each release (image.h) decode to the stacks in the file
 * otpRELEASE.expected beside the image: a line for each sample, then the totals. If they differ,
 * the test prints the difference, and writes the new stacks beside this program.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "view/view.h"
#include "symbol/symbolizer.h"

struct replay {
    struct image image;
    struct vm *vm;
    struct kernel_symbols *kernel;
    struct profile *profile;
    struct symbolizer *symbolizer;
    struct view *view;
    struct recording_totals totals;
};

static void open_replay(struct replay *replay, const char *path)
{
    struct error error = {0};

    memset(replay, 0, sizeof(*replay));
    if (image_read(path, &replay->image, &error) != 0)
        fail_msg("%s", error.text);
    replay->profile = profile_new();
    replay->kernel = image_kernel(&replay->image);
    replay->vm = image_vm(&replay->image, &error);
    if (replay->vm)
        replay->symbolizer = symbolizer_new(replay->vm, NULL, NULL, replay->profile, &error);
    if (!replay->symbolizer)
        fail_msg("%s: %s", path, error.text);
    symbolizer_set_kernel(replay->symbolizer, replay->kernel, false);
    replay->view = view_new(replay->profile, &(struct view_options){{{GROUP_NAME}}, true});
}

static void close_replay(struct replay *replay)
{
    view_free(replay->view);
    symbolizer_free(replay->symbolizer);
    profile_free(replay->profile);
    kernel_symbols_free(replay->kernel);
    vm_close(replay->vm);
    image_free(&replay->image);
}

/* "light_bif running complete: phases;phases:bifs/1@151;...;erlang:binary_to_term/1" */
static void put_sample(struct replay *replay, const struct image_sample *from, struct buffer *text)
{
    const struct view_frame *frames;
    struct snapshot snapshot;
    struct sample sample;
    size_t count;

    assert_true(snapshot_open(&snapshot, from->bytes.data, from->bytes.size));
    symbolizer_sample(replay->symbolizer, &snapshot, &sample, &replay->totals);
    count = view_frames(replay->view, view_of_sample(replay->view, &sample), &frames);
    buffer_format(text, "%s %s%s%s%s:", from->state.data,
                  sample.process ? profile_status_name(sample.status)
                                 : profile_activity_name(sample.activity),
                  sample.flags & SAMPLE_COMPLETE ? " complete" : "",
                  sample.flags & SAMPLE_TRUNCATED ? " truncated" : "",
                  sample.flags & SAMPLE_NO_LEAF ? " no-leaf" : "");
    for (size_t i = 0; i < count; i++) {
        buffer_format(text, "%c%s", i ? ';' : ' ', frames[i].text);
        if (frames[i].line)
            buffer_format(text, "@%u", frames[i].line);
    }
    buffer_byte(text, '\n');
}

static void put_totals(const struct recording_totals *totals, struct buffer *text)
{
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"Erlang samples", totals->erlang_samples},
        {"complete stacks", totals->complete_stacks},
        {"truncated stacks", totals->truncated_stacks},
        {"frames", totals->frames},
        {"Erlang frames", totals->erlang_frames},
        {"unknown Erlang frames", totals->unknown_erlang_frames},
        {"unknown native frames", totals->unknown_native_frames},
    };

    buffer_byte(text, '\n');
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        buffer_format(text, "%s: %" PRIu64 "\n", rows[i].name, rows[i].value);
    for (int loss = 0; loss < LOSS_COUNT; loss++)
        if (totals->losses[loss])
            buffer_format(text, "lost, %s: %" PRIu64 "\n", profile_loss_name(loss),
                          totals->losses[loss]);
}

/* ---- comparing ---- */

static void save(const char *path, const struct buffer *text)
{
    FILE *file = fopen(path, "we");

    if (!file || fwrite(text->data, 1, text->size, file) != text->size)
        fail_msg("can't write %s", path);
    fclose(file);
}

static void load(const char *path, struct buffer *text)
{
    FILE *file = fopen(path, "re");
    size_t got;

    if (!file)
        return;
    while ((got = fread(buffer_reserve(text, 1 << 16), 1, 1 << 16, file)) > 0)
        text->size += got;
    fclose(file);
}

static void show_difference(const char *expected, const char *now)
{
    char command[1200], line[400];
    FILE *diff;

    snprintf(command, sizeof(command), "diff -u0 '%s' '%s'", expected, now);
    diff = popen(command, "re");
    while (diff && fgets(line, sizeof(line), diff))
        print_message("%.390s%s", line, strchr(line, '\n') ? "" : "...\n");
    if (diff)
        pclose(diff);
}

static void replay_release(int release)
{
    char path[512], now[512];
    struct buffer text = {0}, expected = {0};
    struct replay replay;
    bool equal;

    snprintf(path, sizeof(path), "%s/otp%d.image", REPLAY_DIR, release);
    open_replay(&replay, path);
    assert_int_equal(replay.vm->build.otp_release, release);
    for (size_t i = 0; i < replay.image.sample_count; i++)
        put_sample(&replay, &replay.image.samples[i], &text);
    put_totals(&replay.totals, &text);
    close_replay(&replay);

    snprintf(path, sizeof(path), "%s/otp%d.expected", REPLAY_DIR, release);
    snprintf(now, sizeof(now), "%s/otp%d.now", REPLAY_OUT, release);
    load(path, &expected);
    equal = expected.size == text.size && !memcmp(expected.data, text.data, text.size);
    if (!equal) {
        save(now, &text);
        show_difference(path, now);
    }
    buffer_free(&expected);
    buffer_free(&text);
    if (!equal)
        fail_msg("OTP %d: the stacks are not as expected; those of now are in %s", release, now);
}

/* The images have samples of every state that unwind.h lists, and of threads without a process. */
static void test_images_have_samples_of_every_state(void **state)
{
    static const char *const states[] = {"jit",        "fresh", "stale", "gc",   "light_bif",
                                         "bif_or_nif", "dirty", "deep",  "idle", "kernel"};

    (void)state;
    for (int release = 25; release <= 29; release += 2) {
        struct error error = {0};
        struct image image;
        char path[512];

        snprintf(path, sizeof(path), "%s/otp%d.image", REPLAY_DIR, release);
        if (image_read(path, &image, &error) != 0)
            fail_msg("%s", error.text);
        for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
            size_t found = 0;

            for (size_t s = 0; s < image.sample_count; s++)
                found += !strcmp(image.samples[s].state.data, states[i]);
            if (!found)
                fail_msg("%s has no sample of '%s'", path, states[i]);
        }
        image_free(&image);
    }
}

/* A node of OTP 25 (executable with dynamic symbols, old list entries stay) decodes as expected. */
static void test_otp25_node_decodes_as_expected(void **state)
{
    (void)state;
    replay_release(25);
}

/* A node of OTP 27 decodes as expected. */
static void test_otp27_node_decodes_as_expected(void **state)
{
    (void)state;
    replay_release(27);
}

/* A node of OTP 29 (no dynamic symbols: native names come from the callers) decodes as expected. */
static void test_otp29_node_decodes_as_expected(void **state)
{
    (void)state;
    replay_release(29);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images_have_samples_of_every_state),
        cmocka_unit_test(test_otp25_node_decodes_as_expected),
        cmocka_unit_test(test_otp27_node_decodes_as_expected),
        cmocka_unit_test(test_otp29_node_decodes_as_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
