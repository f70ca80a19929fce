// SPDX-License-Identifier: Apache-2.0
/*
 * seeds FOLDER: write inputs that the writer makes, so that they are valid by the format of today.
 *
 *      FOLDER/files/        recordings: with everything, and one for each flag of full_profile.h
 *      FOLDER/recording/    the same as lists of chunks (fuzz_recording.h)
 *      FOLDER/join/         the same
 *      FOLDER/output/       the same for each format
 *      FOLDER/text/         perf-script text and folded stacks of them
 *      FOLDER/decoded/      instructions of this program, as decoded_fuzz.c takes them
 *      FOLDER/dataflow/     the machine code that they are in
 *
 * Fails if a recording can't be read to its end.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "arch/decoder.h"
#include "full_profile.h"
#include "fuzz_recording.h"
#include "native/parser.h"
#include "output/formats.h"
#include "util/alloc.h"

/* As in output_fuzz.c. */
enum { FORMATS = 16, CHOICES = 256 };

/* As in decoded_fuzz.c: where the code is, and the most instructions of an answer. */
enum { CODE_START = 0x10000, DECODED = 100 };

static void write_file(const char *folder, const char *kind, const char *name, const void *data,
                       size_t size)
{
    char *directory = xasprintf("%s/%s", folder, kind);
    char *path = xasprintf("%s/%s", directory, name);
    FILE *file;

    check(!mkdir(directory, 0777) || errno == EEXIST);
    file = fopen(path, "w");
    check(file && fwrite(data, 1, size, file) == size && !fclose(file));
    free(directory);
    free(path);
}

/* Return the bytes of a file from its start. */
static struct buffer bytes_of(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    struct buffer bytes = {0};

    check(size > 0 &&
          pread(fd, buffer_reserve(&bytes, (size_t)size), (size_t)size, 0) == (ssize_t)size);
    bytes.size = (size_t)size;
    return bytes;
}

static int open_copy(const struct buffer *bytes)
{
    int fd = fuzz_file();

    check(write(fd, bytes->data, bytes->size) == (ssize_t)bytes->size && !lseek(fd, 0, SEEK_SET));
    return fd;
}

static int count_sample(void *count, const struct sample *sample, struct error *error)
{
    (void)sample;
    (void)error;
    ++*(size_t *)count;
    return 0;
}

static void check_readable(const struct buffer *bytes)
{
    struct profile *profile = profile_new();
    struct error error;
    struct recording *recording = recording_open(open_copy(bytes), "seed", &error);
    size_t count = 0;
    bool cut;

    check(recording && !recording_read(recording, profile, count_sample, &count, &cut, &error));
    check(count && !cut);
    recording_close(recording);
    profile_free(profile);
}

/* Return the chunks after the header as the fuzzers read them, without those too long for that. */
static struct buffer chunks_of(const struct buffer *bytes, uint8_t choice)
{
    struct error error;
    struct chunk_reader *reader = chunk_reader_new(open_copy(bytes), "seed", &error);
    struct buffer list = {0};
    struct chunk chunk;
    bool cut;

    check(reader && chunk_read(reader, &chunk, &cut, &error) == 1);
    buffer_byte(&list, (char)choice);
    while (chunk_read(reader, &chunk, &cut, &error) == 1) {
        if (chunk.size > UINT16_MAX)
            continue;
        buffer_byte(&list, (char)chunk.type);
        buffer_byte(&list, (char)chunk.size);
        buffer_byte(&list, (char)(chunk.size >> 8));
        buffer_put(&list, chunk.data, chunk.size);
    }
    chunk_reader_free(reader);
    return list;
}

static void write_chunks(const char *folder, const char *kind, const struct buffer *bytes,
                         uint8_t choice, int number)
{
    struct buffer list = chunks_of(bytes, choice);
    char name[32];

    snprintf(name, sizeof(name), "%02d-%02u", number, choice);
    write_file(folder, kind, name, list.data, list.size);
    buffer_free(&list);
}

/* Write the samples of event cpu as text; there are none if their weights are 0. */
static void write_text(const char *folder, const struct buffer *bytes,
                       const struct output_format *format, int number)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}, .event = EVENT_CPU};
    struct error error;
    struct recording *recording = recording_open(open_copy(bytes), "seed", &error);
    size_t size = 0;
    char *text = NULL, name[32];
    FILE *file = open_memstream(&text, &size);
    struct output_request request = {.path = "-", .format = format, .file = file};
    struct output_result result;

    if (!output_write(recording, &settings, &request, 1, &result, &error))
        output_result_free(&result);
    recording_close(recording);
    fclose(file);
    snprintf(name, sizeof(name), "%02d.%s", number, format->name);
    if (size)
        write_file(folder, "text", name, text, size);
    free(text);
}

/* Write the code of a function, and an answer with its first instructions. Addresses are left to
 * the fuzzer. */
static void write_code(const char *folder, const char *name, uintptr_t function)
{
    struct code_bytes code = {(const uint8_t *)function, DECODED * CPU_INSTRUCTION_BYTES_MAX,
                              CODE_START};
    struct parser *parser = parser_here();
    struct decoder *decoder = parser_decoder(parser);
    struct buffer bytes = {0};
    struct instruction instruction;

    write_file(folder, "dataflow", name, code.bytes, code.size);
    buffer_byte(&bytes, DECODED);
    for (int i = 0; i < DECODED && decoder_next(decoder, &code, &instruction); i++) {
        instruction.address = 0;
        buffer_put(&bytes, &instruction, instruction_bytes(instruction.count));
    }
    write_file(folder, "decoded", name, bytes.data, bytes.size);
    buffer_free(&bytes);
    decoder_free(decoder);
    parser_release(parser);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: seeds FOLDER\n", stderr);
        return 2;
    }
    check(!mkdir(argv[1], 0777) || errno == EEXIST);
    write_code(argv[1], "main", (uintptr_t)main);
    write_code(argv[1], "text", (uintptr_t)write_text);
    write_code(argv[1], "full", (uintptr_t)full_recording);
    for (int i = 0; i <= FULL_FLAGS; i++) {
        int fd = full_recording(fuzz_file(), i ? 1U << (i - 1) : 0);
        struct buffer bytes = bytes_of(fd);
        char name[16];

        snprintf(name, sizeof(name), "%02d.bfr", i);
        check_readable(&bytes);
        write_file(argv[1], "files", name, bytes.data, bytes.size);
        write_chunks(argv[1], "recording", &bytes, (uint8_t)i, i);
        write_chunks(argv[1], "join", &bytes, (uint8_t)i, i);
        for (int choice = 0; choice < (i ? FORMATS : CHOICES); choice++)
            write_chunks(argv[1], "output", &bytes, (uint8_t)choice, i);
        write_text(argv[1], &bytes, &perf_format, i);
        write_text(argv[1], &bytes, &folded_format, i);
        buffer_free(&bytes);
        close(fd);
    }
    return 0;
}
