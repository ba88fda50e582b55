// Waits for a change of a word in shared memory by polling, for systems without futexes.
#pragma once

#include <stdint.h>
#include <time.h>

namespace yamba {
namespace system {

// Sleeps while `word` holds `value`, for at most `ns`. May return early; a signal always interrupts
// it.
inline void sleep_while(uint32_t *word, uint32_t value, uint64_t ns) {
    constexpr uint64_t look_again = 1000000;
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) return;
    struct timespec pause {};
    pause.tv_nsec = long(ns < look_again ? ns : look_again);
    nanosleep(&pause, nullptr);
}

// Nothing to do: sleepers poll.
inline void wake(uint32_t *, int) {}

}  // namespace system
}  // namespace yamba
