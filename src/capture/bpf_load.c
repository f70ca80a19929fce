// SPDX-License-Identifier: Apache-2.0
#include "capture/bpf_load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/capabilities.h"
#include "os/descriptors.h"
#include "util/alloc.h"
#include "util/log.h"

/* The longest log that all kernels accept (Linux 5.1, bpf_check() in kernel/bpf/verifier.c). Only
 * pages that are written take memory: libbpf asks for a log only after a refusal. */
enum { LOG_BYTES = UINT32_MAX >> 8 };

/* ---- libbpf's messages ---- */

static int take_message(enum libbpf_print_level level, const char *format, va_list args)
{
    if (log_wants(level == LIBBPF_DEBUG ? LOG_DETAIL : LOG_DECISION))
        log_write_list("bpf", format, args);
    return 0;
}

void bpf_load_log_messages(void)
{
    libbpf_set_print(take_message);
}

/* ---- the verifier's log ---- */

/* A program that was refused. */
struct refusal {
    const char *program; /* NULL: unknown, and there is no log */
    char *log;           /* within the buffer */
};

/* Give each program its log: the log of program n begins at byte n of a buffer of zeros. So the
 * first byte that is written says which program was refused. */
static void set_logs(struct bpf_object *object, char *buffer)
{
    struct bpf_program *program;
    size_t n = 0;

    bpf_object__for_each_program(program, object) {
        bpf_program__set_log_buf(program, buffer + n, LOG_BYTES - n);
        n++;
    }
}

static struct refusal refusal_of(struct bpf_object *object, char *buffer)
{
    struct bpf_program *program;
    size_t n = 0;

    bpf_object__for_each_program(program, object) {
        if (buffer[n])
            return (struct refusal){bpf_program__name(program), buffer + n};
        n++;
    }
    return (struct refusal){0};
}

/* True if the line has no reason: it is empty, or one of the statistics at the end. */
static bool is_idle_line(const char *line, size_t size)
{
    static const char *const statistics[] = {"processed ", "verification time ", "stack depth ",
                                             "max_states"};

    for (size_t i = 0; i < sizeof(statistics) / sizeof(statistics[0]); i++)
        if (!strncmp(line, statistics[i], strlen(statistics[i])))
            return true;
    return size == 0;
}

/* Cut the last line off a log. Return it, or NULL if there is none. */
static char *take_last_line(char *log)
{
    size_t size = strlen(log);
    char *line;

    while (size && isspace((unsigned char)log[size - 1]))
        size--;
    log[size] = '\0';
    line = strrchr(log, '\n');
    if (!line)
        return size ? log : NULL;
    *line = '\0';
    return line + 1;
}

/* Return the last line that has a reason, NULL if there is none. Destroys the log. */
static const char *last_reason(char *log)
{
    char *line;

    while ((line = take_last_line(log))) {
        if (!is_idle_line(line, strlen(line)))
            return line;
        if (line == log)
            return NULL;
    }
    return NULL;
}

/* ---- loading ---- */

/* The verifier refuses with EACCES. A user who must not load programs gets EPERM
 * (kernel/bpf/syscall.c). */
int bpf_load_error(int code, struct error *error)
{
    if (code == -EPERM)
        return capabilities_refused(CAPABILITIES_TO_LOAD, error, "load BPF programs");
    if (descriptors_ran_out(-code, error))
        return -1;
    if (access("/sys/kernel/btf/vmlinux", R_OK))
        return error_set(error, ERROR_UNSUPPORTED,
                         "this kernel has no BTF (/sys/kernel/btf/vmlinux): a kernel built with "
                         "CONFIG_DEBUG_INFO_BTF is needed");
    if (libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL) == 0)
        return error_set(error, ERROR_UNSUPPORTED,
                         "this kernel has no BPF ring buffers: Linux 5.8 or later is needed");
    return error_set(error, ERROR_UNSUPPORTED, "the kernel refused the BPF program: %s",
                     strerror(-code));
}

/* True if the verifier does not know bpf_get_attach_cookie(), which all probes call. Newer kernels
 * have its name, older ones only its number. */
static bool lacks_cookies(const char *reason)
{
    char number[16];

    snprintf(number, sizeof(number), "unknown#%d", BPF_FUNC_get_attach_cookie);
    return strstr(reason, number) || strstr(reason, "bpf_get_attach_cookie");
}

static int refused(int code, const struct refusal *refusal, struct error *error)
{
    const char *reason;

    if (code == -EPERM || code == -EMFILE || code == -ENFILE || !refusal->program)
        return bpf_load_error(code, error);
    log_decision("verifier", "the kernel refused program %s:\n%s", refusal->program, refusal->log);
    reason = last_reason(refusal->log);
    if (reason && lacks_cookies(reason))
        return error_set(error, ERROR_UNSUPPORTED,
                         "this kernel has no cookies for probes: events other than cpu and wall "
                         "need Linux 5.15 or later");
    return error_set(error, ERROR_UNSUPPORTED,
                     "the kernel refused the BPF program: %s: %s: %.300s (-v shows all that the "
                     "verifier says)",
                     strerror(-code), refusal->program, reason ? reason : "no reason");
}

static void say_loaded(struct bpf_object *object)
{
    struct bpf_program *program;

    bpf_object__for_each_program(program, object) {
        if (bpf_program__fd(program) >= 0)
            log_decision("bpf", "loaded program %s (%s), %zu instructions",
                         bpf_program__name(program), bpf_program__section_name(program),
                         bpf_program__insn_cnt(program));
    }
}

int bpf_load(struct bpf_object_skeleton *skeleton, struct error *error)
{
    struct bpf_object *object = *skeleton->obj;
    struct refusal refusal;
    int code, result = 0;
    char *buffer;

    /* Without descriptors, libbpf concludes that the kernel lacks features. */
    if (descriptors_check(error))
        return -1;
    buffer = xcalloc(1, LOG_BYTES);
    set_logs(object, buffer);
    code = bpf_object__load_skeleton(skeleton);
    if (code) {
        refusal = refusal_of(object, buffer);
        result = refused(code, &refusal, error);
    } else if (log_wants(LOG_DECISION)) {
        say_loaded(object);
    }
    free(buffer);
    return result;
}

int bpf_load_account(void)
{
    int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

    return fd < 0 ? -1 : fd;
}

static bool is_first_of_program(const struct probe_site *sites, int i)
{
    for (int j = 0; j < i; j++) {
        if (sites[j].program == sites[i].program)
            return false;
    }
    return true;
}

struct run_time bpf_load_run_time(const struct probe_site *sites, int count)
{
    struct run_time sum = {0};

    for (int i = 0; i < count; i++) {
        struct bpf_prog_info info = {0};
        uint32_t size = sizeof(info);

        if (!is_first_of_program(sites, i) ||
            bpf_obj_get_info_by_fd(bpf_program__fd(sites[i].program), &info, &size))
            continue;
        sum.runs += info.run_cnt;
        sum.ns += info.run_time_ns;
    }
    return sum;
}
