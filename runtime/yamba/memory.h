// Memory to measure with, and how much of it there is; library/memory.yamba tells what a benchmark does with it. Compiled once
// for all programs.
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

constexpr size_t huge_page = 2 << 20;  // alignment; a larger one than the system's does no harm

// What was reserved: a range in a mapping, and what was reserved before it.
struct Reserved {
    void *mapping;
    size_t mapped;
    uintptr_t begin, end;
    Reserved *before;
};

// Bytes that this process may take without pushing others out or being ended, by the system's word. Where it says nothing: half
// of all.
size_t available();

// `bytes` at the start of a page of their kind, of which none has been touched yet; null, with `errno`, where the system has
// none. It is the caller who `must` have them: that tells his class and line.
void *reserve(Reserved *&latest, size_t bytes, bool huge_pages);

// All of it; -1, with `errno`, where the system does not take it.
int release(Reserved *&latest);

// How much of what was reserved lies in huge pages, as the system counts: 0 to 1.
double huge_share(const Reserved *latest);

}  // namespace memory
}  // namespace yamba
