// Marks code in a header or generated program that is never timed and runs at most twice. It is
// compiled without optimisation, which takes less time. Non-template functions belong in
// runtime/src instead, which is compiled once for all programs.
#pragma once

#if defined(__clang__)
#define YAMBA_COLD_BEGIN _Pragma("clang optimize off")
#define YAMBA_COLD_END _Pragma("clang optimize on")
#elif defined(__OPTIMIZE__)
#define YAMBA_COLD_BEGIN _Pragma("GCC push_options") _Pragma("GCC optimize(\"O0\")")
#define YAMBA_COLD_END _Pragma("GCC pop_options")
#else
#define YAMBA_COLD_BEGIN
#define YAMBA_COLD_END
#endif
