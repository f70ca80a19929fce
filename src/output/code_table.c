// SPDX-License-Identifier: Apache-2.0
#include "output/code_table.h"

#include <stdio.h>
#include <string.h>

void code_table_init(struct code_table *table, const struct profile *profile)
{
    *table = (struct code_table){.profile = profile};
    intern_init(&table->functions, sizeof(struct code_function), sizeof(struct code_function));
    intern_init(&table->locations, sizeof(struct code_location), sizeof(struct code_location));
    intern_init(&table->mappings, sizeof(module_id), sizeof(module_id));
}

void code_table_free(struct code_table *table)
{
    string_table_free(&table->texts);
    intern_free(&table->functions);
    intern_free(&table->locations);
    intern_free(&table->mappings);
}

uint32_t code_table_text(struct code_table *table, const char *text)
{
    return string_table_add(&table->texts, text, strlen(text));
}

void code_table_begin_with(struct code_table *table, target_id target)
{
    string_id executable = profile_get_target(table->profile, target)->executable;

    for (module_id id = 1; executable && id <= profile_counts(table->profile).modules; id++) {
        if (profile_get_module(table->profile, id)->path != executable)
            continue;
        intern_add(&table->mappings, &id);
        return;
    }
}

uint32_t code_table_location(struct code_table *table, const struct view_frame *frame)
{
    const struct code_function function = {code_table_text(table, frame->text),
                                           code_table_text(table, frame->file)};
    const struct code_location location = {
        .address = frame->address,
        .function = intern_add(&table->functions, &function),
        .line = frame->line,
        .kind = frame->kind,
        .mapping = frame->module_id ? intern_add(&table->mappings, &frame->module_id) : 0,
    };

    return intern_add(&table->locations, &location);
}

/* Frames are left out in steps, so that stacks of about the same depth share the frame that stands
 * for the rest. */
enum { ROOT_FRAMES = CODE_STACK_MAX / 2, LEFT_OUT_STEP = 256 };

/* Return the number of frames to leave out. One frame stands for them. */
static size_t left_out(size_t count)
{
    size_t least = count - (CODE_STACK_MAX - 1);

    if (count <= CODE_STACK_MAX)
        return 0;
    return (least + LEFT_OUT_STEP - 1) / LEFT_OUT_STEP * LEFT_OUT_STEP;
}

static uint32_t left_out_location(struct code_table *table, size_t frames)
{
    char text[48];

    snprintf(text, sizeof(text), "[%zu frames truncated]", frames);
    return code_table_location(
        table, &(struct view_frame){.text = text, .module = "", .file = "", .kind = FRAME_MARK});
}

size_t code_table_stack(struct code_table *table, const struct view_frame *frames, size_t count,
                        uint32_t locations[CODE_STACK_MAX])
{
    size_t missing = left_out(count), stored = 0;

    while (count) {
        if (missing && count == ROOT_FRAMES + missing) {
            locations[stored++] = left_out_location(table, missing);
            count -= missing;
            continue;
        }
        locations[stored++] = code_table_location(table, &frames[--count]);
    }
    return stored;
}

const struct module *code_table_module(const struct code_table *table, uint32_t mapping)
{
    const module_id *id = intern_get(&table->mappings, mapping);

    return profile_get_module(table->profile, *id);
}
