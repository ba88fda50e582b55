// Values that are converted to bits: their representation, range checks and printing.
#pragma once

#include <stdint.h>
#include <stdio.h>

#include <limits>
#include <type_traits>

namespace yamba {

// Any C++ integer, enumeration, bool or pointer: its 64 bits in two's complement and its
// signedness.
struct Number {
    uint64_t bits;
    bool is_signed;

    bool negative() const { return is_signed && static_cast<int64_t>(bits) < 0; }
    // The value of all bits above bit 63.
    uint64_t extension() const { return negative() ? ~uint64_t(0) : 0; }
};

template <class T>
Number number(T value) {
    if constexpr (std::is_pointer<T>::value) {
        return {static_cast<uint64_t>(reinterpret_cast<uintptr_t>(value)), false};
    } else if constexpr (std::is_enum<T>::value) {
        return number(static_cast<typename std::underlying_type<T>::type>(value));
    } else {
        static_assert(std::is_integral<T>::value, "le, be, bits and ${} take a whole number, an enumeration or a pointer");
        return {static_cast<uint64_t>(value), std::is_signed<T>::value};
    }
}

// Whether the value is representable in `width` bits, with the signedness of its type.
bool fits(Number n, unsigned width);

// A value as a report shows it: decimal, or hexadecimal for a pointer.
struct Value {
    enum Kind : unsigned char { whole_signed, whole_unsigned, truth, real, single, pointer, text, other } kind;
    union {
        uint64_t bits;
        double number;
        const char *string;
    };
};

template <class T>
Value shown(const T &value) {
    Value v{};
    if constexpr (std::is_same<T, bool>::value) {
        v.kind = Value::truth, v.bits = value;
    } else if constexpr (std::is_enum<T>::value) {
        return shown(static_cast<typename std::underlying_type<T>::type>(value));
    } else if constexpr (std::is_integral<T>::value) {
        v.kind = std::is_signed<T>::value ? Value::whole_signed : Value::whole_unsigned;
        v.bits = static_cast<uint64_t>(value);
    } else if constexpr (std::is_floating_point<T>::value) {
        v.kind = std::is_same<T, float>::value ? Value::single : Value::real;
        v.number = static_cast<double>(value);
    } else if constexpr (std::is_convertible<T, const char *>::value) {
        v.kind = Value::text, v.string = value;
    } else if constexpr (std::is_pointer<T>::value) {
        v.kind = Value::pointer, v.bits = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(value));
    } else {
        v.kind = Value::other;
    }
    return v;
}

constexpr size_t longest_value = 40;

// Prints at most `longest_value` characters, without terminator. Returns their number.
size_t print(char *out, const Value &v);

// Like strtod, but the author's locale has no effect.
double read_real(const char *text, char **end);

// Prints the shortest decimal text from which read_real makes the same double, or with `is_single`
// the same float: 0.1, not 0.10000000149011612. Returns its length, below `longest_value`, and adds
// a terminator.
size_t print_real(char *out, double value, bool is_single);

}  // namespace yamba
