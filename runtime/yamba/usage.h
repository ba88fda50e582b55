// What the system has counted for a thread so far.
#pragma once

#include <stdint.h>

namespace yamba {

struct Usage {
    uint64_t involuntary, voluntary;  // context switches
    uint64_t minor_faults, major_faults;
    double cpu_ns;      // processor time
    int processor;      // where it runs now; -1 if unknown
    bool known = true;  // false where the system refused to tell
};

}  // namespace yamba
