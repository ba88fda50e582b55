// Support for riscv64. The compiler's __builtin___clear_cache makes written code visible to
// instruction fetch.
#pragma once

#include <stdint.h>
#ifdef __linux__
#include <ucontext.h>
#endif

#include "../../isa_hooks.h"

namespace yamba {
namespace isa {

// The base instruction set has no rotation. An exclusive or with an unknown operand is never
// eliminated.
inline void exclusive_ors(uint64_t steps) {
    uint64_t chain = 1;
    for (uint64_t n = steps / 64; n > 0; n--) __asm__ volatile(".rept 64\n\txor %0, %0, %1\n\t.endr" : "+r"(chain) : "r"(steps));
}

// A shift by a register is never eliminated either, and some cores have fewer units for it.
inline void shifts(uint64_t steps) {
    uint64_t chain = 1, by = 1;
    for (uint64_t n = steps / 64; n > 0; n--) __asm__ volatile(".rept 64\n\tsll %0, %0, %1\n\t.endr" : "+r"(chain) : "r"(by));
}

// Instructions without operands depend on nothing: only the width of the core limits them.
inline void no_operations(uint64_t steps) {
    uint64_t left = steps / 64;
    __asm__ volatile(".p2align 6\n1:\n\t.rept 64\n\tnop\n\t.endr\n\taddi %0, %0, -1\n\tbnez %0, 1b" : "+r"(left));
}

// The platform's counter has a constant rate by definition.
inline uint64_t read_ticks() {
    uint64_t ticks;
    __asm__ volatile("fence\n\trdtime %0\n\tfence" : "=r"(ticks) : : "memory");
    return ticks;
}
inline bool ticks_are_steady() { return true; }

inline uintptr_t program_counter(const void *context) {
#ifdef __linux__
    return uintptr_t(static_cast<const ucontext_t *>(context)->uc_mcontext.__gregs[REG_PC]);
#else
    (void)context;
    return 0;
#endif
}

inline bool fill_hooks() {
    isa_hooks.program_counter = program_counter;
    isa_hooks.reference = {exclusive_ors, 64, 1};
    isa_hooks.check = {shifts, 64, 1};
    isa_hooks.width = {no_operations, 64, 1};
    isa_hooks.read_ticks = read_ticks;
    isa_hooks.ticks_are_steady = ticks_are_steady;
    isa_hooks.ticks_name = "riscv_clocksource";
    isa_hooks.clock_name = "rdtime";
    return true;
}
inline const bool hooks_filled = fill_hooks();

}  // namespace isa
}  // namespace yamba
