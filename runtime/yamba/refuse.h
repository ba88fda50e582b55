// Refusing a parameter's value, before anything is measured.
#pragma once

#include <stdarg.h>

#include "must.h"
#include "parameters.h"

namespace yamba {

// What a benchmark has against its parameters, for a person.
struct Refusal {
    Text text;
};

// The parameters of the benchmark that is looking at them in `check_parameters`; null at any other time.
inline const ParameterSource *checked = nullptr;

// Only for `check_parameters`: the value of this parameter cannot be, whatever the machine. The text goes on after `NAME=VALUE: `
// and says what it may be.
[[noreturn]] __attribute__((format(printf, 2, 3), cold)) void refuse(const char *name, const char *format, ...);

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
