// What the harness asks of the instruction set. Its folder (runtime/isa/ISA/) fills the hooks in where it can:
//
//     inline const bool hooks_filled = (yamba::isa_hooks.program_counter = ..., yamba::isa_hooks.reference = {...}, true);
//
// A hook that stays null costs only what it would have told.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace yamba {

// Dependent operations of a known latency.
struct Chain {
    // Executes `steps` of them, each waiting for the one before it. `steps` is a multiple of `multiple`.
    void (*run)(uint64_t steps) = nullptr;
    uint64_t multiple = 1;
    double cycles = 1;  // core cycles a step
};

struct IsaHooks {
    // Where a signal struck; `context` is the third argument of a signal handler.
    uintptr_t (*program_counter)(const void *context) = nullptr;
    // The length of a core cycle is measured with the first, and believed where the second, on another unit of the processor,
    // agrees.
    Chain reference, check;
    // The processor's own clock: all that stands before has completed when it is read, and nothing that stands after has begun.
    uint64_t (*read_ticks)() = nullptr;
    // Whether it runs at one rate whatever the processor does. Asked only where read_ticks is set.
    bool (*ticks_are_steady)() = nullptr;
    const char *ticks_name = "";  // the system's name for it
    const char *clock_name = "";  // ours: the instruction
};
inline IsaHooks isa_hooks;

// A piece of composed code: who contributed which bits.
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

// Which composed code holds the address? Set by whoever registers composed code (code.h). Called from a signal handler:
// no lock, no allocation.
inline bool (*find_code)(uintptr_t address, CodeSite &out) = nullptr;

}  // namespace yamba
