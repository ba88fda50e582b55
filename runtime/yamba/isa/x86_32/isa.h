// What the runtime must know of x86_32 beyond C++. The caches need no help: they see what is written to code.
#pragma once

#include <stdint.h>
#ifdef __linux__
#include <ucontext.h>
#endif

#include "../../isa_hooks.h"

namespace yamba {
namespace isa {

// The time-stamp counter; nothing before is still running when it is read, nothing after has begun.
inline uint64_t ticks() {
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtscp\n\tlfence" : "=a"(low), "=d"(high) : : "ecx", "memory");
    return uint64_t(high) << 32 | low;
}

// Rotations by an immediate take one cycle and are never eliminated as moves and additions of constants may be.
constexpr uint64_t chain_step = 64;
inline void reference_chain(uint64_t steps) {
    uintptr_t chain = 1;
    for (uint64_t n = (steps + chain_step - 1) / chain_step; n > 0; n--) __asm__ volatile(".rept 64\n\trol $7, %0\n\t.endr" : "+r"(chain) : : "cc");
}

inline uintptr_t program_counter(const void *context) {
#ifdef __linux__
    return uintptr_t(static_cast<const ucontext_t *>(context)->uc_mcontext.gregs[REG_EIP]);
#else
    (void)context;
    return 0;
#endif
}

inline const bool hooks_filled =
    (isa_hooks.program_counter = program_counter, isa_hooks.reference_chain = reference_chain, isa_hooks.reference_chain_multiple = chain_step, true);

}  // namespace isa
}  // namespace yamba
