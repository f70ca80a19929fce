// SPDX-License-Identifier: Apache-2.0
/*
 * Decisions of the program with their reasons, for a listener.
 *
 * Library code prints nothing. It logs its decisions here, and they are lost unless cli/ listens.
 * Without a listener, a message costs one load and one branch, and its arguments are not evaluated.
 * Any thread may log, with any lock held. A message leaves errno as it was.
 */
#pragma once

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>

enum log_level {
    LOG_OFF,
    LOG_DECISION, /* what was decided, and why: some lines a run */
    LOG_DETAIL,   /* the data behind it: many lines a second */
};

/* Get one line of a message: printable text without a line break. Called on any thread, and on
 * several at once. It must not wait for long. */
typedef void (*log_sink)(const char *area, const char *line);

/* Pass all messages up to `level` to `sink`, which is then never NULL. LOG_OFF: pass none. */
void log_listen(enum log_level level, log_sink sink);

extern atomic_int log_limit; /* for the macros below */

/* True if somebody listens to messages of this level. */
static inline bool log_wants(enum log_level level)
{
    return __builtin_expect(atomic_load_explicit(&log_limit, memory_order_relaxed) >= (int)level,
                            0);
}

/* Say a message: its area ("layout"), a format of printf() and its arguments. */
#define log_decision(...) LOG_MESSAGE(LOG_DECISION, __VA_ARGS__)
#define log_detail(...)   LOG_MESSAGE(LOG_DETAIL, __VA_ARGS__)

#define LOG_MESSAGE(level, ...)                                                                    \
    do {                                                                                           \
        if (log_wants(level))                                                                      \
            log_write(__VA_ARGS__);                                                                \
    } while (0)

/* Pass a message to the sink, each of its lines alone. */
void log_write(const char *area, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_write_list(const char *area, const char *format, va_list args);
