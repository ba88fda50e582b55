// The width of the confidence interval of a launch's own median, and the number of values that a
// mean needs. They only decide when to stop; reported figures are computed from the record.
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

// The z for which a standard normal value is between -z and z with this probability, by bisection.
inline double two_sided_normal(double confidence) {
    double low = 0, high = 40;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        (erfc(middle / sqrt(2.)) > 1 - confidence ? low : high) = middle;
    }
    return high;
}

// The number of values whose mean has a confidence interval of this half-width, as a share of the
// mean: (z s / (m e))^2, after N. Korovkina (Kanata Bench, 2022), equation 3.3. Infinite for fewer
// than two values.
inline double values_needed(const Values<double> &values, double confidence, double half_width) {
    const double n = double(values.size());
    double sum = 0, squares = 0;
    for (double value : values) sum += value;
    for (double value : values) squares += (value - sum / n) * (value - sum / n);
    if (values.size() < 2 || sum <= 0) return INFINITY;
    const double root = two_sided_normal(confidence) * sqrt(squares / (n - 1)) / (sum / n * half_width);
    return ceil(root * root);
}

}  // namespace harness
}  // namespace yamba
