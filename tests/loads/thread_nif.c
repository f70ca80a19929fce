// SPDX-License-Identifier: Apache-2.0
/* A NIF that starts native threads, which work for a moment and end. */
#include <erl_nif.h>

enum { THREADS_MAX = 64 };

static void *work(void *argument)
{
    volatile unsigned sum = 0;

    (void)argument;
    for (unsigned i = 0; i < 100000; i++)
        sum += i;
    return NULL;
}

/* Return how many threads have run. */
static ERL_NIF_TERM run(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifTid threads[THREADS_MAX];
    int count, started = 0;

    if (argc != 1 || !enif_get_int(env, argv[0], &count) || count < 0 || count > THREADS_MAX)
        return enif_make_badarg(env);
    while (started < count &&
           enif_thread_create((char *)"short", &threads[started], work, NULL, NULL) == 0)
        started++;
    for (int i = 0; i < started; i++)
        enif_thread_join(threads[i], NULL);
    return enif_make_int(env, started);
}

static ErlNifFunc functions[] = {{"run", 1, run, ERL_NIF_DIRTY_JOB_IO_BOUND}};

ERL_NIF_INIT(thread_nif, functions, NULL, NULL, NULL, NULL)
