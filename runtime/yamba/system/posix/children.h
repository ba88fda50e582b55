// The processor time of child processes is not known on systems without Linux's lists of them.
#pragma once

#include "../../floating.h"

namespace yamba {
namespace system {

inline void find_children() {}
inline double children_time() { return not_known; }

}  // namespace system
}  // namespace yamba
