// The width probe: a loop of independent instructions that uses the full width of the core. Its time tells whether another
// hardware thread used the same core. In a virtual machine that thread may belong to another guest, and the system here cannot
// see its work.
#pragma once

#include <math.h>
#include <stdint.h>

#include "yamba/cycle.h"

namespace yamba {
namespace width {

// A probe is long against the clock's steps. Its cost is kept low because every batch has three probes.
constexpr double least_ns = 8000, most_ns = 40000;
constexpr double clock_steps = 300;
constexpr uint64_t least_steps = 1024;

inline uint64_t steps_wanted = least_steps;

// The time of an instruction in ns; NaN if the instruction set has no probe.
inline double reading() {
    const Chain &probe = isa_hooks.width;
    if (probe.run == nullptr) return not_known;
    return cycle::time_chain(probe.run, steps_wanted) / double(steps_wanted);
}

// Coarser clocks need longer probes. `step` is in ns.
inline void suit_clock(double step) {
    steps_wanted = least_steps;
    reading();
    double ns = reading();
    if (!(ns > 0)) return;
    double wanted = fmin(most_ns, fmax(least_ns, clock_steps * step)) / ns;
    uint64_t multiple = isa_hooks.width.multiple;
    steps_wanted = uint64_t(fmax(double(least_steps), wanted)) / multiple * multiple;
}

// The core cycles of 10 000 instructions, if a cycle takes `cycle_ns`. Whole numbers are precise enough.
inline double cycles(double instruction_ns, double cycle_ns) { return round(10000 * instruction_ns / cycle_ns); }

// The change from one length of a cycle to the next in parts per million, in steps of 100.
inline double change_ppm(double before, double after) { return 100 * round(1e4 * (after / before - 1)); }

}  // namespace width

// The probes around one batch. NaN: not taken.
struct Probes {
    double before = NAN, between = NAN, after = NAN;              // cycles of 10 000 instructions
    double cycle_change_ppm = NAN, dummy_cycle_change_ppm = NAN;  // of the length of a cycle during the calls
};

// Whether the probes are those of an undisturbed core, whose probes take `width` cycles. This only decides how long the program
// measures. crates/harness/src/contention.rs judges the batches, with the same tolerances.
inline bool is_quiet(const Probes &p, double width) {
    constexpr double width_tolerance = 0.02, most_change_ppm = 20000;
    auto level = [&](double probe) { return isnan(probe) || fabs(probe / width - 1) <= width_tolerance; };
    auto steady = [&](double change) { return isnan(change) || fabs(change) <= most_change_ppm; };
    return level(p.before) && level(p.between) && level(p.after) && steady(p.cycle_change_ppm) &&
           steady(p.dummy_cycle_change_ppm);
}

}  // namespace yamba
