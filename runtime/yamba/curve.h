// Raw curves: a time at each of several points, in rounds with a random order of the points. Each
// pass has the length of a cycle and the width probes around it. Yamba infers from the curves of
// all launches; the program infers nothing.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "clock.h"

namespace yamba {
namespace curve {

// A neighbour disturbs some rounds, and others not.
constexpr size_t least_rounds = 4, most_rounds = 64;
constexpr double most_ns = 5e8;  // after this time no further round begins

// The core at one moment: ns of a cycle, and the width probe in cycles of 10 000 instructions. NaN
// if unknown.
struct Core {
    double cycle_ns, width;
    bool is_divided;  // another thread has a part of the reorder buffer
};
Core core();

struct Pass {
    double x, ns;
    Core before, after;
};

// The order of `count` points in this round: every point once.
Buffer<size_t> order(size_t count, size_t round);

// Writes all passes as one `curve` record. `huge_share` is the share of the memory in huge pages,
// if that matters.
void write(const char *name, const char *x_unit, const Buffer<Pass> &passes, double huge_share = not_known);

// Measures `pass(x)`, which returns ns of an operation, at all points and writes the curve. A pass
// of some 10 us is long against the clock's steps, and fits between two turns of a neighbour.
template <class Measure>
void record(const char *name, const char *x_unit, const double *points, size_t count, Measure pass) {
    Buffer<Pass> passes;
    const uint64_t begin = read_clock();
    for (size_t round = 0; round < most_rounds; round++) {
        if (round >= least_rounds && nanoseconds(begin, read_clock()) > most_ns) break;
        Core before = core();
        const Buffer<size_t> places = order(count, round);
        for (size_t i = 0; i < count; i++) {
            const double x = points[places[i]];
            const double ns = pass(x);
            const Core after = core();
            passes.add(Pass{x, ns, before, after});
            before = after;
        }
    }
    write(name, x_unit, passes);
}

}  // namespace curve
}  // namespace yamba
