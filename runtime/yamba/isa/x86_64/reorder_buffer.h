// Chains whose time tells how many entries of the reorder buffer a thread has.
#pragma once

#include <cpuid.h>
#include <stddef.h>
#include <stdint.h>

#include "../../isa_hooks.h"

namespace yamba {
namespace isa {
namespace reorder_buffer {

// Square roots of a chain. The square root of 1 is exact: it sets no flag.
constexpr uint64_t roots = 12;

// For each buffer of 125 to 750 entries, one of these gaps and a chain fit into the whole buffer,
// but not into half of it.
constexpr uint64_t narrow = 110, middle = 200, wide = 370;

// A chain, its beginning, its gap, and the end of the loop.
constexpr uint64_t needed(uint64_t gap) { return roots + 1 + gap + 2; }
constexpr uint64_t entries[] = {needed(narrow), needed(middle), needed(wide)};

// Independent chains. The instructions have the VEX prefix, because others depend on the upper
// halves of registers that the benchmark may have used. The no-operations have eight bytes, because
// Zen 4 packs several short ones into one entry.
template <uint64_t gap>
inline void overlapping(uint64_t chains) {
    double root;
    const double one = 1;
    __asm__ volatile(
        ".p2align 6\n"
        "1:\n\t"
        "vmovsd %2, %1\n\t"
        ".rept %c4\n\tvsqrtsd %1, %1, %1\n\t.endr\n\t"
        ".rept %c3\n\t.byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n\t.endr\n\t"
        "dec %0\n\t"
        "jnz 1b"
        : "+r"(chains), "=&x"(root)
        : "m"(one), "i"(gap), "i"(roots)
        : "cc");
}

inline void run(size_t gap, uint64_t chains) {
    if (gap == 0) overlapping<narrow>(chains);
    else if (gap == 1) overlapping<middle>(chains);
    else overlapping<wide>(chains);
}

// Each root depends on the one before.
inline void run_serial(uint64_t chains) {
    double root;
    const double one = 1;
    __asm__ volatile(
        "vmovsd %2, %1\n\t"
        ".p2align 6\n"
        "1:\n\t"
        ".rept %c3\n\tvsqrtsd %1, %1, %1\n\t.endr\n\t"
        "dec %0\n\t"
        "jnz 1b"
        : "+r"(chains), "=&x"(root)
        : "m"(one), "i"(roots)
        : "cc");
}

// Whether the processor and the system support the VEX prefix.
inline bool has_vex() {
    unsigned int a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c >> 27 & 1) == 0 || (c >> 28 & 1) == 0) return false;
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 6) == 6;
}

inline ReorderBuffer hook() {
    if (!has_vex()) return {};
    return {run, run_serial, entries, sizeof entries / sizeof *entries};
}

}  // namespace reorder_buffer
}  // namespace isa
}  // namespace yamba
