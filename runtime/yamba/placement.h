// Where a benchmark runs, and with which privileges: one processor by default, so that no migration is measured.
#pragma once

#include "must.h"
#include "parameters.h"
#include "record_writer.h"
#include "system.h"

namespace yamba {

struct Placement {
    Values<int> allowed;  // processors that this process might use when it started
    int cpu = -1;         // the one that it is kept on
    bool pinned() const { return cpu >= 0; }
};
inline Placement placement;

namespace place {

void note(const char *text);

// What could not be had is said; the measurement goes on without it.
void keep(bool free, int wanted);

// Undoes `keep` for this process.
void roam();

bool enter_realtime();

// Locks what is mapped now; mappings that a benchmark makes later stay unlocked. Returns whether the system allowed it.
bool lock_memory_silently();

// Locks memory and records whether the system allowed it.
void lock_memory();

}  // namespace place
}  // namespace yamba
