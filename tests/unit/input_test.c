// SPDX-License-Identifier: Apache-2.0
/* Text formats as inputs: what they give when they are written again, and the errors of bad files.
 */
#include "small_output.h"

#include <sys/stat.h>
#include <zlib.h>

#include "input/input.h"

/* Call input_open() on these bytes. */
static int open_bytes(const void *bytes, size_t size, struct error *error)
{
    int fd = memory_file_of(bytes, size), opened;
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    opened = input_open(input_file_open(path, "/tmp", error), path, "/tmp", error);
    close(fd);
    return opened;
}

static char *text_of(int fd, const struct output_format *format,
                     const struct output_settings *settings)
{
    size_t size;

    return output_of_fd(fd, format, settings, &size);
}

static char *text_as(const char *input, const struct output_format *format,
                     const struct output_settings *settings)
{
    struct error error = {0};
    int fd = open_bytes(input, strlen(input), &error);

    if (fd < 0)
        fail_msg("%s", error.text);
    return text_of(fd, format, settings);
}

static const struct output_settings by_name = {.view.grouping = {{GROUP_NAME}}};

static void assert_folded(const char *input, const char *expected)
{
    char *text = text_as(input, &folded_format, &by_name);

    assert_string_equal(text, expected);
    free(text);
}

/* The folded stacks are those of stackcollapse-perf.pl for the same text. */
static void test_perf_text_folds_as_by_stackcollapse_perf(void **state)
{
    static const char *const cases[][2] = {
        {"java 12688 [002] 6544038.708352: 235 cpu-clock:\n\t 7f main+0x3 (/bin/java)\n\n",
         "java;main 235\n"},
        {"V8 Worker 24636/25607 [000] 94564.109216: 100 cycles:u: \n"
         "\tffffffff8103ce3b native_safe_halt+0xb ([kernel.kallsyms])\n"
         "\t 7f0000 std::foo<int>(char (*)(int)) const+0x3 (/usr/lib/libfoo.so)\n"
         "\t 7f0000 [unknown] (/usr/lib/libfoo.so)\n\t 1 [unknown] ([unknown])\n\n",
         "V8_Worker;[unknown];[libfoo.so];std::foo<int>;native_safe_halt 100\n"},
        {"beam 100 5.000001: cycles:\n\t 1 a->b->c+0x10 (/x)\n\n", "beam;a;b_[i];c_[i] 1\n"},
        {"beam 100 5.000001: cycles:\n\t 9 f (inlined)\n\t 1 std::x::operator->() (/x)\n\n",
         "beam;std::x::operator->;f 1\n"},
        {"beam 100 [001] 5.000001: 3 cycles:\n\t 9 net/http.(*Client).Do (/x)\n\t 1 a;\"b' "
         "(/x)\n\n",
         "beam;a:b;net/http.(*Client).Do 3\n"},
        {"# comment\nbeam 100 [-01] 5.000001: 3 cycles:\n\t 9 gone+0x1 (/x (deleted))\n\n",
         "beam;gone 3\n"},
        {"beam 100 5.0: 3 cycles:\n\nbeam 100 5.5: 4 cycles:\n", "beam 7\n"},
        {"            perf  1234 [000]  123.456789:   5 cycles:  ffffffff81 write_msr+0x6 ([k])\n"
         "              sh     7 [000]  123.456799:   1 cycles:  55d0 main+0x6 (/bin/sh)\n",
         "perf;write_msr 5\nsh;main 1\n"},
        {"sh 7 [000] 1.5: sched:sched_switch: prev_comm=sh prev_pid=7 ==> next_comm=x (y)\n"
         "\t 9 schedule ([kernel.kallsyms])\n\n",
         "sh;schedule 1\n"},
        {"thread 12 1234/1235 [001] 5.0: 2 cycles:\n\t 1 f (/x)\n\n", "thread_12;f 2\n"},
        {"100%28x 7 1.5: 2 cycles:\n\t 1 f%28 (/x)\n\n", "100%2528x;f%2528 2\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_folded(cases[i][0], cases[i][1]);
}

/* Folded stacks are kept as they are, except that escapes are undone. */
static void test_folded_stacks_are_kept_as_they_are(void **state)
{
    (void)state;
    assert_folded("a;b c;lists:map/2 12\na;d 1\na;b c;lists:map/2 3\n\n",
                  "a;b c;lists:map/2 15\na;d 1\n");
    assert_folded("# made by hand\nx%3By;%2B;[k] 5 9007199254740992\n",
                  "x%3By;+;[k] 5 9007199254740992\n");
    assert_folded("[no stack] 4\n", "[no stack] 4\n");
    assert_folded("a;;b 4\n", "a;[unknown];b 4\n");
}

static void test_bad_text_is_refused_with_its_line(void **state)
{
    static const char *const cases[][2] = {
        {"", "the file is empty"},
        {"# ========\n", "it has no samples"},
        {"hello\n", "line 1: the file is not a recording"},
        {"\x7f"
         "ELF\x01\x02\n",
         "line 1: the file is not"},
        {"a;b 12\na;b\n", "line 2: this is not a folded stack"},
        {"a;b 12\na;b 1.5\n", "line 2: this is not a folded stack"},
        {"a;b 12\na;b 9007199254740993\n", "line 2: the count is too large"},
        {"a;b 12\na;b 1", "line 2: the file is incomplete"},
        {"b 1 1.5: 1 c:\n\t 1 f (/x)\n\t zz f (/x)\n\n", "line 3: this is not a frame"},
        {"b 1 1.5: 1 c:\n\t 1 f (/x)\n\t 12\n\t 1 f (/x)\n\n", "line 3: this is not a frame"},
        {"b 1 1.5: 1 c:\n\nnonsense\n", "line 3: this is not the first line of an event"},
        {"b 1 1.5: 1 c:\n\nb 4294967296 1.5: 1 c:\n", "line 3: a number of this event is too"},
        {"b 1 1.5: 1 c:\n\nb 1 99999999999.5: 1 c:\n", "line 3: a number of this event is too"},
        {"b 1 1.5: 1 c:\n\nb 1 [65536] 1.5: 1 c:\n", "line 3: a number of this event is too"},
        {"b 1 9.5: 1 c:\n\nb 1 8.5: 1 c:\n", "line 3: time goes back from 9.500000 to 8.500000"},
        {"b 1 9.5: 1 c:\n\t 1 f (/x", "line 2: the file is incomplete"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error error = {0};

        assert_int_equal(open_bytes(cases[i][0], strlen(cases[i][0]), &error), -1);
        if (!strstr(error.text, cases[i][1]))
            fail_msg("'%s' is not in: %s", cases[i][1], error.text);
        assert_int_equal(error.code, ERROR_FAILED);
    }
}

static void test_line_without_an_end_is_refused(void **state)
{
    size_t size = (size_t)20 << 20;
    char *bytes = malloc(size);
    struct error error;

    (void)state;
    assert_non_null(bytes);
    memset(bytes, 'x', size);
    assert_int_equal(open_bytes(bytes, size, &error), -1);
    assert_non_null(strstr(error.text, "line 1: longer than 16 MB"));
    free(bytes);
}

/* Bytes that are not UTF-8 become U+FFFD. */
static void test_bytes_that_are_not_utf8_are_replaced(void **state)
{
    (void)state;
    assert_folded("a;\xff\xfe 2\n", "a;\xef\xbf\xbd\xef\xbf\xbd 2\n");
}

/* Open the text compressed by gzip, without the last `cut` bytes. */
static int open_packed(const char *text, size_t cut, struct error *error)
{
    char path[] = "/tmp/beamflame-test-XXXXXX";
    int fd = mkstemp(path), opened;
    gzFile file;
    struct stat stat;

    assert_true(fd >= 0);
    file = gzdopen(dup(fd), "w");
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), (int)strlen(text));
    gzclose(file);
    assert_int_equal(fstat(fd, &stat), 0);
    assert_int_equal(ftruncate(fd, stat.st_size - (off_t)cut), 0);
    close(fd);
    opened = input_open(input_file_open(path, "/tmp", error), path, "/tmp", error);
    unlink(path);
    return opened;
}

static void test_compressed_text_is_read(void **state)
{
    struct error error = {0};
    char *text;

    (void)state;
    text = text_of(open_packed("a;b 12\na;c 1\n", 0, &error), &folded_format, &by_name);
    assert_string_equal(text, "a;b 12\na;c 1\n");
    free(text);
    assert_int_equal(open_packed("a;b 12\na;c 1\n", 9, &error), -1);
    assert_non_null(strstr(error.text, "cannot be read: the compressed file is incomplete"));
}

/* Check that beamflame's own output is the same when read back, and when written again. */
static void assert_same_again(const struct output_format *format, const char *group_by,
                              const char *event, const char *value)
{
    struct output_settings settings = {.event = event, .value = value};
    struct small_profile small;
    struct error error;
    char *perf, *folded, *again;

    assert_int_equal(grouping_parse(group_by, &settings.view.grouping, &error), 0);
    small_profile_make(&small);
    if (event)
        small_profile_add_events(&small);
    perf = small_output_of(&small, format, &settings);
    small_profile_make(&small);
    if (event)
        small_profile_add_events(&small);
    folded = small_output_of(&small, &folded_format, &settings);
    again = text_as(perf, &folded_format, &by_name);
    assert_string_equal(again, folded);
    free(again);
    /* A comment has the counts of other events, which are not read; flame_prof has no pids of
     * VMs. */
    if (!event && format == &perf_format) {
        again = text_as(perf, format, &by_name);
        assert_string_equal(again, perf);
        free(again);
    }
    free(folded);
    free(perf);
}

static void test_own_output_is_read_back_unchanged(void **state)
{
    (void)state;
    assert_same_again(&perf_format, "name", NULL, NULL);
    assert_same_again(&perf_format, "status,pid", NULL, NULL);
    assert_same_again(&perf_format, "none", NULL, NULL);
    assert_same_again(&perf_format, "name", "gc", "reclaimed");
    assert_same_again(&perf_format, "name", "gc", "time");
    assert_same_again(&perf_format, "name", "gc", "samples");
    assert_same_again(&perf_format, "name", "cpu", NULL);
    assert_same_again(&perf_format, "name", "cpu", "reductions");
    assert_same_again(&flame_prof_format, "name", NULL, NULL);
}

static int keep(void *context, const struct sample *sample, struct error *error)
{
    struct sample **next = context;

    (void)error;
    *(*next)++ = *sample;
    return 0;
}

/* Read samples and their profile from a text. */
static struct recording *read_samples(const char *text, struct profile **ret_profile,
                                      struct sample *samples)
{
    struct error error;
    struct recording *recording =
        recording_open(open_bytes(text, strlen(text), &error), "test", &error);
    bool cut;

    assert_non_null(recording);
    *ret_profile = profile_new();
    assert_int_equal(recording_read(recording, *ret_profile, keep, &samples, &cut, &error), 0);
    assert_false(cut);
    return recording;
}

/* Status, pid and metrics of flame_prof's format are read. */
static void test_flame_prof_status_pid_and_metrics_are_read(void **state)
{
    struct sample samples[2];
    struct profile *profile;
    struct recording *recording = read_samples(
        "garbage_collecting\t0.123.0 [002] 5.250000: cpu-clock:"
        "\tmetric_erlang_reductions: 1200, -5\tmetric_erlang_other: 1, 1"
        "\tmetric_erlang_message_queue_len: 3, 0\n\t 1 lists:map/2 (/tmp/perf-1.map)\n\n"
        "no process\t0.0.0 [001] 5.300000: cpu-clock:\n\t 1 main (/x)\n\n",
        &profile, samples);

    (void)state;
    assert_string_equal(
        profile_text(profile, profile_get_process(profile, samples[0].process)->pid), "<0.123.0>");
    assert_int_equal(samples[0].status, STATUS_GARBAGE_COLLECTING);
    assert_int_equal(samples[0].cpu, 2);
    assert_int_equal(samples[0].time, 5250000000);
    assert_int_equal(samples[0].metrics.known, 1 << METRIC_REDUCTIONS | 1 << METRIC_MSGQ);
    assert_int_equal(samples[0].metrics.values[METRIC_REDUCTIONS], 1200);
    assert_int_equal(samples[0].metrics.values[METRIC_MSGQ], 3);
    assert_int_equal(samples[1].process, 0);
    assert_int_equal(samples[1].status, STATUS_NONE);
    recording_close(recording);
    profile_free(profile);
}

static enum frame_kind kind_of_leaf(const struct profile *profile, const struct sample *sample)
{
    frame_id frame = profile_get_stack(profile, sample->stack)->frame;

    return (enum frame_kind)profile_get_frame(profile, frame)->kind;
}

/* Late events, the times and CPUs of samples, and the kinds of frames are read. */
static void test_times_cpus_and_late_events_are_read(void **state)
{
    struct sample samples[4];
    struct profile *profile;
    struct recording *recording =
        read_samples("# hostname : web-1\n"
                     "a 10/11 [003] 7.000000001: 5 cycles:\n\t ffffffff81000000 f ([k])\n\n"
                     "b 20/21 [001] 7.500000000: 9 cpu-clock:u:\n\t 12 m:f/1 (/tmp/perf-1.map)\n\n"
                     "a 10/11 [003] 7.400000000: 6 cycles:\n\t 12 g+0x2 (/x)\n\n",
                     &profile, samples);
    const struct thread_entry *thread = profile_get_thread(profile, samples[0].thread);
    const struct event_entry *late = profile_get_event(profile, samples[2].event);

    (void)state;
    assert_int_equal(profile_counts(profile).events, 2);
    assert_int_equal(samples[0].time, 7000000001);
    assert_int_equal(samples[1].time, 7400000000); /* sorted */
    assert_int_equal(samples[0].event, samples[1].event);
    assert_string_equal(profile_text(profile, late->name), "cpu-clock:u");
    assert_int_equal(late->values[0].unit, UNIT_NS);
    assert_int_equal(samples[2].values[0], 9);
    assert_int_equal(samples[0].cpu, 3);
    assert_int_equal(thread->tid, 11);
    assert_string_equal(profile_text(profile, thread->name), "a");
    assert_int_equal(profile_get_target(profile, thread->target)->pid, 10);
    assert_int_equal(kind_of_leaf(profile, &samples[0]), FRAME_KERNEL);
    assert_int_equal(kind_of_leaf(profile, &samples[1]), FRAME_NATIVE);
    assert_int_equal(kind_of_leaf(profile, &samples[2]), FRAME_ERLANG);
    assert_string_equal(recording_get_header(recording)->hostname, "web-1");
    assert_int_equal(recording_get_header(recording)->start_monotonic, 7000000001);
    assert_int_equal(recording_get_totals(recording)->samples, 3);
    recording_close(recording);
    profile_free(profile);
}

/* Although its address is in the half of the kernel. */
static void test_code_in_the_map_of_a_jit_is_erlang(void **state)
{
    struct sample samples[1];
    struct profile *profile;
    struct recording *recording = read_samples(
        "a 10/11 [003] 7.0: 5 cycles:\n\t ffffffff81000000 m:f/1 (/tmp/perf-12.map)\n\n", &profile,
        samples);

    (void)state;
    assert_int_equal(kind_of_leaf(profile, &samples[0]), FRAME_ERLANG);
    recording_close(recording);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_perf_text_folds_as_by_stackcollapse_perf),
        cmocka_unit_test(test_folded_stacks_are_kept_as_they_are),
        cmocka_unit_test(test_bad_text_is_refused_with_its_line),
        cmocka_unit_test(test_line_without_an_end_is_refused),
        cmocka_unit_test(test_bytes_that_are_not_utf8_are_replaced),
        cmocka_unit_test(test_compressed_text_is_read),
        cmocka_unit_test(test_own_output_is_read_back_unchanged),
        cmocka_unit_test(test_flame_prof_status_pid_and_metrics_are_read),
        cmocka_unit_test(test_times_cpus_and_late_events_are_read),
        cmocka_unit_test(test_code_in_the_map_of_a_jit_is_erlang),
    };

    return cmocka_run_group_tests_name("input", tests, NULL, NULL);
}
