// The questions of `on` that only the machine which runs the program can answer.
#pragma once

#include <initializer_list>

#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cold.h"
#include "once.h"
#include "system.h"

YAMBA_COLD_BEGIN
namespace yamba {
namespace condition {

// Compares number by number: 6.10 is after 6.9, and 6 is 6.0.
YAMBA_ONCE bool version_at_least(const char *release, std::initializer_list<unsigned> wanted) {
    for (unsigned want : wanted) {
        char *end;
        unsigned long have = strtoul(release, &end, 10);
        if (have != want) return have > want;
        release = *end == '.' ? end + 1 : "";
    }
    return true;
}

// The system is this version or a later one.
YAMBA_ONCE bool system_at_least(std::initializer_list<unsigned> version) {
    struct utsname names;
    return uname(&names) == 0 && version_at_least(names.release, version);
}

// The processor has this feature, by the name that the system gives it.
YAMBA_ONCE bool cpu(const char *feature) { return system::cpu_feature(feature); }

YAMBA_ONCE bool root() { return geteuid() == 0; }

// The file exists and may be read or written.
YAMBA_ONCE bool file(const char *path) { return access(path, R_OK) == 0 || access(path, W_OK) == 0; }

}  // namespace condition
}  // namespace yamba
YAMBA_COLD_END
