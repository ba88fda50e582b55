// Computes the work of each worker in one batch: of each process or thread that runs the benchmark.
// Pure.
#pragma once

#include <math.h>
#include <stdint.h>

namespace yamba {
namespace load {

// Times of a worker that has the machine to itself, in ns.
struct Baseline {
    double setup, pass, dummy_pass;
};

// Calls in one batch, and in one piece. A worker runs pieces before and after its batch; between
// pieces it checks for the parent's next step.
struct Size {
    uint64_t passes, piece, dummy_piece;
};

constexpr double piece_ns = 5e6;
constexpr double strong_contention = 3;  // the least slow-down that makes batches smaller
constexpr double least_share = 0.1;
constexpr uint64_t most_passes = uint64_t(1) << 40;

// The share of a batch's work for workers that share a processor. With it, a batch lasts at least
// as long as the full one of a single worker, even on the least shared processor. The share is at
// least a tenth: with less, a batch would contain only a few time slices.
inline double share_of_work(uint64_t workers, uint64_t processors) {
    uint64_t sharing = workers / processors;
    double share = sharing > 1 ? 1 / double(sharing) : 1;
    return share < least_share ? least_share : share;
}

// The part of a wait in the run queue, within `ns`, that other processes cause: each worker waits
// while the others that share its processor run. NaN counts as no wait.
inline double wait_for_others(double waited_ns, double ns, uint64_t workers, uint64_t processors) {
    const uint64_t turns = (workers + processors - 1) / processors;
    return fmax(waited_ns - ns * (1 - 1 / double(turns)), 0);
}

// The median of three.
inline double middle(const double (&of)[3]) {
    bool rises = of[0] < of[1];
    double low = rises ? of[0] : of[1], high = rises ? of[1] : of[0];
    return of[2] < low ? low : of[2] > high ? high : of[2];
}

// The number of calls that together take at least `ns`.
inline uint64_t passes_in(double ns, double pass_ns) {
    if (ns >= pass_ns * double(most_passes)) return most_passes;
    uint64_t passes = uint64_t(ns / pass_ns);
    return double(passes) * pass_ns < ns ? passes + 1 : passes;
}

inline Size size(const Baseline &alone, double batch_ns, uint64_t workers, uint64_t processors) {
    auto at_most = [](uint64_t value, uint64_t limit) { return value < limit ? value : limit; };
    Size s{};
    s.passes = passes_in(batch_ns * share_of_work(workers, processors), alone.pass);
    s.piece = at_most(passes_in(piece_ns, alone.pass), s.passes);
    s.dummy_piece = at_most(passes_in(piece_ns, alone.dummy_pass), s.passes);
    return s;
}

// The size of a trial that all threads run at the same time.
inline Size trial_size(const Baseline &alone) {
    const uint64_t passes = passes_in(piece_ns, alone.pass);
    return Size{passes, passes, passes};
}

// A smaller size if contention slows threads down: if a pass takes much longer in the trial than
// with a share of the processors. Threads that contend for a lock would otherwise take minutes for
// what takes one alone a second. `pass` is the mean of all threads.
inline Size contended_size(const Size &size, double pass, const Baseline &alone, double batch_ns, double share) {
    if (pass < strong_contention * alone.pass / share) return size;
    auto at_most = [](uint64_t value, uint64_t limit) { return value < limit ? value : limit; };
    Size s = size;
    s.passes = at_most(size.passes, passes_in(batch_ns, pass));
    s.piece = at_most(at_most(size.piece, passes_in(piece_ns, pass)), s.passes);
    s.dummy_piece = at_most(size.dummy_piece, s.passes);
    return s;
}

// The timeout for work that takes a single worker `ns`: many times its share, so that only a hung
// process exceeds it.
inline double patience(double ns, uint64_t workers, uint64_t processors, double spare) {
    uint64_t turns = (workers + processors - 1) / processors;
    return 20 * ns * double(turns) + spare;
}

}  // namespace load
}  // namespace yamba
