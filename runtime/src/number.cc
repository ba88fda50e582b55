#include "yamba/number.h"

#include <stdlib.h>

#include "plain_locale.h"

namespace yamba {

bool fits(Number n, unsigned width) {
    if (width >= 64) return true;
    if (width == 0) return n.bits == 0;
    if (!n.is_signed) return n.bits >> width == 0;
    int64_t value = static_cast<int64_t>(n.bits), half = int64_t(1) << (width - 1);
    return value >= -half && value < half;
}

// Prints decimal digits without printf, because a name is printed for each of up to a hundred
// thousand parts.
static size_t print_decimal(char *out, uint64_t value) {
    char digits[20];
    size_t n = 0;
    do digits[n++] = static_cast<char>('0' + value % 10);
    while ((value /= 10) != 0);
    for (size_t i = 0; i < n; i++) out[i] = digits[n - 1 - i];
    return n;
}

double read_real(const char *text, char **end) {
    const PlainLocale plain;
    return strtod(text, end);
}

size_t print_real(char *out, double value, bool is_single) {
    const PlainLocale plain;
    // Every text with so few digits survives; with two or three more digits, every value has one.
    int precision = is_single ? std::numeric_limits<float>::digits10 : std::numeric_limits<double>::digits10;
    for (int most = precision + (is_single ? 3 : 2);; precision++) {
        int length = snprintf(out, longest_value, "%.*g", precision, value);
        double back = strtod(out, nullptr);
        bool is_same = is_single ? static_cast<float>(back) == static_cast<float>(value) : back == value;
        if (!is_same && precision < most) continue;
        // Like a double, without an exponent.
        bool is_whole = __builtin_fabs(back) < 1e15 && back == __builtin_trunc(back);
        if (is_single && is_whole) length = snprintf(out, longest_value, "%.0f", back);
        return static_cast<size_t>(length);
    }
}

size_t print(char *out, const Value &v) {
    switch (v.kind) {
        case Value::whole_signed:
            if (static_cast<int64_t>(v.bits) < 0) return *out = '-', 1 + print_decimal(out + 1, 0 - v.bits);
            return print_decimal(out, v.bits);
        case Value::whole_unsigned: return print_decimal(out, v.bits);
        case Value::truth: return static_cast<size_t>(snprintf(out, longest_value, "%s", v.bits ? "true" : "false"));
        case Value::real: return print_real(out, v.number, false);
        case Value::single: return print_real(out, v.number, true);
        case Value::pointer:
            return static_cast<size_t>(snprintf(out, longest_value, "0x%llx", static_cast<unsigned long long>(v.bits)));
        case Value::text: {
            int n = snprintf(out, longest_value, "\"%.32s\"", v.string ? v.string : "");
            return static_cast<size_t>(n);
        }
        case Value::other: break;
    }
    return out[0] = out[1] = out[2] = '.', size_t(3);
}

}  // namespace yamba
