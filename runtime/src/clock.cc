#include "yamba/clock.h"

#include <math.h>

namespace yamba {

namespace clocks {

constexpr int rounds = 11, readings = 100;

// The times between consecutive readings in one round, in ticks, without those of 0.
struct Round {
    uint64_t times[readings], least = UINT64_MAX;
    int count = 0;
    // From the first reading to the last.
    uint64_t whole = 0;

    void measure() {
        const uint64_t begin = read_clock();
        uint64_t last = begin;
        for (int i = 0; i < readings; i++) {
            const uint64_t now = read_clock(), time = now - last;
            if (now > last) times[count++] = time, least = time < least ? time : least;
            last = now;
        }
        whole = last - begin;
    }
};

// Rounding to a tick moves each reading by less than one tick, so a time of k steps lies within one
// tick of them. All times agree with steps of up to three ticks.
constexpr double rounding = 1 + 1e-6, shortest_step = 3 + 1e-6;

static double steps_in(uint64_t time, double step) { return floor(double(time) / step + 0.5); }

// The largest step that agrees with all times of a round, or 0. Steps are no whole numbers of
// ticks: one of 24 MHz has 41.67 ns.
static double step_of(const Round &round) {
    // Long times show nothing, since the system may adjust the clock's rate. Nor do readings of
    // thousands of steps.
    constexpr uint64_t longest = 16;
    constexpr double most_steps = 1000;
    const double least = double(round.least), lowest = least / most_steps < shortest_step ? shortest_step : least / most_steps;
    double step = least + 1, time = 0, steps = 0;
    for (int i = 0; i < round.count && step > lowest;) {
        const uint64_t t = round.times[i++];
        if (t > longest * round.least) continue;
        const double k = steps_in(t, step);
        if (fabs(double(t) - k * step) <= rounding) continue;
        // The next shorter step that agrees with this time is one tick more than a whole part of
        // it.
        step = double(t + 1) / (floor(double(t + 1) / step) + 1);
        i = 0;
    }
    if (step <= lowest) return 0;
    for (int i = 0; i < round.count; i++)
        if (round.times[i] <= longest * round.least) time += double(round.times[i]), steps += steps_in(round.times[i], step);
    return steps > 0 ? time / steps : 0;
}

}  // namespace clocks

ClockError measure_clock() {
    uint64_t least = UINT64_MAX, shortest = UINT64_MAX;
    double step = 0;
    int agreeing = 0, moving = 0;
    bool stands = false;
    for (int r = 0; r < clocks::rounds; r++) {
        clocks::Round round;
        round.measure();
        shortest = round.whole < shortest ? round.whole : shortest;
        stands = stands || round.count < clocks::readings;
        if (round.count == 0) continue;
        least = round.least < least ? round.least : least;
        // A disturbance can only hide a step, as a shorter one agrees with more times.
        const double found = clocks::step_of(round);
        step = found > step ? found : step;
        moving++, agreeing += found > 0;
    }
    // Two readings within a step show that the shortest time is one. If no step agrees with the
    // times of most rounds, none is longer than the shortest time: then an interval is rather too
    // wide.
    if (moving > 0 && (2 * agreeing < moving || (stands && step < double(least)))) step = double(least);
    return {step * ns_per_tick, double(shortest) * ns_per_tick / clocks::readings};
}

namespace clocks {

// A reading of both clocks at nearly the same moment.
struct Moment {
    uint64_t ns, ticks, gap;
};

static Moment moment() {
    Moment best{0, 0, UINT64_MAX};
    for (int i = 0; i < 9; i++) {
        uint64_t before = system_clock(), ticks = isa_hooks.read_ticks(), after = system_clock();
        if (after - before < best.gap) best = {before + (after - before) / 2, ticks, after - before};
    }
    return best;
}

}  // namespace clocks

void choose_clock() {
    constexpr uint64_t calibration = 3000000;
    if (isa_hooks.read_ticks == nullptr || !isa_hooks.ticks_are_steady() || !system::clock_is_trusted(isa_hooks.ticks_name))
        return;
    clocks::Moment begin = clocks::moment(), end = begin;
    while (end.ns - begin.ns < calibration) end = clocks::moment();
    if (end.ticks <= begin.ticks) return;
    ns_per_tick = double(end.ns - begin.ns) / double(end.ticks - begin.ticks);
    read_clock = isa_hooks.read_ticks;
    clock_name = isa_hooks.clock_name;
}

}  // namespace yamba
