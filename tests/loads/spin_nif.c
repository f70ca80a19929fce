// SPDX-License-Identifier: Apache-2.0
/* NIFs that burn CPU for a known time, wait, send a message, crash, and read the CPU clock of the
 * whole node. */
#include <erl_nif.h>
#include <stdint.h>
#include <time.h>

static uint64_t nanoseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Return a value made from the work, so that the compiler cannot remove the work. */
static ERL_NIF_TERM burn(ErlNifEnv *env, uint64_t microseconds)
{
    uint64_t until = nanoseconds(CLOCK_MONOTONIC) + microseconds * 1000;
    uint64_t x = 88172645463325252u;
    do {
        for (int i = 0; i < 2000; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
    } while (nanoseconds(CLOCK_MONOTONIC) < until);
    return enif_make_uint64(env, x);
}

static ERL_NIF_TERM spin(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifUInt64 microseconds;
    if (argc != 1 || !enif_get_uint64(env, argv[0], &microseconds))
        return enif_make_badarg(env);
    return burn(env, microseconds);
}

/* Wait in the kernel, several C calls deep. */
__attribute__((noinline)) static int wait_in_kernel(uint64_t microseconds, int depth)
{
    struct timespec time = {.tv_sec = (time_t)(microseconds / 1000000),
                            .tv_nsec = (long)(microseconds % 1000000) * 1000};
    int result = depth ? wait_in_kernel(microseconds, depth - 1) : nanosleep(&time, NULL);

    __asm__ volatile("" : : : "memory"); /* not a tail call */
    return result;
}

static ERL_NIF_TERM wait(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifUInt64 microseconds;
    if (argc != 1 || !enif_get_uint64(env, argv[0], &microseconds))
        return enif_make_badarg(env);
    return enif_make_int(env, wait_in_kernel(microseconds, 5));
}

static ERL_NIF_TERM cpu_ns(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return enif_make_uint64(env, nanoseconds(CLOCK_PROCESS_CPUTIME_ID));
}

static ERL_NIF_TERM send(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid to;
    if (argc != 2 || !enif_get_local_pid(env, argv[0], &to))
        return enif_make_badarg(env);
    return enif_make_int(env, enif_send(env, &to, NULL, argv[1]));
}

/* Read from a null pointer: the kernel ends the node with a core file. */
static ERL_NIF_TERM crash(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const volatile int *volatile nowhere = NULL;

    (void)argc;
    (void)argv;
    return enif_make_int(env, *nowhere);
}

static ErlNifFunc functions[] = {
    {"spin", 1, spin, 0},
    {"dirty_spin", 1, spin, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"wait", 1, wait, 0},
    {"send", 2, send, 0},
    {"cpu_ns", 0, cpu_ns, 0},
    {"crash", 0, crash, 0},
    {"dirty_crash", 0, crash, ERL_NIF_DIRTY_JOB_IO_BOUND},
};

ERL_NIF_INIT(spin_nif, functions, NULL, NULL, NULL, NULL)
