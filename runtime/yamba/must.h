// Deliberate failures: a call that must succeed, and a benchmark that cannot continue.
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <type_traits>

#include "record_writer.h"

namespace yamba {

inline const char *program_name = "benchmark";

// Exit status for wrong parameters or options.
constexpr int usage_status = 2;

// Exit status of a run that ended with a recorded error.
constexpr int failed_status = 3;

// Exit status of a run that cannot measure anything here. The reason is on standard error.
constexpr int skipped_status = 4;

// Cleanup before the process ends early: removes the scratch directory.
inline void (*before_early_end)() = nullptr;

// Adds a hint to a failure's message: whether the disk is full, and how to get more room. `error`
// is the call's errno, or 0.
inline void (*suggest_fix)(Text &text, int error) = nullptr;

[[noreturn]] void end_early(int status);

[[noreturn]] void fail_at(const Text &text, const char *class_name, const char *file, int line);

// Ends the run with this error message.
[[noreturn]] __attribute__((format(printf, 1, 2), cold)) void fail(const char *format, ...);

// Ends the run as skipped: the benchmark cannot be measured here, for this reason. If several
// processes skip, only one reports it.
[[noreturn]] __attribute__((format(printf, 1, 2), cold)) void skip(const char *format, ...);

// The process whose memory the harness has locked (placement.h). A forked child has another id, and
// none of its memory is locked.
inline pid_t locked_process = -1;

// Whether a return value signals failure by the conventions of C.
template <class T>
bool means_failure(T value) {
    if constexpr (std::is_same<T, bool>::value) return !value;
    else if constexpr (std::is_pointer<T>::value) return value == nullptr || reinterpret_cast<intptr_t>(value) == -1;
    else if constexpr (std::is_unsigned<T>::value) return value == static_cast<T>(-1);
    else return value < T(0);
}

[[noreturn]] __attribute__((cold)) void must_failed(bool has_errno, const char *expression, const char *file, int line,
                                                    const char *function);

template <class T>
inline T must_hold(T value, const char *expression, const char *file, int line, const char *function) {
    if (__builtin_expect(means_failure(value), 0)) must_failed(!std::is_same<T, bool>::value, expression, file, line, function);
    return value;
}

}  // namespace yamba

// Returns the value of a call. If it is negative, -1, a null pointer, MAP_FAILED or false, the run
// ends with the call's location.
#define must(...) (::yamba::must_hold((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__, __PRETTY_FUNCTION__))
