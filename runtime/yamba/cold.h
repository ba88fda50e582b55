// Marks code that is never timed and hardly ever runs twice. Every benchmark compiles it anew, so it is compiled without
// optimisation: that halves the time a person waits for the first figure.
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
