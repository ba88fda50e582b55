// What POSIX alone can tell: little. A system that can tell more gets a folder beside this one.
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../../floating.h"
#include "../../usage.h"

namespace yamba {
namespace system {

// Of the caches that data go through; 0 where unknown.
inline size_t cache_line() { return 0; }
inline size_t data_cache(int) { return 0; }
inline size_t instruction_cache() { return 0; }

inline size_t memory_size() {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? size_t(pages) * size_t(size) : 0;
}

// Bytes that the system reads ahead on the disk that holds `directory`.
inline size_t read_ahead(const char *) { return 0; }

// Whether files in `directory` live in memory and never touch a disk.
inline bool is_memory(const char *) { return false; }

inline bool cpu_feature(const char *) { return false; }

// Whether the system itself relies on the processor's clock of this name.
inline bool clock_is_trusted(const char *) { return true; }

// Of the whole process: POSIX knows no other. Which processor it runs on is not told.
inline Usage usage() {
    struct rusage used {};
    struct timespec cpu {};
    bool known = getrusage(RUSAGE_SELF, &used) == 0;
    known = clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0 && known;
    return {uint64_t(used.ru_nivcsw),
            uint64_t(used.ru_nvcsw),
            uint64_t(used.ru_minflt),
            uint64_t(used.ru_majflt),
            double(cpu.tv_sec) * 1e9 + double(cpu.tv_nsec),
            -1,
            known};
}

inline double waited() { return not_known; }

// The processors that this process may use, at most `room` of them; 0 where the system does not tell.
inline size_t allowed_processors(int *, size_t) { return 0; }
// Keeps this process on the first `count` of `processors`. False where the system cannot.
inline bool stay_on(const int *, size_t) { return false; }
// How fast a processor is in comparison with the others; 0 where unknown.
inline uint64_t processor_strength(int) { return 0; }

// No counter can be read.
struct CounterKind {
    const char *name;
};
constexpr const CounterKind *counter_kinds = nullptr;
constexpr size_t counter_kind_count = 0;
inline int open_counter(const CounterKind &) { return -1; }
struct CounterReading {
    uint64_t value, enabled, running;
};
inline bool read_counter(int, CounterReading &) { return false; }
inline void close_counter(int) {}

// Both are POSIX options that not every system has.
inline bool enter_realtime() { return false; }
inline bool enter_realtime_in_turns(int) { return false; }
inline bool lock_memory() { return false; }

// Asks for `signal` when the parent ends, however it ends. False where the system cannot.
inline bool signal_with_parent(int) { return false; }

}  // namespace system
}  // namespace yamba
