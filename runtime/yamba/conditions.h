// Conditions of `on` that only the machine running the program can evaluate.
#pragma once

#include <initializer_list>

#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "system.h"

namespace yamba {
namespace condition {

// Compares versions component by component: 6.10 is later than 6.9, and 6 equals 6.0.
bool version_at_least(const char *release, std::initializer_list<unsigned> wanted);

// Whether the system's version is at least this one.
bool system_at_least(std::initializer_list<unsigned> version);

// Whether the processor has this feature, by the system's name for it.
bool cpu(const char *feature);

bool root();

// Whether the file exists and is readable or writable.
bool file(const char *path);

}  // namespace condition
}  // namespace yamba
