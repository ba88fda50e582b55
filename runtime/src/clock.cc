#include "yamba/clock.h"

namespace yamba {

namespace clocks {

constexpr int rounds = 11, readings = 100;

// Whether a time is a multiple of `step`, but for a tick: the system may round its counter to ns.
static bool is_multiple(uint64_t time, uint64_t step) {
    const uint64_t rest = time % step;
    return rest <= 1 || step - rest <= 1;
}

// The step of a clock: the largest time of which all `times` are multiples. `least` is the shortest of them, which is longer than a
// step if a reading takes longer than one. Long times show nothing, since the system may adjust the clock's rate.
static uint64_t common_step(const uint64_t (&times)[rounds * readings], int count, uint64_t least) {
    constexpr uint64_t longest = 16, most_tried = 100000;
    const uint64_t last = least > most_tried ? least - most_tried : 0;
    for (uint64_t step = least; step > last; step--) {
        int i = 0;
        while (i < count && (times[i] > longest * least || is_multiple(times[i], step))) i++;
        if (i == count) return step;
    }
    return least;
}

}  // namespace clocks

ClockError measure_clock() {
    using clocks::rounds, clocks::readings;
    uint64_t least = UINT64_MAX, best = UINT64_MAX, times[rounds * readings];
    int count = 0;
    for (int r = 0; r < rounds; r++) {
        uint64_t begin = read_clock(), last = begin;
        for (int i = 0; i < readings; i++) {
            uint64_t now = read_clock();
            if (now > last) {
                times[count++] = now - last;
                least = now - last < least ? now - last : least;
            }
            last = now;
        }
        best = last - begin < best ? last - begin : best;
    }
    const double step = count == 0 ? 0 : double(clocks::common_step(times, count, least));
    return {step * ns_per_tick, double(best) * ns_per_tick / readings};
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
