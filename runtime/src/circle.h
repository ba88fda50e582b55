// Test groups: the clock is read around N runs of a circle, S such tests make a group, and each group's tests are longer than
// those of the group before. After N. Korovkina, "seL4 microbenchmarking: designing predictable measurement context" (Kanata
// Bench, 2022), section 2.2.
#pragma once

#include "yamba/clock.h"
#include "yamba/subject.h"

#include "disturbance.h"

namespace yamba {
namespace harness {

struct Reading {
    uint64_t begin, end;
};

// One test. All tests of all groups run this one piece of code, whatever their number and size, so that the measuring tool is the
// same in every configuration.
__attribute__((noinline)) inline Reading time_test(Subject &subject, uint64_t circles) {
    uint64_t begin = read_clock();
    subject.run(circles);
    return {begin, read_clock()};
}

// The tests of all groups, interleaved.
void measure_circles(Subject &subject, const Tolerance &own);

}  // namespace harness
}  // namespace yamba
