// SPDX-License-Identifier: Apache-2.0
/*
 * replay_capture PID IMAGE [SECONDS]: sample a node and write an image of it (tests/replay/image.h)
 * with samples of all states. tests/replay/record makes the images of the tests.
 *
 * The program first takes samples, then chooses some, then decodes these once through a memory that
 * logs all reads. A replay makes the same reads.
 */
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "beam/layout.h"
#include "capture/sampler.h"
#include "native/cfi.h"
#include "replay_capture.h"
#include "symbol/symbolizer.h"
#include "util/alloc.h"

enum { FREQUENCY = 499 };

struct capture {
    struct vm *vm;
    struct replay_log *log;
    struct kernel_symbols *kernel;
    struct code *code;
    struct cfi *cfi;
    struct unwinder *unwinder;
    struct buffer *samples; /* all at first, later the chosen ones */
    size_t sample_count;
    uint64_t *natives; /* addresses of native code in the chosen samples */
    size_t native_count;
    struct image image;
};

static void take(void *context, const void *data, size_t size)
{
    struct capture *capture = context;
    size_t count = capture->sample_count;

    if ((count & (count - 1)) == 0)
        capture->samples =
            xreallocarray(capture->samples, count ? 2 * count : 1, sizeof(*capture->samples));
    capture->samples[count] = (struct buffer){0};
    buffer_put(&capture->samples[count], data, size);
    capture->sample_count++;
}

static int sample(struct capture *capture, int seconds, struct error *error)
{
    struct programs *programs = programs_new(
        &(struct programs_options){.clock = sample_clock_default(), .frequency = FREQUENCY});
    struct sampler *sampler = NULL;
    time_t end;
    int result = -1;

    if (programs_open(programs, error) == 0 &&
        (sampler = sampler_new(programs, "sample_cpu", sample_clock_default(), FREQUENCY)) &&
        programs_load(programs, error) == 0 &&
        programs_add_target(programs, capture->vm, code_generation_address(capture->code), 1,
                            error) == 0 &&
        sampler_start(sampler, error) == 0) {
        result = 0;
        for (end = time(NULL) + seconds; result >= 0 && time(NULL) < end;)
            result = programs_poll(programs, 100, take, capture, error);
        sampler_stop(sampler);
    }
    sampler_free(sampler);
    programs_free(programs);
    return result < 0 ? -1 : 0;
}

/* ---- choosing ---- */

static void note_natives(struct capture *capture, const struct unwound *unwound)
{
    capture->natives = xreallocarray(capture->natives, capture->native_count + unwound->count + 1,
                                     sizeof(*capture->natives));
    for (size_t i = 0; i < unwound->count; i++)
        if (unwound->frames[i].kind == ADDRESS_NATIVE)
            capture->natives[capture->native_count++] =
                unwound->frames[i].address - unwound->frames[i].is_return;
}

static void choose(struct capture *capture)
{
    struct replay_choice *choice = replay_choice_new();
    struct image *image = &capture->image;
    const struct layout *layout = &capture->vm->layout;
    const struct wire_words process = layout_process_words(layout);
    const struct wire_words scheduler = layout_scheduler_words(layout);
    size_t size = (size_t)layout->sizeof_process;
    struct error ignored;

    code_refresh(capture->code, &ignored);
    image->samples = xcalloc(capture->sample_count + 1, sizeof(*image->samples));
    for (size_t i = 0; i < capture->sample_count; i++) {
        const struct unwound *unwound;
        struct snapshot snapshot;
        const char *state;

        if (!snapshot_open(&snapshot, capture->samples[i].data, capture->samples[i].size))
            continue;
        snapshot_expand(&snapshot, &process, size, &scheduler);
        unwound = unwind(capture->unwinder, &snapshot);
        state = replay_state(capture->vm, capture->code, &snapshot, unwound);
        if (!replay_choose(choice, state, unwound))
            continue;
        note_natives(capture, unwound);
        buffer_text(&image->samples[image->sample_count].state, state);
        image->samples[image->sample_count].bytes = capture->samples[i];
        capture->samples[i] = (struct buffer){0};
        image->sample_count++;
    }
    replay_choice_free(choice);
}

/* ---- what decoding needs ---- */

static int decode(struct capture *capture, struct error *error)
{
    struct profile *profile = profile_new();
    struct symbolizer *symbolizer;
    struct recording_totals totals = {0};

    replay_log_clear(capture->log);
    symbolizer = symbolizer_new(capture->vm, NULL, NULL, profile, error);
    for (size_t i = 0; symbolizer && i < capture->image.sample_count; i++) {
        const struct buffer *bytes = &capture->image.samples[i].bytes;
        struct snapshot snapshot;
        struct sample ignored;

        if (snapshot_open(&snapshot, bytes->data, bytes->size))
            symbolizer_sample(symbolizer, &snapshot, &ignored, &totals);
    }
    capture->image.memory = replay_log_runs(capture->log, &capture->image.run_count);
    symbolizer_free(symbolizer);
    profile_free(profile);
    return symbolizer ? 0 : -1;
}

static void add_kernel_symbol(struct capture *capture, uint64_t address)
{
    const char *module, *name;
    uint64_t start;

    name = kernel_symbols_find(capture->kernel, address, &start, &module);
    if (name && module[0] == '[' && strcmp(module, "[kernel.kallsyms]"))
        buffer_format(&capture->image.kernel, "%" PRIx64 " t %s\t%s\n", start, name, module);
    else if (name)
        buffer_format(&capture->image.kernel, "%" PRIx64 " t %s\n", start, name);
}

static void add_kernel_symbols(struct capture *capture)
{
    for (size_t i = 0; capture->kernel && i < capture->image.sample_count; i++) {
        const struct buffer *bytes = &capture->image.samples[i].bytes;
        struct snapshot snapshot;

        if (!snapshot_open(&snapshot, bytes->data, bytes->size))
            continue;
        for (uint32_t k = 0; k < snapshot.sample->kernel_depth; k++)
            add_kernel_symbol(capture, snapshot.kernel_stack[k] - (k > 0));
    }
}

/* Keep the directory of a file of the releases; any other path can be replaced. */
static void put_path(struct buffer *to, const char *path)
{
    static const char *const roots[] = {"/usr/lib/", "/lib/x86_64-linux-gnu/", "[", "/memfd:"};
    const char *slash = strrchr(path, '/');

    for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
        if (strncmp(path, roots[i], strlen(roots[i])) == 0) {
            buffer_text(to, path);
            return;
        }
    }
    buffer_format(to, "%s%s", path[0] ? "/lab/" : "", slash ? slash + 1 : "");
}

static int add_mapping(struct capture *capture, struct mapping *mapping, struct error *error)
{
    struct image *image = &capture->image;
    struct image_mapping *to = &image->mappings[image->mapping_count++];
    struct elf_file *file = NULL;
    uint64_t *addresses = xreallocarray(NULL, capture->native_count + 1, sizeof(*addresses));
    size_t count = 0;
    int result = 0;

    *to = (struct image_mapping){
        .start = mapping->start, .end = mapping->end, .offset = mapping->offset};
    put_path(&to->path, mapping->path);
    for (size_t i = 0; i < capture->native_count; i++)
        if (capture->natives[i] >= mapping->start && capture->natives[i] < mapping->end &&
            (file = mapping_file(capture->vm->mappings, mapping)))
            addresses[count++] = capture->natives[i] - file->bias;
    if (file) {
        result = replay_reduce(file, addresses, count, &image->files[image->file_count], error);
        to->file = ++image->file_count;
    }
    free(addresses);
    return result;
}

static int add_mappings(struct capture *capture, struct error *error)
{
    struct image *image = &capture->image;
    int count, result = 0;
    const struct mapping *all = mappings_all(capture->vm->mappings, &count);

    image->mappings = xcalloc((size_t)count + 1, sizeof(*image->mappings));
    image->files = xcalloc((size_t)count + 1, sizeof(*image->files));
    for (int i = 0; i < count && result == 0; i++)
        if (all[i].executable)
            result =
                add_mapping(capture, mappings_find(capture->vm->mappings, all[i].start), error);
    return result;
}

static void add_vm(struct capture *capture)
{
    struct image *image = &capture->image;
    const struct vm *vm = capture->vm;

    image->build = vm->build;
    image->roots = vm->roots;
    image->scheduler_count = vm->scheduler_count;
    image->schedulers = xcalloc(vm->scheduler_count, sizeof(*vm->schedulers));
    memcpy(image->schedulers, vm->schedulers, vm->scheduler_count * sizeof(*vm->schedulers));
}

/* ---- */

static int open_target(struct capture *capture, pid_t pid, struct error *error)
{
    struct error ignored;

    capture->vm = vm_open(pid, 0, error);
    if (!capture->vm)
        return -1;
    capture->log = replay_log_new(capture->vm->memory);
    capture->vm->memory = replay_log_memory(capture->log);
    capture->kernel = kernel_symbols_new(&ignored);
    capture->cfi = cfi_new(capture->vm->mappings);
    capture->code = code_new(capture->vm, error);
    if (!capture->code)
        return -1;
    capture->unwinder = unwinder_new(capture->vm, capture->code, capture->cfi);
    return 0;
}

static void close_all(struct capture *capture)
{
    for (size_t i = 0; i < capture->sample_count; i++)
        buffer_free(&capture->samples[i]);
    free(capture->samples);
    free(capture->natives);
    image_free(&capture->image);
    unwinder_free(capture->unwinder);
    code_free(capture->code);
    cfi_free(capture->cfi);
    kernel_symbols_free(capture->kernel);
    vm_close(capture->vm);
}

int main(int argc, char **argv)
{
    struct capture capture = {0};
    struct error error;
    int result;

    if (argc < 3) {
        fprintf(stderr, "usage: replay_capture PID IMAGE [SECONDS]\n");
        return ERROR_USAGE;
    }
    result = open_target(&capture, (pid_t)atoi(argv[1]), &error);
    if (result == 0)
        result = sample(&capture, argc > 3 ? atoi(argv[3]) : 5, &error);
    if (result == 0) {
        choose(&capture);
        add_vm(&capture);
        add_kernel_symbols(&capture);
        result = decode(&capture, &error);
    }
    if (result == 0 && (result = add_mappings(&capture, &error)) == 0)
        result = image_write(argv[2], &capture.image, &error);
    if (result == 0)
        fprintf(stderr, "%zu of %zu samples, %zu pieces of memory, %zu files\n",
                capture.image.sample_count, capture.sample_count, capture.image.run_count,
                capture.image.file_count);
    else
        fprintf(stderr, "replay_capture: %s\n", error.text);
    close_all(&capture);
    return result == 0 ? 0 : (int)error.code;
}
