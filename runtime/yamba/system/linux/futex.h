// Waits for a change of a word in shared memory with Linux futexes: no descriptor, and no memory
// but the word.
#pragma once

#include <limits.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace yamba {
namespace system {

// The newer system call, the only one on some architectures, has times wider than a long.
#ifdef SYS_futex
struct FutexTime {
    long seconds, nanoseconds;
};
constexpr long futex_call = SYS_futex;
#else
struct FutexTime {
    int64_t seconds, nanoseconds;
};
constexpr long futex_call = SYS_futex_time64;
#endif

// Sleeps while `word` holds `value`, for at most `ns`. May return early; a signal always interrupts
// it.
inline void sleep_while(uint32_t *word, uint32_t value, uint64_t ns) {
    constexpr int wait = 0;
    FutexTime limit{};
    limit.seconds = decltype(limit.seconds)(ns / 1000000000u);
    limit.nanoseconds = decltype(limit.nanoseconds)(ns % 1000000000u);
    syscall(futex_call, word, wait, value, &limit, nullptr, 0);
}

// Wakes up to `count` sleepers on `word`.
inline void wake(uint32_t *word, int count) {
    constexpr int wake = 1;
    syscall(futex_call, word, wake, count, nullptr, nullptr, 0);
}

}  // namespace system
}  // namespace yamba
