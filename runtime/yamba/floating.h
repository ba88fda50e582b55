// What headers that every program reads need of <math.h>, by the compiler's own functions. The header itself has the C++
// library's special functions with it, which are a tenth of what a small program takes to compile. Nor is anything of it in sight
// of a benchmark that does not include it: the C library's alone would make of the `sqrt` of a float one of a double.
#pragma once

namespace yamba {

constexpr double not_known = __builtin_nan("");

constexpr bool is_nan(double value) { return __builtin_isnan(value); }
inline bool is_finite(double value) { return __builtin_isfinite(value); }

}  // namespace yamba
