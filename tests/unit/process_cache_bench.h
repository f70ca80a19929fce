// SPDX-License-Identifier: Apache-2.0
/* A VM of OTP 25 with one process, whose entry is cached. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "fake_target.h"
#include "symbol/processes_internal.h"

static const char *const names[] = {"db",         "web",
                                    "m",          "init",
                                    "proc_lib",   "init_p",
                                    "server",     "$initial_call",
                                    "$ancestors", "application_master",
                                    "state",      "appl_data"};
enum {
    DB,
    WEB,
    M,
    INIT,
    PROC_LIB,
    INIT_P,
    SERVER,
    INITIAL_CALL,
    ANCESTORS,
    MASTER,
    STATE,
    APPL_DATA,
    NAMES,
};
enum { TABLE_SIZE = 64 };

static const uint64_t SECOND = 1000000000;

/* A VM of OTP 25 with one process, <0.41.0>, spawned with m:init/1. */
struct bench {
    struct fake_target *target;
    struct vm vm;
    struct atoms *atoms;
    struct profile *profile;
    struct process_cache *cache;
    uint64_t process, registered, table;
};

static inline void set(struct bench *bench, int32_t offset, uint64_t value)
{
    fake_put_u64(bench->target, bench->process + (uint64_t)offset, value);
}

static inline void spawn(struct bench *bench, uint64_t number, int module, int function)
{
    set(bench, bench->vm.layout.process_id, number << 32 | number << 4 | 3);
    set(bench, bench->vm.layout.process_initial, fake_atom_term((uint64_t)module));
    set(bench, bench->vm.layout.process_initial + 8, fake_atom_term((uint64_t)function));
    set(bench, bench->vm.layout.process_initial + 16, 1);
    set(bench, bench->vm.layout.process_reg, 0);
    set(bench, bench->vm.layout.process_dictionary, 0);
}

static inline void open_bench(struct bench *bench)
{
    struct error error;

    memset(bench, 0, sizeof(*bench));
    bench->target = fake_target_new();
    bench->vm = (struct vm){.memory = &bench->target->memory};
    fake_release(&bench->vm, 25);
    bench->vm.roots.atom_table = fake_room(bench->target, 128);
    bench->vm.roots.proc_table = fake_room(bench->target, 1024);
    fake_atom_table(bench->target, &bench->vm.layout, bench->vm.roots.atom_table, NAMES, names,
                    NAMES);
    bench->table = fake_room(bench->target, TABLE_SIZE * sizeof(uint64_t));
    fake_put_u64(bench->target, bench->vm.roots.proc_table + (uint64_t)bench->vm.layout.ptab_tab,
                 bench->table);
    fake_put_u32(bench->target, bench->vm.roots.proc_table + (uint64_t)bench->vm.layout.ptab_max,
                 TABLE_SIZE);
    bench->atoms = atoms_new(&bench->vm);
    bench->profile = profile_new();
    bench->process = fake_room(bench->target, (size_t)bench->vm.layout.sizeof_process);
    bench->registered = fake_room(bench->target, 64);
    spawn(bench, 41, M, INIT);
    bench->cache = process_cache_new(&bench->vm, bench->atoms, NULL, bench->profile, 0, &error);
    assert_non_null(bench->cache);
}

static inline void close_bench(struct bench *bench)
{
    process_cache_free(bench->cache);
    profile_free(bench->profile);
    atoms_free(bench->atoms);
    free(bench->target);
}

static inline process_id get(struct bench *bench, uint64_t time)
{
    return process_cache_get(bench->cache, bench->process,
                             bench->target->bytes + (bench->process - FAKE_BASE), time);
}

static inline void name(struct bench *bench, int atom)
{
    fake_put_u64(bench->target, bench->registered + (uint64_t)bench->vm.layout.regproc_process,
                 bench->process);
    fake_put_u64(bench->target, bench->registered + (uint64_t)bench->vm.layout.regproc_name,
                 fake_atom_term((uint64_t)atom));
}

static inline const char *name_of(struct bench *bench, process_id id)
{
    return profile_text(bench->profile, profile_get_process(bench->profile, id)->name);
}

/* Change the reductions: the process has run for a while. */
static inline void run(struct bench *bench)
{
    static uint64_t reds;

    set(bench, bench->vm.layout.process_reds, ++reds);
}
