// SPDX-License-Identifier: Apache-2.0
/* The types of values: from text to the configuration and back. */
#pragma once

#include <stdbool.h>

#include "agent/config/config_table.h"
#include "util/buffer.h"
#include "util/error.h"

struct config_type {
    const char *name; /* "duration" */
    bool is_text;     /* the target is a char *, which it owns; NULL: not given */
    /* Store the value of clean text at `target`. Return -1 with ERROR_USAGE. */
    int (*parse)(const struct config_key *key, const char *text, void *target, struct error *error);
    void (*print)(const void *target, struct buffer *text); /* NULL: it is text */
    void (*print_limit)(double limit, struct buffer *text); /* NULL: it is no number */
};

/* Of config_numbers.c: uint32_t; double; double, seconds; uint64_t, bytes. */
extern const struct config_type config_count, config_percent, config_duration, config_size;
/* Of config_texts.c; the last one is an enum push_protocol. */
extern const struct config_type config_events, config_trigger, config_path, config_name,
    config_text, config_user, config_url, config_listen, config_protocol;
/* A bool: "true" or "false". */
extern const struct config_type config_flag;

/* Parse the value of a key. The text "" means "not given" for texts without a default. Return -1
 * with ERROR_USAGE, and the target as it was. */
int config_value_parse(const struct config_key *key, const char *text, void *target,
                       struct error *error);

/* Append the value as config_value_parse() reads it. */
void config_value_print(const struct config_key *key, const void *target, struct buffer *text);

/* False for a text that is not given. */
bool config_value_is_given(const struct config_key *key, const void *target);

/* Free what the target owns. */
void config_value_free(const struct config_key *key, void *target);

/* Set the error that a key "must be `what`, not `text`". Return -1. */
int config_value_refuse(const struct config_key *key, const char *what, const char *text,
                        struct error *error);

/* Append the limits: "1s to 1h", "at most 64 bytes". Nothing if there are none. */
void config_value_limits(const struct config_key *key, struct buffer *text);

/* Text of a file or of a variable for a message: short, and safe to print. */
struct config_shown {
    char text[800];
};

struct config_shown config_value_shown(const char *text);
