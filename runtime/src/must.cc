#include "yamba/must.h"

namespace yamba {

void end_early(int status) {
    if (before_early_end != nullptr) before_early_end();
    _exit(status);
}

// Extracts the class from "void {anonymous}::yamba_NAME::setup()" (g++) or "void (anonymous
// namespace)::yamba_NAME::setup()" (clang++).
static Text class_of(const char *pretty_function) {
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

void fail_at(const Text &text, const char *class_name, const char *file, int line) {
    if (before_last_words != nullptr) before_last_words();
    {
        Record record("error");
        record.text("text", text.c_str()).text("class", class_name).text("file", file);
        if (file != nullptr) record.count("line", uint64_t(line));
        else record.key("line").add("null");
    }
    end_early(failed_status);
}

void fail(const char *format, ...) {
    Text text;
    va_list args;
    va_start(args, format);
    text.addv(format, args);
    va_end(args);
    fail_at(text, program_name, nullptr, 0);
}

void skip(const char *format, ...) {
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

void only_in_measured_process() {
    if (measured_process != 0 && getpid() != measured_process)
        fail("a child process that the benchmark forked goes on with the measurement: end it with `_exit`");
}

// Linux refuses to drop locked pages: madvise fails with EINVAL, msync with EBUSY. The error itself
// does not say why.
static void explain_locked_memory(Text &text, int error, const char *expression) {
    const bool is_madvise = error == EINVAL && strstr(expression, "madvise") != nullptr;
    const bool is_msync = error == EBUSY && strstr(expression, "msync") != nullptr;
    if (locked_process != getpid() || (!is_madvise && !is_msync)) return;
    text.add(
        "; memory is locked after `setup`, and the system does not drop locked pages; fix: add `bool may_fault() { return true; "
        "}` to the class");
}

void must_failed(bool has_errno, const char *expression, const char *file, int line, const char *function) {
    int error = errno;
    Text text, name = class_of(function);
    text.addf("%s failed", expression);
    if (has_errno) text.addf(": %s (errno %d)", strerror(error), error);
    if (has_errno) explain_locked_memory(text, error, expression);
    if (suggest_fix != nullptr) suggest_fix(text, has_errno ? error : 0);
    fail_at(text, name.c_str(), file, line);
}

}  // namespace yamba
