// How much each of several processes does in one interval. Pure.
#pragma once

#include <stdint.h>

namespace yamba {
namespace load {

// What a pass takes in one process that has the machine for itself, in ns.
struct Baseline {
    double setup, pass, dummy_pass;
};

// Calls in one interval, and in one of the pieces that a process runs before and after it; between pieces it looks whether it
// is told anything.
struct Size {
    uint64_t passes, piece, dummy_piece;
};

constexpr double piece_ns = 5e6;
constexpr double least_share = 0.1;
constexpr uint64_t most_passes = uint64_t(1) << 40;

// Processes that share a processor get a part of it, so an interval with this part of the work lasts at least as long as the
// whole one of a process alone, even on the processor that the fewest share. A tenth of the work is in it at all events: with
// less, an interval would hold a few turns at the processor only.
inline double share_of_work(uint64_t processes, uint64_t processors) {
    uint64_t sharing = processes / processors;
    double share = sharing > 1 ? 1 / double(sharing) : 1;
    return share < least_share ? least_share : share;
}

// The median of three.
inline double middle(const double (&of)[3]) {
    bool rises = of[0] < of[1];
    double low = rises ? of[0] : of[1], high = rises ? of[1] : of[0];
    return of[2] < low ? low : of[2] > high ? high : of[2];
}

// Calls that take at least `ns` together.
inline uint64_t passes_in(double ns, double pass_ns) {
    if (ns >= pass_ns * double(most_passes)) return most_passes;
    uint64_t passes = uint64_t(ns / pass_ns);
    return double(passes) * pass_ns < ns ? passes + 1 : passes;
}

inline Size size(const Baseline &alone, double interval_ns, uint64_t processes, uint64_t processors) {
    auto at_most = [](uint64_t value, uint64_t limit) { return value < limit ? value : limit; };
    Size s{};
    s.passes = passes_in(interval_ns * share_of_work(processes, processors), alone.pass);
    s.piece = at_most(passes_in(piece_ns, alone.pass), s.passes);
    s.dummy_piece = at_most(passes_in(piece_ns, alone.dummy_pass), s.passes);
    return s;
}

// How long something may take that takes a process alone `ns`: many times its turn, so that only who hangs is overdue.
inline double patience(double ns, uint64_t processes, uint64_t processors, double spare) {
    uint64_t turns = (processes + processors - 1) / processors;
    return 20 * ns * double(turns) + spare;
}

}  // namespace load
}  // namespace yamba
