// How many entries of the core's reorder buffer this thread has. A processor that runs two threads
// on a core divides the buffer between them while both are active. So this sees a neighbour even if
// it only waits for memory, and leaves the core's width to this thread.
#pragma once

#include <math.h>
#include <stdint.h>

#include "yamba/cycle.h"
#include "yamba/isa_hooks.h"
#include "yamba/parameters.h"

namespace yamba {
namespace window {

// A reading is long against the clock's steps.
constexpr double clock_steps = 25;
constexpr uint64_t least_chains = 6, most_chains = 48;

// Chains that overlap take about half as long as serial ones; others take longer than these. What
// lies between, as on a core that can hardly overlap roots, says nothing.
constexpr double overlapped = 0.85, apart = 1;

// 0 if there are no readings.
inline uint64_t chains_wanted = 0;

// The entries of the whole buffers of processors, as far as the readings of earlier launches tell.
struct WholeBuffer {
    int cpu;
    uint64_t entries;
};
inline Values<WholeBuffer> whole_buffers;

// That of a processor; 0 if it is unknown.
inline uint64_t whole_of(int cpu) {
    for (const WholeBuffer &known : whole_buffers)
        if (known.cpu == cpu) return known.entries;
    return 0;
}

// That of the processor that is measured.
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

// The time of chains with the gap of this index, as a share of that of serial ones.
inline double share_of_serial(size_t gap) {
    const double serial = serial_ns();
    return shortest([gap](uint64_t chains) { isa_hooks.reorder_buffer.run(gap, chains); }) / serial;
}

// The largest number of entries that the thread is known to have; 0 if that is not clear.
inline uint64_t entries() {
    uint64_t known = 0;
    for (size_t gap = 0; chains_wanted > 0 && gap < isa_hooks.reorder_buffer.gaps; gap++) {
        const double share = share_of_serial(gap);
        if (share < overlapped) known = isa_hooks.reorder_buffer.entries[gap];
        else if (share < apart) return 0;
    }
    return known;
}

// Whether the thread has less than the whole buffer; false while that is unknown.
inline bool is_divided() {
    for (size_t gap = 0; chains_wanted > 0 && gap < isa_hooks.reorder_buffer.gaps; gap++)
        if (isa_hooks.reorder_buffer.entries[gap] == whole) return share_of_serial(gap) >= apart;
    return false;
}

// Whether `is_divided` tells anything.
inline bool is_known() { return chains_wanted > 0 && whole > 0; }

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
