// SPDX-License-Identifier: Apache-2.0
/*
 * A VM that exports only its NIF interface. It is this program: the assembler makes its functions,
 * in the form that they have in OTP 29, and the JIT's code. Lists and tables are in a fake target.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/auxv.h>
#include <unistd.h>

#include "fake_code.h"
#include "hooks/hook_internal.h"
#include "hooks/hooks.h"

/* clang-format off */
#define ASM(text) __asm__(".intel_syntax noprefix\n" text "\n.att_syntax prefix\n")
#define STRING(...) #__VA_ARGS__
#define C_CODE(name, ...) \
    ".pushsection .text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n.cfi_startproc\n" \
    STRING(__VA_ARGS__) "\n.cfi_endproc\n.size " #name ", . - " #name "\n.popsection\n"
/* A function of the VM. */
#define C_FUNCTION(name, ...) \
    extern const uint8_t name[]; \
    ASM(C_CODE(name, __VA_ARGS__))
/* Code of the JIT, as data. */
#define JIT_FUNCTION(name, ...) \
    extern const uint8_t name[], name##_end[]; \
    ASM(".pushsection .data\n.balign 8\n" #name ":\n" STRING(__VA_ARGS__) "\n" #name "_end:\n.popsection\n")

C_FUNCTION(other, ret);
const uint8_t *vm_allocate = other;

/* Scheduling. */
C_FUNCTION(vm_change_state, ret);
C_FUNCTION(vm_select_queue, ret);
C_FUNCTION(vm_add_to_queue,
    push rbx; mov rbx, rdx; call vm_select_queue; test rax, rax; je 1f; mov qword ptr [rbx + 0x128], 0;
    call other; 1: pop rbx; ret);
C_FUNCTION(vm_schedule_process,
    push rbx; mov rbx, rdi; sub rsp, 0x10; mov r9d, edx; lea rcx, [rsp + 4]; mov [rsp + 4], esi;
    mov edx, 0x2000; xor esi, esi; mov r8, rsp; mov dword ptr [rsp], -1; call vm_change_state;
    mov esi, [rsp]; mov ecx, [rsp + 4]; add rsp, 0x10; mov rdx, rbx; mov edi, eax; pop rbx;
    jmp vm_add_to_queue);
C_FUNCTION(vm_enqueue_task, ret);
C_FUNCTION(vm_system_schedule,
    sub rsp, 0x18; mov r8d, esi; lock cmpxchg [rdi + 0x270], ecx; mov ecx, edx; xor esi, esi; lea r9, [rsp + 0xc]; xor edx, edx;
    mov dword ptr [rsp + 0xc], 0x400; call vm_enqueue_task; add rsp, 0x18; ret);
/* The word at 0xf8 of a scheduler is also passed to a function that does not reset it. */
C_FUNCTION(vm_aux_work, mov qword ptr [rdi + 0x18], -1; mov eax, esi; ret);
C_FUNCTION(vm_check_io, ret);
C_FUNCTION(vm_scheduler_wait,
    push rbx; mov rbx, rsi; lea rdi, [rbx + 0xf8]; mov edx, 1; call vm_aux_work; xor edx, edx;
    mov rsi, -1; mov rdi, [rbx + 0xa0]; call vm_check_io; pop rbx; ret);
/* It does not poll. */
C_FUNCTION(vm_work_only,
    push rbx; mov rbx, rsi; lea rdi, [rbx + 0xf8]; mov edx, 1; call vm_aux_work; pop rbx; ret);
C_FUNCTION(vm_schedule,
    push rbx; mov rbx, rdi; xor edi, edi; call vm_select_queue; lea rdi, [rbx + 0xf8]; xor edx, edx;
    mov esi, eax; call vm_aux_work; lea rdi, [rbx + 0xf8]; xor edx, edx; call other;
    movabs rsi, 0x8000000000000000; xor edx, edx; mov rdi, [rbx + 0xa0]; call vm_check_io;
    mov esi, 1; xor edx, edx; mov rdi, [rbx + 0xa0]; call other; mov rsi, rbx; call vm_work_only;
    mov rsi, rbx; call vm_scheduler_wait; pop rbx; ret);
C_FUNCTION(vm_copy_in, ret);
C_FUNCTION(vm_copy_out, ret);
/* Processes return from Erlang code to the part before 2, which 7 jumps to. */
JIT_FUNCTION(jit_process_main,
    push rbx; sub rsp, 0x2000; and rsp, -64; lea rbx, [rsp + 0x40]; xor r13d, r13d; xor edx, edx;
    jmp 2f; mov rdi, r13; mov rsi, rbx; call [rip + 5f];
    2: xor edi, edi; xor esi, esi; call [rip + 6f];
    xor edi, edi; mov rsi, r13; call [rip + 3f]; mov r13, rax;
    mov rdi, r13; mov rsi, rbx; call [rip + 4f]; mov rdi, r13; mov esi, 7; call [rip + 6f];
    7: jmp [r13 + 0xf8];
    .balign 8; 3: .quad vm_schedule; 4: .quad vm_copy_in; 5: .quad vm_copy_out; 6: .quad other);

/* Dirty scheduling. */
C_FUNCTION(vm_dirty_nif, sub rsp, 0x28; lea rax, [rsp + 8]; mov [rdi + 0xd0], rax; call other;
    add rsp, 0x28; ret);
C_FUNCTION(vm_dirty_bif, sub rsp, 8; mov qword ptr [rdi + 0xd8], 0; call other; add rsp, 8; ret);
C_FUNCTION(vm_not_for_the_process, ret);
C_FUNCTION(vm_dirty_loop,
    push rbp; mov rbp, rdi; push rbx; 1: xor esi, esi; mov rdi, rbp; call vm_schedule; mov rbx, rax;
    call other; mov rcx, [rbp]; add rcx, 0x40; mov rdx, [rax + 0xf8]; mov rsi, rax; mov rdi, rbp;
    call vm_not_for_the_process; mov rcx, [rbp]; add rcx, 0x40; mov rdx, [rbx + 0xf8]; mov rsi, rbx;
    mov rdi, rbp; cmp qword ptr [rdx], 0x1d; je 2f; call vm_dirty_nif; jmp 1b;
    2: call vm_dirty_bif; jmp 1b);

/* Garbage collection. */
C_FUNCTION(vm_full_sweep, ret);
C_FUNCTION(vm_garbage_collect,
    push rbx; mov rbx, rdi; call [rip + vm_allocate]; mov rdx, rax; mov rcx, rax; mov rdi, rbx;
    call vm_full_sweep; mov rdi, rbx; mov rdx, rax; call other; pop rbx; ret);
C_FUNCTION(vm_collect_nobump,
    push rbx; mov ebx, r8d; test byte ptr [rdi + 0x188], 6; jne 1f; sub rsp, 8; mov r9d, ebx;
    mov r8d, ecx; mov rcx, rdx; push 0; mov rdx, rsi; mov rsi, -8; call vm_garbage_collect;
    add rsp, 0x10; 1: pop rbx; ret);
JIT_FUNCTION(jit_collect, mov rdi, r13; call [rip + 1f]; ret; .balign 8; 1: .quad vm_collect_nobump);
C_FUNCTION(vm_hibernate_inner,
    push rbx; mov rbx, rdi; call [rip + vm_allocate]; mov edx, 1; mov rcx, rax; mov r8, rax;
    mov rdi, rbx; call vm_full_sweep; pop rbx; ret);
C_FUNCTION(vm_collect_hibernate,
    push rbx; mov rbx, rdi; mov esi, 1; call vm_hibernate_inner; sub [rbx + 0x78], eax; pop rbx; ret);
C_FUNCTION(vm_fetch_signals, push rbx; mov esi, 1; call other; pop rbx; ret);
C_FUNCTION(vm_hibernate,
    push rbx; mov rbx, rdi; call vm_fetch_signals; mov rdi, rbx; call vm_collect_hibernate; pop rbx;
    ret);
C_FUNCTION(vm_hibernate_3, mov edx, 3; sub rsp, 8; call vm_hibernate; add rsp, 8; ret);

C_FUNCTION(vm_heap_alloc,
    push rbx; mov rbx, rdi; call [rip + vm_allocate]; mov rdx, [rbx + 0x220]; mov [rax], rdx;
    mov [rbx + 0x220], rax; pop rbx; ret);
C_FUNCTION(vm_setelement_3,
    push rbx; mov rbx, rdi; mov esi, 9; xor edx, edx; call other; mov esi, 9; xor edx, edx;
    mov rdi, rbx; call vm_heap_alloc; pop rbx; ret);

/* Messages. The two functions that queue a message follow each other. */
C_FUNCTION(vm_offer, ret);
C_FUNCTION(vm_install_buffers, ret);
C_FUNCTION(vm_queue_messages,
    push rbx; mov rbx, rsi; push rbp; mov ebp, edx; push r9; xor r9d, r9d; call vm_offer; pop r9;
    test eax, eax; jne 2f; mov esi, [rbx + 0x270]; mov rdi, rbx;
    call vm_install_buffers; mov esi, [rbx + 0x270]; test esi, 0x2000; jne 1f; mov edx, ebp;
    mov rdi, rbx; call vm_schedule_process; 1: mov esi, [rbx + 0x270]; mov edx, 0x2000; mov rdi, rbx;
    call vm_system_schedule; mov esi, [rbx + 0x270]; mov edx, ebp; mov rdi, rbx;
    call vm_system_schedule; call other; 2: pop rbp; pop rbx; ret);
extern const uint8_t vm_queue_proc_message[], vm_queue_proc_messages[];
ASM(C_CODE(vm_queue_proc_message,
           mov [rcx + 0x10], r8; mov rax, [rdi]; mov r8, rcx; mov [rcx + 0x20], rax; mov rdi, [rdi];
           mov r9d, 1; jmp vm_queue_messages)
    C_CODE(vm_queue_proc_messages,
           push rbx; mov rdi, [rdi]; pop rbx; jmp vm_queue_messages));
C_FUNCTION(vm_queue_message,
    mov [rdx + 0x10], rcx; mov [rdx + 0x20], r8; mov r9d, 1; jmp vm_queue_messages);
C_FUNCTION(enif_send, push rbx; call other; call vm_queue_message; call vm_queue_proc_message; pop rbx;
    ret);
C_FUNCTION(vm_size_object, ret);
C_FUNCTION(vm_copy_struct, ret);
C_FUNCTION(enif_make_copy,
    push rbp; mov rbp, rsi; push rbx; mov rbx, rdi; sub rsp, 0x18; mov rdi, rbp; call vm_size_object;
    mov rsi, rax; mov [rsp], rax; mov rcx, [rbx + 8]; xor r9d, r9d; xor r8d, r8d; lea rdx, [rsp + 8]; mov rdi, rbp;
    add rcx, 0x200; call other; mov rsi, [rsp]; mov rcx, [rbx + 8]; xor r9d, r9d; xor r8d, r8d;
    lea rdx, [rsp + 8]; mov rdi, rbp; add rcx, 0x208; call vm_copy_struct; add rsp, 0x18; pop rbx; pop rbp; ret);
C_FUNCTION(vm_remove_message, ret);
JIT_FUNCTION(jit_receive,
    mov rbp, rsp; lea rsp, [rbx - 0x40]; mov rdi, r13; mov rdx, r15; mov rcx, rbp; mov r8, r14;
    call [rip + 2f]; mov rsp, rbp; dec r14d;
    mov rdx, r15; mov rcx, rsp; mov rbp, rsp; lea rsp, [rbx - 0x40]; mov rdi, r13; mov esi, r14d;
    mov r8, r12; call [rip + 1f]; mov r14d, eax; mov rsp, rbp; ret;
    .balign 8; 1: .quad vm_remove_message; 2: .quad other);
JIT_FUNCTION(jit_receive_fp,
    mov [r13 + 0x58], rsp; lea rsp, [rbx - 0x40]; mov rdi, r13; call [rip + 2f]; mov rsp, [r13 + 0x58];
    mov r15, [r13 + 0x50]; mov rdx, r15; mov rcx, rsp; mov rdi, r13; mov r8, r12; call [rip + 1f]; ret;
    .balign 8; 1: .quad vm_remove_message; 2: .quad other);

/* Spawning and exiting. */
C_FUNCTION(vm_create_process, ret);
C_FUNCTION(vm_spawn_3,
    sub rsp, 0xb8; mov rcx, [rsi + 0x10]; mov rdx, [rsi + 8]; mov r8, rsp; mov rsi, [rsi];
    call vm_create_process; test rax, rax; call other; add rsp, 0xb8; ret);
C_FUNCTION(vm_continue_exit, ret);
C_FUNCTION(vm_do_exit, push rbx; mov rbx, rdi; call other; mov rdi, rbx; pop rbx; jmp vm_continue_exit);
JIT_FUNCTION(jit_normal_exit, mov rdi, r13; call [rip + 3f]; mov esi, 0x8b; mov rdi, r13;
    call [rip + 1f]; jmp 2f; .balign 8; 1: .quad vm_do_exit; 3: .quad other; 2: ret);
JIT_FUNCTION(jit_continue_exit, mov rdi, r13; call [rip + 2f]; mov rdi, r13; call [rip + 1f]; ret;
    .balign 8; 1: .quad vm_continue_exit; 2: .quad vm_remove_message);

/* A NIF: its function, its module, and a call on a dirty scheduler. */
C_FUNCTION(vm_schedule_dirty_nif, ret);
C_FUNCTION(nif_normal, ret);
C_FUNCTION(nif_dirty, ret);
#define NIF_STUB(name, called, dirty) \
    JIT_FUNCTION(name, \
        9: jmp 1f; .balign 8; 1: jmp 2f; .balign 8; .quad called; .quad 0; .quad dirty; \
        2: lea rdx, [rip + 9b]; movabs r9, 1; jmp r9)
NIF_STUB(jit_nif, nif_normal, 0);
NIF_STUB(jit_dirty_nif, vm_schedule_dirty_nif, nif_dirty);
NIF_STUB(jit_bad_nif, 0x10, 0);
JIT_FUNCTION(jit_no_stub,
    jmp 1f; .balign 8; 1: jmp 2f; .balign 8; .quad nif_normal; .quad 0; .quad 0;
    9: 2: lea rdx, [rip + 9b]; jmp r9);
/* clang-format on */

/* ---- the VM ---- */

enum atom { FALSE, TRUE, NORMAL, ERLANG, SPAWN, HIBERNATE, LIST, SET_ELEMENT, ATOMS, ROWS = 120 };

static const char *const atoms[ATOMS] = {"false", "true",      "normal",         "erlang",
                                         "spawn", "hibernate", "binary_to_list", "setelement"};

/* It is found in the writable data of this program, which itself only writes it. */
static struct bif bifs[ROWS] __attribute__((used));

struct bench {
    struct memory memory; /* of the target, or our own */
    struct fake_target *target;
    struct memory *own;
    struct vm vm;
    struct code *code;
    struct hooks *hooks;
};

static struct bench bench;

static inline bool read_both(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    struct bench *self = (struct bench *)memory;

    return fake_read(&self->target->memory, address, buffer, size) ||
           memory_read(self->own, address, buffer, size);
}

static inline uint64_t at(const uint8_t *code)
{
    return (uint64_t)(uintptr_t)code;
}

static inline void put_atoms(void)
{
    uint64_t table = fake_room(bench.target, 256);

    /* "normal" is the term 0x8b in jit_normal_exit. */
    assert_int_equal(fake_atom_term(NORMAL), 0x8b);
    fake_atom_table(bench.target, &bench.vm.layout, table, ATOMS, atoms, ATOMS);
    bench.vm.roots.atom_table = table;
}

static inline void put_bif(size_t row, enum atom function, uint32_t arity, const uint8_t *called,
                           const uint8_t *implementation)
{
    bifs[row] = (struct bif){.module = fake_atom_term(ERLANG),
                             .function = fake_atom_term(function),
                             .arity = arity,
                             .called = at(called),
                             .implementation = at(implementation)};
}

static inline void put_bifs(void)
{
    for (size_t i = 0; i < ROWS; i++)
        put_bif(i, FALSE, i % 4, other, other);
    put_bif(10, SPAWN, 3, vm_spawn_3, vm_spawn_3);
    put_bif(11, SPAWN, 1, other, other);
    put_bif(50, HIBERNATE, 3, vm_hibernate_3, vm_hibernate_3);
    put_bif(51, SET_ELEMENT, 3, vm_setelement_3, vm_setelement_3);
    put_bif(ROWS - 1, LIST, 1, vm_schedule_dirty_nif, nif_dirty);
}

struct jit_range {
    const char *name;
    const uint8_t *code, *end;
};

/* Load a module with copies of this code. */
static inline void load(const char *name, const struct jit_range *ranges, uint32_t count)
{
    struct fake_range listed[8] = {0};
    uint64_t base = fake_room(bench.target, 4096);
    uint32_t used = 64;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = (uint32_t)(ranges[i].end - ranges[i].code);

        fake_put(bench.target, base + used, ranges[i].code, size);
        listed[i] = (struct fake_range){used, used + size, ranges[i].name};
        used = (used + size + 63) / 64 * 64;
    }
    fake_load(bench.target, &bench.vm, fake_symfile(name, base, 4096, listed, count));
}

#define LOAD(name, ...)                                                                            \
    load(name, (const struct jit_range[]){__VA_ARGS__},                                            \
         sizeof((const struct jit_range[]){__VA_ARGS__}) / sizeof(struct jit_range))
#define RANGE(symbol, name)                                                                        \
    {                                                                                              \
        symbol, name, name##_end                                                                   \
    }

static inline void begin(void)
{
    struct error error;

    memset(&bench, 0, sizeof(bench));
    bench.target = fake_target_new();
    bench.memory.read = read_both;
    bench.own = memory_of_process(getpid());
    fake_vm(&bench.vm, bench.target, 29);
    bench.vm.memory = &bench.memory;
    bench.vm.entry = getauxval(AT_ENTRY);
    bench.vm.mappings = mappings_new(getpid(), bench.own, &error);
    assert_non_null(bench.vm.mappings);
    put_atoms();
    put_bifs();
    fake_load(bench.target, &bench.vm, fake_emulator(0x1000, false));
}

static inline void open_hooks(void)
{
    struct error error;

    bench.code = code_new(&bench.vm, &error);
    assert_non_null(bench.code);
    bench.hooks = hooks_new(&bench.vm, bench.code, &error);
    assert_non_null(bench.hooks);
}

static inline void load_all(void)
{
    LOAD("global", RANGE("global::process_main", jit_process_main),
         RANGE("global::garbage_collect", jit_collect));
    LOAD("erts_beamasm", RANGE("erts_beamasm:normal_exit/0", jit_normal_exit),
         RANGE("erts_beamasm:continue_exit/0", jit_continue_exit));
    LOAD("erts_code_purger", RANGE("erts_code_purger:wait_for_request/0", jit_receive));
}

static inline int start(void **state)
{
    (void)state;
    begin();
    load_all();
    open_hooks();
    return 0;
}

static inline int stop(void **state)
{
    (void)state;
    hooks_free(bench.hooks);
    code_free(bench.code);
    mappings_free(bench.vm.mappings);
    memory_free(bench.own);
    free(bench.target);
    return 0;
}
