// SPDX-License-Identifier: Apache-2.0
#include "symbol/frames_internal.h"

#include <stdlib.h>
#include <string.h>

#include "native/debug_fetch.h"
#include "native/mappings.h"
#include "native/native_inlined.h"
#include "util/address_map.h"
#include "util/alloc.h"

enum {
    ADDRESSES_MAX = 1 << 18,
    CHAIN_MAX = 64,       /* functions inlined into each other */
    CHAINS_MAX = 1 << 20, /* frames of all chains */
};

/* What the source has at an address. */
struct source_place {
    string_id file; /* 0: unknown */
    uint32_t line;  /* of the function that contains the inlined ones; 0: unknown */
    size_t chain;   /* of these */
};

struct inlined_frames {
    struct mappings *mappings;
    struct profile *profile;
    struct address_map *known; /* address -> its entry of `places` */
    struct source_place *places;
    frame_id *chains; /* each ends with a 0; the first is empty */
    size_t count, room;
    uint32_t debug_files; /* debug_fetch_version() at the last refresh */
};

struct inlined_frames *inlined_frames_new(struct mappings *mappings, struct profile *profile)
{
    struct inlined_frames *inlined;

    if (!native_inlined_is_enabled())
        return NULL;
    inlined = xcalloc(1, sizeof(*inlined));
    inlined->mappings = mappings;
    inlined->profile = profile;
    inlined->known = address_map_new(ADDRESSES_MAX);
    inlined->places = xcalloc(ADDRESSES_MAX, sizeof(*inlined->places));
    inlined->chains = xgrow(NULL, &inlined->room, 0, sizeof(*inlined->chains));
    inlined->count = 1;
    return inlined;
}

void inlined_frames_free(struct inlined_frames *inlined)
{
    if (!inlined)
        return;
    address_map_free(inlined->known);
    free(inlined->places);
    free(inlined->chains);
    free(inlined);
}

static void forget(struct inlined_frames *inlined)
{
    address_map_clear(inlined->known);
    inlined->count = 1;
}

void inlined_frames_move(struct inlined_frames *inlined, struct profile *profile)
{
    if (!inlined)
        return;
    inlined->profile = profile;
    forget(inlined);
}

void inlined_frames_refresh(struct inlined_frames *inlined)
{
    if (!inlined)
        return;
    if (inlined->count > CHAINS_MAX || inlined->debug_files != debug_fetch_version())
        forget(inlined);
    inlined->debug_files = debug_fetch_version();
}

/* ---- addresses ---- */

/* What is found at an address. */
struct inlined_finding {
    struct inlined_frames *inlined;
    module_id module;
    struct source_place place;
    frame_id frames[CHAIN_MAX]; /* youngest first */
    size_t count;
};

/* A native_inlined_found. */
static void take(void *context, const struct native_inlined *function)
{
    struct inlined_finding *finding = context;
    struct profile *profile = finding->inlined->profile;
    struct frame frame = {
        .kind = FRAME_NATIVE,
        .address = function->address,
        .module = finding->module,
        .file = function->file[0] ? profile_string_z(profile, function->file) : 0,
        .line = function->line,
    };

    if (function->is_container) {
        finding->place.file = frame.file;
        finding->place.line = frame.line;
    } else if (finding->count < CHAIN_MAX) {
        frame.symbol = profile_string_z(profile, function->name);
        finding->frames[finding->count++] = profile_frame(profile, &frame);
    }
}

static void append(struct inlined_frames *inlined, frame_id frame)
{
    inlined->chains =
        xgrow(inlined->chains, &inlined->room, inlined->count, sizeof(*inlined->chains));
    inlined->chains[inlined->count++] = frame;
}

static struct source_place look_up(struct inlined_frames *inlined, uint64_t address,
                                   module_id module)
{
    struct mapping *mapping = mappings_find_code(inlined->mappings, address);
    struct elf_file *file = mapping ? mapping_file(inlined->mappings, mapping) : NULL;
    struct inlined_finding finding = {.inlined = inlined, .module = module};

    if (file)
        native_inlined_each(file, address, take, &finding);
    if (!finding.count)
        return finding.place;
    finding.place.chain = inlined->count;
    while (finding.count)
        append(inlined, finding.frames[--finding.count]);
    append(inlined, 0);
    return finding.place;
}

static struct source_place find(struct inlined_frames *inlined, uint64_t address, module_id module)
{
    bool is_new;
    size_t at = address_map_place(inlined->known, address, &is_new);

    if (is_new)
        inlined->places[at] = look_up(inlined, address, module);
    return inlined->places[at];
}

void inlined_frames_set_line(struct inlined_frames *inlined, uint64_t address, struct frame *frame)
{
    struct source_place place;

    if (!inlined)
        return;
    place = find(inlined, address, frame->module);
    frame->file = place.file;
    frame->line = place.line;
}

size_t inlined_frames_chain(struct inlined_frames *inlined, const struct unwound_frame *unwound,
                            frame_id frame)
{
    if (!inlined || unwound->kind != ADDRESS_NATIVE)
        return 0;
    return find(inlined, unwound->address - unwound->is_return,
                profile_get_frame(inlined->profile, frame)->module)
        .chain;
}

const frame_id *inlined_frames_chains(const struct inlined_frames *inlined)
{
    static const frame_id none[] = {0};

    return inlined ? inlined->chains : none;
}
