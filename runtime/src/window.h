// How many entries of the core's reorder buffer this thread has. A processor that runs two threads
// on a core divides the buffer between them while both are active. So this sees a neighbour even if
// it only waits for memory, and leaves the core's width to this thread.
#pragma once

#include <math.h>
#include <stdint.h>

#include "yamba/cycle.h"
#include "yamba/isa_hooks.h"

namespace yamba {
namespace window {

// A reading is long against the clock's steps.
constexpr double clock_steps = 25;
constexpr uint64_t least_chains = 6, most_chains = 48;

// Chains that overlap take about half as long as serial ones; others take longer than these.
constexpr double overlapped = 0.9;

// 0 if there are no readings.
inline uint64_t chains_wanted = 0;

// The entries of the whole buffer, as far as readings tell. 0: unknown.
inline uint64_t whole = 0;

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

// Whether a chain and the gap of this index fit into the thread's part of the buffer.
inline bool fits(size_t gap, double serial) {
    return shortest([gap](uint64_t chains) { isa_hooks.reorder_buffer.run(gap, chains); }) < overlapped * serial;
}

// The largest number of entries that the thread is known to have; 0 without readings.
inline uint64_t entries() {
    if (chains_wanted == 0) return 0;
    const double serial = serial_ns();
    uint64_t known = 0;
    for (size_t gap = 0; gap < isa_hooks.reorder_buffer.gaps; gap++)
        if (fits(gap, serial)) known = isa_hooks.reorder_buffer.entries[gap];
    return known;
}

// Whether the thread has less than the whole buffer; false while that is unknown.
inline bool is_divided() {
    if (chains_wanted == 0 || whole == 0) return false;
    for (size_t gap = 0; gap < isa_hooks.reorder_buffer.gaps; gap++)
        if (isa_hooks.reorder_buffer.entries[gap] == whole) return !fits(gap, serial_ns());
    return false;
}

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
