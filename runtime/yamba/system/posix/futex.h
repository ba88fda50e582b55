// Waiting for a word of shared memory to change where the system offers nothing for it: looking again now and then.
#pragma once

#include <stdint.h>
#include <time.h>

namespace yamba {
namespace system {

// Sleeps while `word` holds `value`, no longer than `ns`. May return early; a signal always makes it.
inline void sleep_while(uint32_t *word, uint32_t value, uint64_t ns) {
    constexpr uint64_t look_again = 1000000;
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) return;
    struct timespec pause {};
    pause.tv_nsec = long(ns < look_again ? ns : look_again);
    nanosleep(&pause, nullptr);
}

// Sleepers wake by themselves.
inline void wake(uint32_t *, int) {}

}  // namespace system
}  // namespace yamba
