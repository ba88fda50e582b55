// Failing on purpose: a call that must succeed, and a benchmark that finds it cannot go on.
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <type_traits>

#include "once.h"
#include "record_writer.h"

namespace yamba {

inline const char *program_name = "benchmark";

// Status of a run that ended with a recorded error.
constexpr int failed_status = 3;

// Status of a run that found that nothing can be measured here, and has said why on standard error.
constexpr int skipped_status = 4;

// Other headers hook what must be undone before the process ends early (the scratch directory).
inline void (*before_early_end)() = nullptr;

// And what a failed call's error, 0 where it has none of its own, does not tell: that there is no room, and what mends that.
inline void (*say_what_mends)(Text &text, int error) = nullptr;

[[noreturn]] YAMBA_ONCE void end_early(int status) {
    if (before_early_end != nullptr) before_early_end();
    _exit(status);
}

// The class in "void {anonymous}::yamba_NAME::setup()" (g++) or "void (anonymous namespace)::yamba_NAME::setup()" (clang++).
YAMBA_ONCE Text class_of(const char *pretty_function) {
    const char *found = nullptr;
    static const char prefix[] = "::yamba_";
    for (const char *s = pretty_function; (s = strstr(s, prefix)) != nullptr; s++) found = s;
    Text name;
    if (found == nullptr) {
        name.add(program_name);
    } else {
        found += sizeof prefix - 1;
        name.add(found, strcspn(found, ":( "));
    }
    return name;
}

[[noreturn]] YAMBA_ONCE void fail_at(const Text &text, const char *class_name, const char *file, int line) {
    if (before_last_words != nullptr) before_last_words();
    {
        Record record("error");
        record.text("text", text.c_str()).text("class", class_name).text("file", file);
        if (file != nullptr) record.count("line", uint64_t(line));
        else record.key("line").add("null");
    }
    end_early(failed_status);
}

// Ends the run with this reason.
[[noreturn]] __attribute__((format(printf, 1, 2), cold)) YAMBA_ONCE void fail(const char *format, ...) {
    Text text;
    va_list args;
    va_start(args, format);
    text.addv(format, args);
    va_end(args);
    fail_at(text, program_name, nullptr, 0);
}

// Ends the run as skipped: it cannot be measured here, for this reason. Of several processes at once one says so.
[[noreturn]] __attribute__((format(printf, 1, 2), cold)) YAMBA_ONCE void skip(const char *format, ...) {
    if (before_last_words != nullptr) before_last_words();
    Text text;
    va_list args;
    va_start(args, format);
    text.addv(format, args);
    va_end(args);
    text.add("\n");
    write_all(STDERR_FILENO, text.c_str(), text.size());
    end_early(skipped_status);
}

// The process whose memory the harness has locked (placement.h). A forked child has another id, and none of its memory is locked.
inline pid_t locked_process = -1;

// Linux refuses to drop locked pages: madvise fails with EINVAL, msync with EBUSY. The error itself does not say why.
YAMBA_ONCE void explain_locked_memory(Text &text, int error, const char *expression) {
    const bool is_madvise = error == EINVAL && strstr(expression, "madvise") != nullptr;
    const bool is_msync = error == EBUSY && strstr(expression, "msync") != nullptr;
    if (locked_process != getpid() || (!is_madvise && !is_msync)) return;
    text.add("; memory is locked after `setup`, and the system does not drop locked pages; fix: add `bool may_fault() { return true; }` to the class");
}

// Whether a returned value is how C functions say that they failed.
template <class T>
bool means_failure(T value) {
    if constexpr (std::is_same<T, bool>::value) return !value;
    else if constexpr (std::is_pointer<T>::value) return value == nullptr || reinterpret_cast<intptr_t>(value) == -1;
    else if constexpr (std::is_unsigned<T>::value) return value == static_cast<T>(-1);
    else return value < T(0);
}

[[noreturn]] __attribute__((cold)) YAMBA_ONCE void must_failed(bool has_errno, const char *expression, const char *file, int line, const char *function) {
    int error = errno;
    Text text, name = class_of(function);
    text.addf("%s failed", expression);
    if (has_errno) text.addf(": %s (errno %d)", strerror(error), error);
    if (has_errno) explain_locked_memory(text, error, expression);
    if (say_what_mends != nullptr) say_what_mends(text, has_errno ? error : 0);
    fail_at(text, name.c_str(), file, line);
}

template <class T>
inline T must_hold(T value, const char *expression, const char *file, int line, const char *function) {
    if (__builtin_expect(means_failure(value), 0)) must_failed(!std::is_same<T, bool>::value, expression, file, line, function);
    return value;
}

}  // namespace yamba

// The value of a call; if it is negative, -1, a null pointer, MAP_FAILED or false, the run ends and says where.
#define must(...) (::yamba::must_hold((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__, __PRETTY_FUNCTION__))
