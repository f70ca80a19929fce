// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "native/cfi.h"
#include "native/mappings.h"
#include "native/memory.h"
#include "native/native_symbols.h"

enum { DEPTH = 64 };

/* ---- The input of unwinding: the mappings and the memory of a process. ---- */

struct unwinder {
    struct memory *memory;
    struct mappings *mappings;
    struct cfi *cfi;
    uint64_t lowest; /* nothing below is readable, as if it was not captured */
};

static bool read_stack(void *context, uint64_t address, uint64_t *word)
{
    const struct unwinder *unwinder = context;

    return address >= unwinder->lowest && memory_read_u64(unwinder->memory, address, word);
}

static struct unwinder unwinder_of(pid_t pid)
{
    struct unwinder unwinder = {.memory = memory_of_process(pid)};
    struct error error;

    unwinder.mappings = mappings_new(pid, unwinder.memory, &error);
    assert_non_null(unwinder.mappings);
    unwinder.cfi = cfi_new(unwinder.mappings);
    return unwinder;
}

static void unwinder_free(struct unwinder *unwinder)
{
    cfi_free(unwinder->cfi);
    mappings_free(unwinder->mappings);
    memory_free(unwinder->memory);
}

/* ---- Our own stack. ---- */

static struct cfi_registers registers_of(const ucontext_t *context)
{
    static const int order[CPU_REGISTERS] = {
        [CPU_RAX] = REG_RAX, [CPU_RDX] = REG_RDX, [CPU_RCX] = REG_RCX, [CPU_RBX] = REG_RBX,
        [CPU_RSI] = REG_RSI, [CPU_RDI] = REG_RDI, [CPU_RBP] = REG_RBP, [CPU_RSP] = REG_RSP,
        [CPU_R8] = REG_R8,   [CPU_R9] = REG_R9,   [CPU_R10] = REG_R10, [CPU_R11] = REG_R11,
        [CPU_R12] = REG_R12, [CPU_R13] = REG_R13, [CPU_R14] = REG_R14, [CPU_R15] = REG_R15,
        [CPU_RIP] = REG_RIP,
    };
    struct cfi_registers registers = {.known = (1u << CPU_REGISTERS) - 1};

    for (int i = 0; i < CPU_REGISTERS; i++)
        registers.value[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
    return registers;
}

struct chain {
    uint64_t unwound[DEPTH];
    int count;
    enum cfi_result end;
    void *truth[DEPTH];
    int truth_count;
};

#define NO_FRAME_POINTER __attribute__((noinline, optimize("omit-frame-pointer")))

static NO_FRAME_POINTER int innermost(struct chain *chain)
{
    struct unwinder unwinder = unwinder_of(getpid());
    struct cfi_registers registers;
    ucontext_t context;

    getcontext(&context);
    registers = registers_of(&context);
    while (chain->count < DEPTH) {
        chain->end = cfi_step(unwinder.cfi, &registers, chain->count == 0, read_stack, &unwinder);
        if (chain->end != CFI_STEPPED)
            break;
        chain->unwound[chain->count++] = registers.value[CPU_RIP];
    }
    unwinder_free(&unwinder);
    chain->truth_count = backtrace(chain->truth, DEPTH);
    return chain->count;
}

/* A frame whose size is known only at run time. */
static NO_FRAME_POINTER int middle(struct chain *chain, size_t size)
{
    volatile char *room = __builtin_alloca(size);
    int result;

    room[0] = 1;
    result = innermost(chain);
    return result + room[0];
}

static NO_FRAME_POINTER int compare_by_unwinding(const void *a, const void *b, void *chain)
{
    if (((struct chain *)chain)->count == 0)
        middle(chain, 100 + *(const unsigned char *)a);
    return memcmp(a, b, 1);
}

static NO_FRAME_POINTER int outermost(struct chain *chain)
{
    unsigned char bytes[] = {3, 1, 2};

    qsort_r(bytes, sizeof(bytes), 1, compare_by_unwinding, chain);
    return bytes[0];
}

static void check_chain(const struct chain *chain)
{
    /* backtrace() begins with its own caller, innermost(), or with its own frame under a
     * sanitizer. */
    int skipped = chain->truth_count - chain->count;

    assert_int_equal(chain->end, CFI_END);
    assert_in_range(skipped, 1, 2);
    for (int i = 0; i < chain->count; i++)
        assert_int_equal(chain->unwound[i], (uintptr_t)chain->truth[skipped + i]);
}

/* Through frames without frame pointers and the C library, the return addresses are those of
 * backtrace(3), up to the root frame. */
static void test_return_addresses_are_those_of_backtrace(void **state)
{
    static struct chain chain;

    (void)state;
    assert_int_equal(outermost(&chain), 1);
    assert_true(chain.count >= 8);
    check_chain(&chain);
}

/* A function that ends with its call. The next function has another frame, and its first
 * instruction is invalid. */
void ends_with_call(void (*function)(void));
void faults_at_once(void);
__asm__(".text\n"
        ".globl ends_with_call, faults_at_once\n"
        ".type ends_with_call, @function\n"
        ".type faults_at_once, @function\n"
        "ends_with_call:\n"
        "    .cfi_startproc\n"
        "    sub $40, %rsp; .cfi_adjust_cfa_offset 40\n"
        "    call *%rdi\n"
        "    .cfi_endproc\n"
        ".size ends_with_call, . - ends_with_call\n"
        "faults_at_once:\n"
        "    .cfi_startproc\n"
        "    ud2\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size faults_at_once, . - faults_at_once\n");

static struct chain left_chain;
static sigjmp_buf left;

static NO_FRAME_POINTER void unwind_and_leave(void)
{
    left_chain.count = 0;
    innermost(&left_chain);
    siglongjmp(left, 1);
}

static void unwind_on_signal(int number)
{
    if (number == SIGILL)
        unwind_and_leave();
}

/* A return address belongs to the call before it, not to the function that begins at it. */
static void test_return_address_belongs_to_the_call_before_it(void **state)
{
    (void)state;
    if (sigsetjmp(left, 1) == 0)
        ends_with_call(unwind_and_leave);
    check_chain(&left_chain);
}

/* A signal does not interrupt at a call: the frame is that of the interrupted instruction, even if
 * another function ends right before it. */
static void test_interrupted_instruction_has_the_frame_of_its_function(void **state)
{
    const struct sigaction action = {.sa_handler = unwind_on_signal};
    struct sigaction before;

    (void)state;
    assert_int_equal(sigaction(SIGILL, &action, &before), 0);
    if (sigsetjmp(left, 1) == 0)
        faults_at_once();
    assert_int_equal(sigaction(SIGILL, &before, NULL), 0);
    check_chain(&left_chain);
}

/* ---- One step with invented registers and stack. ---- */

/* Saves rbx below rsp (the red zone), as leaf functions may. */
void uses_red_zone(void);
extern const char uses_red_zone_saved[];
__asm__(".text\n"
        ".globl uses_red_zone, uses_red_zone_saved\n"
        ".type uses_red_zone, @function\n"
        "uses_red_zone:\n"
        "    .cfi_startproc\n"
        "    mov %rbx, -16(%rsp); .cfi_rel_offset %rbx, -16\n"
        "uses_red_zone_saved:\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size uses_red_zone, . - uses_red_zone\n");

enum { STACK_WORDS = 8, TOP = 4 };

struct stack {
    uint64_t words[STACK_WORDS];
    int first; /* earlier words are not captured */
};

static bool read_word(void *context, uint64_t address, uint64_t *word)
{
    const struct stack *stack = context;
    uint64_t index = (address - (uintptr_t)stack->words) / 8;

    if (index < (uint64_t)stack->first || index >= STACK_WORDS)
        return false;
    *word = stack->words[index];
    return true;
}

static struct cfi_registers leaf_at(uintptr_t rip, const struct stack *stack)
{
    return (struct cfi_registers){
        .value = {[CPU_RIP] = rip, [CPU_RSP] = (uintptr_t)&stack->words[TOP], [CPU_RBX] = 77},
        .known = 1u << CPU_RIP | 1u << CPU_RSP | 1u << CPU_RBX,
    };
}

/* A word below rsp is read if it was captured; otherwise the register keeps its value. Registers
 * that are not preserved by calls are unknown in the caller. */
static void test_word_in_the_red_zone_is_read_if_it_was_captured(void **state)
{
    struct unwinder unwinder = unwinder_of(getpid());
    struct stack stack = {.words = {[TOP - 2] = 88, [TOP] = 0x1234}};
    struct cfi_registers registers = leaf_at((uintptr_t)uses_red_zone_saved, &stack);

    (void)state;
    registers.known |= 1u << CPU_RAX;
    assert_int_equal(cfi_step(unwinder.cfi, &registers, true, read_word, &stack), CFI_STEPPED);
    assert_int_equal(registers.value[CPU_RIP], 0x1234);
    assert_int_equal(registers.value[CPU_RSP], (uintptr_t)&stack.words[TOP + 1]);
    assert_int_equal(registers.value[CPU_RBX], 88);
    assert_int_equal(registers.known, 1u << CPU_RIP | 1u << CPU_RSP | 1u << CPU_RBX);

    stack.first = TOP;
    registers = leaf_at((uintptr_t)uses_red_zone_saved, &stack);
    assert_int_equal(cfi_step(unwinder.cfi, &registers, true, read_word, &stack), CFI_STEPPED);
    assert_int_equal(registers.value[CPU_RBX], 77);
    unwinder_free(&unwinder);
}

/* Each failure has its own result, and leaves the registers unchanged. */
static void test_failed_step_leaves_the_registers_unchanged(void **state)
{
    struct unwinder unwinder = unwinder_of(getpid());
    struct stack stack = {.first = STACK_WORDS};
    const struct {
        uintptr_t rip;
        int first;
        uint32_t unknown;
        enum cfi_result result;
    } cases[] = {
        {(uintptr_t)uses_red_zone, STACK_WORDS, 0, CFI_NO_STACK},
        {(uintptr_t)uses_red_zone, 0, 1u << CPU_RSP, CFI_NO_STACK},
        {(uintptr_t)uses_red_zone, 0, 1u << CPU_RIP, CFI_NO_STACK},
        {(uintptr_t)uses_red_zone, 0, 0, CFI_END}, /* a null return address */
        {(uintptr_t)&stack, 0, 0, CFI_NO_RULE},
        {0, 0, 0, CFI_NO_RULE},
        {UINTPTR_MAX, 0, 0, CFI_NO_RULE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfi_registers registers = leaf_at(cases[i].rip, &stack);
        struct cfi_registers before;

        stack.first = cases[i].first;
        registers.known &= ~cases[i].unknown;
        before = registers;
        assert_int_equal(cfi_step(unwinder.cfi, &registers, true, read_word, &stack),
                         cases[i].result);
        assert_memory_equal(&registers, &before, sizeof(before));
    }
    unwinder_free(&unwinder);
    cfi_free(NULL);
}

/* With more addresses than the cache holds, the cache is cleared and results stay correct. */
static void test_steps_stay_correct_when_the_full_cache_is_cleared(void **state)
{
    struct unwinder unwinder = unwinder_of(getpid());
    struct stack stack = {.words = {[TOP] = 0x1234}};
    uintptr_t code = (uintptr_t)qsort; /* 60,000 addresses of the C library from here on */

    (void)state;
    for (uintptr_t offset = 0; offset < 60000; offset++) {
        struct cfi_registers registers = leaf_at(code + offset, &stack);

        cfi_step(unwinder.cfi, &registers, true, read_word, &stack);
        if (offset % 1000 != 0)
            continue;
        registers = leaf_at(code, &stack);
        assert_int_equal(cfi_step(unwinder.cfi, &registers, true, read_word, &stack), CFI_STEPPED);
        assert_int_equal(registers.value[CPU_RIP], 0x1234);
    }
    unwinder_free(&unwinder);
}

/* ---- A stopped process, instruction by instruction. ---- */

/* Call work() with known values in all callee-saved registers; after work() the caller must have
 * these values again. */
void with_sentinels(void (*work)(void));
extern const char with_sentinels_return[];
__asm__(".text\n"
        ".globl with_sentinels, with_sentinels_return\n"
        ".type with_sentinels, @function\n"
        "with_sentinels:\n"
        "    .cfi_startproc\n"
        "    push %rbx; .cfi_adjust_cfa_offset 8; .cfi_rel_offset %rbx, 0\n"
        "    push %rbp; .cfi_adjust_cfa_offset 8; .cfi_rel_offset %rbp, 0\n"
        "    push %r12; .cfi_adjust_cfa_offset 8; .cfi_rel_offset %r12, 0\n"
        "    push %r13; .cfi_adjust_cfa_offset 8; .cfi_rel_offset %r13, 0\n"
        "    push %r14; .cfi_adjust_cfa_offset 8; .cfi_rel_offset %r14, 0\n"
        "    push %r15; .cfi_adjust_cfa_offset 8; .cfi_rel_offset %r15, 0\n"
        "    sub $8, %rsp; .cfi_adjust_cfa_offset 8\n"
        "    mov $0x1111111111111b00, %rbx\n"
        "    mov $0x2222222222222b00, %rbp\n"
        "    mov $0x3333333333333c00, %r12\n"
        "    mov $0x4444444444444d00, %r13\n"
        "    mov $0x5555555555555e00, %r14\n"
        "    mov $0x6666666666666f00, %r15\n"
        "    call *%rdi\n"
        "with_sentinels_return:\n"
        "    add $8, %rsp; .cfi_adjust_cfa_offset -8\n"
        "    pop %r15; .cfi_adjust_cfa_offset -8; .cfi_restore %r15\n"
        "    pop %r14; .cfi_adjust_cfa_offset -8; .cfi_restore %r14\n"
        "    pop %r13; .cfi_adjust_cfa_offset -8; .cfi_restore %r13\n"
        "    pop %r12; .cfi_adjust_cfa_offset -8; .cfi_restore %r12\n"
        "    pop %rbp; .cfi_adjust_cfa_offset -8; .cfi_restore %rbp\n"
        "    pop %rbx; .cfi_adjust_cfa_offset -8; .cfi_restore %rbx\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size with_sentinels, . - with_sentinels\n");

static const struct {
    int reg;
    uint64_t value;
} sentinels[] = {
    {CPU_RBX, 0x1111111111111b00}, {CPU_RBP, 0x2222222222222b00}, {CPU_R12, 0x3333333333333c00},
    {CPU_R13, 0x4444444444444d00}, {CPU_R14, 0x5555555555555e00}, {CPU_R15, 0x6666666666666f00},
};

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    char text[32];

    signals += number > 0;
    snprintf(text, sizeof(text), "%d", number);
}

static NO_FRAME_POINTER int compare_bytes(const void *a, const void *b)
{
    return memcmp(a, b, 1);
}

/* PLT stubs, lazy binding, ifuncs, callbacks, the vdso, a system call and a signal handler. */
static void varied_work(void)
{
    char text[64] = "dcba";
    struct timespec moment = {0, 1};

    qsort(text, 4, 1, compare_bytes);
    snprintf(text, sizeof(text), "%s %d %.1f", "abc", 42, 1.5);
    free(strdup(text));
    clock_gettime(CLOCK_MONOTONIC, &moment);
    moment = (struct timespec){0, 1};
    nanosleep(&moment, NULL);
    raise(SIGUSR1);
}

static void child_to_trace(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    sigaction(SIGUSR1, &action, NULL);
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    with_sentinels(varied_work);
    _exit(signals == 1 ? 0 : 1);
}

static struct cfi_registers registers_of_stopped(pid_t pid)
{
    struct user_regs_struct user;

    assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &user), 0);
    return (struct cfi_registers){
        .value = {user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi, user.rbp, user.rsp,
                  user.r8, user.r9, user.r10, user.r11, user.r12, user.r13, user.r14, user.r15,
                  user.rip},
        .known = (1u << CPU_REGISTERS) - 1,
    };
}

/* Unwind until the caller is with_sentinels(). */
static enum cfi_result unwind_to_sentinels(struct unwinder *unwinder,
                                           struct cfi_registers *registers)
{
    enum cfi_result result = CFI_STEPPED;

    for (int i = 0; i < DEPTH && result == CFI_STEPPED; i++) {
        result = cfi_step(unwinder->cfi, registers, i == 0, read_stack, unwinder);
        if (registers->value[CPU_RIP] == (uintptr_t)with_sentinels_return)
            return result;
    }
    return result == CFI_STEPPED ? CFI_NO_RULE : result;
}

static bool has_sentinels(const struct cfi_registers *registers)
{
    for (size_t i = 0; i < sizeof(sentinels) / sizeof(sentinels[0]); i++) {
        int reg = sentinels[i].reg;

        if (!(registers->known >> reg & 1) || registers->value[reg] != sentinels[i].value)
            return false;
    }
    return true;
}

/* Statistics of a walk through the child. */
struct walk {
    int stops, wrong;
    int in_plt, in_vdso, in_handler;
};

/* Check the stack at a stop, and report a wrong result with its place: a failure cannot be
 * understood without that. */
static void check_stop(struct unwinder *unwinder, pid_t pid, struct walk *walk)
{
    struct cfi_registers start = registers_of_stopped(pid);
    struct cfi_registers registers = start;
    uint64_t rip = start.value[CPU_RIP];
    struct mapping *mapping = mappings_find_code(unwinder->mappings, rip);
    struct native_symbol symbol = {.name = "?", .address = rip};
    enum cfi_result result;

    unwinder->lowest = start.value[CPU_RSP];
    result = unwind_to_sentinels(unwinder, &registers);
    if (mapping && mapping_file(unwinder->mappings, mapping))
        native_symbol_find(mapping->file, rip, &symbol);
    walk->stops++;
    walk->in_plt += strstr(symbol.name, "@plt") != NULL;
    walk->in_vdso += mapping && strcmp(mapping->path, "[vdso]") == 0;
    walk->in_handler += strcmp(symbol.name, "on_signal") == 0;
    if (result == CFI_STEPPED && has_sentinels(&registers))
        return;
    walk->wrong++;
    print_error("%#llx %s+%#llx of %s: result %d\n", (unsigned long long)rip, symbol.name,
                (unsigned long long)(rip - symbol.address), mapping ? mapping->path : "?", result);
}

/* Execute one instruction, and deliver the pending signal, if any. Return false at the end. */
static bool single_step(pid_t pid, int *signal_number)
{
    int status;

    if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(intptr_t)*signal_number) != 0)
        return false;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFSTOPPED(status))
        return false;
    *signal_number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    return true;
}

static pid_t start_child(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        child_to_trace();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSTOPPED(status));
    return pid;
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static uint64_t current_rip(pid_t pid)
{
    return registers_of_stopped(pid).value[CPU_RIP];
}

/* Step until the child is about to run `address`, at most `limit` instructions. */
static bool step_to(pid_t pid, uint64_t address, int limit)
{
    int signal_number = 0;

    for (int i = 0; i < limit; i++) {
        if (current_rip(pid) == address)
            return true;
        if (!single_step(pid, &signal_number))
            return false;
    }
    return false;
}

/* At every instruction (prologues, epilogues, stubs, the vdso, a signal handler) the stack leads to
 * with_sentinels(), and every register that it set has its value there. */
static void test_registers_are_restored_from_every_instruction(void **state)
{
    struct walk walk = {0};
    int signal_number = 0;
    pid_t pid = start_child();
    struct unwinder unwinder = unwinder_of(pid);

    (void)state;
    assert_true(step_to(pid, (uintptr_t)varied_work, 2000));
    while (current_rip(pid) != (uintptr_t)with_sentinels_return) {
        check_stop(&unwinder, pid, &walk);
        assert_true(single_step(pid, &signal_number));
    }
    end_child(pid);
    unwinder_free(&unwinder);
    print_message("%d stops, %d in stubs, %d in the vdso, %d in the handler\n", walk.stops,
                  walk.in_plt, walk.in_vdso, walk.in_handler);
    assert_int_equal(walk.wrong, 0);
    assert_true(walk.stops > 1000);
    assert_true(walk.in_plt > 0);
    assert_true(walk.in_handler > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_return_addresses_are_those_of_backtrace),
        cmocka_unit_test(test_return_address_belongs_to_the_call_before_it),
        cmocka_unit_test(test_interrupted_instruction_has_the_frame_of_its_function),
        cmocka_unit_test(test_word_in_the_red_zone_is_read_if_it_was_captured),
        cmocka_unit_test(test_failed_step_leaves_the_registers_unchanged),
        cmocka_unit_test(test_steps_stay_correct_when_the_full_cache_is_cleared),
        cmocka_unit_test(test_registers_are_restored_from_every_instruction),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
