// The questions of `on` that only the machine which runs the program can answer.
#pragma once

#include <initializer_list>

#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "system.h"

namespace yamba {
namespace condition {

// Compares number by number: 6.10 is after 6.9, and 6 is 6.0.
bool version_at_least(const char *release, std::initializer_list<unsigned> wanted);

// The system is this version or a later one.
bool system_at_least(std::initializer_list<unsigned> version);

// The processor has this feature, by the name that the system gives it.
bool cpu(const char *feature);

bool root();

// The file exists and may be read or written.
bool file(const char *path);

}  // namespace condition
}  // namespace yamba
