// SPDX-License-Identifier: Apache-2.0
#include "native/parser.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "elf/service.h"
#include "os/child.h"
#include "os/patient_open.h"
#include "os/procfs.h"
#include "os/thread_wait.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/stop.h"

enum {
    STARTS_MAX = 4, /* of one parser: a VM with more files that crash it gets no other names */
    SLICE_MS = 100, /* between two checks if the program must end */
    HANGING_LOOKS = 10,
};

/* The longest search has 1 s of CPU time; a machine may be busy. */
static const uint64_t ANSWER_NS = 15000000000;

/* All answers of a parser may take this time and a part of the time since its start. A parser that
 * hostile input has taken over could delay each of thousands. */
static const uint64_t WAIT_NS = 60000000000;
enum { WAIT_PART = 10 };

/* A VM that runs calls functions that have no name yet, for some time. Where more than MANY
 * processes run, each ends sooner. Not at once: a start takes 20 ms of CPU time. */
static const uint64_t REST_NS = 60000000000, REST_OF_MANY_NS = 10000000000,
                      REST_OF_IDLE_NS = 1000000000;
enum { MANY = 8 };

/* Processes that run now, of all parsers. */
static atomic_int running;

struct parser {
    int references;
    pthread_mutex_t lock;
    struct elf_service *here; /* NULL: a process of its own */
    pid_t owner;              /* the process that may end it */
    pid_t child;              /* 0: not running */
    int socket;
    int starts;
    unsigned int epoch;
    uint64_t made_ns;     /* CLOCK_MONOTONIC */
    uint64_t answered_ns; /* the last request, or made; the same clock */
    uint64_t waited_ns;   /* for all answers */
    uint64_t silent;      /* a device; 0: none */
};

static struct parser *make(void)
{
    struct parser *parser = xcalloc(1, sizeof(*parser));

    parser->references = 1;
    parser->socket = -1;
    parser->owner = getpid();
    parser->made_ns = parser->answered_ns = clock_ns(CLOCK_MONOTONIC);
    pthread_mutex_init(&parser->lock, NULL);
    return parser;
}

struct parser *parser_here(void)
{
    struct parser *parser = make();

    parser->here = elf_service_new();
    return parser;
}

struct parser *parser_share(struct parser *parser)
{
    parser->references++;
    return parser;
}

bool parser_has_started(const struct parser *parser)
{
    return parser->here || parser->child || parser->epoch;
}

unsigned int parser_epoch(const struct parser *parser)
{
    return parser->epoch;
}

uint64_t parser_silent_device(const struct parser *parser)
{
    return parser->silent;
}

void parser_note_silent(struct parser *parser, uint64_t device)
{
    parser->silent = device;
}

/* ---- the process ---- */

static bool start(struct parser *parser)
{
    int sockets[2], code;

    if (parser->starts == STARTS_MAX || getpid() != parser->owner ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
        return false;
    parser->starts++;
    parser->child = parser_fork(sockets[1]);
    code = errno;
    close(sockets[1]);
    if (parser->child < 0) {
        log_decision("parser", "can't be started: %s", strerror(code));
        close(sockets[0]);
        parser->child = 0;
        return false;
    }
    parser->socket = sockets[0];
    atomic_fetch_add(&running, 1);
    return true;
}

struct parser *parser_start(void)
{
    struct parser *parser = make();

    start(parser);
    return parser;
}

/* End the process. After fork() it is not a child of this process. */
static void end(struct parser *parser)
{
    if (!parser->child)
        return;
    close(parser->socket);
    if (getpid() == parser->owner && kill(parser->child, SIGKILL) == 0)
        child_await(parser->child);
    atomic_fetch_sub(&running, 1);
    parser->child = 0;
    parser->socket = -1;
    parser->epoch++;
}

void parser_rest(struct parser *parser, bool is_idle)
{
    uint64_t rest = is_idle                        ? REST_OF_IDLE_NS
                    : atomic_load(&running) > MANY ? REST_OF_MANY_NS
                                                   : REST_NS;

    pthread_mutex_lock(&parser->lock);
    if (parser->child && clock_ns(CLOCK_MONOTONIC) - parser->answered_ns > rest) {
        end(parser);
        parser->starts--; /* it has not crashed */
    }
    pthread_mutex_unlock(&parser->lock);
}

void parser_release(struct parser *parser)
{
    if (!parser || --parser->references)
        return;
    end(parser);
    elf_service_free(parser->here);
    pthread_mutex_destroy(&parser->lock);
    free(parser);
}

/* ---- requests ---- */

static bool is_too_slow(const struct parser *parser)
{
    uint64_t elapsed = clock_ns(CLOCK_MONOTONIC) - parser->made_ns;

    return parser->waited_ns > WAIT_NS + elapsed / WAIT_PART;
}

/* Wait for an answer. Return 0, or an errno: ETIME if there is none in time, or the program must
 * end; EBUSY if the parser hangs in one wait, for a file server. */
static int wait_for(struct parser *parser)
{
    uint64_t from = clock_ns(CLOCK_MONOTONIC), waited;
    struct pollfd waiting = {.fd = parser->socket, .events = POLLIN};
    struct thread_wait wait = {0};
    int ready, code = 0;

    do {
        ready = poll(&waiting, 1, SLICE_MS);
        waited = clock_ns(CLOCK_MONOTONIC) - from;
        if (ready <= 0 && thread_wait_look(&wait, parser->child) >= HANGING_LOOKS)
            code = EBUSY;
        else if (ready <= 0 && (waited > ANSWER_NS || stop_is_overdue()))
            code = ETIME;
    } while (ready <= 0 && !code);
    parser->waited_ns += waited;
    parser->answered_ns = from + waited;
    return code;
}

/* Log the parser's messages. */
static void pass_log(const char *text, size_t size)
{
    for (size_t at = 0, length; at < size; at += length + 1) {
        char *line;

        length = strcspn(text + at, "\n");
        line = xstrndup(text + at, length);
        log_write("parser", "%s", line);
        free(line);
    }
}

/* Return 0, or an errno as wait_for(); EPROTO if the answer is not sound. */
static int receive(struct parser *parser, struct buffer *answer)
{
    struct parser_answer header;
    int code = wait_for(parser);
    char *message;
    ssize_t size;
    bool sound;

    if (code)
        return code;
    message = xmalloc(PARSER_MESSAGE_MAX + 1);
    size = recv(parser->socket, message, PARSER_MESSAGE_MAX, 0);
    sound = size >= (ssize_t)sizeof(header);
    if (sound) {
        memcpy(&header, message, sizeof(header));
        sound = header.answer_bytes <= ELF_ANSWER_MAX && header.log_bytes <= PARSER_LOG_MAX &&
                (size_t)size == sizeof(header) + header.answer_bytes + header.log_bytes;
    }
    if (sound) {
        message[size] = '\0';
        buffer_put(answer, message + sizeof(header), header.answer_bytes);
        pass_log(message + sizeof(header) + header.answer_bytes, header.log_bytes);
    }
    free(message);
    return sound ? 0 : EPROTO;
}

/* Send the request, and wait for its answer. Return 0, or an errno. */
static int exchange(struct parser *parser, const struct elf_request *request, const char *text,
                    int file, struct buffer *answer)
{
    return parser_process_send(parser->socket, request, text, file) ? receive(parser, answer)
                                                                    : EPIPE;
}

static bool ask_child(struct parser *parser, const struct elf_request *request, const char *text,
                      int fd, struct buffer *answer)
{
    int file = -1, code;

    errno = EAGAIN;
    if (stop_is_overdue() || is_too_slow(parser) || (!parser->child && !start(parser)) ||
        (fd >= 0 && (file = patient_open_for_reading(fd)) < 0))
        return false;
    code = exchange(parser, request, text, file, answer);
    if (file >= 0)
        close(file);
    if (!code)
        return true;
    log_decision("parser", "gave no answer to request %u: it is ended", request->call);
    end(parser);
    errno = code;
    return false;
}

static bool ask_here(struct parser *parser, const struct elf_request *request, const char *text,
                     int fd, struct buffer *answer)
{
    elf_service_answer(parser->here, request, text, fd < 0 ? -1 : procfs_reopen(fd), answer);
    return true;
}

bool parser_ask(struct parser *parser, const struct elf_request *request, const char *text, int fd,
                struct buffer *answer)
{
    bool answered;

    answer->size = 0;
    if (request->text_bytes > ELF_TEXT_MAX)
        return false;
    pthread_mutex_lock(&parser->lock);
    answered = parser->here ? ask_here(parser, request, text, fd, answer)
                            : ask_child(parser, request, text, fd, answer);
    pthread_mutex_unlock(&parser->lock);
    return answered;
}
