// SPDX-License-Identifier: Apache-2.0
#include "symbol/frames_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/debug_fetch.h"
#include "native/mappings.h"
#include "native/memory.h"
#include "native/native_code.h"
#include "native/native_symbols.h"
#include "util/address_map.h"
#include "util/alloc.h"

enum { CACHED_MAX = 1 << 18, TEXT_MAX = 1300 };

/* A frame of the profile, and what is needed of it at each sample. */
struct named_frame {
    frame_id id;
    enum frame_class class;
    enum waiting_class waiting;
    enum table_argument argument;
    bool erlang, unresolved;
};

struct frame_names {
    struct name_sources from;
    const struct kernel_symbols *kernel;
    bool kernel_addresses; /* frames of the kernel have them */
    struct profile *profile;
    struct inlined_frames *inlined; /* NULL: not wanted */
    struct named_stack stack;
    size_t frame_room, class_room, waiting_room, inlined_room;
    uint64_t epoch;                            /* of cached[ADDRESS_CODE], cached[ADDRESS_EXPORT] */
    uint32_t version;                          /* of the functions that classes were made with */
    uint32_t debug_files;                      /* debug_fetch_version() at the last refresh */
    struct address_map *cached[ADDRESS_KINDS]; /* address and is_return -> packed named_frame */
};

struct frame_names *frame_names_new(const struct name_sources *sources, struct profile *profile)
{
    struct frame_names *names = xcalloc(1, sizeof(*names));

    names->from = *sources;
    names->profile = profile;
    names->inlined = inlined_frames_new(sources->vm->mappings, profile);
    for (int kind = 0; kind < ADDRESS_KINDS; kind++)
        names->cached[kind] = address_map_new(CACHED_MAX);
    return names;
}

void frame_names_set_kernel(struct frame_names *names, const struct kernel_symbols *kernel,
                            bool addresses)
{
    names->kernel = kernel;
    names->kernel_addresses = addresses;
}

void frame_names_free(struct frame_names *names)
{
    if (!names)
        return;
    for (int kind = 0; kind < ADDRESS_KINDS; kind++)
        address_map_free(names->cached[kind]);
    free(names->stack.frames);
    free(names->stack.classes);
    free(names->stack.waiting);
    free(names->stack.inlined);
    inlined_frames_free(names->inlined);
    free(names);
}

void frame_names_move(struct frame_names *names, struct profile *profile)
{
    names->profile = profile;
    inlined_frames_move(names->inlined, profile);
    for (int kind = 0; kind < ADDRESS_KINDS; kind++)
        address_map_clear(names->cached[kind]);
}

static enum frame_class class_of(const struct frame_names *names, const struct frame *frame,
                                 const char *symbol)
{
    enum frame_class class;

    switch (frame->kind) {
    case FRAME_KERNEL:
        return frame_class_of_system(symbol);
    case FRAME_NATIVE:
        class = frame_class_of_native(symbol, profile_module_path(names->profile, frame->module),
                                      names->from.vm->executable);
        return frame_class_of_start(names->from.functions, frame->address, class);
    case FRAME_BIF:
        return CLASS_BIF;
    default:
        return CLASS_ERLANG;
    }
}

static struct named_frame intern(struct frame_names *names, struct frame *frame, const char *symbol)
{
    frame->symbol = profile_string_z(names->profile, symbol);
    return (struct named_frame){
        .id = profile_frame(names->profile, frame),
        .class = class_of(names, frame, symbol),
        .waiting = waiting_class_of(frame->kind, symbol),
        .argument = frame->kind == FRAME_BIF ? table_argument_of(symbol) : ARGUMENT_OTHER,
        .erlang = frame->kind == FRAME_ERLANG || frame->kind == FRAME_BIF,
        .unresolved = frame->unresolved,
    };
}

static module_id module_of(struct frame_names *names, const char *path, const char *build_id)
{
    const struct module module = {profile_string_z(names->profile, path),
                                  profile_string_z(names->profile, build_id)};

    return profile_module(names->profile, &module);
}

#define UNKNOWN_KERNEL "[unknown]"

static struct named_frame name_kernel(struct frame_names *names, uint64_t address)
{
    struct frame frame = {.kind = FRAME_KERNEL};
    const char *module = KERNEL_MODULE, *symbol = NULL;
    struct build_id_text build_id = {""};
    char text[32];

    if (names->kernel) {
        symbol = kernel_symbols_find(names->kernel, address, &frame.address, &module);
        build_id = kernel_symbols_build_id(names->kernel, module);
    }
    if (!symbol) {
        snprintf(text, sizeof(text), "0x%" PRIx64, address);
        frame.address = address;
        frame.unresolved = 1;
        symbol = names->kernel_addresses ? text : UNKNOWN_KERNEL;
    }
    if (!names->kernel_addresses)
        frame.address = 0;
    frame.module = module_of(names, module, build_id.text);
    return intern(names, &frame, symbol);
}

static module_id module_of_mapping(struct frame_names *names, const struct mapping *mapping)
{
    const char *path = mapping && mapping->path[0] ? mapping->path : "[anonymous]";
    struct build_id_text build_id = {""};

    if (mapping && mapping->file)
        build_id = build_id_text(&mapping->file->build_id);
    return module_of(names, path, build_id.text);
}

/* The start of the native function at `address`, or `address` if it is unknown. */
static uint64_t start_of(struct frame_names *names, uint64_t address, struct mapping **mapping)
{
    struct elf_file *file;

    *mapping = mappings_find_code(names->from.vm->mappings, address);
    file = *mapping ? mapping_file(names->from.vm->mappings, *mapping) : NULL;
    return file ? native_code_start(file, address) : address;
}

/* The address in the file as addr2line and objdump count it, mostly the file offset. It identifies
 * the code even if the file is not here. */
static uint64_t place_in_file(const struct mapping *mapping, uint64_t address)
{
    if (mapping && mapping->file)
        return address - mapping->file->bias;
    return mapping && mapping->path[0] ? mapping->offset + (address - mapping->start) : address;
}

/* Code without a symbol gets the name that its callers give it (symbol/frames_internal.h), else a
 * name like "beam.smp+0x1a2b3c" with the start of its function. */
static struct named_frame name_without_symbol(struct frame_names *names, uint64_t address)
{
    struct frame frame = {.kind = FRAME_NATIVE};
    struct mapping *mapping;
    uint64_t start = start_of(names, address, &mapping);
    const char *known = runtime_names_find(names->from.runtime, start), *path, *slash;
    char text[TEXT_MAX];

    frame.address = start;
    frame.module = module_of_mapping(names, mapping);
    if (known)
        return intern(names, &frame, known);
    frame.unresolved = 1;
    if (mapping && mapping->file)
        frame.likeness = native_symbol_likeness(mapping->file, start);
    path = profile_module_path(names->profile, frame.module);
    slash = strrchr(path, '/');
    snprintf(text, sizeof(text), "%.200s+0x%" PRIx64, slash && slash[1] ? slash + 1 : path,
             place_in_file(mapping, start));
    return intern(names, &frame, text);
}

static struct named_frame name_native(struct frame_names *names, uint64_t address)
{
    struct frame frame = {.kind = FRAME_NATIVE};
    struct mapping *mapping = mappings_find_code(names->from.vm->mappings, address);
    struct elf_file *file = mapping ? mapping_file(names->from.vm->mappings, mapping) : NULL;
    struct native_symbol symbol;

    if (!file || !native_symbol_find(file, address, &symbol))
        return name_without_symbol(names, address);
    frame.address = symbol.address;
    frame.module = module_of_mapping(names, mapping);
    inlined_frames_set_line(names->inlined, address, &frame);
    return intern(names, &frame, symbol.name);
}

static struct named_frame name_code(struct frame_names *names, uint64_t address)
{
    struct frame frame = {.kind = FRAME_ERLANG, .address = address};
    struct code_place place;
    char text[48];

    if (!code_find(names->from.code, address, &place)) {
        snprintf(text, sizeof(text), "[code 0x%" PRIx64 "]", address);
        frame.unresolved = 1;
        return intern(names, &frame, text);
    }
    if (place.kind == CODE_FRAGMENT)
        frame.kind = FRAME_RUNTIME;
    frame.address = place.start;
    frame.line = place.line;
    if (place.file[0])
        frame.file = profile_string_z(names->profile, place.file);
    return intern(names, &frame, place.symbol);
}

static struct named_frame name_unknown(struct frame_names *names)
{
    struct frame frame = {.kind = FRAME_ERLANG, .unresolved = 1};

    return intern(names, &frame, "[unknown code]");
}

struct mfa {
    const char *module, *function;
    uint32_t arity;
};

static bool read_mfa(struct frame_names *names, const struct unwound_mfa *terms, struct mfa *mfa)
{
    mfa->module = atom_text(names->from.atoms, terms->module);
    mfa->function = atom_text(names->from.atoms, terms->function);
    mfa->arity = terms->arity;
    return mfa->module && mfa->function;
}

/* An Export contains an ErtsCodeMFA: {module, function, arity} as two terms and a word
 * (code_ix.h). */
static bool read_export(struct frame_names *names, uint64_t address, struct mfa *mfa)
{
    const struct layout *layout = &names->from.vm->layout;
    uint64_t words[3];
    struct unwound_mfa terms;

    address += (uint64_t)layout->export_info + (uint64_t)layout->code_info_mfa;
    if (!memory_read(names->from.vm->memory, address, words, sizeof(words)) || words[2] > 255)
        return false;
    terms = (struct unwound_mfa){words[0], words[1], (uint32_t)words[2]};
    return read_mfa(names, &terms, mfa);
}

static struct named_frame name_bif(struct frame_names *names, uint64_t address,
                                   const struct mfa *mfa)
{
    struct frame frame = {.kind = FRAME_BIF, .address = address};
    char text[TEXT_MAX] = "[bif]";

    if (mfa)
        atom_mfa_format(mfa->module, mfa->function, mfa->arity, text, sizeof(text));
    else
        frame.unresolved = 1;
    return intern(names, &frame, text);
}

static struct named_frame name_mfa(struct frame_names *names, uint64_t address)
{
    struct unwound_mfa terms = unwound_mfa(address);
    struct mfa mfa;

    return name_bif(names, 0, read_mfa(names, &terms, &mfa) ? &mfa : NULL);
}

static struct named_frame name_export(struct frame_names *names, uint64_t address)
{
    struct mfa mfa;

    return name_bif(names, address, read_export(names, address, &mfa) ? &mfa : NULL);
}

/* The number of words is rounded down to a power of two, so that stacks that differ only in this
 * number become equal. */
static struct named_frame name_cut(struct frame_names *names, uint64_t words)
{
    struct frame frame = {.kind = FRAME_MARK};
    uint64_t rounded = 1;
    char text[48];

    while (rounded * 2 <= words)
        rounded *= 2;
    snprintf(text, sizeof(text), "[%" PRIu64 " words truncated]", rounded);
    return intern(names, &frame, text);
}

static struct named_frame name_mark(struct frame_names *names, const char *text)
{
    struct frame frame = {.kind = FRAME_MARK};

    return intern(names, &frame, text);
}

/* The frame counts as the BIF that works on the table: it called the native code. */
static struct named_frame name_table(struct frame_names *names, uint64_t term)
{
    const char *name = atom_text(names->from.atoms, term);
    char text[TEXT_MAX];
    struct named_frame frame;

    snprintf(text, sizeof(text), TABLE_MARK "%.*s]", TEXT_MAX - 16, name ? atom_shown(name) : "?");
    frame = name_mark(names, text);
    frame.class = CLASS_BIF;
    return frame;
}

static struct named_frame look_up(struct frame_names *names, const struct unwound_frame *unwound)
{
    uint64_t address = unwound->address - unwound->is_return;

    switch (unwound->kind) {
    case ADDRESS_KERNEL:
        return name_kernel(names, address);
    case ADDRESS_NATIVE:
        return name_native(names, address);
    case ADDRESS_CODE:
        return name_code(names, address);
    case ADDRESS_EXPORT:
        return name_export(names, unwound->address);
    case ADDRESS_MFA:
        return name_mfa(names, unwound->address);
    case ADDRESS_CUT:
        return name_cut(names, unwound->address);
    case ADDRESS_ENTRY:
        return name_mark(names, "[interrupt entry]");
    case ADDRESS_MISSING:
        return name_mark(names, FRAMES_MISSING);
    case ADDRESS_TABLE:
        return name_table(names, unwound->address);
    case ADDRESS_UNKNOWN:
    case ADDRESS_KINDS:
        break;
    }
    return name_unknown(names);
}

/* ---- the cache ---- */

enum {
    CLASS_SHIFT = 32,
    ERLANG_SHIFT = 40,
    UNRESOLVED_SHIFT = 41,
    WAITING_SHIFT = 42,
    ARGUMENT_SHIFT = 50,
};

static uint64_t pack(const struct named_frame *frame)
{
    return frame->id | (uint64_t)frame->class << CLASS_SHIFT |
           (uint64_t)frame->erlang << ERLANG_SHIFT |
           (uint64_t)frame->unresolved << UNRESOLVED_SHIFT |
           (uint64_t)frame->waiting << WAITING_SHIFT | (uint64_t)frame->argument << ARGUMENT_SHIFT;
}

static struct named_frame unpack(uint64_t value)
{
    return (struct named_frame){
        .id = (frame_id)value,
        .class = (enum frame_class)(value >> CLASS_SHIFT & 0xff),
        .erlang = value >> ERLANG_SHIFT & 1,
        .unresolved = value >> UNRESOLVED_SHIFT & 1,
        .waiting = (enum waiting_class)(value >> WAITING_SHIFT & 0xff),
        .argument = (enum table_argument)(value >> ARGUMENT_SHIFT & 0xff),
    };
}

static uint64_t classify_again(void *context, uint64_t value)
{
    const struct frame_names *names = context;
    struct named_frame frame = unpack(value);

    frame.class = frame_class_of_start(
        names->from.functions, profile_get_frame(names->profile, frame.id)->address, frame.class);
    return pack(&frame);
}

/* Forget the names of code that has changed. If more state functions are known, forget the classes
 * too. */
static void refresh(struct frame_names *names)
{
    uint64_t epoch = code_epoch(names->from.code);
    uint32_t version = state_functions_version(names->from.functions);

    if (names->epoch != epoch) {
        address_map_clear(names->cached[ADDRESS_CODE]);
        address_map_clear(names->cached[ADDRESS_EXPORT]);
    }
    if (names->debug_files != debug_fetch_version())
        address_map_clear(names->cached[ADDRESS_NATIVE]);
    else if (names->version != version)
        address_map_change_all(names->cached[ADDRESS_NATIVE], classify_again, names);
    names->epoch = epoch;
    names->version = version;
    names->debug_files = debug_fetch_version();
}

static struct named_frame find(struct frame_names *names, const struct unwound_frame *unwound)
{
    /* A leaf and a return address with equal bits can lie in different functions. */
    uint64_t key = unwound->address * 2 + unwound->is_return, value;
    struct named_frame frame;

    if (address_map_get(names->cached[unwound->kind], key, &value))
        return unpack(value);
    frame = look_up(names, unwound);
    address_map_put(names->cached[unwound->kind], key, pack(&frame));
    return frame;
}

enum table_argument frame_names_argument(struct frame_names *names,
                                         const struct unwound_frame *frame)
{
    refresh(names);
    return find(names, frame).argument;
}

/* Learn the names of native functions without a symbol from a stack, before its frames are
 * named. */
static void learn(struct frame_names *names, const struct unwound *unwound)
{
    for (size_t i = 1; i + 1 < unwound->count; i++) {
        const struct unwound_frame *bif = &unwound->frames[i];
        const struct unwound_frame *callee = bif - 1;
        struct mapping *mapping;
        uint64_t cached;
        struct mfa mfa;

        if (callee->kind == ADDRESS_TABLE && i > 1)
            callee--;
        if (bif->kind != ADDRESS_EXPORT || callee->kind != ADDRESS_NATIVE)
            continue;
        /* Only a frame that has no name yet is worth the look-up. */
        if (!address_map_get(names->cached[ADDRESS_NATIVE], callee->address * 2 + callee->is_return,
                             &cached) &&
            read_export(names, bif->address, &mfa))
            runtime_names_learn_bif(names->from.runtime,
                                    start_of(names, callee->address - callee->is_return, &mapping),
                                    bif[1].address, mfa.module, mfa.function, mfa.arity);
        return;
    }
}

const struct named_stack *frame_names_find(struct frame_names *names, const struct unwound *unwound)
{
    struct named_stack *stack = &names->stack;

    refresh(names);
    inlined_frames_refresh(names->inlined);
    learn(names, unwound);
    stack->frames =
        xgrow(stack->frames, &names->frame_room, unwound->count, sizeof(*stack->frames));
    stack->classes =
        xgrow(stack->classes, &names->class_room, unwound->count, sizeof(*stack->classes));
    stack->waiting =
        xgrow(stack->waiting, &names->waiting_room, unwound->count, sizeof(*stack->waiting));
    stack->inlined =
        xgrow(stack->inlined, &names->inlined_room, unwound->count, sizeof(*stack->inlined));
    stack->count = unwound->count;
    stack->erlang = stack->unknown_erlang = stack->unknown_native = 0;
    for (size_t i = unwound->count; i-- > 0;) {
        struct named_frame frame = find(names, &unwound->frames[i]);

        stack->frames[i] = frame.id;
        stack->classes[i] = (uint8_t)frame.class;
        stack->waiting[i] = (uint8_t)frame.waiting;
        stack->inlined[i] = inlined_frames_chain(names->inlined, &unwound->frames[i], frame.id);
        stack->erlang += frame.erlang;
        stack->unknown_erlang += frame.unresolved && frame.erlang;
        stack->unknown_native += frame.unresolved && !frame.erlang;
    }
    stack->chains = inlined_frames_chains(names->inlined);
    return stack;
}
