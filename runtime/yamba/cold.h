// Marks code in a header or in a generated program that is never timed and runs once or twice. It is compiled without
// optimisation, which takes less time. Functions that are no templates belong into runtime/src instead, where they are compiled
// once for all programs.
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
