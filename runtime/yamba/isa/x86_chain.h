// What x86_32 and x86_64 have in common: the reference chains and the processor's clock.
#pragma once

#include <cpuid.h>
#include <stdint.h>

#include "../isa_hooks.h"

namespace yamba {
namespace isa {

// Rotations by an immediate take one cycle and are never eliminated as moves and additions of constants may be.
inline void rotations(uint64_t steps) {
    uintptr_t chain = 1;
    for (uint64_t n = steps / 64; n > 0; n--) __asm__ volatile(".rept 64\n\trol $7, %0\n\t.endr" : "+r"(chain) : : "cc");
}

// So do logical operations, which more units can do than can rotate. With an unknown value they are never eliminated either.
// Multiplications and vector operations have units of their own, but take 3 to 6 and 1 to 2 cycles, as the processor likes.
inline void exclusive_ors(uint64_t steps) {
    uintptr_t chain = 1, value = uintptr_t(steps);
    for (uint64_t n = steps / 64; n > 0; n--)
        __asm__ volatile(".rept 64\n\txor %1, %0\n\t.endr" : "+r"(chain) : "r"(value) : "cc");
}

// The first fence lets all that stands before complete; the second keeps what follows from starting before the clock is read.
inline uint64_t read_ticks() {
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtscp\n\tlfence" : "=a"(low), "=d"(high) : : "ecx", "memory");
    return uint64_t(high) << 32 | low;
}

// The instruction exists, and the counter neither stops nor changes its rate with the core's.
inline bool ticks_are_steady() {
    unsigned int a, b, c, d;
    bool has_instruction = __get_cpuid(0x80000001, &a, &b, &c, &d) && (d >> 27 & 1) != 0;
    return has_instruction && __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1) != 0;
}

inline bool fill_hooks() {
    isa_hooks.reference = {rotations, 64, 1};
    isa_hooks.check = {exclusive_ors, 64, 1};
    isa_hooks.read_ticks = read_ticks;
    isa_hooks.ticks_are_steady = ticks_are_steady;
    isa_hooks.ticks_name = "tsc";
    isa_hooks.clock_name = "rdtscp";
    return true;
}

}  // namespace isa
}  // namespace yamba
