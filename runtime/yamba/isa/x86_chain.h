// The reference chain of x86_32 and x86_64, which have the instruction in common.
#pragma once

#include <stdint.h>

namespace yamba {
namespace isa {

// Rotations by an immediate take one cycle and are never eliminated as moves and additions of constants may be.
constexpr uint64_t chain_step = 64;
inline void reference_chain(uint64_t steps) {
    uintptr_t chain = 1;
    for (uint64_t n = (steps + chain_step - 1) / chain_step; n > 0; n--) __asm__ volatile(".rept 64\n\trol $7, %0\n\t.endr" : "+r"(chain) : : "cc");
}

}  // namespace isa
}  // namespace yamba
