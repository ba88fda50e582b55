// Refusal of a parameter's value before the measurement.
#pragma once

#include <stdarg.h>

#include "must.h"
#include "parameters.h"

namespace yamba {

// Thrown by `refuse`: the user's message about invalid parameters.
struct Refusal {
    Text text;
};

// The parameters of the benchmark whose `check_parameters` is running; null otherwise.
inline const ParameterSource *checked = nullptr;

// Refuses a parameter's value as invalid on every machine. Only for `check_parameters`. The message
// continues `NAME=VALUE: ` and describes the valid values.
[[noreturn]] __attribute__((format(printf, 2, 3), cold)) void refuse(const char *name, const char *format, ...);

// Runs `check_parameters`. Returns the message of a refusal, or an empty text.
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
