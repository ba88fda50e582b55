// Memory for benchmarks, and the amount available; library/memory.yamba documents its use in
// benchmarks. Compiled once for all programs.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "memory_groups.h"
#include "must.h"
#include "platform.h"

namespace yamba {
namespace memory {

constexpr size_t huge_page = 2 << 20;  // alignment; harmless if the system's huge pages are smaller

// A reserved range inside its mapping, linked to the range reserved before it.
struct Reserved {
    void *mapping;
    size_t mapped;
    uintptr_t begin, end;
    Reserved *before;
};

// Bytes that this process may use without displacing other memory or being killed, as the system
// reports them. Half of all memory if the system reports nothing.
size_t available();

// `bytes`, halved until `buffers` of this size take at most half of the available memory and a
// launch has time to fill `timed` of them. If a cache may hold the halved size, but there is room
// for a size that none holds, that size.
size_t affordable(size_t bytes, size_t buffers, size_t timed);

// A size that `affordable` has halved, and why; null if it gave this size as requested.
struct Reduction {
    size_t wanted, given;
    bool by_time;
};
const Reduction *reduction_to(size_t bytes);

// Size of a buffer that no cache holds: that of the last cache that the system reports or, if less,
// four times the largest cache that was measured. A host may share the reported cache among many
// virtual machines.
size_t beyond_caches();

// Whether a cache may hold a buffer of `bytes`.
bool may_fit_cache(size_t bytes);

// Reserves `bytes` of untouched memory, aligned to a page of the requested kind. Returns null and
// sets `errno` on failure. The caller wraps this in `must`, so that the error names the caller's
// class and line.
void *reserve(Reserved *&latest, size_t bytes, bool huge_pages);

// Unmaps all reserved memory. Returns -1 and sets `errno` on failure.
int release(Reserved *&latest);

// The share of the reserved memory that lies in huge pages, as the system counts: 0 to 1.
double huge_share(const Reserved *latest);

}  // namespace memory
}  // namespace yamba
