#include "yamba/clock.h"

namespace yamba {

ClockError measure_clock() {
    constexpr int rounds = 11, readings = 100;
    uint64_t step = UINT64_MAX, best = UINT64_MAX;
    for (int r = 0; r < rounds; r++) {
        uint64_t begin = read_clock(), last = begin;
        for (int i = 0; i < readings; i++) {
            uint64_t now = read_clock();
            if (now > last) step = now - last < step ? now - last : step;
            last = now;
        }
        best = last - begin < best ? last - begin : best;
    }
    return {step == UINT64_MAX ? 0 : double(step) * ns_per_tick, double(best) * ns_per_tick / readings};
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
