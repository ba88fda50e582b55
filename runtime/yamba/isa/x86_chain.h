// The reference chains and the processor's clock, common to x86_32 and x86_64.
#pragma once

#include <cpuid.h>
#include <stdint.h>

#include "../isa_hooks.h"

namespace yamba {
namespace isa {

// A rotation by an immediate takes one cycle. Moves and additions of constants may be eliminated;
// rotations never are.
inline void rotations(uint64_t steps) {
    uintptr_t chain = 1;
    for (uint64_t n = steps / 64; n > 0; n--) __asm__ volatile(".rept 64\n\trol $7, %0\n\t.endr" : "+r"(chain) : : "cc");
}

// Logical operations take one cycle, too, and run on more units than rotations. With an unknown
// operand they are never eliminated. Multiplications and vector operations have their own units,
// but take 3 to 6 and 1 to 2 cycles, depending on the processor.
inline void exclusive_ors(uint64_t steps) {
    uintptr_t chain = 1, value = uintptr_t(steps);
    for (uint64_t n = steps / 64; n > 0; n--)
        __asm__ volatile(".rept 64\n\txor %1, %0\n\t.endr" : "+r"(chain) : "r"(value) : "cc");
}

// Instructions without operands depend on nothing and occupy no execution unit: only the width of
// the core limits them.
inline void no_operations(uint64_t steps) {
    uintptr_t left = uintptr_t(steps / 64);
    __asm__ volatile(".p2align 6\n1:\n\t.rept 64\n\tnop\n\t.endr\n\tdec %0\n\tjnz 1b" : "+r"(left) : : "cc");
}

// The first fence completes all earlier instructions; the second keeps later ones from starting
// before the clock is read.
inline uint64_t read_ticks() {
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtscp\n\tlfence" : "=a"(low), "=d"(high) : : "ecx", "memory");
    return uint64_t(high) << 32 | low;
}

// Whether the instruction exists and the counter is invariant: it never stops, and its rate is
// independent of the core's frequency.
inline bool ticks_are_steady() {
    unsigned int a, b, c, d;
    bool has_instruction = __get_cpuid(0x80000001, &a, &b, &c, &d) && (d >> 27 & 1) != 0;
    return has_instruction && __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1) != 0;
}

inline bool fill_hooks() {
    isa_hooks.reference = {rotations, 64, 1};
    isa_hooks.check = {exclusive_ors, 64, 1};
    isa_hooks.width = {no_operations, 64, 1};
    isa_hooks.read_ticks = read_ticks;
    isa_hooks.ticks_are_steady = ticks_are_steady;
    isa_hooks.ticks_name = "tsc";
    isa_hooks.clock_name = "rdtscp";
    return true;
}

}  // namespace isa
}  // namespace yamba
