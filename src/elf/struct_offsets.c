// SPDX-License-Identifier: Apache-2.0
/*
 * First find the wanted structs among the top-level entries of all units, so that most of the debug
 * information is never read. Then follow the path of each name from its struct to its member.
 */
#include "elf/struct_offsets.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "elf/dwarf_names.h"
#include "elf/elf_limits.h"
#include "util/alloc.h"
#include "util/effort.h"

enum { TYPES_MAX = 64, PATH_MAX_TEXT = 96 };

/* A struct that is wanted. */
struct type {
    char name[PATH_MAX_TEXT]; /* without "struct " */
    bool is_tag;              /* `struct NAME`, else a typedef */
    bool found;
    Dwarf_Die die; /* of the structure or union */
};

struct types {
    struct type all[TYPES_MAX];
    int count, found;
    struct dwarf_names names;
    struct effort effort; /* a file can lead around in circles */
};

/* The limits of a search in a file. A VM's file takes 155,000 steps and 50 ms until all types are
 * found; a large debug file without these types takes 262,000 steps. */
enum { STEPS_MAX = 4 << 20, CPU_MS_MAX = 1000 };

static bool next_sibling(struct types *types, Dwarf_Die *die)
{
    return effort_step(&types->effort) && dwarf_siblingof(die, die) == 0;
}

static const char *name_of(const struct types *types, Dwarf_Die *die)
{
    return dwarf_names_check(&types->names, dwarf_diename(die));
}

/* Split a name into the type's name and the path ("" for sizeof). */
static bool split_name(const char *name, char type[PATH_MAX_TEXT], bool *is_tag, const char **path)
{
    bool is_size = strncmp(name, "sizeof(", 7) == 0;
    const char *start = is_size ? name + 7 : name;
    size_t length;

    *is_tag = strncmp(start, "struct ", 7) == 0;
    if (*is_tag)
        start += 7;
    length = strcspn(start, is_size ? ")" : ".");
    if (length >= PATH_MAX_TEXT || !start[length])
        return false;
    memcpy(type, start, length);
    type[length] = '\0';
    *path = is_size ? "" : start + length + 1;
    return true;
}

static struct type *find_type(struct types *types, const char *name, bool is_tag)
{
    for (int i = 0; i < types->count; i++) {
        if (types->all[i].is_tag == is_tag && strcmp(types->all[i].name, name) == 0)
            return &types->all[i];
    }
    return NULL;
}

static void collect_wanted(struct types *types, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char name[PATH_MAX_TEXT];
        const char *path;
        struct type *type;
        bool is_tag;

        if (!split_name(names[i], name, &is_tag, &path) || find_type(types, name, is_tag) ||
            types->count == TYPES_MAX)
            continue;
        type = &types->all[types->count++];
        memcpy(type->name, name, sizeof(name));
        type->is_tag = is_tag;
    }
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;

    return dwarf_formref_die(dwarf_attr(die, DW_AT_type, &attribute), type);
}

static bool names_another_type(int tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

/* The structure or union behind a type's typedefs and qualifiers; false if there is none, or only a
 * declaration. dwarf_peel_type() does not end where a typedef names itself. */
static bool peel(struct types *types, const Dwarf_Die *die, Dwarf_Die *structure)
{
    Dwarf_Die peeled = *die, next;
    int tag = dwarf_tag(&peeled);

    while (names_another_type(tag)) {
        if (!effort_step(&types->effort) || !type_of(&peeled, &next))
            return false;
        peeled = next;
        tag = dwarf_tag(&peeled);
    }
    if ((tag != DW_TAG_structure_type && tag != DW_TAG_union_type) ||
        dwarf_hasattr(&peeled, DW_AT_declaration))
        return false;
    *structure = peeled;
    return true;
}

static void look_at_definition(struct types *types, Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    const char *name;
    struct type *type;

    if (tag != DW_TAG_typedef && tag != DW_TAG_structure_type)
        return;
    name = name_of(types, die);
    type = name ? find_type(types, name, tag == DW_TAG_structure_type) : NULL;
    if (!type || type->found || !peel(types, die, &type->die))
        return;
    type->found = true;
    types->found++;
}

static void find_definitions(Dwarf *dwarf, struct types *types)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die unit_die, die;

    while (types->found < types->count && effort_step(&types->effort) &&
           dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &unit_die, NULL) == 0) {
        if (dwarf_child(&unit_die, &die) != 0)
            continue;
        do {
            look_at_definition(types, &die);
        } while (types->found < types->count && next_sibling(types, &die));
    }
}

static bool member_offset(Dwarf_Die *member, Dwarf_Word *offset)
{
    Dwarf_Attribute attribute;

    *offset = 0; /* members of a union have no location */
    return !dwarf_attr(member, DW_AT_data_member_location, &attribute) ||
           dwarf_formudata(&attribute, offset) == 0;
}

/* Find the member `name` in `structure`, also in its anonymous members. Adds its offset to
 * *found_at. */
static bool find_member(struct types *types, Dwarf_Die *structure, const char *name, size_t length,
                        int depth, Dwarf_Die *found, Dwarf_Word *found_at)
{
    Dwarf_Die member, type, inner;
    Dwarf_Word offset;

    if (depth > 8 || dwarf_child(structure, &member) != 0)
        return false;
    do {
        const char *member_name = name_of(types, &member);

        if (dwarf_tag(&member) != DW_TAG_member || !member_offset(&member, &offset) ||
            !type_of(&member, &type))
            continue;
        if (member_name && strlen(member_name) == length &&
            memcmp(member_name, name, length) == 0) {
            *found = type;
            *found_at += offset;
            return true;
        }
        if (!dwarf_hasattr(&member, DW_AT_name) && peel(types, &type, &inner) &&
            find_member(types, &inner, name, length, depth + 1, found, found_at)) {
            *found_at += offset;
            return true;
        }
    } while (next_sibling(types, &member));
    return false;
}

/* The offset of `path` in the struct, or the struct's size for an empty path. */
static int32_t resolve(struct types *types, Dwarf_Die structure, const char *path)
{
    Dwarf_Word offset = 0;
    Dwarf_Die type;

    if (!*path) {
        int size = dwarf_bytesize(&structure);
        return size > 0 ? size : MEMBER_UNKNOWN;
    }
    for (;;) {
        size_t length = strcspn(path, ".");

        if (!find_member(types, &structure, path, length, 0, &type, &offset))
            return MEMBER_UNKNOWN;
        if (!path[length])
            return offset <= INT32_MAX ? (int32_t)offset : MEMBER_UNKNOWN;
        path += length + 1;
        if (!peel(types, &type, &structure))
            return MEMBER_UNKNOWN;
    }
}

static void fill(struct types *types, const char *const *names, size_t count, int32_t *offsets)
{
    for (size_t i = 0; i < count; i++) {
        char name[PATH_MAX_TEXT];
        const char *path;
        struct type *type;
        bool is_tag;

        offsets[i] = STRUCT_UNKNOWN;
        if (!split_name(names[i], name, &is_tag, &path))
            continue;
        type = find_type(types, name, is_tag);
        if (type && type->found)
            offsets[i] = resolve(types, type->die, path);
    }
}

static bool read_dwarf(Elf *elf, Dwarf *dwarf, const char *const *names, size_t count,
                       int32_t *offsets)
{
    struct types *types = xcalloc(1, sizeof(*types));
    bool in_time;

    types->effort = effort_of(STEPS_MAX, CPU_MS_MAX);
    types->names = dwarf_names_of(elf);
    collect_wanted(types, names, count);
    find_definitions(dwarf, types);
    fill(types, names, count, offsets);
    in_time = types->effort.steps > 0;
    free(types);
    return in_time;
}

bool struct_offsets_find(int fd, const char *const *names, size_t count, int32_t *offsets)
{
    size_t bytes = 0;
    Elf *elf = elf_limits_open(fd, NULL, &bytes);
    Dwarf *dwarf =
        elf && elf_limits_fit_debug(elf) ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
    bool filled = dwarf && read_dwarf(elf, dwarf, names, count, offsets);

    dwarf_end(dwarf);
    elf_limits_close(elf, NULL, bytes);
    return filled;
}
