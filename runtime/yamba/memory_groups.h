// What the memory control groups of this process leave it: who takes more than that is ended by the system, however much memory
// the machine has.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>

namespace yamba {
namespace memory {

// The first number of a file in a folder, or the one behind a word there; `otherwise` where there is none, as with "max".
uint64_t number_in(const char *folder, const char *name, const char *word, uint64_t otherwise);

// Bytes; the greatest number where nothing limits them.
uint64_t group_room();

}  // namespace memory
}  // namespace yamba
