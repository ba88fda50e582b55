// What the harness asks of the instruction set. Its folder (runtime/isa/ISA/) fills the hooks in where it can:
//
//     inline const bool hooks_filled = (yamba::isa_hooks.program_counter = ..., yamba::isa_hooks.reference_chain = ..., true);
//
// A hook that stays null costs only what it would have told.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace yamba {

struct IsaHooks {
    // Where a signal struck; `context` is the third argument of a signal handler.
    uintptr_t (*program_counter)(const void *context) = nullptr;
    // Executes at least `steps` operations of one core cycle each, every one waiting for the one before it.
    // The exact number is `steps` rounded up to reference_chain_multiple.
    void (*reference_chain)(uint64_t steps) = nullptr;
    uint64_t reference_chain_multiple = 1;
};
inline IsaHooks isa_hooks;

// A piece of composed code: who contributed which bits.
struct CodePart {
    const char *name;    // "pagefault_x86_64.touch(0)"
    size_t start, end;   // bits from the base
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
