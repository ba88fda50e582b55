// Memory limits of this process's control groups. The system kills a process that exceeds them,
// even if the machine has free memory.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>

namespace yamba {
namespace memory {

// Reads the first number of a file in a folder, or the number after `word` in it. Returns
// `otherwise` without a number, as for "max".
uint64_t number_in(const char *folder, const char *name, const char *word, uint64_t otherwise);

// Bytes that the control groups still allow; the greatest number if unlimited.
uint64_t group_room();

}  // namespace memory
}  // namespace yamba
