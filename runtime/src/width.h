// The width probe: a loop of independent instructions that uses the full width of the core. Its
// time tells whether another hardware thread used the same core. In a virtual machine that thread
// may belong to another guest, and the system here cannot see its work. The harness keeps quiet
// widths from run to run: a change of the loop needs a new version of the probe in
// crates/harness/src/quiet_file.rs.
#pragma once

#include <math.h>
#include <stdint.h>

#include "window.h"
#include "yamba/cycle.h"

namespace yamba {
namespace width {

// A probe is long against the clock's steps. Its cost is kept low because every batch has three
// probes.
constexpr double least_ns = 8000, most_ns = 40000;
constexpr double clock_steps = 300;
constexpr uint64_t least_steps = 1024, most_steps = uint64_t(1) << 26;

// 0 if there is no probe.
inline uint64_t steps_wanted = 0;

// The time of an instruction in ns; NaN without a probe.
inline double reading() {
    if (steps_wanted == 0) return not_known;
    // The benchmark may have evicted the code from the caches. To fetch it takes some per cent of
    // the probe.
    isa_hooks.width.run(isa_hooks.width.multiple);
    return cycle::time_chain(isa_hooks.width.run, steps_wanted) / double(steps_wanted);
}

// Chooses the length of a probe: at least `least_ns`, and longer with a coarse clock. `step` is the
// clock's, in ns. A clock too coarse for the longest probe gives no readings.
inline void suit_clock(double step) {
    const double wanted = fmax(least_ns, clock_steps * step);
    steps_wanted = wanted > most_ns || isa_hooks.width.run == nullptr ? 0 : least_steps;
    // An interrupted reading is too long, so the least of three counts.
    while (steps_wanted > 0 && steps_wanted < most_steps) {
        double least = INFINITY;
        for (int i = 0; i < 3; i++) least = fmin(least, cycle::time_chain(isa_hooks.width.run, steps_wanted));
        if (least >= wanted / 4) {
            const uint64_t multiple = isa_hooks.width.multiple;
            steps_wanted = uint64_t(double(steps_wanted) * wanted / least) / multiple * multiple;
            return;
        }
        steps_wanted *= 2;
    }
}

// The core cycles of 10 000 instructions, if a cycle takes `cycle_ns`. Whole numbers are precise
// enough.
inline double cycles(double instruction_ns, double cycle_ns) { return round(10000 * instruction_ns / cycle_ns); }

// The core at one moment.
struct Core {
    double cycle_ns;  // the length of a cycle; NaN without a reference chain
    double width;     // the probe in cycles of 10 000 instructions; NaN without a probe, or if the clock rate changed meanwhile
    bool is_divided;  // another thread has a part of the reorder buffer
};

// Reads the reference chain before and after the probe. Some processors change their clock rate
// some microseconds after the last wide vector; a probe at one rate with a cycle at another one
// would look wider or narrower than the core is.
inline Core read_core() {
    const Chain &chain = isa_hooks.reference;
    if (chain.run == nullptr) return {not_known, not_known, false};
    const cycle::Times before = cycle::times(chain);
    const double probe = reading();
    const bool is_divided = window::is_divided();
    const cycle::Times after = cycle::times(chain);
    const double cycle_ns = cycle::length(chain, before, after);
    return {cycle_ns, cycle::are_alike(before, after) ? cycles(probe, cycle_ns) : not_known, is_divided};
}

// Whether a probe has the width of an undisturbed core, `quiet_width`. An interrupted reading is
// NaN and has not. crates/harness/src/contention.rs judges the batches, with the same tolerance.
inline bool is_at_level(double probe, double quiet_width) {
    constexpr double tolerance = 0.02;
    return fabs(probe / quiet_width - 1) <= tolerance;
}

// The change from one length of a cycle to the next in parts per million, in steps of 100.
inline double change_ppm(double before, double after) { return 100 * round(1e4 * (after / before - 1)); }

}  // namespace width

// The probes around one batch. NaN: not taken.
struct Probes {
    double before = NAN, between = NAN, after = NAN;                              // cycles of 10 000 instructions
    bool divided_before = false, divided_between = false, divided_after = false;  // the reorder buffer, at each probe
    double cycle_change_ppm = NAN, dummy_cycle_change_ppm = NAN;                  // of the length of a cycle during the calls

    bool any() const { return !(isnan(before) && isnan(between) && isnan(after)); }
};

// Whether the probes are those of an undisturbed core, whose probes take `width` cycles. This only
// decides how long the program measures.
inline bool is_quiet(const Probes &p, double width, bool has_dummy) {
    auto level = [&](double probe) { return width::is_at_level(probe, width); };
    const bool is_whole = !p.divided_before && !p.divided_between && !p.divided_after;
    return is_whole && level(p.before) && level(p.between) && (!has_dummy || level(p.after));
}

}  // namespace yamba
