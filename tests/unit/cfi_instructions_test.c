// SPDX-License-Identifier: Apache-2.0
/* Steps by call-frame rules through a stopped process, instruction by instruction. */
#include "cfi_unwinder.h"

#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "native/native_symbols.h"

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

/* PLT stubs, lazy binding, ifuncs, callbacks, the vdso, a system call and a signal handler.
 * time() stands for the vdso: clock_gettime() reads anew if the clock ticks meanwhile, and single
 * steps can be so slow that it always does. */
static void varied_work(void)
{
    char text[64] = "dcba";
    struct timespec moment = {0, 1};

    qsort(text, 4, 1, compare_bytes);
    snprintf(text, sizeof(text), "%s %d %.1f", "abc", 42, 1.5);
    free(strdup(text));
    time(NULL);
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
        result = cfi_step(unwinder->mappings, registers, i == 0, read_stack, unwinder);
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
        cmocka_unit_test(test_registers_are_restored_from_every_instruction),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
