// SPDX-License-Identifier: Apache-2.0
/* What a hostile user does to the own OS process. */
#include <erl_nif.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
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

static int stalling = -1; /* the file of tests/tools/stalling_files.c */
static const char *stalling_page;

static void *map_stalling(void)
{
    return mmap(NULL, 64 * PAGE, PROT_READ, MAP_PRIVATE, stalling, 0);
}

/* Map a file whose contents never come. */
static ERL_NIF_TERM map_file(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    char path[256];

    if (argc != 1 || enif_get_string(env, argv[0], path, sizeof(path), ERL_NIF_LATIN1) <= 0)
        return enif_make_badarg(env);
    stalling = open(path, O_RDONLY | O_CLOEXEC);
    stalling_page = stalling < 0 ? MAP_FAILED : map_stalling();
    return stalling_page == MAP_FAILED ? enif_make_badarg(env) : enif_make_atom(env, "ok");
}

static void *touch(void *argument)
{
    (void)argument;
    return (void *)(uintptr_t) * (volatile const char *)stalling_page;
}

static void *map_again(void *argument)
{
    (void)argument;
    usleep(200000); /* the page is locked then */
    return map_stalling();
}

/* Hold the lock of the own memory map for ever: a new mapping waits for the page that another
 * thread waits for. */
static ERL_NIF_TERM lock_memory(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    pthread_t threads[2];

    (void)argv;
    if (argc != 0 || pthread_create(&threads[0], NULL, touch, NULL) ||
        pthread_create(&threads[1], NULL, map_again, NULL))
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
    {"map_file", 1, map_file, 0},
    {"lock_memory", 0, lock_memory, 0},
    {"become", 1, become, 0},
};

ERL_NIF_INIT(hostile_nif, functions, NULL, NULL, NULL, NULL)
