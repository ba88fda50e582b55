#include "yamba/refuse.h"

namespace yamba {

void refuse(const char *name, const char *format, ...) {
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

}  // namespace yamba
