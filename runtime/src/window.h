// How many entries of the core's reorder buffer this thread has. A processor that runs two threads
// on a core divides the buffer between them while both are active. So this sees a neighbour even if
// it only waits for memory, and leaves the core's width to this thread.
#pragma once

#include <math.h>
#include <stdint.h>

#include "yamba/cycle.h"
#include "yamba/isa_hooks.h"
#include "yamba/placement.h"

namespace yamba {
namespace window {

// A reading is long against the clock's steps.
constexpr double clock_steps = 25;
constexpr uint64_t least_chains = 6, most_chains = 48;

// Chains that overlap take about half of the time of serial ones. Others take longer than serial
// ones. A share of that time between these limits says nothing, as on a core that can hardly
// overlap roots.
constexpr double overlapped = 0.85, apart = 1;

// 0 if there are no readings.
inline uint64_t chains_wanted = 0;

// The entries of whole buffers, as far as the readings of earlier launches tell.
inline Values<OfProcessor> whole_buffers;

// The entries of the whole buffer of the processor that is measured; NAN if they are unknown.
inline double whole = NAN;

// The time of the chains that `run(chains)` executes. An interrupted reading is too long, so the
// shorter of two counts.
template <class Run>
double shortest(Run run) {
    run(2);  // The benchmark may have evicted the code from the caches.
    double least = INFINITY;
    for (int i = 0; i < 2; i++) {
        const uint64_t begin = read_clock();
        run(chains_wanted);
        least = fmin(least, nanoseconds(begin, read_clock()));
    }
    return least;
}

inline double serial_ns() { return shortest(isa_hooks.reorder_buffer.run_serial); }

// The time of chains with the gap of this index, as a share of that of serial ones.
inline double share_of_serial(size_t gap) {
    const double serial = serial_ns();
    return shortest([gap](uint64_t chains) { isa_hooks.reorder_buffer.run(gap, chains); }) / serial;
}

// The largest number of entries that the thread is known to have: 0 if no gap fits, or without
// readings, and NAN if that is not clear.
inline double entries() {
    double known = 0;
    for (size_t gap = 0; chains_wanted > 0 && gap < isa_hooks.reorder_buffer.gaps; gap++) {
        const double share = share_of_serial(gap);
        if (share < overlapped) known = double(isa_hooks.reorder_buffer.entries[gap]);
        else if (share < apart) return NAN;
    }
    return known;
}

// Whether the thread has less than the whole buffer; false while that is unknown.
inline bool is_divided() {
    for (size_t gap = 0; chains_wanted > 0 && gap < isa_hooks.reorder_buffer.gaps; gap++)
        if (double(isa_hooks.reorder_buffer.entries[gap]) == whole) return share_of_serial(gap) >= apart;
    return false;
}

// Whether `is_divided` tells anything.
inline bool is_known() { return chains_wanted > 0 && !isnan(whole); }

// Chooses the number of chains for a clock with steps of this length, in ns. A clock too coarse for
// the most chains gives no readings.
inline void suit_clock(double step) {
    chains_wanted = isa_hooks.reorder_buffer.run == nullptr ? 0 : least_chains;
    while (chains_wanted > 0 && serial_ns() < clock_steps * step) {
        chains_wanted = chains_wanted < most_chains ? 2 * chains_wanted : 0;
    }
}

}  // namespace window
}  // namespace yamba
