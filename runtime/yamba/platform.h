// Facts about the machine, for parameters and benchmarks. All are detected when the program starts.
#pragma once

#include <stddef.h>
#include <unistd.h>

#include "disk.h"
#include "scratch.h"
#include "system.h"

namespace yamba {

struct Platform {
    size_t page_size, cache_line, l1d_size, l1i_size, l2_size, last_cache_size, memory_size, cpus;
    size_t pointer_size = sizeof(void *);
    size_t read_ahead;        // bytes; of the disk that holds the scratch directory
    bool scratch_is_memory;   // the scratch directory is in memory: its files never touch a disk
    uint64_t disk_room;       // bytes that all processes of the benchmark may store there together
    uint64_t disk_room_each;  // bytes for one process, if each has its own files
    size_t buffer_room;       // bytes of memory that a launch has time to fill
    size_t measured_cache;    // bytes of the largest cache, by the latency of loads; 0: not measured
    Text assumed;             // names of undetected facts, which have the value of the smallest common machine
};
inline Platform platform{};

void detect_platform(Platform &p, uint64_t processes = 1);

}  // namespace yamba
