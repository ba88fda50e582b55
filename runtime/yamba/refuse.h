// Refusing a parameter's value, before anything is measured.
#pragma once

#include <stdarg.h>

#include "cold.h"
#include "must.h"
#include "once.h"
#include "parameters.h"

YAMBA_COLD_BEGIN
namespace yamba {

// What a benchmark has against its parameters, for a person.
struct Refusal {
    Text text;
};

// The parameters of the benchmark that is looking at them in `check_parameters`; null at any other time.
inline const ParameterSource *checked = nullptr;

// Only for `check_parameters`: the value of this parameter cannot be, whatever the machine. The text goes on after `NAME=VALUE: ` and says what it may be.
[[noreturn]] __attribute__((format(printf, 2, 3), cold)) YAMBA_ONCE void refuse(const char *name, const char *format, ...) {
    Refusal refusal;
    refusal.text.add(program_name).add(": ");
    if (checked != nullptr) refusal.text.add(checked->as_given(name));
    else refusal.text.add(name);
    refusal.text.add(": ");
    va_list args;
    va_start(args, format);
    refusal.text.addv(format, args);
    va_end(args);
    if (checked == nullptr) fail_at(refusal.text, program_name, nullptr, 0);
    throw refusal;
}

// What the benchmark has against these parameters; empty if nothing.
template <class Subject>
Text objection(Subject &subject, const ParameterSource &source) {
    Text text;
    checked = &source;
    try {
        subject.check_parameters();
    } catch (const Refusal &refusal) {
        text = refusal.text;
    }
    checked = nullptr;
    return text;
}

}  // namespace yamba
YAMBA_COLD_END
