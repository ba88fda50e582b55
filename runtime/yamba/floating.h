// Replacements for <math.h> in headers that every program includes, made from compiler builtins.
// <math.h> includes the C++ library's special functions, which would take a tenth of the compile
// time of a small program. Also, a benchmark that does not include <math.h> sees none of its names.
// With the C library's names alone, `sqrt` of a float would be computed in double.
#pragma once

namespace yamba {

constexpr double not_known = __builtin_nan("");

constexpr bool is_nan(double value) { return __builtin_isnan(value); }
inline bool is_finite(double value) { return __builtin_isfinite(value); }

}  // namespace yamba
