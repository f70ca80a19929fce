// SPDX-License-Identifier: Apache-2.0
/* What a hostile user does to the own OS process. */
#include <erl_nif.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* Nobody reads the descriptor, so a fault in these pages never ends. tests/tools/hostile.c finds
 * them in smaps. */
static ERL_NIF_TERM hold_back(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register held = {.mode = UFFDIO_REGISTER_MODE_MISSING};
    unsigned pages;
    void *at;
    int fd;

    if (argc != 1 || !enif_get_uint(env, argv[0], &pages))
        return enif_make_badarg(env);
    at = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
              0);
    fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    held.range.start = (uintptr_t)at;
    held.range.len = (uint64_t)pages * PAGE;
    if (at == MAP_FAILED || fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
        ioctl(fd, UFFDIO_REGISTER, &held))
        return enif_make_badarg(env);
    return enif_make_atom(env, "ok");
}

/* A process that changes its user belongs to root for the kernel, until it says otherwise,
 * and no longer ends with its parent. The thread gets a name that changes a terminal. */
static ERL_NIF_TERM become(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    unsigned user;

    if (argc != 1 || !enif_get_uint(env, argv[0], &user) || setgroups(0, NULL) ||
        setresgid(user, user, user) || setresuid(user, user, user) || prctl(PR_SET_DUMPABLE, 1) ||
        prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_NAME, "\033[31mred"))
        return enif_make_badarg(env);
    return enif_make_atom(env, "ok");
}

static ErlNifFunc functions[] = {
    {"hold_back", 1, hold_back, 0},
    {"become", 1, become, 0},
};

ERL_NIF_INIT(hostile_nif, functions, NULL, NULL, NULL, NULL)
