// Test groups: the clock is read around N runs of a circle. S such tests form a group; the tests of
// each group are longer than those of the previous one. After N. Korovkina, "seL4
// microbenchmarking: designing predictable measurement context" (Kanata Bench, 2022), section
// 2.2.
#pragma once

#include "yamba/clock.h"
#include "yamba/subject.h"

#include "disturbance.h"

namespace yamba {
namespace harness {

struct Reading {
    uint64_t begin, end;
};

// Times one test. All tests of all groups run this same machine code, so the measuring tool is
// identical in every configuration.
__attribute__((noinline)) inline Reading time_test(Subject &subject, uint64_t circles) {
    uint64_t begin = read_clock();
    subject.run(circles);
    return {begin, read_clock()};
}

// Measures the tests of all groups, one group after the other, after a warm-up of `warmup_ns`.
void measure_circles(Subject &subject, const Tolerance &own, double warmup_ns);

}  // namespace harness
}  // namespace yamba
