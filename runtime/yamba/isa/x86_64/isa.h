// Support for x86_64. No cache maintenance is needed: the caches observe writes to code.
#pragma once

#include <stdint.h>
#ifdef __linux__
#include <ucontext.h>
#endif

#include "../../isa_hooks.h"
#include "../x86_chain.h"
#include "reorder_buffer.h"

namespace yamba {
namespace isa {

inline uintptr_t program_counter(const void *context) {
#ifdef __linux__
    return uintptr_t(static_cast<const ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP]);
#else
    (void)context;
    return 0;
#endif
}

inline const bool hooks_filled =
    (isa_hooks.program_counter = program_counter, isa_hooks.reorder_buffer = reorder_buffer::hook(), fill_hooks());

}  // namespace isa
}  // namespace yamba
