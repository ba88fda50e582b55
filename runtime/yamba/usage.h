// Resource usage that the system has counted for a thread.
#pragma once

#include <stdint.h>

namespace yamba {

struct Usage {
    uint64_t involuntary, voluntary;  // context switches
    uint64_t minor_faults, major_faults;
    double cpu_ns;      // processor time
    int processor;      // the processor that it runs on; -1 if unknown
    bool known = true;  // false if the system could not report all of it
};

}  // namespace yamba
