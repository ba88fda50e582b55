// Processor, scheduling class and memory locking of a benchmark. By default it stays on one processor, so that no migration is
// measured.
#pragma once

#include "must.h"
#include "parameters.h"
#include "record_writer.h"
#include "system.h"

namespace yamba {

struct Placement {
    Values<int> allowed;     // processors that this process could use when it started
    int cpu = -1;            // the processor that the benchmark is pinned to; -1: not pinned
    bool is_chosen = false;  // whether the user or a load chose that processor
    bool pinned() const { return cpu >= 0; }
};
inline Placement placement;

namespace place {

void note(const char *text);

// Pins this process to a processor: `wanted`, or the fastest one if negative. `free` leaves it unpinned. Failure is only noted;
// the measurement continues.
void keep(bool free, int wanted);

// Removes the pinning for this process.
void roam();

// Ends the launch: other threads of the benchmark ran for this share of its time, on the processor that it is pinned to.
[[noreturn]] void fail_confined(double share);

bool enter_realtime();

// Locks the memory that is mapped now; later mappings stay unlocked. Returns false if the system refuses.
bool lock_memory_silently();

// Locks memory and notes a refusal in the record.
void lock_memory();

}  // namespace place
}  // namespace yamba
