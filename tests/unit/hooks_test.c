// SPDX-License-Identifier: Apache-2.0
/*
 * Each way to find a hook, in a VM that exports only its NIF interface.
 *
 * The VM is this program: the assembler makes its functions, in the form that they have in OTP 29,
 * and the JIT's code. Lists and tables are in a fake target.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/auxv.h>
#include <unistd.h>

#include "hooks/bif_table.h"
#include "hooks/hooks.h"
#include "fake_code.h"

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

static struct bif bifs[ROWS];

struct bench {
    struct memory memory; /* of the target, or our own */
    struct fake_target *target;
    struct memory *own;
    struct vm vm;
    struct code *code;
    struct hooks *hooks;
};

static struct bench bench;

static bool read_both(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    struct bench *self = (struct bench *)memory;

    return fake_read(&self->target->memory, address, buffer, size) ||
           memory_read(self->own, address, buffer, size);
}

static uint64_t at(const uint8_t *code)
{
    return (uint64_t)(uintptr_t)code;
}

static void put_atoms(void)
{
    uint64_t table = fake_room(bench.target, 256);

    /* "normal" is the term 0x8b in jit_normal_exit. */
    assert_int_equal(fake_atom_term(NORMAL), 0x8b);
    fake_atom_table(bench.target, &bench.vm.layout, table, ATOMS, atoms, ATOMS);
    bench.vm.roots.atom_table = table;
}

static void put_bif(size_t row, enum atom function, uint32_t arity, const uint8_t *called,
                    const uint8_t *implementation)
{
    bifs[row] = (struct bif){.module = fake_atom_term(ERLANG),
                             .function = fake_atom_term(function),
                             .arity = arity,
                             .called = at(called),
                             .implementation = at(implementation)};
}

static void put_bifs(void)
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
static void load(const char *name, const struct jit_range *ranges, uint32_t count)
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

static void begin(void)
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

static void open_hooks(void)
{
    struct error error;

    bench.code = code_new(&bench.vm, &error);
    assert_non_null(bench.code);
    bench.hooks = hooks_new(&bench.vm, bench.code, &error);
    assert_non_null(bench.hooks);
}

static void load_all(void)
{
    LOAD("global", RANGE("global::process_main", jit_process_main),
         RANGE("global::garbage_collect", jit_collect));
    LOAD("erts_beamasm", RANGE("erts_beamasm:normal_exit/0", jit_normal_exit),
         RANGE("erts_beamasm:continue_exit/0", jit_continue_exit));
    LOAD("init", RANGE("init:loop/1", jit_receive));
}

static int start(void **state)
{
    (void)state;
    begin();
    load_all();
    open_hooks();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    hooks_free(bench.hooks);
    code_free(bench.code);
    mappings_free(bench.vm.mappings);
    memory_free(bench.own);
    free(bench.target);
    return 0;
}

/* ---- */

static void test_each_hook_is_found_without_its_symbol(void **state)
{
    static const struct {
        const uint8_t *function;
        enum hook_method way;
    } expected[HOOK_COUNT] = {
        [HOOK_SCHEDULE_OUT] = {vm_schedule, HOOK_BY_CALLER},
        [HOOK_SCHEDULE_IN] = {vm_copy_in, HOOK_BY_CALLER},
        [HOOK_WAKE] = {vm_schedule_process, HOOK_BY_CODE},
        [HOOK_WAKE_SIGNAL] = {vm_system_schedule, HOOK_BY_CODE},
        [HOOK_ENQUEUE] = {vm_add_to_queue, HOOK_BY_CODE},
        [HOOK_GC] = {vm_garbage_collect, HOOK_BY_CALLER},
        [HOOK_GC_HIBERNATE] = {vm_collect_hibernate, HOOK_BY_CODE},
        [HOOK_FRAGMENT] = {vm_heap_alloc, HOOK_BY_CODE},
        [HOOK_SEND] = {vm_queue_proc_message, HOOK_BY_CODE},
        [HOOK_SEND_MANY] = {vm_queue_proc_messages, HOOK_BY_CODE},
        [HOOK_QUEUE] = {vm_offer, HOOK_BY_CODE},
        [HOOK_RECEIVE] = {vm_remove_message, HOOK_BY_CALLER},
        [HOOK_COPY] = {vm_copy_struct, HOOK_BY_CALLER},
        [HOOK_SPAWN] = {vm_create_process, HOOK_BY_CALLER},
        [HOOK_EXIT] = {vm_do_exit, HOOK_BY_CALLER},
        [HOOK_EXIT_CONTINUE] = {vm_continue_exit, HOOK_BY_CALLER},
        [HOOK_DIRTY_NIF] = {vm_dirty_nif, HOOK_BY_CODE},
        [HOOK_DIRTY_BIF] = {vm_dirty_bif, HOOK_BY_CODE},
        [HOOK_AUX_WORK] = {vm_aux_work, HOOK_BY_CALLER},
        [HOOK_CHECK_IO] = {vm_check_io, HOOK_BY_CALLER},
        [HOOK_SCHED_WAIT] = {vm_scheduler_wait, HOOK_BY_CALLER},
        [HOOK_FULL_SWEEP] = {vm_full_sweep, HOOK_BY_CALLER},
    };

    (void)state;
    for (int hook = 0; hook < HOOK_COUNT; hook++) {
        struct hook_point point = {0}, named = {0};
        struct error error = {.text = ""};
        int result = hooks_find(bench.hooks, (enum hook)hook, &point, &error);

        assert_string_equal(error.text, "");
        assert_int_equal(result, 0);
        assert_int_equal(point.address, at(expected[hook].function));
        assert_int_equal(point.way, expected[hook].way);
        assert_int_equal(hooks_symbol(bench.hooks, hook_function((enum hook)hook), &named, &error),
                         0);
        assert_int_equal(named.address, point.address);
    }
}

static void assert_refused(enum hook hook, const char *text)
{
    struct hook_point point;
    struct error error;

    for (int again = 0; again < 2; again++) {
        error.text[0] = 0;
        assert_int_equal(hooks_find(bench.hooks, hook, &point, &error), -1);
        assert_int_equal(error.code, ERROR_UNSUPPORTED);
        assert_non_null(strstr(error.text, text));
        assert_non_null(strstr(error.text, hook_function(hook)));
    }
}

static int start_without_code(void **state)
{
    (void)state;
    begin();
    LOAD("global", RANGE("global::other", jit_continue_exit));
    memset(bifs, 0, sizeof(bifs));
    open_hooks();
    return 0;
}

/* A hook is refused if the code that identifies it is missing; the others are not affected. */
static void test_hook_without_its_identifying_code_is_refused_alone(void **state)
{
    static const enum hook refused[] = {
        HOOK_SCHEDULE_OUT,  HOOK_SCHEDULE_IN, HOOK_ENQUEUE,   HOOK_GC,
        HOOK_GC_HIBERNATE,  HOOK_RECEIVE,     HOOK_SPAWN,     HOOK_EXIT,
        HOOK_EXIT_CONTINUE, HOOK_DIRTY_NIF,   HOOK_DIRTY_BIF, HOOK_AUX_WORK,
        HOOK_CHECK_IO,      HOOK_FULL_SWEEP,  HOOK_FRAGMENT,  HOOK_SCHED_WAIT};
    struct hook_point point;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        assert_refused(refused[i], "; 0 functions of the VM match");
    assert_int_equal(hooks_find(bench.hooks, HOOK_SEND, &point, &error), 0);
    assert_int_equal(hooks_find(bench.hooks, HOOK_WAKE, &point, &error), 0);
    assert_int_equal(hooks_find(bench.hooks, HOOK_COPY, &point, &error), 0);
    assert_int_equal(hooks_bif(bench.hooks, "erlang", "spawn", 3, &point, &error), -1);
    assert_non_null(strstr(error.text, "table of BIFs"));
}

/* clang-format off */
JIT_FUNCTION(jit_other_receive,
    mov rdx, r15; mov rcx, rsp; mov rdi, r13; mov r8, r12; call [rip + 1f]; ret;
    .balign 8; 1: .quad other);
JIT_FUNCTION(jit_two_loops,
    sub rsp, 0x40; xor r13d, r13d; 1: xor edi, edi; mov rsi, r13; call [rip + 2f]; mov rdi, rax;
    mov rsi, rsp; call [rip + 3f]; xor edi, edi; xor esi, esi; call [rip + 4f]; mov rdi, rax;
    mov rsi, rsp; call [rip + 3f]; ret;
    .balign 8; 2: .quad vm_schedule; 3: .quad vm_copy_in; 4: .quad other);
JIT_FUNCTION(jit_exit_with_error, mov esi, 0xcb; mov rdi, r13; call [rip + 1f]; ret;
    .balign 8; 1: .quad vm_do_exit);
/* clang-format on */

static int start_ambiguous(void **state)
{
    (void)state;
    begin();
    LOAD("global", RANGE("global::process_main", jit_two_loops));
    LOAD("erts_beamasm", RANGE("erts_beamasm:normal_exit/0", jit_exit_with_error));
    LOAD("init", RANGE("init:loop/1", jit_receive_fp), RANGE("init:boot/1", jit_other_receive));
    open_hooks();
    return 0;
}

/* A hook with two matching functions is refused; so is one whose function is called with other
 * arguments. */
static void test_hook_with_two_matching_functions_is_refused(void **state)
{
    (void)state;
    assert_refused(HOOK_SCHEDULE_OUT, "; 2 functions of the VM match");
    assert_refused(HOOK_RECEIVE, "; 2 functions of the VM match");
    assert_refused(HOOK_EXIT, "; 0 functions of the VM match");
}

static int start_frame_pointers(void **state)
{
    (void)state;
    begin();
    LOAD("init", RANGE("init:loop/1", jit_receive_fp));
    open_hooks();
    return 0;
}

static void test_receive_hook_is_found_with_frame_pointers(void **state)
{
    struct hook_point point;
    struct error error;

    (void)state;
    assert_int_equal(hooks_find(bench.hooks, HOOK_RECEIVE, &point, &error), 0);
    assert_int_equal(point.address, at(vm_remove_message));
}

/* ---- BIFs and NIFs ---- */

static void test_bif_is_found_in_the_table_of_bifs(void **state)
{
    struct hook_point point;
    struct error error;

    (void)state;
    assert_int_equal(hooks_bif(bench.hooks, "erlang", "spawn", 3, &point, &error), 0);
    assert_int_equal(point.address, at(vm_spawn_3));
    assert_int_equal(point.way, HOOK_BY_TABLE);
    assert_int_equal(hooks_bif(bench.hooks, "erlang", "binary_to_list", 1, &point, &error), 0);
    assert_int_equal(point.address, at(nif_dirty));
    assert_int_equal(hooks_bif(bench.hooks, "erlang", "spawn", 2, &point, &error), -1);
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "erlang:spawn/2 is not among the 120 BIFs"));
    assert_int_equal(hooks_bif(bench.hooks, "false", "spawn", 3, &point, &error), -1);
}

/* Put the rows of a table at `at` into the data. The addresses of code are below those of the
 * data. */
static void search_rows(uint8_t *data, size_t at, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(data + at + i * sizeof(struct bif), &bifs[i % ROWS], sizeof(struct bif));
}

static void test_bif_table_must_be_the_only_one(void **state)
{
    enum { SIZE = 1 << 16 };
    uint8_t *data = calloc(1, SIZE);
    struct roots_search search = {
        .bytes = data, .size = SIZE, .start = UINT64_MAX, .executable_start = 1};
    size_t count = 0;

    (void)state;
    assert_null(bif_table_search(&search, &count));
    search_rows(data, 0x1008, 99);
    assert_null(bif_table_search(&search, &count));
    search_rows(data, 0x1008, 110);
    assert_ptr_equal(bif_table_search(&search, &count), data + 0x1008);
    assert_int_equal(count, 110);
    search_rows(data, 0x8000, 100);
    assert_null(bif_table_search(&search, &count));
    memset(data, 0, SIZE); /* up to the last byte, and not beyond */
    search_rows(data, SIZE - 100 * sizeof(struct bif), 100);
    assert_non_null(bif_table_search(&search, &count));
    data[SIZE - 1] = 1; /* padding of the last row */
    assert_null(bif_table_search(&search, &count));
    free(data);
}

static int start_nifs(void **state)
{
    (void)state;
    begin();
    /* Functions begin right after their label. */
    LOAD("m", RANGE("m:old/0", jit_nif));
    LOAD("m", RANGE("m:bad/0", jit_bad_nif));
    open_hooks();
    return 0;
}

/* Load a module whose function is a stub; its label is 8 bytes before it. */
static void load_stub(const char *module, const char *symbol, const uint8_t *stub,
                      const uint8_t *end)
{
    uint64_t base = fake_room(bench.target, 512);
    uint32_t size = (uint32_t)(end - stub);
    const struct fake_range ranges[] = {{64, 72, symbol}, {72, 64 + size, symbol}};
    struct error error;

    fake_put(bench.target, base + 64, stub, size);
    fake_load(bench.target, &bench.vm, fake_symfile(module, base, 512, ranges, 2));
    assert_int_equal(code_refresh(bench.code, &error), 0);
}

static void test_nif_is_found_by_its_stub(void **state)
{
    struct hook_point point;
    struct error error;

    (void)state;
    load_stub("n", "n:f/1", jit_nif, jit_nif_end);
    load_stub("n2", "n2:f/1", jit_dirty_nif, jit_dirty_nif_end);
    load_stub("n3", "n3:f/1", jit_bad_nif, jit_bad_nif_end);
    load_stub("n4", "n4:f/1", jit_no_stub, jit_no_stub_end);
    assert_int_equal(hooks_nif(bench.hooks, "n", "f", 1, &point, &error), 0);
    assert_int_equal(point.address, at(nif_normal));
    assert_int_equal(point.way, HOOK_BY_STUB);
    assert_int_equal(hooks_nif(bench.hooks, "n2", "f", 1, &point, &error), 0);
    assert_int_equal(point.address, at(nif_dirty));
    assert_int_equal(hooks_nif(bench.hooks, "n3", "f", 1, &point, &error), -1);
    assert_non_null(strstr(error.text, "n3:f/1 is not a NIF"));
    assert_int_equal(hooks_nif(bench.hooks, "n4", "f", 1, &point, &error), -1);
    assert_int_equal(hooks_nif(bench.hooks, "n", "f", 2, &point, &error), -1);
    assert_non_null(strstr(error.text, "n:f/2 is not loaded"));
    assert_int_equal(hooks_nif(bench.hooks, "m", "bad", 0, &point, &error), -1);
}

/* A module that was reloaded without its library no longer has a NIF. */
static void test_nif_of_the_newest_module_version_counts(void **state)
{
    struct hook_point point;
    struct error error;

    (void)state;
    load_stub("n", "n:f/1", jit_nif, jit_nif_end);
    load_stub("n", "n:f/1", jit_receive, jit_receive_end);
    assert_int_equal(hooks_nif(bench.hooks, "n", "f", 1, &point, &error), -1);
    assert_non_null(strstr(error.text, "n:f/1 is not a NIF"));
    load_stub("n", "n:f/1", jit_dirty_nif, jit_dirty_nif_end);
    assert_int_equal(hooks_nif(bench.hooks, "n", "f", 1, &point, &error), 0);
    assert_int_equal(point.address, at(nif_dirty));
}

static void test_unknown_symbols_and_data_are_refused(void **state)
{
    struct hook_point point;
    struct error error;

    (void)state;
    assert_int_equal(hooks_symbol(bench.hooks, "enif_send", &point, &error), 0);
    assert_int_equal(point.address, at(enif_send));
    assert_int_equal(point.way, HOOK_BY_SYMBOL);
    assert_int_equal(hooks_symbol(bench.hooks, "no_such_function", &point, &error), -1);
    assert_int_equal(hooks_symbol(bench.hooks, "bifs", &point, &error), -1); /* data, not code */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_hook_is_found_without_its_symbol, start, stop),
        cmocka_unit_test_setup_teardown(test_hook_without_its_identifying_code_is_refused_alone,
                                        start_without_code, stop),
        cmocka_unit_test_setup_teardown(test_hook_with_two_matching_functions_is_refused,
                                        start_ambiguous, stop),
        cmocka_unit_test_setup_teardown(test_receive_hook_is_found_with_frame_pointers,
                                        start_frame_pointers, stop),
        cmocka_unit_test_setup_teardown(test_bif_is_found_in_the_table_of_bifs, start, stop),
        cmocka_unit_test(test_bif_table_must_be_the_only_one),
        cmocka_unit_test_setup_teardown(test_nif_is_found_by_its_stub, start_nifs, stop),
        cmocka_unit_test_setup_teardown(test_nif_of_the_newest_module_version_counts, start_nifs,
                                        stop),
        cmocka_unit_test_setup_teardown(test_unknown_symbols_and_data_are_refused, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
