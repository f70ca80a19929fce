// SPDX-License-Identifier: Apache-2.0
/*
 * Fetches debug files from servers of debuginfod while a recording runs.
 *
 * Servers and what they send are not trusted, and a recorder may not use the network. So a process
 * without rights, which is started before, fetches the files into the cache of debuginfod's clients
 * (debuginfod_find_debuginfo(3)). native/debug_file.h finds them there and checks their build ids.
 *
 *      add_servers ──> start ──> { want, step }... ──> end
 *
 * Nothing here waits for a server. The functions of a file get their names when its debug file has
 * arrived.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <sys/types.h>

#include "elf/build_id.h"
#include "util/buffer.h"
#include "util/error.h"

/* The name in place of URLs for the servers in the environment. */
#define DEBUG_FETCH_FROM_ENVIRONMENT "debuginfod"

/* True if `text` names servers: a URL, or DEBUG_FETCH_FROM_ENVIRONMENT. */
bool debug_fetch_is_server(const char *text);

/* Add servers that files are fetched from, before the start. */
int debug_fetch_add_servers(const char *text, struct error *error);

/* True if servers were added. */
bool debug_fetch_is_wanted(void);

/* Make the cache directory and start the process, if servers were added. The caller must still have
 * the right to use the network. */
int debug_fetch_start(struct error *error);

/* Fetch the debug file of the file `path` with this build id. False if nothing is fetched. */
bool debug_fetch_want(const struct build_id *id, const char *path);

/* Take note of what the process has done since the last call. */
void debug_fetch_step(void);

/* A number that grows when a file arrives. */
uint32_t debug_fetch_version(void);

/* True if the debug file with this build id has arrived. */
bool debug_fetch_has(const struct build_id *id);

/* The file that has arrived is not that of the build id: remove it from the cache. */
void debug_fetch_reject(const struct build_id *id);

/* The cache directory; NULL if no process was started. */
const char *debug_fetch_cache(void);

/* Append what is being fetched, for a line that shows the progress; nothing if all is done. */
void debug_fetch_progress(struct buffer *text);

/* End the process, which takes DEBUG_FETCH_END_MS at most. Then call `say`, with arguments as of
 * printf(), for each reason why files have no debug file. */
enum { DEBUG_FETCH_END_MS = 1000 };
typedef void (*debug_fetch_say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
void debug_fetch_end(debug_fetch_say say);

/* ---- debug_fetch_process.c ---- */

/* The process that fetches, and its messages. Both sides are the same program. The other side may
 * have been taken over by a server. */

enum {
    DEBUG_FETCH_FILE_MB = 256, /* a larger file is not fetched */
    DEBUG_FETCH_SECONDS = 60,  /* for one file */
    DEBUG_FETCH_SILENCE_SECONDS = 10,
    DEBUG_FETCH_ROOM_MB = 1024, /* that must be free on the disk of the cache */
};

enum debug_fetch_call {
    DEBUG_FETCH_GET,
    DEBUG_FETCH_DROP, /* remove the file from the cache; there is no reply */
};

struct debug_fetch_request {
    uint32_t call; /* enum debug_fetch_call */
    struct build_id id;
};

/* What became of a file. */
enum debug_fetch_result {
    DEBUG_FETCH_UNDER_WAY,
    DEBUG_FETCH_ARRIVED,
    DEBUG_FETCH_UNKNOWN, /* the servers do not have it */
    DEBUG_FETCH_TOO_LARGE,
    DEBUG_FETCH_TOO_SLOW,
    DEBUG_FETCH_NO_ROOM,    /* on the disk */
    DEBUG_FETCH_NO_LIBRARY, /* libdebuginfod can't be loaded */
    DEBUG_FETCH_FAILED,     /* see `code` */
    DEBUG_FETCH_RESULTS,
};

struct debug_fetch_reply {
    uint32_t result; /* enum debug_fetch_result */
    int32_t code;    /* errno of DEBUG_FETCH_FAILED */
    struct build_id id;
    uint64_t got, size; /* bytes, of a file that is under way; size: 0 if unknown */
};

/* Give up all rights but to use the network and the cache, and serve the requests that come through
 * `socket`, until it is closed. For a process that fork() has just made in `parent`. */
noreturn void debug_fetch_process_run(int socket, const char *urls, const char *cache,
                                      pid_t parent);

/* ---- debuginfod_library.c ---- */

/* libdebuginfod, which is loaded when it is needed. */

struct debuginfod_client; /* of the library */

/* elfutils/debuginfod.h */
struct debuginfod_library {
    struct debuginfod_client *(*begin)(void);
    void (*set_progressfn)(struct debuginfod_client *client,
                           int (*progress)(struct debuginfod_client *client, long got, long size));
    int (*find_debuginfo)(struct debuginfod_client *client, const unsigned char *id, int id_bytes,
                          char **path);
};

/* NULL if it can't be loaded. */
const struct debuginfod_library *debuginfod_library(void);
