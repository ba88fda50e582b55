// What POSIX alone can tell: little. A system that can tell more gets a folder beside this one.
#pragma once

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

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

// Asks for `signal` when the parent ends, however it ends. False where the system cannot.
inline bool signal_with_parent(int) { return false; }

}  // namespace system
}  // namespace yamba
