// Functions that the instruction set provides to the harness. Its folder, runtime/yamba/isa/ISA,
// sets those that it supports:
//
//     inline const bool hooks_filled = (
//         yamba::isa_hooks.program_counter = ..., yamba::isa_hooks.reference = {...}, true);
//
// Each hook may stay null; only its own information is missing then.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace yamba {

// Dependent operations of a known latency.
struct Chain {
    // Executes `steps` operations, each dependent on the one before it. `steps` is a multiple of
    // `multiple`.
    void (*run)(uint64_t steps) = nullptr;
    uint64_t multiple = 1;
    double cycles = 1;  // core cycles per step
};

// Chains of dependent operations, each followed by a gap: instructions that need nothing but an
// entry of the reorder buffer. Two chains overlap if a chain and its gap fit into the buffer.
struct ReorderBuffer {
    void (*run)(size_t gap, uint64_t chains) = nullptr;  // independent chains, with the gap of this index
    void (*run_serial)(uint64_t chains) = nullptr;       // chains without gaps that depend on each other
    const uint64_t *entries = nullptr;                   // of a chain with each gap, in ascending order
    size_t gaps = 0;
};

struct IsaHooks {
    // The address of the instruction that raised a signal; `context` is the third argument of the
    // signal handler.
    uintptr_t (*program_counter)(const void *context) = nullptr;
    // `reference` measures the length of a core cycle. `check` uses another unit of the processor;
    // the length counts only if both agree.
    Chain reference, check;
    // Independent instructions that use the full width of the core, in one aligned loop: their time
    // depends on the alignment.
    Chain width;
    ReorderBuffer reorder_buffer;
    // Reads the processor's own clock. All earlier instructions complete before the reading, and no
    // later one starts before it.
    uint64_t (*read_ticks)() = nullptr;
    // Whether this clock has a constant rate in all power states. Called only if read_ticks is set.
    bool (*ticks_are_steady)() = nullptr;
    const char *ticks_name = "";  // the system's name for the clock
    const char *clock_name = "";  // Yamba's name for it: the instruction
    // Whether the processor has the feature of this name: 1 or 0. -1 if only the system may know.
    int (*cpu_feature)(const char *name) = nullptr;
};
inline IsaHooks isa_hooks;

// A part of composed code, and the member that contributed it.
struct CodePart {
    const char *name;   // "pagefault_x86_64.touch(0)"
    size_t start, end;  // bits from the base
    unsigned depth;
};
struct CodeSite {
    const char *member;  // "pagefault.touch_all"
    const unsigned char *base;
    size_t bytes;
    const CodePart *parts;
    size_t part_count;
};

// Finds the composed code that holds `address`; code.cc sets it. Called from a signal handler: no
// lock, no allocation.
inline bool (*find_code)(uintptr_t address, CodeSite &out) = nullptr;

}  // namespace yamba
