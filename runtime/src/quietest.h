// Chooses the processor of a launch. Other virtual machines use the second hardware thread of each
// core for a different share of the time, and so do other processes with each processor. That share
// changes within minutes. So a launch probes the processors before it prepares its benchmark, and
// moves to the quietest.
#pragma once

#include "disturbance.h"
#include "width.h"
#include "yamba/clock.h"
#include "yamba/cycle.h"
#include "yamba/must.h"
#include "yamba/parameters.h"
#include "yamba/placement.h"
#include "yamba/system.h"

namespace yamba {

// How a launch chooses its processor.
struct Choice {
    bool is_wanted = false;      // false: the launch stays on the usual processor
    bool until_quiet = false;    // the chosen processor's quiet width becomes that of the plan
    uint64_t seed = 0;           // selects the processors to probe if there are many
    int home = -1;               // the processor of earlier launches; -1: none
    Values<OfProcessor> widths;  // the known widths of cores without neighbours, in cycles of 10 000 instructions
};

namespace quietest {

constexpr size_t most_candidates = 8;        // of one launch
constexpr uint64_t visits = 2;               // to each processor: neighbours come and go within milliseconds
constexpr double longest_visit_ns = 500000;  // of one visit
constexpr double all_visits_ns = 4000000;    // of all visits of a launch
constexpr uint64_t readings = 16;            // in a visit
constexpr double busy = 0.5;                 // share of a visit in which others run that spares the next visit

// Least gain in quiet time for which a launch leaves its home. Two short visits cannot show a
// smaller one.
constexpr double clear_gain = 0.25;

// Share of the time in which no other process had the processor.
inline double own_share(const ProcessorProbes &probes) {
    return probes.elapsed_ns > 0 ? fmax(0, 1 - probes.waited_ns / probes.elapsed_ns) : 0;
}

// Share of the time in which nothing else used the processor or its core. If the quiet width of
// some processors is known, others count as contended: nothing says that they are quiet.
inline double quiet_share(const ProcessorProbes &probes, bool is_any_known) {
    const double own = own_share(probes);
    if (isnan(probes.quiet_width) || probes.widths.empty()) return is_any_known ? 0 : own;
    size_t quiet = 0;
    for (size_t i = 0; i < probes.widths.size(); i++) {
        const bool is_divided = i < probes.windows.size() && probes.windows[i] < value_of(window::whole_buffers, probes.cpu);
        quiet += !is_divided && width::is_at_level(probes.widths[i], probes.quiet_width) ? 1 : 0;
    }
    return own * double(quiet) / double(probes.widths.size());
}

// The processor with the largest share, or `home` if none is clearly better. Of equals it is the
// last, since the first processor often handles most interrupts.
template <class Share>
int clearly_best(const Values<ProcessorProbes> &all, int home, Share share) {
    double at_home = 0, most = 0;
    int best = home;
    for (const ProcessorProbes &each : all) {
        const double here = share(each);
        if (each.cpu == home) at_home = here;
        if (here >= most) most = here, best = each.cpu;
    }
    return most - at_home >= clear_gain ? best : home;
}

// Fills in the shares of quiet time. Returns the processor to measure on: `home`, unless another is
// clearly quieter. Where neighbours are always there, it is one that other processes leave alone.
inline int choose(Values<ProcessorProbes> &all, int home) {
    bool is_any_known = false;
    double at_home = 0;
    for (const ProcessorProbes &each : all) is_any_known |= !isnan(each.quiet_width) && !each.widths.empty();
    for (ProcessorProbes &each : all) {
        each.quiet_share = quiet_share(each, is_any_known);
        if (each.cpu == home) at_home = each.quiet_share;
    }
    const int quietest = clearly_best(all, home, [](const ProcessorProbes &p) { return p.quiet_share; });
    if (quietest != home) return quietest;
    return clearly_best(all, home, [&](const ProcessorProbes &p) { return p.quiet_share >= at_home ? own_share(p) : 0; });
}

// splitmix64
inline uint64_t next_random(uint64_t &state) {
    uint64_t mixed = state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

// The processors to probe, in ascending order: `home`, and others of `all` up to `most`.
inline Values<int> candidates(Values<int> all, int home, size_t most, uint64_t seed) {
    Values<int> chosen;
    for (size_t i = 0; i < all.size(); i++)
        if (all[i] == home) chosen.push_back(home), all.erase(all.begin() + long(i));
    while (chosen.size() < most && !all.empty()) {
        const size_t next = size_t(next_random(seed) % all.size());
        chosen.push_back(all[next]), all.erase(all.begin() + long(next));
    }
    for (size_t i = 1; i < chosen.size(); i++)
        for (size_t j = i; j > 0 && chosen[j] < chosen[j - 1]; j--) {
            const int lower = chosen[j];
            chosen[j] = chosen[j - 1], chosen[j - 1] = lower;
        }
    return chosen;
}

// Probes one processor for `ns`, and adds the readings. If another process has the processor, the
// visit waits for it.
inline void visit(ProcessorProbes &probes, double ns) {
    const Watch watch;
    const uint64_t begin = read_clock();
    if (!system::stay_on(&probes.cpu, 1)) return;
    const uint64_t arrived = read_clock();
    for (uint64_t i = 0; i < readings; i++) {
        while (nanoseconds(arrived, read_clock()) < ns * double(i) / readings) {
        }
        if (width::steps_wanted == 0) continue;
        probes.widths.push_back(width::read_core().width);
        probes.windows.push_back(window::entries());
    }
    while (nanoseconds(arrived, read_clock()) < ns) {
    }
    const Disturbance d = watch.end();
    probes.elapsed_ns += nanoseconds(begin, read_clock());
    probes.waited_ns += d.known ? fmax(0, d.stolen_ns) : 0;
}

inline Values<ProcessorProbes> without_probes(const Values<int> &cpus, const Values<OfProcessor> &widths) {
    Values<ProcessorProbes> all;
    for (int cpu : cpus) all.push_back(ProcessorProbes{cpu, value_of(widths, cpu), {}, {}});
    return all;
}

// Whether no other processor can be clearly quieter.
inline bool is_surely_best(const ProcessorProbes &probes) {
    return !isnan(probes.quiet_width) && quiet_share(probes, true) > 1 - clear_gain;
}

// The time on a processor since this process moved there.
struct Stay {
    Watch watch;
    uint64_t begin = read_clock();
};

// Probes these processors in turn, `home` first, where this process is for `stay`. Where that is
// quiet, it probes the others only for `whole`, an order of all. Each visit to a busy processor
// waits for its turn there. This process ends up on any of them.
inline Values<ProcessorProbes> probe(const Values<int> &cpus, const Values<OfProcessor> &widths, int home, const Stay &stay,
                                     bool whole) {
    const double each_ns = fmin(longest_visit_ns, all_visits_ns / double(visits * cpus.size()));
    Values<ProcessorProbes> first = without_probes({home}, widths);
    visit(first[0], each_ns);
    // The visit may lie within one turn of this process, and begins without a wait.
    const Disturbance d = stay.watch.end();
    first[0].elapsed_ns = nanoseconds(stay.begin, read_clock());
    first[0].waited_ns = d.known ? fmax(0, d.stolen_ns) : 0;
    if (!whole && is_surely_best(first[0])) return first;
    Values<ProcessorProbes> all = without_probes(cpus, widths);
    for (ProcessorProbes &each : all)
        if (each.cpu == home) each = first[0];
    for (uint64_t round = 0; round < visits; round++)
        for (ProcessorProbes &each : all) {
            const bool is_done = round == 0 && each.cpu == home;
            if (!is_done && !(each.waited_ns > busy * each.elapsed_ns)) visit(each, each_ns);
        }
    return all;
}

// Moves this process to the quietest processor, if the choice is wanted; `whole` if further
// processors will be needed. It has been on its processor for `stay`. Returns the quiet width of
// the processor that it is on then; NAN if it is unknown.
inline double settle(const Choice &choice, const Stay &stay, bool whole) {
    const Values<int> alike = choice.is_wanted && placement.pinned() ? place::alike(placement.cpu) : Values<int>();
    if (alike.size() > 1) {
        int home = placement.cpu;
        placement.probed = probe(candidates(alike, home, most_candidates, choice.seed), choice.widths, home, stay, whole);
        home = choose(placement.probed, home);
        if (!system::stay_on(&home, 1)) fail("cannot run on processor %d", home);
        placement.cpu = home;
    }
    return placement.pinned() ? value_of(choice.widths, placement.cpu) : NAN;
}

}  // namespace quietest
}  // namespace yamba
