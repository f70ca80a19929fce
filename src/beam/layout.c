// SPDX-License-Identifier: Apache-2.0
#include "beam/layout.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beam/features.h"
#include "vm_constants.h"

enum { RELEASES = NEWEST_RELEASE - OLDEST_RELEASE + 1 };

/* The index of a row: struct layout consists of int32_t members only, in the order of the rows. */
#define ROW(member) (offsetof(struct layout, member) / sizeof(int32_t))
enum { ROWS = sizeof(struct layout) / sizeof(int32_t) };

static const int32_t columns[ROWS][RELEASES] = {
#define LAYOUT_COLUMNS(member, ...) [ROW(member)] = {__VA_ARGS__},
#include "beam/layout_tables.h"
};

#define LAYOUT_COLUMNS(member, ...) +1
enum {
    COLUMN_ROWS =
#include "beam/layout_tables.h"
};
_Static_assert((int)COLUMN_ROWS == (int)ROWS, "each row of layout_rows.h needs its columns");

static const char *const row_names[ROWS] = {
#define LAYOUT_ROW(member, name) [ROW(member)] = name,
#include "beam/layout_rows.h"
#undef LAYOUT_ROW
};

/* The rows of the interpreter that differ. */
static const struct {
    size_t row;
    int32_t columns[RELEASES];
} interpreter[] = {
#define LAYOUT_INTERPRETER(member, ...) {ROW(member), {__VA_ARGS__}},
#include "beam/layout_tables.h"
};

/* The rows of early versions of a release that differ. */
static const struct {
    int release;
    const char *before;
    size_t row;
    int32_t value;
} early[] = {
#define LAYOUT_EARLY(release, before, member, value) {release, before, ROW(member), value},
#include "beam/layout_tables.h"
};

static int32_t *rows_of(struct layout *layout)
{
    return (int32_t *)layout;
}

static bool is_process_row(size_t row)
{
    return strncmp(row_names[row], "Process.", 8) == 0 || row == ROW(sizeof_process);
}

/* Move all fields of the process struct at or after `from` by `distance`. */
static void shift_process(struct layout *layout, int32_t from, int32_t distance)
{
    int32_t *rows = rows_of(layout);

    for (size_t row = 0; row < ROWS; row++) {
        if (is_process_row(row) && rows[row] >= from)
            rows[row] += distance;
    }
}

/* Process.frame_pointer comes after htop and stop, and only #ifdef ERLANG_FRAME_POINTERS
 * (erl_process.h 25.2.3:1018): not on aarch64, and until 26 not on musl. Compiled for 25 to 27
 * and 29. */
static void remove_frame_pointer(struct layout *layout)
{
    shift_process(layout, layout->process_frame_pointer + 1, -8);
    layout->process_frame_pointer = -1;
}

/* USE_VM_PROBES adds dt_utag and dt_utag_flags to a process, before `u` or at the end, and a
 * fourth word to ErtsMessage.m (erl_process.h, erl_message.h). Compiled for all
 * but 28. */
static void add_vm_probes(struct layout *layout, bool at_end)
{
    int32_t before = at_end ? layout->sizeof_process : layout->process_initial;

    shift_process(layout, before, 16);
    layout->message_hfrag += 8;
    layout->sizeof_message += 8;
    if (layout->sizeof_receive_marker >= 0)
        layout->sizeof_receive_marker += 8;
}

static void apply_variants(const struct build *build, struct layout *layout)
{
    int32_t *rows = rows_of(layout);

    if (!build->jit) {
        for (size_t i = 0; i < sizeof(interpreter) / sizeof(interpreter[0]); i++)
            rows[interpreter[i].row] = interpreter[i].columns[build->otp_release - OLDEST_RELEASE];
    }
    for (size_t i = 0; i < sizeof(early) / sizeof(early[0]); i++) {
        if (early[i].release == build->otp_release && strverscmp(build->erts, early[i].before) < 0)
            rows[early[i].row] = early[i].value;
    }
    if (layout->process_frame_pointer >= 0 && !build->frame_pointer_field)
        remove_frame_pointer(layout);
    if (build->vm_probes)
        add_vm_probes(layout, features_of(build).vm_probes_at_end);
}

int layout_from_table(const struct build *build, struct layout *layout, struct error *error)
{
    struct layout found;

    if (build->otp_release > NEWEST_RELEASE)
        return error_set(error, ERROR_UNSUPPORTED,
                         "OTP %d (erts %s) is newer than the known releases, OTP %d to %d, and the "
                         "executable has no debug information (DWARF); to try all the same, add "
                         "--assume-release %d",
                         build->otp_release, build->erts, OLDEST_RELEASE, NEWEST_RELEASE,
                         NEWEST_RELEASE);
    if (build->otp_release < OLDEST_RELEASE)
        return error_set(error, ERROR_UNSUPPORTED,
                         "OTP %d (erts %s) is not supported: layouts are built in for OTP %d to "
                         "%d, and the executable has no debug information (DWARF)",
                         build->otp_release, build->erts, OLDEST_RELEASE, NEWEST_RELEASE);
    if (build->special[0])
        return error_set(error, ERROR_UNSUPPORTED,
                         "OTP %d (erts %s) built with %s is not supported: its layout is not built "
                         "in, and the executable has no debug information (DWARF)",
                         build->otp_release, build->erts, build->special);
    for (size_t row = 0; row < ROWS; row++)
        rows_of(&found)[row] = columns[row][build->otp_release - OLDEST_RELEASE];
    apply_variants(build, &found);
    *layout = found;
    return 0;
}

void layout_unknown(struct layout *layout)
{
    for (size_t row = 0; row < ROWS; row++)
        rows_of(layout)[row] = -1;
}

/* Structs that are read as a whole: their fields must lie within them. */
static const struct {
    const char *prefix;
    size_t size_row;
    int32_t max;
} whole[] = {
    {"Process.", ROW(sizeof_process), 4096},
    {"Atom.", ROW(sizeof_atom), 64},
};

/* Rows that are needed for any work. */
static const size_t needed[] = {
    ROW(sizeof_process),
    ROW(process_id),
    ROW(process_reg),
    ROW(process_htop),
    ROW(process_stop),
    ROW(process_heap),
    ROW(process_hend),
    ROW(process_heap_sz),
    ROW(process_state),
    ROW(process_dictionary),
    ROW(process_initial),
    ROW(process_i),
    ROW(process_current),
    ROW(process_reds),
    ROW(sizeof_sched_aligned),
    ROW(sched_tid),
    ROW(sched_current_process),
    ROW(sched_type),
    ROW(sched_no),
    ROW(sched_dirty_no),
    ROW(sched_run_queue),
    ROW(ptab_count),
    ROW(ptab_tab),
    ROW(ptab_max),
    ROW(ptab_pix_mask),
    ROW(ptab_pix_cl_mask),
    ROW(ptab_pix_cl_shift),
    ROW(ptab_pix_cli_mask),
    ROW(ptab_pix_cli_shift),
    ROW(ptab_element_size),
    ROW(ptab_invalid_element),
    ROW(sizeof_atom),
    ROW(index_size),
    ROW(index_entries),
    ROW(index_seg_table),
    ROW(atom_index),
    ROW(atom_len),
    ROW(procdict_size_mask),
    ROW(procdict_used),
    ROW(procdict_data),
    ROW(regproc_name),
    ROW(regproc_process),
};

/* The words of samples, and the struct that each is in. */
enum sampled_struct { PROCESS, SCHEDULER };
static const struct {
    enum sampled_struct of;
    uint16_t row;  /* its index in struct layout, which consists of int32_t members */
    uint16_t plus; /* bytes behind the start of the field */
} sampled[] = {
#define WIRE_WORD(of, member, plus) {of, offsetof(struct layout, member) / sizeof(int32_t), plus},
#define WIRE_FIELD(of, member)      WIRE_WORD(of, member, 0)
#include "wire_fields.h"
};

/* The last offset that a row may have. Readers take 8 bytes there, or 8 bytes behind the start of
 * the field that wire_fields.h names. */
static int32_t last_offset(const int32_t *rows, size_t row)
{
    int32_t last = 1 << 20, plus = 0;

    for (size_t i = 0; i < sizeof(sampled) / sizeof(sampled[0]); i++) {
        if (sampled[i].of == PROCESS && sampled[i].row == row && sampled[i].plus > plus)
            plus = sampled[i].plus;
    }
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        if (strncmp(row_names[row], whole[i].prefix, strlen(whole[i].prefix)) == 0)
            last = rows[whole[i].size_row] - plus - (int32_t)sizeof(uint64_t);
        else if (row == whole[i].size_row)
            last = whole[i].max;
    }
    return last;
}

static int lacks(size_t row, struct error *error)
{
    return error_set(error, ERROR_UNSUPPORTED, "the layout of this VM lacks %s", row_names[row]);
}

int layout_check(const struct layout *layout, struct error *error)
{
    const int32_t *rows = (const int32_t *)layout;

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (rows[needed[i]] < 0)
            return lacks(needed[i], error);
    }
    if (layout->atom_name < 0 && layout->atom_bin < 0) /* each release has one of the two */
        return lacks(ROW(atom_name), error);
    for (size_t row = 0; row < ROWS; row++) {
        if (rows[row] < -1 || rows[row] > last_offset(rows, row))
            return error_set(error, ERROR_UNSUPPORTED, "the layout of this VM has %s at %d",
                             row_names[row], rows[row]);
    }
    return 0;
}

bool layout_rows_fit(const int32_t *rows, size_t count, int32_t size)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i] < 0 || rows[i] > size - (int32_t)sizeof(uint64_t))
            return false;
    return true;
}

static int ascending(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

enum {
    PROCESS_WORDS = 0
#define WIRE_WORD(of, member, plus) +((of) == PROCESS)
#define WIRE_FIELD(of, member)      WIRE_WORD(of, member, 0)
#include "wire_fields.h"
};
_Static_assert((int)PROCESS_WORDS <= (int)WIRE_WORDS, "room for all");

/* The words of this struct, each once. A field is -1 if this release does not have it. */
static struct wire_words words_of(const struct layout *layout, enum sampled_struct of, size_t limit)
{
    struct wire_words words = {.count = 0};
    uint16_t sorted[sizeof(sampled) / sizeof(*sampled)] = {0};
    size_t known = 0;

    for (size_t i = 0; i < sizeof(sampled) / sizeof(*sampled); i++) {
        int32_t field = ((const int32_t *)layout)[sampled[i].row];

        if (sampled[i].of == of && field >= 0 && (size_t)field + sampled[i].plus + 8 <= limit)
            sorted[known++] = (uint16_t)((field + sampled[i].plus) & ~7);
    }
    qsort(sorted, known, sizeof(*sorted), ascending);
    for (size_t i = 0; i < known; i++) {
        if (!words.count || sorted[i] != words.offsets[words.count - 1])
            words.offsets[words.count++] = sorted[i];
    }
    return words;
}

struct wire_words layout_process_words(const struct layout *layout)
{
    size_t size = (size_t)layout->sizeof_process;

    return words_of(layout, PROCESS, size < WIRE_PROCESS_BYTES ? size : WIRE_PROCESS_BYTES);
}

struct wire_words layout_scheduler_words(const struct layout *layout)
{
    return words_of(layout, SCHEDULER, WIRE_SCHEDULER_BYTES);
}
