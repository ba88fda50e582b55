// What the runtime must know of riscv64 beyond C++. Code is made visible to instruction fetch by the compiler's __builtin___clear_cache.
#pragma once

#include <stdint.h>
#ifdef __linux__
#include <ucontext.h>
#endif

#include "../../isa_hooks.h"

namespace yamba {
namespace isa {

// The base instruction set has no rotation; an exclusive or with an unknown value cannot be eliminated either.
constexpr uint64_t chain_step = 64;
inline void reference_chain(uint64_t steps) {
    uint64_t chain = 1;
    for (uint64_t n = (steps + chain_step - 1) / chain_step; n > 0; n--) __asm__ volatile(".rept 64\n\txor %0, %0, %1\n\t.endr" : "+r"(chain) : "r"(steps));
}

inline uintptr_t program_counter(const void *context) {
#ifdef __linux__
    return uintptr_t(static_cast<const ucontext_t *>(context)->uc_mcontext.__gregs[REG_PC]);
#else
    (void)context;
    return 0;
#endif
}

inline const bool hooks_filled =
    (isa_hooks.program_counter = program_counter, isa_hooks.reference_chain = reference_chain, isa_hooks.reference_chain_multiple = chain_step, true);

}  // namespace isa
}  // namespace yamba
