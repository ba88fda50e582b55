// Support for aarch64. The compiler's __builtin___clear_cache makes written code visible to the
// instruction cache.
#pragma once

#include <stdint.h>
#ifdef __linux__
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>
#endif

#include "../../isa_hooks.h"

namespace yamba {
namespace isa {

// A rotation takes one cycle. Moves and additions of constants may be eliminated; rotations never
// are.
inline void rotations(uint64_t steps) {
    uint64_t chain = 1;
    for (uint64_t n = steps / 64; n > 0; n--) __asm__ volatile(".rept 64\n\tror %0, %0, #7\n\t.endr" : "+r"(chain));
}

// Logical operations take one cycle, too, and run on more units than rotations.
inline void exclusive_ors(uint64_t steps) {
    uint64_t chain = 1;
    for (uint64_t n = steps / 64; n > 0; n--) __asm__ volatile(".rept 64\n\teor %0, %0, %1\n\t.endr" : "+r"(chain) : "r"(steps));
}

// Instructions without operands depend on nothing and occupy no execution unit: only the width of
// the core limits them.
inline void no_operations(uint64_t steps) {
    uint64_t left = steps / 64;
    __asm__ volatile(".p2align 6\n1:\n\t.rept 64\n\tnop\n\t.endr\n\tsubs %0, %0, #1\n\tb.ne 1b" : "+r"(left) : : "cc");
}

// The system's counter has a constant rate by definition.
inline uint64_t read_ticks() {
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
}
inline bool ticks_are_steady() { return true; }

inline uintptr_t program_counter(const void *context) {
#ifdef __linux__
    return uintptr_t(static_cast<const ucontext_t *>(context)->uc_mcontext.pc);
#else
    (void)context;
    return 0;
#endif
}

#ifdef __linux__
// The kernel hands each program the features of its processor. Under an emulator /proc/cpuinfo may
// describe the host instead.
inline int cpu_feature(const char *name) {
    // The names of /proc/cpuinfo, in the order of the bits.
    static constexpr const char *names[2][34] = {
        {"fp",    "asimd",    "evtstrm", "aes",   "pmull",  "sha1",  "sha2", "crc32", "atomics", "fphp",    "asimdhp",
         "cpuid", "asimdrdm", "jscvt",   "fcma",  "lrcpc",  "dcpop", "sha3", "sm3",   "sm4",     "asimddp", "sha512",
         "sve",   "asimdfhm", "dit",     "uscat", "ilrcpc", "flagm", "ssbs", "sb",    "paca",    "pacg"},
        {"dcpodp",    "sve2",      "sveaes",    "svepmull", "svebitperm", "svesha3", "svesm4",    "flagm2",    "frint",
         "svei8mm",   "svef32mm",  "svef64mm",  "svebf16",  "i8mm",       "bf16",    "dgh",       "rng",       "bti",
         "mte",       "ecv",       "afp",       "rpres",    "mte3",       "sme",     "smei16i64", "smef64f64", "smei8i32",
         "smef16f32", "smeb16f32", "smef32f32", "smefa64",  "wfxt",       "ebf16",   "sveebf16"},
    };
    const unsigned long bits[2] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    for (unsigned word = 0; word < 2; word++)
        for (unsigned bit = 0; bit < 34 && names[word][bit] != nullptr; bit++)
            if (strcmp(names[word][bit], name) == 0) return int(bits[word] >> bit & 1);
    return -1;
}
#endif

inline bool fill_hooks() {
#ifdef __linux__
    isa_hooks.cpu_feature = cpu_feature;
#endif
    isa_hooks.program_counter = program_counter;
    isa_hooks.reference = {rotations, 64, 1};
    isa_hooks.check = {exclusive_ors, 64, 1};
    isa_hooks.width = {no_operations, 64, 1};
    isa_hooks.read_ticks = read_ticks;
    isa_hooks.ticks_are_steady = ticks_are_steady;
    isa_hooks.ticks_name = "arch_sys_counter";
    isa_hooks.clock_name = "cntvct_el0";
    return true;
}
inline const bool hooks_filled = fill_hooks();

}  // namespace isa
}  // namespace yamba
