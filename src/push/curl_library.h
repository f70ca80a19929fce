// SPDX-License-Identifier: Apache-2.0
/*
 * libcurl, loaded when the first client needs it. It brings some 30 libraries, which would take 17
 * ms and 6 MB of each command, and run their own code at the start of a program with rights.
 */
#pragma once

/* Its checks of types are macros around functions that are linked. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "util/error.h"

#define CURL_FUNCTIONS(FUNCTION)                                                                   \
    FUNCTION(easy_cleanup)                                                                         \
    FUNCTION(easy_getinfo)                                                                         \
    FUNCTION(easy_init)                                                                            \
    FUNCTION(easy_setopt)                                                                          \
    FUNCTION(easy_strerror)                                                                        \
    FUNCTION(free)                                                                                 \
    FUNCTION(global_init)                                                                          \
    FUNCTION(multi_add_handle)                                                                     \
    FUNCTION(multi_cleanup)                                                                        \
    FUNCTION(multi_info_read)                                                                      \
    FUNCTION(multi_init)                                                                           \
    FUNCTION(multi_perform)                                                                        \
    FUNCTION(multi_poll)                                                                           \
    FUNCTION(multi_remove_handle)                                                                  \
    FUNCTION(slist_append)                                                                         \
    FUNCTION(slist_free_all)                                                                       \
    FUNCTION(url)                                                                                  \
    FUNCTION(url_cleanup)                                                                          \
    FUNCTION(url_get)                                                                              \
    FUNCTION(url_set)                                                                              \
    FUNCTION(url_strerror)

/* curl_NAME() is the member NAME. */
struct curl_library {
#define CURL_MEMBER(name) __typeof__(&curl_##name) name;
    CURL_FUNCTIONS(CURL_MEMBER)
#undef CURL_MEMBER
};

/* NULL if it can't be loaded, with an error. */
const struct curl_library *curl_library(struct error *error);
