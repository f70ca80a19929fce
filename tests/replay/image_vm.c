// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "native/elf_file.h"
#include "util/alloc.h"

struct image_memory {
    struct memory memory;
    const struct image *image;
};

/* Return the last run that begins at or before an address. */
static const struct image_run *run_at(const struct image *image, uint64_t address)
{
    size_t low = 0, high = image->run_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (image->memory[middle].at <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &image->memory[low - 1] : NULL;
}

static bool image_memory_read(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    const struct image_memory *self = (const struct image_memory *)memory;
    const struct image_run *run = run_at(self->image, address);

    if (!run || address - run->at > run->bytes.size || size > run->bytes.size - (address - run->at))
        return false;
    memcpy(buffer, run->bytes.data + (address - run->at), size);
    return true;
}

static void image_memory_free(struct memory *memory)
{
    free(memory);
}

static struct memory *memory_of_image(const struct image *image)
{
    struct image_memory *memory = xcalloc(1, sizeof(*memory));

    memory->memory.read = image_memory_read;
    memory->memory.free = image_memory_free;
    memory->image = image;
    return &memory->memory;
}

static struct elf_file *open_file(struct parser *parser, const struct image_file *file,
                                  const struct mapping *mapping)
{
    char *bytes = xcalloc(file->size + 1, 1);
    struct elf_file *opened;

    for (size_t i = 0; i < file->run_count; i++) {
        const struct image_run *run = &file->runs[i];

        if (run->at <= file->size && run->bytes.size <= file->size - run->at)
            memcpy(bytes + run->at, run->bytes.data, run->bytes.size);
    }
    opened = elf_file_of_image(parser, bytes, file->size, mapping);
    free(bytes);
    return opened;
}

/* Each file has one executable mapping. */
static struct mappings *mappings_of_image(const struct image *image)
{
    struct mapping *list = xcalloc(image->mapping_count + 1, sizeof(*list));
    struct parser *parser = parser_here();
    struct mappings *mappings;

    for (size_t i = 0; i < image->mapping_count; i++) {
        const struct image_mapping *from = &image->mappings[i];

        list[i] = (struct mapping){
            .start = from->start,
            .end = from->end,
            .offset = from->offset,
            .executable = true,
            .path = from->path.data,
            .inode = i + 1,
        };
        if (from->file && from->file <= image->file_count)
            list[i].file = open_file(parser, &image->files[from->file - 1], &list[i]);
    }
    mappings = mappings_of_list(list, (int)image->mapping_count);
    parser_release(parser);
    free(list);
    return mappings;
}

struct vm *image_vm(const struct image *image, struct error *error)
{
    struct vm *vm = xcalloc(1, sizeof(*vm));

    vm->build = image->build;
    if (layout_from_table(&vm->build, &vm->layout, error) != 0) {
        free(vm);
        return NULL;
    }
    vm->features = features_of(&vm->build);
    vm->memory = memory_of_image(image);
    vm->mappings = mappings_of_image(image);
    vm->roots = image->roots;
    vm->scheduler_count = (uint32_t)image->scheduler_count;
    vm->schedulers = xcalloc(image->scheduler_count + 1, sizeof(*vm->schedulers));
    memcpy(vm->schedulers, image->schedulers, image->scheduler_count * sizeof(*vm->schedulers));
    for (size_t i = 0; i < image->scheduler_count; i++)
        vm->scheduler_counts[image->schedulers[i].type]++;
    return vm;
}

struct kernel_symbols *image_kernel(const struct image *image)
{
    struct kernel_symbols *symbols;
    struct error ignored;
    FILE *file;

    if (!image->kernel.size)
        return NULL;
    file = fmemopen(image->kernel.data, image->kernel.size, "r");
    symbols = file ? kernel_symbols_read(file, &ignored) : NULL;
    if (file)
        fclose(file);
    return symbols;
}
