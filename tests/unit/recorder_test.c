// SPDX-License-Identifier: Apache-2.0
/* What the recorder does when a recording can't be written. The linker calls __wrap_NAME of this
 * file instead of functions of the session and of rotation (UNIT_WRAPPED in the Makefile). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rotation/recorder.h"

int __wrap_session_begin(struct session *session, int fd, struct error *error);
int __wrap_session_step(struct session *session, int timeout_ms, struct error *error);
int __wrap_session_end(struct session *session, int *ret_fd, struct error *error);
void __wrap_session_pause(struct session *session);
void __wrap_session_resume(struct session *session);
void __wrap_session_stop(struct session *session);
bool __wrap_session_alive(const struct session *session);
bool __wrap_session_may_continue(const struct session *session);
int __wrap_rotation_create(struct rotation *rotation, time_t seconds, struct error *error);
void __wrap_rotation_write(struct rotation *rotation, int fd, bool whole);
bool __wrap_rotation_is_busy(struct rotation *rotation);

/* A session of which only the segment matters. */
struct session {
    bool has_segment, is_paused;
    unsigned steps, failing_step;
};

struct rotation {
    unsigned created, written;
};

int __wrap_session_begin(struct session *session, int fd, struct error *error)
{
    (void)fd;
    (void)error;
    assert_false(session->has_segment);
    session->has_segment = true;
    return 0;
}

int __wrap_session_step(struct session *session, int timeout_ms, struct error *error)
{
    (void)timeout_ms;
    assert_true(session->has_segment && !session->is_paused);
    return ++session->steps == session->failing_step
               ? error_set(error, ERROR_FAILED, "no space left on device")
               : 0;
}

int __wrap_session_end(struct session *session, int *ret_fd, struct error *error)
{
    (void)error;
    assert_true(session->has_segment);
    session->has_segment = false;
    *ret_fd = -1;
    return 0;
}

void __wrap_session_pause(struct session *session)
{
    session->is_paused = true;
}

void __wrap_session_resume(struct session *session)
{
    session->is_paused = false;
}

void __wrap_session_stop(struct session *session)
{
    (void)session;
}

bool __wrap_session_alive(const struct session *session)
{
    (void)session;
    return true;
}

bool __wrap_session_may_continue(const struct session *session)
{
    (void)session;
    return true;
}

int __wrap_rotation_create(struct rotation *rotation, time_t seconds, struct error *error)
{
    (void)seconds;
    (void)error;
    rotation->created++;
    return 0;
}

void __wrap_rotation_write(struct rotation *rotation, int fd, bool whole)
{
    (void)fd;
    (void)whole;
    rotation->written++;
}

bool __wrap_rotation_is_busy(struct rotation *rotation)
{
    (void)rotation;
    return false;
}

/* ---- reports ---- */

enum { TURNS = 5, FAILING = 3 };

struct reported {
    enum recorder_state states[TURNS + 1];
    unsigned count, room_requests;
    volatile int stop;
};

static void note_progress(void *context, struct session *session, enum recorder_state state)
{
    struct reported *reported = context;

    if (state == RECORDER_ENDS)
        return;
    assert_int_equal(session->has_segment, state == RECORDER_RECORDS);
    reported->states[reported->count++] = state;
    reported->stop = reported->count == TURNS;
}

static bool make_room(void *context, const struct error *problem)
{
    struct reported *reported = context;

    assert_string_equal(problem->text, "no space left on device");
    reported->room_requests++;
    return true;
}

/* Who gets the reports may use the segment while the recorder records. */
static void test_step_that_fails_is_reported_as_a_pause(void **state)
{
    static const enum recorder_state expected[TURNS] = {
        RECORDER_RECORDS, RECORDER_RECORDS, RECORDER_PAUSED, RECORDER_RECORDS, RECORDER_RECORDS};
    struct reported reported = {.count = 0};
    const struct rotation_reports reports = {
        .context = &reported, .progress = note_progress, .make_room = make_room};
    const struct recorder_options options = {.loop = 3600, .reports = &reports};
    struct session session = {.failing_step = FAILING};
    struct rotation rotation = {.created = 0};
    struct error error;

    (void)state;
    assert_int_equal(recorder_run_segments(&session, &options, &reported.stop, &rotation, &error),
                     0);
    assert_memory_equal(reported.states, expected, sizeof(expected));
    assert_int_equal(reported.room_requests, 1);
    assert_int_equal(rotation.created, 2);
    assert_int_equal(rotation.written, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_that_fails_is_reported_as_a_pause)};

    return cmocka_run_group_tests_name("recorder", tests, NULL, NULL);
}
