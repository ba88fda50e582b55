// What the system did to a benchmark while it was timed, and what of it counts against the interval.
#pragma once

#include <stdint.h>

#include "clock.h"
#include "cold.h"
#include "system.h"
#include "text.h"
#include "usage.h"

YAMBA_COLD_BEGIN
namespace yamba {

// Tests put simulated counts here, as they do with the clock.
inline Usage (*read_usage)() = system::usage;

struct Disturbance {
    uint64_t involuntary = 0, voluntary = 0, migrations = 0, minor_faults = 0, major_faults = 0;
    double stolen_ns = 0;  // by which the clock went on longer than the thread had a processor
    bool clock_went_back = false;

    Disturbance &operator+=(const Disturbance &other) {
        involuntary += other.involuntary, voluntary += other.voluntary, migrations += other.migrations;
        minor_faults += other.minor_faults, major_faults += other.major_faults;
        stolen_ns += other.stolen_ns;
        clock_went_back = clock_went_back || other.clock_went_back;
        return *this;
    }
};

// From one moment to another, both outside of what is timed.
class Watch {
  public:
    Watch() : usage_(read_usage()), begin_(read_clock()) {}

    Disturbance end() const {
        uint64_t now = read_clock();
        Usage usage = read_usage();
        Disturbance d;
        d.involuntary = usage.involuntary - usage_.involuntary;
        d.voluntary = usage.voluntary - usage_.voluntary;
        d.migrations = usage.processor != usage_.processor ? 1 : 0;
        d.minor_faults = usage.minor_faults - usage_.minor_faults;
        d.major_faults = usage.major_faults - usage_.major_faults;
        d.stolen_ns = nanoseconds(begin_, now) - (usage.cpu_ns - usage_.cpu_ns);
        return d;
    }

  private:
    Usage usage_;
    uint64_t begin_;
};

// What a benchmark does itself is no disturbance of it.
struct Tolerance {
    bool waits, faults;
};

// A JSON array of the kinds of disturbance that count against an interval of `ns`; empty if there are none.
inline Text held_against(const Disturbance &d, double ns, const Tolerance &own) {
    // Less is what reading the two clocks one after the other, and the timer's interrupt, make of nothing.
    constexpr double stolen = 0.01;
    Text kinds;
    auto add = [&](bool holds, const char *kind) {
        if (holds) kinds.add(kinds.empty() ? "" : ",").quote(kind);
    };
    add(!own.waits && d.involuntary > 0, "switch");
    add(!own.waits && d.migrations > 0, "migration");
    add(!own.faults && d.minor_faults + d.major_faults > 0, "fault");
    add(!own.waits && d.voluntary == 0 && d.stolen_ns > stolen * ns, "stolen");
    add(d.clock_went_back, "clock");
    return kinds;
}

}  // namespace yamba
YAMBA_COLD_END
