// SPDX-License-Identifier: Apache-2.0
/* Segments that child processes write, and what they report. */
#include "small_profile.h"

#include <fcntl.h>
#include <signal.h>

#include "rotation/rotation.h"
#include "session/options.h"
#include "test_folder.h"

#define NAME "x-n@h-20261121-203000"

static const time_t MOMENT = 1795293000; /* 2026-11-21 20:30:00 UTC */

static const struct session_options of_cpu = {.cpu = true};
static const struct output_settings all = {.view.grouping = {{GROUP_NAME}}};

/* Reports of any process. */
static struct reported {
    char text[2048];
    int foreign; /* a descriptor that no child needs */
    struct stat foreign_file;
    int log_file;
    const char *deadly; /* the process that reports the file with this suffix is killed */
} * reported;

static void note(const char *word, const char *text)
{
    size_t used = strlen(reported->text);

    snprintf(reported->text + used, sizeof(reported->text) - used, "%s %s\n", word, text);
}

static void note_warning(const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    note("warning", text);
}

static void note_failed(void *context, const struct error *error)
{
    assert_ptr_equal(context, reported);
    note("failed", error->text);
}

static void note_wrote(void *context, const char *path)
{
    const struct reported *own = context;
    struct stat status;

    if (own->deadly && strstr(path, own->deadly))
        raise(SIGKILL);
    note("wrote", path);
    if (own->foreign >= 0 && fstat(own->foreign, &status) == 0 &&
        status.st_ino == own->foreign_file.st_ino && status.st_dev == own->foreign_file.st_dev)
        note("open", "foreign");
    if (own->log_file >= 0 && fcntl(own->log_file, F_GETFD) < 0)
        note("closed", "log");
}

static void note_empty(void *context, const struct output_empty *empty)
{
    (void)context;
    note("empty", empty->request->path);
}

static struct rotation_reports reports;

static int enter_folder(void **state)
{
    (void)state;
    *reported = (struct reported){.foreign = -1, .log_file = -1};
    reports = (struct rotation_reports){.context = reported,
                                        .warn = note_warning,
                                        .failed = note_failed,
                                        .wrote = note_wrote,
                                        .empty = note_empty,
                                        .log_file = -1};
    return folder_enter();
}

static struct rotation *rotation_of(const struct segment_files *files)
{
    return rotation_new(files, &of_cpu, "n@h", &reports);
}

/* Record the small profile into `fd`; return a descriptor that reads it. */
static int record(int fd)
{
    struct small_profile small;
    struct recording_writer *writer;
    struct error error;

    small_profile_make(&small);
    writer = recording_create_fd(fd, &small_header, &error);
    assert_non_null(writer);
    for (int i = 0; i < SMALL_SAMPLES; i++)
        assert_int_equal(recording_append(writer, small.profile, &small.samples[i], &error), 0);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, &fd, &error), 0);
    profile_free(small.profile);
    return fd;
}

static int create(struct rotation *rotation)
{
    struct error error;
    int fd = rotation_create(rotation, MOMENT, &error);

    assert_true(fd >= 0);
    return fd;
}

/* Record and write one segment; return the counts. */
static struct rotation_counts write_one(const struct segment_files *files, bool whole)
{
    struct rotation *rotation = rotation_of(files);

    rotation_write(rotation, record(create(rotation)), whole);
    return rotation_finish(rotation);
}

static void assert_counts(struct rotation_counts counts, struct rotation_counts expected)
{
    assert_int_equal(counts.written, expected.written);
    assert_int_equal(counts.empty, expected.empty);
    assert_int_equal(counts.failed, expected.failed);
    assert_int_equal(counts.cut, expected.cut);
    assert_int_equal(counts.late, expected.late);
}

/* Statistics are written, but not reported. */
static void test_recording_and_outputs_of_a_segment_are_written(void **state)
{
    const struct output_request request = {.path = "x.folded"};
    const struct segment_files files = {.recording = "x.bfr",
                                        .requests = &request,
                                        .request_count = 1,
                                        .settings = &all,
                                        .stats_path = "x.json"};

    (void)state;
    assert_counts(write_one(&files, true), (struct rotation_counts){.written = 1});
    assert_string_equal(reported->text, "wrote " NAME ".bfr\nwrote " NAME ".folded\n");
    assert_true(exists(NAME ".bfr"));
    assert_true(exists(NAME ".folded"));
    assert_true(exists(NAME ".json"));
    assert_false(exists(NAME ".bfr.part"));
}

static void test_child_has_only_the_descriptors_that_it_needs(void **state)
{
    const struct segment_files files = {.recording = "x.bfr", .settings = &all};

    (void)state;
    reported->foreign = memory_file();
    assert_int_equal(fstat(reported->foreign, &reported->foreign_file), 0);
    reported->log_file = reports.log_file = memory_file();
    assert_counts(write_one(&files, true), (struct rotation_counts){.written = 1});
    assert_string_equal(reported->text, "wrote " NAME ".bfr\n");
    close(reported->foreign);
    close(reported->log_file);
}

/* The metric is in no sample, so no sample counts. */
static void test_output_without_samples_is_reported(void **state)
{
    const struct output_request requests[] = {{.path = "x.svg"},
                                              {.path = "x.perf", .optional = true}};
    const struct output_settings messages = {.view = all.view, .value = "msgq"};
    struct segment_files files = {.requests = requests, .request_count = 2, .settings = &messages};

    (void)state;
    assert_counts(write_one(&files, true), (struct rotation_counts){.empty = 1});
    assert_string_equal(reported->text, "empty " NAME ".svg\nempty " NAME ".perf\n");
    assert_false(exists(NAME ".bfr.part"));
    reported->text[0] = '\0';
    files.requests++;
    files.request_count = 1;
    assert_counts(write_one(&files, true), (struct rotation_counts){.written = 1});
    assert_string_equal(reported->text, "empty " NAME ".perf\n");
}

static void test_segment_that_cannot_be_written_keeps_its_recording(void **state)
{
    const struct output_request request = {.path = "gone/x.svg"};
    const struct segment_files files = {
        .recording = "x.bfr", .requests = &request, .request_count = 1, .settings = &all};

    (void)state;
    assert_counts(write_one(&files, true), (struct rotation_counts){.failed = 1});
    assert_non_null(strstr(reported->text, "wrote " NAME ".bfr\nfailed "));
    assert_non_null(strstr(reported->text, "gone/" NAME ".svg"));
    assert_true(exists(NAME ".bfr"));
}

static void test_recording_that_cannot_be_renamed_is_kept_and_named(void **state)
{
    const struct segment_files files = {.recording = "x.bfr", .settings = &all};
    struct rotation *rotation = rotation_of(&files);
    int fd = record(create(rotation));

    (void)state;
    assert_int_equal(mkdir(NAME ".bfr", 0700), 0);
    rotation_write(rotation, fd, true);
    assert_counts(rotation_finish(rotation), (struct rotation_counts){.failed = 1});
    assert_non_null(strstr(reported->text, "failed can't write " NAME ".bfr: "));
    assert_non_null(strstr(reported->text,
                           "warning the recording of that segment is kept in " NAME ".bfr.part\n"));
    assert_true(exists(NAME ".bfr.part"));
}

static void test_segments_that_end_early_or_cannot_be_read_are_counted(void **state)
{
    const struct segment_files files = {.recording = "x.bfr", .settings = &all};
    struct rotation *rotation = rotation_of(&files);

    (void)state;
    rotation_write(rotation, record(create(rotation)), false);
    close(create(rotation));
    rotation_write(rotation, -1, false);
    close(create(rotation));
    rotation_drop(rotation);
    assert_counts(rotation_finish(rotation),
                  (struct rotation_counts){.written = 1, .failed = 1, .cut = 2});
    assert_true(exists(NAME ".bfr"));
    assert_true(exists("x-n@h-20261121-203001.bfr.part"));
    assert_false(exists("x-n@h-20261121-203002.bfr.part"));
}

static void test_recording_is_kept_if_the_process_of_its_outputs_is_killed(void **state)
{
    const struct output_request request = {.path = "x.folded"};
    struct segment_files files = {.requests = &request, .request_count = 1, .settings = &all};

    (void)state;
    reported->deadly = ".folded";
    assert_counts(write_one(&files, true), (struct rotation_counts){.failed = 1});
    assert_true(exists(NAME ".bfr.part"));
    assert_string_equal(reported->text,
                        "failed signal 9 ended the process that writes the outputs: somebody "
                        "killed it, or the machine had no memory left (see the kernel's log)\n"
                        "warning the recording of that segment is kept in " NAME ".bfr.part\n");
    reported->text[0] = '\0';
    files.recording = "y.bfr";
    assert_counts(write_one(&files, true), (struct rotation_counts){.failed = 1});
    assert_non_null(strstr(reported->text, "wrote y-n@h-20261121-203001.bfr\nfailed signal 9 "));
    assert_non_null(strstr(reported->text, "is kept in y-n@h-20261121-203001.bfr\n"));
}

/* The process that gives the recording its name, and waits for the outputs. */
static void test_recording_is_kept_if_the_writer_of_a_segment_is_killed(void **state)
{
    const struct output_request request = {.path = "x.folded"};
    const struct segment_files files = {
        .recording = "x.bfr", .requests = &request, .request_count = 1, .settings = &all};
    struct rotation *rotation = rotation_of(&files);
    int piece = record(memory_file());
    struct recording *recording;
    struct error error;

    (void)state;
    reported->deadly = "203000.bfr";
    rotation_write(rotation, record(create(rotation)), true);
    rotation_join(rotation, &piece, 1, "msgq>5: 6", create(rotation), true);
    reported->deadly = "203002.bfr"; /* the first has ended */
    piece = record(memory_file());
    rotation_join(rotation, &piece, 1, "msgq>5: 7", create(rotation), true);
    assert_counts(rotation_finish(rotation), (struct rotation_counts){.written = 1, .failed = 2});
    assert_non_null(strstr(reported->text,
                           "warning signal 9 ended the process that wrote a segment\n"
                           "warning the recording of that segment is kept in " NAME ".bfr\n"));
    assert_non_null(strstr(reported->text, "wrote x-n@h-20261121-203001.folded\n"));
    assert_non_null(strstr(reported->text, "is kept in x-n@h-20261121-203002.bfr\n"));
    recording =
        recording_open(open("x-n@h-20261121-203002.bfr", O_RDONLY | O_CLOEXEC), NAME, &error);
    assert_non_null(recording);
    assert_string_equal(recording_get_header(recording)->trigger, "msgq>5: 7");
    recording_close(recording);
}

/* Only this user can open a recording while it is made. Then the umask decides. */
static void test_recording_is_private_while_it_is_made(void **state)
{
    const struct segment_files files = {.recording = "x.bfr", .settings = &all};
    struct rotation *rotation = rotation_of(&files);
    int fd = create(rotation);
    struct stat status;

    (void)state;
    umask(022);
    assert_int_equal(stat(NAME ".bfr.part", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    rotation_write(rotation, record(fd), true);
    rotation_finish(rotation);
    assert_int_equal(stat(NAME ".bfr", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0644);
}

/* A segment whose folder was replaced is kept elsewhere, and the other folder gets nothing. */
static void test_segment_whose_folder_is_replaced_is_kept_elsewhere(void **state)
{
    const struct output_request request = {.path = "out/x.folded"};
    const struct segment_files files = {.recording = "out/x.bfr",
                                        .requests = &request,
                                        .request_count = 1,
                                        .settings = &all,
                                        .temporary = "kept"};
    struct rotation *rotation;
    DIR *kept;
    int fd, count = 0;

    (void)state;
    assert_int_equal(mkdir("out", 0755), 0);
    assert_int_equal(mkdir("kept", 0755), 0);
    rotation = rotation_of(&files);
    fd = record(create(rotation));
    assert_int_equal(rename("out", "moved"), 0);
    assert_int_equal(mkdir("out", 0755), 0);
    rotation_write(rotation, fd, true);
    assert_counts(rotation_finish(rotation), (struct rotation_counts){.failed = 1});
    assert_non_null(strstr(reported->text, "failed can't write out/" NAME
                                           ".bfr: its folder was removed or replaced"));
    assert_non_null(strstr(reported->text, "the recording of that segment is kept in kept/"));
    assert_int_equal(rmdir("out"), 0); /* it is empty */
    kept = opendir("kept");
    for (struct dirent *entry; (entry = readdir(kept));)
        count += entry->d_type == DT_REG && unlinkat(dirfd(kept), entry->d_name, 0) == 0;
    closedir(kept);
    assert_int_equal(count, 1);
    unlink("moved/" NAME ".bfr.part");
}

/* A recording that a trigger began is joined from pieces in memory. */
static void test_pieces_of_a_triggered_recording_become_one(void **state)
{
    const struct segment_files files = {.recording = "x.bfr", .settings = &all};
    struct rotation *rotation = rotation_of(&files);
    int piece = record(memory_file());
    struct recording *recording;
    struct error error;

    (void)state;
    rotation_join(rotation, &piece, 1, "msgq>5: 6", create(rotation), true);
    assert_counts(rotation_finish(rotation), (struct rotation_counts){.written = 1});
    assert_int_equal(fcntl(piece, F_GETFD), -1);
    recording = recording_open(open(NAME ".bfr", O_RDONLY | O_CLOEXEC), NAME, &error);
    assert_non_null(recording);
    assert_string_equal(recording_get_header(recording)->trigger, "msgq>5: 6");
    recording_close(recording);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_recording_and_outputs_of_a_segment_are_written),
        IN_FOLDER(test_child_has_only_the_descriptors_that_it_needs),
        IN_FOLDER(test_output_without_samples_is_reported),
        IN_FOLDER(test_segment_that_cannot_be_written_keeps_its_recording),
        IN_FOLDER(test_recording_that_cannot_be_renamed_is_kept_and_named),
        IN_FOLDER(test_segments_that_end_early_or_cannot_be_read_are_counted),
        IN_FOLDER(test_recording_is_kept_if_the_process_of_its_outputs_is_killed),
        IN_FOLDER(test_recording_is_kept_if_the_writer_of_a_segment_is_killed),
        IN_FOLDER(test_recording_is_private_while_it_is_made),
        IN_FOLDER(test_segment_whose_folder_is_replaced_is_kept_elsewhere),
        IN_FOLDER(test_pieces_of_a_triggered_recording_become_one),
    };

    reported =
        mmap(NULL, sizeof(*reported), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
