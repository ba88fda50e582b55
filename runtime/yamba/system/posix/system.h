// The few system facts that POSIX provides. A system that provides more gets its own folder beside
// this one.
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

// Properties of the data caches; 0 if unknown.
inline size_t cache_line() { return 0; }
inline size_t data_cache(int) { return 0; }
inline size_t instruction_cache() { return 0; }

inline size_t memory_size() {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? size_t(pages) * size_t(size) : 0;
}

// Bytes that the system reads ahead on the disk that holds `directory`.
inline size_t read_ahead(const char *) { return 0; }

// Whether files in `directory` are in memory and never touch a disk.
inline bool is_memory(const char *) { return false; }

inline bool cpu_feature(const char *) { return false; }

// Whether the system itself relies on the processor's clock of this name.
inline bool clock_is_trusted(const char *) { return true; }

// The usage of the whole process: POSIX has no other. The processor is unknown.
constexpr bool has_thread_usage = false;
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

// Unknown, since it could not be compared with the time of one thread.
inline double process_time() { return not_known; }

inline void find_waited() {}
inline double waited() { return not_known; }

// The processors that this process may use, at most `room` of them; 0 if the system does not report
// them.
inline size_t allowed_processors(int *, size_t) { return 0; }
// Pins this process to the first `count` of `processors`. Returns false if the system cannot.
inline bool stay_on(const int *, size_t) { return false; }
// The relative speed of a processor; 0 if unknown.
inline uint64_t processor_strength(int) { return 0; }
// The first processor of the core that this one belongs to; -1 if unknown.
inline int first_of_core(int) { return -1; }

// Hardware counters are not available.
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

// Requests `signal` when the parent ends, for any reason. Returns false if the system cannot.
inline bool signal_with_parent(int) { return false; }

}  // namespace system
}  // namespace yamba
