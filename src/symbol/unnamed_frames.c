// SPDX-License-Identifier: Apache-2.0
#include "symbol/frames_internal.h"

#include <stdlib.h>
#include <string.h>

#include "native/debug_fetch.h"
#include "native/elf_file.h"
#include "native/mappings.h"
#include "native/native_code.h"
#include "native/native_symbols.h"
#include "util/alloc.h"
#include "util/intern.h"

enum { UNNAMED_MAX = 1 << 14 }; /* more than a recording has late names */

struct unnamed_frames {
    struct mappings *mappings;
    struct intern frames;
    uint32_t debug_files; /* debug_fetch_version() when names were last looked for */
};

struct unnamed_frames *unnamed_frames_new(struct mappings *mappings)
{
    struct unnamed_frames *unnamed;

    if (!debug_fetch_is_wanted())
        return NULL;
    unnamed = xcalloc(1, sizeof(*unnamed));
    unnamed->mappings = mappings;
    intern_init(&unnamed->frames, sizeof(frame_id), sizeof(frame_id));
    return unnamed;
}

void unnamed_frames_free(struct unnamed_frames *unnamed)
{
    if (!unnamed)
        return;
    intern_free(&unnamed->frames);
    free(unnamed);
}

void unnamed_frames_forget(struct unnamed_frames *unnamed)
{
    if (!unnamed)
        return;
    intern_free(&unnamed->frames);
    intern_init(&unnamed->frames, sizeof(frame_id), sizeof(frame_id));
}

void unnamed_frames_note(struct unnamed_frames *unnamed, const struct profile *profile,
                         const struct named_stack *stack)
{
    if (!unnamed || !stack->unknown_native)
        return;
    for (size_t i = 0; i < stack->count && unnamed->frames.count < UNNAMED_MAX; i++) {
        const struct frame *frame = profile_get_frame(profile, stack->frames[i]);

        if (frame->unresolved && frame->kind == FRAME_NATIVE)
            intern_add(&unnamed->frames, &stack->frames[i]);
    }
}

/* The frame at `start` stands for all addresses up to the next function that call-frame information
 * knows. True if these have no other symbol than that at `start`. */
static bool has_one_symbol(struct elf_file *file, uint64_t start)
{
    struct native_symbol last;
    uint64_t from, end;

    return !native_code_find_function(file, start, &from, &end) || from != start || !end ||
           !native_symbol_find(file, end - 1, &last) || last.address <= start;
}

/* True if the frame is in this file: another one may be mapped there by now. */
static bool is_in(const struct profile *profile, const struct frame *frame,
                  const struct elf_file *file)
{
    string_id build_id = frame->module ? profile_get_module(profile, frame->module)->build_id : 0;

    return build_id &&
           !strcmp(profile_text(profile, build_id), build_id_text(&file->build_id).text);
}

static void name_frame(struct unnamed_frames *unnamed, const struct profile *profile, frame_id id,
                       struct recording_writer *writer)
{
    const struct frame *frame = profile_get_frame(profile, id);
    struct mapping *mapping = mappings_find_code(unnamed->mappings, frame->address);
    struct elf_file *file = mapping ? mapping_file(unnamed->mappings, mapping) : NULL;
    struct native_symbol symbol;

    if (file && is_in(profile, frame, file) && has_one_symbol(file, frame->address) &&
        native_symbol_find(file, frame->address, &symbol))
        recording_name_frame(writer, id, frame->address - symbol.address, symbol.name);
}

void unnamed_frames_name(struct unnamed_frames *unnamed, const struct profile *profile,
                         struct recording_writer *writer)
{
    if (!unnamed || unnamed->debug_files == debug_fetch_version())
        return;
    unnamed->debug_files = debug_fetch_version();
    for (uint32_t i = 1; i <= unnamed->frames.count; i++)
        name_frame(unnamed, profile, *(const frame_id *)intern_get(&unnamed->frames, i), writer);
}
