// Parameters: their values from --set, their defaults, and the values that a plain run sweeps.
//
// The generated configure() settles each parameter after those that its value mentions:
//
//     void configure(yamba::ParameterSource &source) override {
//         source.settle(scale, "scale", "int", [&] { return 16; });
//         source.over("scale", yamba::values<int>(16, 32, 64));
//         source.quick("scale", yamba::values<int>(16));
//         source.settle(size, "size", "size_t", [&] { return 1 << 20; });
//         source.over("size", yamba::log_values<size_t>(FIRST, LAST, POINTS_PER_OCTAVE));
//         source.over("size", yamba::linear_values<size_t>(FIRST, LAST, STEP));
//     }
//
// A parameter is a number, a bool, an enumeration or a const char *. `over` and `quick` may be left
// out.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <limits>
#include <type_traits>
#include <vector>

#include "cold.h"
#include "must.h"
#include "number.h"
#include "text.h"

YAMBA_COLD_BEGIN
namespace yamba {

template <class T>
using Values = std::vector<T>;

// Whether a conversion kept an integer's value. Results are identified by their parameters' values,
// so a changed value is an error.
template <class T, class V>
bool holds(T made, V from) {
    if constexpr (std::is_integral<T>::value && !std::is_same<T, bool>::value && std::is_integral<V>::value) {
        bool same_sign = true;
        if constexpr (std::is_signed<T>::value != std::is_signed<V>::value) {
            if constexpr (std::is_signed<T>::value) same_sign = made >= 0;
            else same_sign = from >= 0;
        }
        return same_sign && static_cast<V>(made) == from;
    } else {
        return true;
    }
}

// Converts a value of a sweep to the parameter's type. Fails if the type cannot hold it.
template <class T, class V>
T swept(V value) {
    if constexpr (std::is_integral<T>::value && std::is_floating_point<V>::value) {
        // 2^digits is exact in a double and one past the largest value.
        double end = __builtin_exp2(std::numeric_limits<T>::digits), least = std::is_signed<T>::value ? -end : 0;
        if (!(double(value) >= least && double(value) < end))
            fail("the parameter's type cannot hold the value %.17g of its sweep", double(value));
        return static_cast<T>(value);
    } else {
        T made = static_cast<T>(value);
        if constexpr (std::is_arithmetic<V>::value)
            if (!holds(made, value))
                fail("the parameter's type cannot hold the value %lld of its sweep", static_cast<long long>(value));
        return made;
    }
}

template <class T, class... V>
Values<T> values(V... v) {
    return Values<T>{swept<T>(v)...};
}

// The longest sweep. A longer one would take hours and is probably a mistake.
constexpr size_t most_sweep_values = 1000;

// Ends the program if a sweep goes on after this number of values.
inline void check_sweep(size_t count) {
    if (count >= most_sweep_values) fail("a sweep has more than %zu values: let its steps be larger", most_sweep_values);
}

// FIRST, then `points_per_octave` values for each doubling, none above LAST. Whole numbers are
// rounded and never repeated.
template <class T>
Values<T> log_values(double first, double last, double points_per_octave) {
    Values<T> result;
    if (!(first > 0) || !(points_per_octave > 0)) return result;
    for (size_t i = 0;; i++) {
        double value = first * __builtin_exp2(double(i) / points_per_octave);
        if (!(value <= last * (1 + 1e-9))) break;
        check_sweep(i);
        T typed = swept<T>(std::is_integral<T>::value ? __builtin_floor(value + 0.5) : value);
        if (result.empty() || typed != result.back()) result.push_back(typed);
    }
    return result;
}

// FIRST, FIRST + STEP, ... up to LAST. LAST is included if the steps reach it.
template <class T>
Values<T> linear_values(double first, double last, double step) {
    Values<T> result;
    if (step == 0) return result;
    for (size_t i = 0;; i++) {
        double value = first + double(i) * step, slack = __builtin_fabs(step) * 1e-9;
        if (step > 0 ? !(value <= last + slack) : !(value >= last - slack)) break;
        check_sweep(i);
        result.push_back(swept<T>(value));
    }
    return result;
}

// A value in the syntax of --set and in JSON.
struct Spelling {
    Text plain, json;
};

template <class T>
Spelling spell(T value) {
    Spelling s;
    if constexpr (std::is_enum<T>::value) {
        return spell(static_cast<typename std::underlying_type<T>::type>(value));
    } else if constexpr (std::is_same<T, bool>::value) {
        s.plain.add(value ? "true" : "false");
        s.json = s.plain;
    } else if constexpr (std::is_floating_point<T>::value) {
        s.json.number(double(value), std::is_same<T, float>::value);
        s.plain = s.json;
    } else if constexpr (std::is_signed<T>::value) {
        s.plain.addf("%lld", static_cast<long long>(value));
        s.json = s.plain;
    } else if constexpr (std::is_integral<T>::value) {
        s.plain.addf("%llu", static_cast<unsigned long long>(value));
        s.json = s.plain;
    } else {
        static_assert(std::is_convertible<T, const char *>::value,
                      "a parameter is a number, a bool, an enumeration or a const char *");
        s.plain.add(value ? value : "");
        s.json.quote(value);
    }
    return s;
}

namespace parse {

// The reason why a value is invalid; nullptr if it is valid.
using Fault = const char *;

constexpr Fault not_a_number = "is not a number (write 64, 0x40, 64K, 64M or 64G)";
constexpr Fault out_of_range = "is out of range";

// Parses a suffix. K, M, G and T are powers of 1024, because they are mostly used for sizes; Ki and
// KiB mean the same as K.
bool suffix(const char *end, int &shift);

// Parses magnitude and sign separately, so that overflow is detected at both ends of every integer
// type.
Fault integer(const char *text, bool &negative, uint64_t &magnitude);

template <class T>
Fault whole(const char *text, T &out) {
    bool negative;
    uint64_t magnitude;
    if (Fault fault = integer(text, negative, magnitude)) return fault;
    uint64_t top = static_cast<uint64_t>(std::numeric_limits<T>::max());
    uint64_t limit = negative ? (std::is_signed<T>::value ? top + 1 : 0) : top;
    if (magnitude > limit) return out_of_range;
    out = static_cast<T>(negative ? 0 - magnitude : magnitude);
    return nullptr;
}

template <class T>
Fault real(const char *text, T &out) {
    char *end;
    int shift;
    double value = read_real(text, &end);
    if (end == text || !suffix(end, shift) || is_nan(value)) return not_a_number;
    value *= double(uint64_t(1) << shift);
    if (!is_finite(static_cast<T>(value))) return out_of_range;
    out = static_cast<T>(value);
    return nullptr;
}

Fault truth(const char *text, bool &out);

template <class T>
Fault any(const char *text, T &out) {
    if constexpr (std::is_same<T, bool>::value) {
        return truth(text, out);
    } else if constexpr (std::is_enum<T>::value) {
        typename std::underlying_type<T>::type number;
        Fault fault = whole(text, number);
        if (fault == nullptr) out = static_cast<T>(number);
        return fault;
    } else if constexpr (std::is_floating_point<T>::value) {
        return real(text, out);
    } else if constexpr (std::is_integral<T>::value) {
        return whole(text, out);
    } else {
        out = text;  // the argument outlives the benchmark
        return nullptr;
    }
}

}  // namespace parse

// One --set; `text` must outlive the subject.
struct Setting {
    Text name;
    const char *text;
};

// A parameter with its final value.
struct Settled {
    const char *name, *type;
    Spelling value;
    bool set;  // by --set
    bool has_over, has_quick;
    Values<Spelling> over, quick;
};

struct ParameterSource {
    Values<Setting> settings;
    Values<Settled> settled;
    Text fault;  // of the first invalid setting

    // Sets `member` to the value of --set, or else to `default_value()`.
    template <class T, class F>
    void settle(T &member, const char *name, const char *type, F default_value) {
        if (!read(member, name, type)) {
            const auto value = default_value();
            member = static_cast<T>(value);
            if (!holds(member, value)) refuse_default(name, type, value);
        }
        keep(name, type, member);
    }

    // The values of a plain run.
    template <class T>
    void over(const char *name, const Values<T> &list) {
        Settled *p = parameter(name);
        if (p == nullptr) return;
        p->has_over = true;
        p->over = spell_all(list);
    }

    // The values of a quick run.
    template <class T>
    void quick(const char *name, const Values<T> &list) {
        Settled *p = parameter(name);
        if (p == nullptr) return;
        p->has_quick = true;
        p->quick = spell_all(list);
    }

    // Called after configure(): whether every setting is valid. If not, `fault` has the message,
    // with its fix.
    bool understood(const char *class_name);

    // A parameter as the user gave it: `--set NAME=VALUE`, or `NAME=VALUE` if no --set gives it.
    Text as_given(const char *name) const;

    Settled *parameter(const char *name);

  private:
    // Finds the last setting of that name, which counts, as on any command line.
    const Setting *find(const char *name) const;

    // Whether --set names this parameter. A value that cannot be parsed is refused.
    template <class T>
    bool read(T &member, const char *name, const char *type) {
        const Setting *setting = find(name);
        if (setting == nullptr) return false;
        if (parse::Fault wrong = parse::any(setting->text, member)) refuse(*setting, type, wrong);
        return true;
    }

    template <class T>
    void keep(const char *name, const char *type, T value) {
        settled.push_back(Settled{name, type, spell(value), find(name) != nullptr, false, false, {}, {}});
    }

    template <class V>
    void refuse_default(const char *name, const char *type, V value) {
        if (fault.empty()) fault.addf("%s is of type %s, which cannot hold its value %s", name, type, spell(value).plain.c_str());
    }

    template <class T>
    static Values<Spelling> spell_all(const Values<T> &list) {
        Values<Spelling> all;
        for (size_t i = 0; i < list.size(); i++) all.push_back(spell<T>(list[i]));
        return all;
    }

    void refuse(const Setting &s, const char *type, parse::Fault wrong);

    void refuse_name(const Setting &s, const char *class_name);
};

// The usual types are compiled once, in src/parameters.cc.
#define YAMBA_PARAMETER_OF(linkage, type)                                          \
    linkage void ParameterSource::over<type>(const char *, const Values<type> &);  \
    linkage void ParameterSource::quick<type>(const char *, const Values<type> &); \
    linkage bool ParameterSource::read<type>(type &, const char *, const char *);  \
    linkage void ParameterSource::keep<type>(const char *, const char *, type);    \
    linkage void ParameterSource::refuse_default<type>(const char *, const char *, type);
#define YAMBA_USUAL_PARAMETERS(linkage)             \
    YAMBA_PARAMETER_OF(linkage, bool)               \
    YAMBA_PARAMETER_OF(linkage, int)                \
    YAMBA_PARAMETER_OF(linkage, unsigned int)       \
    YAMBA_PARAMETER_OF(linkage, long)               \
    YAMBA_PARAMETER_OF(linkage, unsigned long)      \
    YAMBA_PARAMETER_OF(linkage, long long)          \
    YAMBA_PARAMETER_OF(linkage, unsigned long long) \
    YAMBA_PARAMETER_OF(linkage, double)             \
    YAMBA_PARAMETER_OF(linkage, const char *)
YAMBA_USUAL_PARAMETERS(extern template)

// The parameters of the point that is being measured.
inline const ParameterSource *measured = nullptr;

}  // namespace yamba
YAMBA_COLD_END
