// The width of the confidence interval of a launch's own median. It only decides when to stop;
// reported figures are computed from the record.
#pragma once

#include <math.h>
#include <stdlib.h>

#include "yamba/parameters.h"

namespace yamba {
namespace harness {

inline int ascending(const void *a, const void *b) {
    double x = *static_cast<const double *>(a), y = *static_cast<const double *>(b);
    return x < y ? -1 : x > y ? 1 : 0;
}

// Half the width of the median's 95 % confidence interval by order statistics, relative to the
// median. The ranks use the normal approximation to the binomial distribution (Conover, Practical
// Nonparametric Statistics, 3.2). It is accurate enough from 11 samples on.
inline double half_width(Values<double> samples) {
    size_t n = samples.size();
    if (n < 6) return INFINITY;
    qsort(samples.data(), n, sizeof(double), ascending);
    double reach = 1.96 * sqrt(double(n)) / 2;
    size_t low = size_t(fmax(0, floor(double(n) / 2 - reach) - 1)), high = n - 1 - low;
    double median = samples.data()[n / 2];
    return median > 0 ? (samples.data()[high] - samples.data()[low]) / 2 / median : INFINITY;
}

}  // namespace harness
}  // namespace yamba
