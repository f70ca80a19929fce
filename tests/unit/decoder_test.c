// SPDX-License-Identifier: Apache-2.0
/* A decoder asks another process, and trusts nothing that it answers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "arch/decoder.h"
#include "elf/service.h"

enum { START = 0x1000, PERIOD = 34, CODE_BYTES = 1200 * PERIOD };

/* ---- a disassembler that says the truth, and counts ---- */

struct honest {
    struct elf_service *service;
    unsigned int requests;
    bool guesses; /* takes each byte of an instruction that is cut for an instruction */
};

static void guess(uint64_t address, uint64_t end, struct buffer *answer)
{
    for (; address < end; address++)
        buffer_put(answer, &(struct instruction){.address = address, .size = 1},
                   instruction_bytes(0));
}

/* Where the last instruction of an answer ends. */
static uint64_t end_of(const struct buffer *answer)
{
    struct instruction last = {0};

    for (size_t at = 0; at < answer->size; at += instruction_bytes(last.count))
        memcpy(&last, answer->data + at, instruction_bytes(0));
    return last.address + last.size;
}

static bool ask_honest(void *context, const struct code_bytes *code, struct buffer *answer)
{
    struct honest *honest = context;
    const struct elf_request request = {
        .call = ELF_INSTRUCTIONS, .address = code->address, .text_bytes = (uint32_t)code->size};

    honest->requests++;
    answer->size = 0;
    elf_service_answer(honest->service, &request, (const char *)code->bytes, -1, answer);
    assert_in_range(answer->size, 0, ELF_ANSWER_MAX);
    if (honest->guesses)
        guess(end_of(answer), code->address + code->size, answer);
    return true;
}

static uint8_t code[CODE_BYTES];

/* Instructions of 1 to 10 bytes, so that requests end in the middle of some. */
static void fill_code(void)
{
    static const char some[PERIOD + 1] =
        "\x55"                                          /* push rbp */
        "\x48\x89\xfb"                                  /* mov rbx, rdi */
        "\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08"      /* movabs rax */
        "\x66\x0f\x1f\x84\x00\x00\x00\x00\x00"          /* nop */
        "\x48\xc7\x44\x24\x08\x01\x00\x00\x00\xf3\x90"; /* mov; pause */

    for (size_t i = 0; i < sizeof(code); i++)
        code[i] = (uint8_t)some[i % PERIOD];
}

static int start(void **state)
{
    static struct honest honest;

    fill_code();
    honest = (struct honest){.service = elf_service_new()};
    *state = &honest;
    return 0;
}

static int stop(void **state)
{
    elf_service_free(((struct honest *)*state)->service);
    return 0;
}

/* The instruction at `at`, decoded for itself. */
static struct instruction alone(struct honest *honest, size_t at)
{
    struct decoder *decoder = decoder_new(ask_honest, honest);
    struct code_bytes rest = {code + at, CPU_INSTRUCTION_BYTES_MAX, START + at};
    struct instruction instruction = {0};

    if (rest.size > sizeof(code) - at)
        rest.size = sizeof(code) - at;
    assert_true(decoder_next(decoder, &rest, &instruction));
    decoder_free(decoder);
    return instruction;
}

static void assert_same(const struct instruction *a, const struct instruction *b)
{
    assert_int_equal(a->address, b->address);
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a, b, instruction_bytes(a->count));
}

static void compare_with_single(struct honest *honest)
{
    struct decoder *decoder = decoder_new(ask_honest, honest);
    struct code_bytes rest = {code, sizeof(code), START};
    unsigned int requests = 0, count = 0;
    struct instruction got, one;

    while (rest.size) {
        size_t at = rest.address - START;

        honest->requests = 0;
        assert_true(decoder_next(decoder, &rest, &got));
        requests += honest->requests;
        one = alone(honest, at);
        assert_same(&got, &one);
        assert_ptr_equal(rest.bytes, code + at + got.size);
        assert_int_equal(rest.size, sizeof(code) - at - got.size);
        count++;
    }
    assert_in_range(count, CODE_BYTES / CPU_INSTRUCTION_BYTES_MAX, CODE_BYTES);
    assert_in_range(requests, 2, 20);
    decoder_free(decoder);
}

static void test_instructions_that_are_known_need_no_request(void **state)
{
    struct honest *honest = *state;
    struct decoder *decoder = decoder_new(ask_honest, honest);
    struct code_bytes all = {code, sizeof(code), START};
    struct instruction got, one;
    size_t at = 0;

    decoder_ahead(decoder, &all);
    honest->requests = 0;
    for (int i = 0; i < 1000; i++) {
        struct code_bytes rest = {code + at, sizeof(code) - at, START + at};

        assert_true(decoder_next(decoder, &rest, &got));
        assert_int_equal(honest->requests, 0);
        one = alone(honest, at);
        assert_same(&got, &one);
        honest->requests = 0;
        at = (at + 113 * PERIOD) % sizeof(code);
    }
    decoder_free(decoder);
}

static void test_requests_of_many_instructions_give_the_same_as_of_one(void **state)
{
    compare_with_single(*state);
}

/* The bytes at the end of a request can look like another instruction than the code has there. */
static void test_instructions_that_may_be_cut_are_asked_for_again(void **state)
{
    struct honest *honest = *state;

    honest->guesses = true;
    compare_with_single(honest);
    honest->guesses = false;
}

/* The code of a function does not end behind its end. */
static void test_known_instruction_is_not_one_of_code_that_ends_in_it(void **state)
{
    struct decoder *decoder = decoder_new(ask_honest, *state);
    struct code_bytes all = {code + 4, 64, START + 4}, cut = {code + 4, 9, START + 4};
    struct instruction got;

    assert_true(decoder_next(decoder, &all, &got)); /* movabs: 10 bytes */
    assert_int_equal(got.size, 10);
    assert_false(decoder_next(decoder, &cut, &got));
    assert_int_equal(cut.size, 9);
    decoder_free(decoder);
}

/* ---- disassemblers that lie ---- */

struct liar {
    struct instruction told[2];
    size_t told_bytes; /* of the second one */
    size_t zeros;      /* bytes that follow */
    size_t code_bytes;
    unsigned int requests;
    bool is_silent;
};

static bool ask_liar(void *context, const struct code_bytes *asked, struct buffer *answer)
{
    struct liar *liar = context;

    (void)asked;
    liar->requests++;
    answer->size = 0;
    buffer_put(answer, &liar->told[0], instruction_bytes(liar->told[0].count));
    buffer_put(answer, &liar->told[1], liar->told_bytes);
    memset(buffer_reserve(answer, liar->zeros), 0, liar->zeros);
    answer->size += liar->zeros;
    return !liar->is_silent;
}

/* "mov rbx, [rdi + 8]" and "inc [r13]", of 4 bytes each. */
static struct liar sound_liar(void)
{
    struct instruction load = {
        .address = START,
        .size = 4,
        .count = 1,
        .assignments = {{.to = {.kind = OPERAND_REGISTER, .size = 8, .reg = CPU_RBX},
                         .from = {.kind = OPERAND_MEMORY, .reg = CPU_RDI, .index = NO_REGISTER}}},
    };
    struct instruction count = {
        .address = START + 4,
        .size = 4,
        .count = 1,
        .counts = 1,
        .assignments = {{.to = {.kind = OPERAND_MEMORY, .reg = CPU_R13, .index = NO_REGISTER}}},
    };

    return (struct liar){
        .told = {load, count}, .told_bytes = instruction_bytes(1), .code_bytes = 8};
}

/* The number of instructions that a decoder takes from the liar. */
static unsigned int taken_from(struct liar *liar)
{
    struct decoder *decoder = decoder_new(ask_liar, liar);
    struct code_bytes rest = {code, liar->code_bytes, START};
    struct instruction got;
    unsigned int taken = 0;

    while (decoder_next(decoder, &rest, &got))
        taken++;
    if (!taken) { /* it is not asked again */
        assert_int_equal(liar->requests, 1);
        assert_false(decoder_next(decoder, &rest, &got));
        assert_int_equal(liar->requests, 1);
        assert_int_equal(rest.address, START);
    }
    decoder_free(decoder);
    return taken;
}

#define REFUSED(lie)                                                                               \
    do {                                                                                           \
        struct liar liar = sound_liar();                                                           \
        struct instruction *told = &liar.told[1];                                                  \
                                                                                                   \
        (void)told;                                                                                \
        lie;                                                                                       \
        assert_int_equal(taken_from(&liar), 0);                                                    \
    } while (0)

static void test_sound_answer_is_taken(void **state)
{
    struct liar liar = sound_liar();

    (void)state;
    assert_int_equal(taken_from(&liar), 2);
    assert_int_equal(liar.requests, 1);
}

static void test_instructions_of_a_disassembler_that_lies_are_refused(void **state)
{
    (void)state;
    REFUSED(told->address++);
    REFUSED(told->address = START);
    REFUSED(told->size = 0);
    REFUSED(told->size = 5); /* behind the code */
    REFUSED(told->size = CPU_INSTRUCTION_BYTES_MAX + 1; liar.code_bytes = 100);
    REFUSED(told->kind = INSTRUCTION_SYSTEM + 1);
    REFUSED(told->condition = CONDITION_NOT_EQUAL + 1);
    REFUSED(told->counts = 2);
    REFUSED(told->counts = -2);
    REFUSED(told->count = 0; liar.told_bytes = instruction_bytes(0)); /* it counts nothing */
    REFUSED(told->is_padding = 2);
    REFUSED(told->frees_frame = 255);
    REFUSED(told->unknown = REGISTER_BIT(CPU_REGISTERS));
    REFUSED(told->unknown = REGISTER_BIT(63));
}

static void test_operands_of_a_disassembler_that_lies_are_refused(void **state)
{
    (void)state;
    REFUSED(told->target.kind = OPERAND_MEMORY + 1);
    REFUSED(told->target.reg = OTHER_REGISTER + 1);
    REFUSED(told->target.index = 255);
    REFUSED(told->target =
                ((struct operand){.kind = OPERAND_REGISTER, .size = 8, .reg = NO_REGISTER}));
    REFUSED(told->assignments[0].to.reg = OTHER_REGISTER + 1);
    REFUSED(told->assignments[0].to.index = OTHER_REGISTER + 1);
    REFUSED(told->assignments[0].to.kind = OPERAND_NUMBER);
    REFUSED(told->assignments[0].to.kind = OPERAND_UNKNOWN);
    REFUSED(told->assignments[0].to = ((struct operand){.kind = OPERAND_REGISTER, .size = 3}));
    REFUSED(told->assignments[0].from = ((struct operand){.kind = OPERAND_REGISTER}));
    REFUSED(told->assignments[0].from.kind = 200);
    REFUSED(told->assignments[0].from.reg = 200);
    REFUSED(told->assignments[0].plus = INT64_MIN);
    REFUSED(told->assignments[0].is_rounded = 2);
}

static void test_answers_of_a_wrong_length_are_refused(void **state)
{
    (void)state;
    REFUSED(liar.told_bytes--);
    REFUSED(liar.told_bytes++);
    REFUSED(liar.told_bytes = 1);
    REFUSED(liar.told_bytes = instruction_bytes(0));
    REFUSED(told->count = ASSIGNMENTS_MAX);
    REFUSED(told->count = ASSIGNMENTS_MAX + 1; liar.told_bytes = sizeof(*told));
    REFUSED(told->count = ASSIGNMENTS_MAX + 1; liar.told_bytes = sizeof(*told);
            liar.zeros = sizeof(struct assignment));
    REFUSED(told->count = 255; liar.told_bytes = sizeof(*told));
    REFUSED(liar.is_silent = true);
}

/* An answer of one instruction, for each request. */
static bool ask_miser(void *context, const struct code_bytes *asked, struct buffer *answer)
{
    const struct instruction one = {.address = asked->address, .size = 1};

    ++*(unsigned int *)context;
    answer->size = 0;
    buffer_put(answer, &one, instruction_bytes(0));
    return true;
}

static void test_decoder_does_not_ask_for_ever(void **state)
{
    unsigned int requests = 0;
    struct decoder *decoder = decoder_new(ask_miser, &requests);
    struct code_bytes rest = {code, sizeof(code), START};
    struct instruction got;
    unsigned int taken = 0;

    (void)state;
    while (decoder_next(decoder, &rest, &got))
        taken++;
    assert_int_equal(taken, requests);
    assert_in_range(requests, 100, 5000);
    decoder_free(decoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_of_many_instructions_give_the_same_as_of_one),
        cmocka_unit_test(test_instructions_that_may_be_cut_are_asked_for_again),
        cmocka_unit_test(test_instructions_that_are_known_need_no_request),
        cmocka_unit_test(test_known_instruction_is_not_one_of_code_that_ends_in_it),
        cmocka_unit_test(test_sound_answer_is_taken),
        cmocka_unit_test(test_instructions_of_a_disassembler_that_lies_are_refused),
        cmocka_unit_test(test_operands_of_a_disassembler_that_lies_are_refused),
        cmocka_unit_test(test_answers_of_a_wrong_length_are_refused),
        cmocka_unit_test(test_decoder_does_not_ask_for_ever),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
