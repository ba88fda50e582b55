// Ends this process when its partner, a child, has ended or was stopped, and records why.
#pragma once

#include <sys/types.h>

namespace yamba {
namespace support {

// Watches the partner from now on. `log`: the file in which a third-party partner writes its
// reason, or null.
void watch_partner(pid_t partner, const char *log);
// Stops watching.
void unwatch_partner();

}  // namespace support
}  // namespace yamba
