// --compose MEMBER ARGS...: the bits of a bitstring and who contributed them, as one JSON object.
#pragma once

#include <stdio.h>

#include "cold.h"
#include "composer.h"
#include "once.h"
#include "parameters.h"
#include "subject.h"

YAMBA_COLD_BEGIN
namespace yamba {

// The type of the parameter `index` of a member function that composes; the first parameter is the Composer.
template <size_t index, class F>
struct ParameterOf;
template <size_t index, class C, class First, class... Rest>
struct ParameterOf<index, void (C::*)(Composer &, First, Rest...)> : ParameterOf<index - 1, void (C::*)(Composer &, Rest...)> {};
template <class C, class First, class... Rest>
struct ParameterOf<0, void (C::*)(Composer &, First, Rest...)> {
    using Type = First;
};
template <size_t index, class F>
using ParameterType = typename ParameterOf<index, F>::Type;

// One bitstring of a program, and whether it is the one that was asked for.
struct ComposeRequest {
    const char *member;
    int argc;
    char **argv;

    // Ends with a message if the number of arguments is wrong.
    bool is(const char *name, int arguments) const {
        if (strcmp(member, name) != 0) return false;
        if (argc == arguments) return true;
        fprintf(stderr, "%s: %s takes %d argument%s, not %d\n", program_name, name, arguments, arguments == 1 ? "" : "s", argc);
        exit(2);
    }

    template <class T>
    T argument(int index, const char *name, const char *type) const {
        using Plain = typename std::decay<T>::type;
        if constexpr (std::is_pointer<Plain>::value && !std::is_same<Plain, const char *>::value) {
            return reinterpret_cast<Plain>(argument<uintptr_t>(index, name, type));
        } else if constexpr (std::is_arithmetic<Plain>::value || std::is_enum<Plain>::value || std::is_pointer<Plain>::value) {
            Plain value{};
            parse::Fault fault = parse::any(argv[index], value);
            if (fault != nullptr) {
                fprintf(stderr, "%s: %s: the argument %s is of type %s; `%s` %s\n", program_name, member, name, type, argv[index], fault);
                exit(2);
            }
            return value;
        } else {
            fprintf(stderr, "%s: %s: the argument %s is of type %s, which cannot be given on a command line\n", program_name, member, name, type);
            exit(2);
        }
    }
};

YAMBA_ONCE void add_hex(Text &json, const unsigned char *data, size_t count) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        const char two[2] = {digits[data[i] >> 4], digits[data[i] & 15]};
        json.add(two, 2);
    }
}

YAMBA_ONCE void add_parts(Text &json, const Composer &composed) {
    for (size_t i = 0; i < composed.contributions(); i++) {
        const Contribution &c = composed.contribution(i);
        Text name;
        composed.print_contribution(name, i);
        json.add(i > 0 ? ",{\"name\":" : "{\"name\":").quote(name.c_str());
        json.addf(",\"start\":%zu,\"end\":%zu,\"depth\":%u}", c.start, c.end, c.depth);
    }
}

YAMBA_ONCE int compose_command(const ProgramInfo &info, const Variant &variant, Subject &subject, const char *member, int argc, char **argv) {
    Composer composed;
    if (!variant.compose(subject, composed, member, argc, argv)) {
        fprintf(stderr, "%s: there is no bitstring `%s`\n", info.name, member);
        return 2;
    }
    Text json;
    json.addf("{\"bits\":%zu,\"bytes\":\"", composed.bits());
    add_hex(json, composed.data(), composed.size());
    json.add("\",\"isa\":").quote(info.isa).add(",\"base\":0,\"parts\":[");
    add_parts(json, composed);
    json.add("]}\n");
    write_all(STDOUT_FILENO, json.c_str(), json.size());
    return 0;
}

}  // namespace yamba
YAMBA_COLD_END
