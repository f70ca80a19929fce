// SPDX-License-Identifier: Apache-2.0
/* NIFs with a 5-byte nop in their code: at the entry, before a loop, and in a leaf function that
 * keeps values below the stack pointer. */
#include <erl_nif.h>
#include <stdint.h>

#define FUNCTION(name, code)                                                                       \
    __asm__(".pushsection .text\n.balign 64\n.globl " #name "\n.type " #name ", @function\n" #name \
            ":\n.cfi_startproc\n" code "\n.cfi_endproc\n.size " #name ", . - " #name               \
            "\n.popsection\n")
#define NOP5 ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"

/* Both return their argument. */
FUNCTION(nop_straight, NOP5 "mov (%rdx), %rax\nret");
FUNCTION(nop_looped, NOP5 "1: mov (%rdx), %rax\ndec %esi\njnz 1b\nret");
ERL_NIF_TERM nop_straight(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM nop_looped(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

/* Return how many of four words below the stack pointer differ after the nop. */
FUNCTION(nop_leaf, ".irp at, 8, 16, 24, 32\nmov %rdi, -\\at(%rsp)\n.endr\n"
                   "xor %eax, %eax\n.globl nop_in_leaf\nnop_in_leaf:\n" NOP5
                   ".irp at, 8, 16, 24, 32\nxor %ecx, %ecx\ncmp %rdi, -\\at(%rsp)\nsetne %cl\n"
                   "add %ecx, %eax\n.endr\nret");
int nop_leaf(uint64_t value);

static ERL_NIF_TERM leaf(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifUInt64 value;

    if (argc != 1 || !enif_get_uint64(env, argv[0], &value))
        return enif_make_badarg(env);
    return enif_make_int(env, nop_leaf(value));
}

static ErlNifFunc functions[] = {
    {"straight", 1, nop_straight, 0},
    {"looped", 1, nop_looped, 0},
    {"leaf", 1, leaf, 0},
};

ERL_NIF_INIT(nop_nif, functions, NULL, NULL, NULL, NULL)
