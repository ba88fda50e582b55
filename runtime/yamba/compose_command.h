// --compose MEMBER ARGS...: prints the bits of a bitstring, and the member that contributed each of
// them, as one JSON object.
#pragma once

#include <stdio.h>

#include "composer.h"
#include "parameters.h"
#include "subject.h"

namespace yamba {

// The type of the parameter `index` of a member function that composes; the first parameter is the
// Composer.
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

// A request for one bitstring of a program.
struct ComposeRequest {
    const char *member;
    int argc;
    char **argv;

    // Whether the request is for `name`. Ends the program with a message if the number of arguments
    // is wrong.
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
                fprintf(stderr, "%s: %s: the argument %s is of type %s; `%s` %s\n", program_name, member, name, type, argv[index],
                        fault);
                exit(2);
            }
            return value;
        } else {
            fprintf(stderr, "%s: %s: the argument %s is of type %s, which cannot be given on a command line\n", program_name,
                    member, name, type);
            exit(2);
        }
    }
};

int compose_command(const ProgramInfo &info, const Variant &variant, Subject &subject, const char *member, int argc, char **argv);

}  // namespace yamba
