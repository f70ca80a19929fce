// SPDX-License-Identifier: Apache-2.0
#include "beam/nif_stub.h"

#include "arch/jit_code.h"

bool nif_stub_read(struct memory *memory, uint64_t function, struct nif_stub *stub)
{
    uint8_t bytes[JIT_NIF_STUB_BYTES];

    return memory_read(memory, function, bytes, sizeof(bytes)) &&
           jit_is_nif_stub(bytes, &stub->called, &stub->dirty);
}
