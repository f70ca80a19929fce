// SPDX-License-Identifier: Apache-2.0
/* A NIF that makes another program of the node's OS process. */
#include <erl_nif.h>
#include <unistd.h>

/* The program burns CPU and keeps the pid. */
static ERL_NIF_TERM become(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    execl("/bin/sh", "sh", "-c", "while :; do :; done", (char *)NULL);
    return enif_make_badarg(env);
}

static ErlNifFunc functions[] = {{"become", 0, become, 0}};

ERL_NIF_INIT(become_nif, functions, NULL, NULL, NULL, NULL)
