// SPDX-License-Identifier: Apache-2.0
/* Steps by call-frame rules: through the stack of this program, and with invented registers. */
#include "cfi_unwinder.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include "elf/cfi_tables.h"
#include "native/cfi_rules.h"
#include "native/elf_file.h"

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

static NO_FRAME_POINTER int innermost(struct chain *chain)
{
    struct unwinder unwinder = unwinder_of(getpid());
    struct cfi_registers registers;
    ucontext_t context;

    getcontext(&context);
    registers = registers_of(&context);
    while (chain->count < DEPTH) {
        chain->end =
            cfi_step(unwinder.mappings, &registers, chain->count == 0, read_stack, &unwinder);
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
    assert_int_equal(cfi_step(unwinder.mappings, &registers, true, read_word, &stack), CFI_STEPPED);
    assert_int_equal(registers.value[CPU_RIP], 0x1234);
    assert_int_equal(registers.value[CPU_RSP], (uintptr_t)&stack.words[TOP + 1]);
    assert_int_equal(registers.value[CPU_RBX], 88);
    assert_int_equal(registers.known, 1u << CPU_RIP | 1u << CPU_RSP | 1u << CPU_RBX);

    stack.first = TOP;
    registers = leaf_at((uintptr_t)uses_red_zone_saved, &stack);
    assert_int_equal(cfi_step(unwinder.mappings, &registers, true, read_word, &stack), CFI_STEPPED);
    assert_int_equal(registers.value[CPU_RBX], 77);
    unwinder_free(&unwinder);
}

/* Code without call-frame information, as the functions of musl are. */
void saves_registers(void);
void has_frame_pointer(void);
void ends_thread(void);
void jumps_anywhere(void);
void never_returns(void);
extern const char saves_registers_inside[], has_frame_pointer_inside[];
__asm__(".text\n"
        ".globl saves_registers, saves_registers_inside, has_frame_pointer\n"
        ".globl has_frame_pointer_inside, ends_thread, jumps_anywhere, never_returns\n"
        "saves_registers:\n"
        "    push %rbx\n"
        "    sub $16, %rsp\n"
        "saves_registers_inside:\n"
        "    call *%rdi\n"
        "    test %eax, %eax\n"
        "    jz 1f\n"
        "    hlt\n"
        "1:  mov $1, %ebx\n"
        "    add $16, %rsp\n"
        "    pop %rbx\n"
        "    ret\n"
        "has_frame_pointer:\n"
        "    push %rbp\n"
        "    mov %rsp, %rbp\n"
        "has_frame_pointer_inside:\n"
        "    and $-64, %rsp\n"
        "    leave\n"
        "    ret\n"
        "ends_thread:\n"
        "    mov $60, %eax\n"
        "    syscall\n"
        "    hlt\n"
        "jumps_anywhere:\n"
        "    jmp *%rax\n"
        "never_returns:\n"
        "    call *%rdi\n"
        "    nop\n"
        "    ret\n");

/* The registers of the caller are found by following the code to its return. */
static void test_code_without_rules_is_followed_to_its_return(void **state)
{
    struct unwinder unwinder = unwinder_of(getpid());
    struct stack stack = {.words = {[TOP] = 0x1234, [TOP + 2] = 99, [TOP + 3] = 0x5678}};
    struct cfi_registers registers = leaf_at((uintptr_t)saves_registers, &stack);

    (void)state;
    assert_int_equal(cfi_step(unwinder.mappings, &registers, true, read_word, &stack), CFI_STEPPED);
    assert_int_equal(registers.value[CPU_RIP], 0x1234);
    assert_int_equal(registers.value[CPU_RSP], (uintptr_t)&stack.words[TOP + 1]);
    assert_int_equal(registers.value[CPU_RBX], 77);
    assert_true(registers.known & 1u << CPU_RBX);

    registers = leaf_at((uintptr_t)saves_registers_inside, &stack);
    assert_int_equal(cfi_step(unwinder.mappings, &registers, true, read_word, &stack), CFI_STEPPED);
    assert_int_equal(registers.value[CPU_RIP], 0x5678);
    assert_int_equal(registers.value[CPU_RSP], (uintptr_t)&stack.words[TOP + 4]);
    assert_int_equal(registers.value[CPU_RBX], 99);

    registers = leaf_at((uintptr_t)has_frame_pointer_inside, &stack);
    registers.value[CPU_RBP] = (uintptr_t)&stack.words[TOP + 2];
    registers.known |= 1u << CPU_RBP;
    assert_int_equal(cfi_step(unwinder.mappings, &registers, true, read_word, &stack), CFI_STEPPED);
    assert_int_equal(registers.value[CPU_RIP], 0x5678);
    assert_int_equal(registers.value[CPU_RBP], 99);
    unwinder_free(&unwinder);
}

/* Code that only leads to the end of the thread has no caller; of code whose end is not known, no
 * caller is found. */
static void test_code_without_a_return_has_no_caller(void **state)
{
    struct unwinder unwinder = unwinder_of(getpid());
    struct stack stack = {.words = {[TOP] = 0x1234}};
    const struct {
        void (*function)(void);
        enum cfi_result result;
    } cases[] = {
        {ends_thread, CFI_END}, {jumps_anywhere, CFI_NO_RULE}, {never_returns, CFI_NO_RULE}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfi_registers registers = leaf_at((uintptr_t)cases[i].function, &stack);

        assert_int_equal(cfi_step(unwinder.mappings, &registers, true, read_word, &stack),
                         cases[i].result);
    }
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
        assert_int_equal(cfi_step(unwinder.mappings, &registers, true, read_word, &stack),
                         cases[i].result);
        assert_memory_equal(&registers, &before, sizeof(before));
    }
    unwinder_free(&unwinder);
}

static int requests;
void __real_elf_file_rules(struct elf_file *file, uint64_t pc, struct buffer *rules);
void __wrap_elf_file_rules(struct elf_file *file, uint64_t pc, struct buffer *rules);

void __wrap_elf_file_rules(struct elf_file *file, uint64_t pc, struct buffer *rules)
{
    requests++;
    __real_elf_file_rules(file, pc, rules);
}

/* The call-frame information of a file, read in this process. */
static struct cfi_tables *tables_of(const struct elf_file *file, Elf **ret_elf)
{
    int fd = open(file->path, O_RDONLY);

    assert_true(fd >= 0);
    elf_version(EV_CURRENT);
    *ret_elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    assert_non_null(*ret_elf);
    close(fd);
    return cfi_tables_new(*ret_elf);
}

/* True if `pc` has the rule that the file has for it alone. */
static bool has_its_own_rule(struct elf_file *file, struct cfi_tables *tables, uint64_t pc)
{
    struct buffer rule = {0};
    const struct cfi_rule *known = cfi_rules_find(file, pc, pc);
    bool is_alike;

    cfi_tables_rule(tables, pc, &rule);
    is_alike = !rule.size; /* its code was followed */
    if (rule.size && known) {
        ((struct cfi_rule *)rule.data)->end = known->end;
        is_alike = memcmp(rule.data, known, rule.size) == 0;
    }
    buffer_free(&rule);
    return is_alike;
}

/* The code of qsort() in the C library. The sanitizers have a qsort() of their own. */
static uintptr_t code_of_qsort(void)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    uintptr_t code;

    assert_non_null(libc);
    code = (uintptr_t)dlsym(libc, "qsort");
    dlclose(libc);
    return code;
}

/* The process that reads ELF files gets about one request for each function. Each address has the
 * rule that the file has for it alone. */
static void test_rules_of_a_function_are_requested_together(void **state)
{
    enum { BYTES = 4000 };
    struct unwinder unwinder = unwinder_of(getpid());
    struct mapping *mapping = mappings_find_code(unwinder.mappings, code_of_qsort());
    struct elf_file *file = mapping_file(unwinder.mappings, mapping);
    const uint64_t code = code_of_qsort() - file->bias;
    struct cfi_tables *tables;
    unsigned int seed = 1;
    Elf *elf;

    (void)state;
    requests = 0;
    for (int i = 0; i < BYTES; i++) {
        uint64_t pc = code + (uint64_t)rand_r(&seed) % BYTES;

        cfi_rules_cover(file, pc);
        cfi_rules_find(file, pc, pc);
    }
    assert_in_range(requests, 20, BYTES / 25);
    tables = tables_of(file, &elf);
    for (uint64_t i = 0; i < BYTES; i++)
        assert_true(has_its_own_rule(file, tables, code + i));
    cfi_tables_free(tables);
    elf_end(elf);
    unwinder_free(&unwinder);
}

/* With more rules than the cache holds, the cache is cleared and results stay correct. */
static void test_steps_stay_correct_when_the_full_cache_is_cleared(void **state)
{
    struct unwinder unwinder = unwinder_of(getpid());
    struct stack stack = {.words = {[TOP] = 0x1234}};
    uintptr_t code = code_of_qsort(); /* 600,000 addresses of the C library from here on */

    (void)state;
    for (uintptr_t offset = 0; offset < 600000; offset++) {
        struct cfi_registers registers = leaf_at(code + offset, &stack);

        cfi_step(unwinder.mappings, &registers, true, read_word, &stack);
        if (offset % 1000 != 0)
            continue;
        registers = leaf_at(code, &stack);
        assert_int_equal(cfi_step(unwinder.mappings, &registers, true, read_word, &stack),
                         CFI_STEPPED);
        assert_int_equal(registers.value[CPU_RIP], 0x1234);
    }
    unwinder_free(&unwinder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_return_addresses_are_those_of_backtrace),
        cmocka_unit_test(test_return_address_belongs_to_the_call_before_it),
        cmocka_unit_test(test_interrupted_instruction_has_the_frame_of_its_function),
        cmocka_unit_test(test_word_in_the_red_zone_is_read_if_it_was_captured),
        cmocka_unit_test(test_code_without_rules_is_followed_to_its_return),
        cmocka_unit_test(test_code_without_a_return_has_no_caller),
        cmocka_unit_test(test_failed_step_leaves_the_registers_unchanged),
        cmocka_unit_test(test_rules_of_a_function_are_requested_together),
        cmocka_unit_test(test_steps_stay_correct_when_the_full_cache_is_cleared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
