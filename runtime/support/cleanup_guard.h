// Runs a cleanup after a process and all its later children have ended, for any reason: for
// resources that the kernel would keep.
#pragma once

#include <sys/types.h>

namespace yamba {
namespace support {

class CleanupGuard {
  public:
    // Starts a process that waits, and calls `remove(what)` when the others have ended.
    // `run_anywhere(self)` is called in that process first. Call it before the processes are forked
    // that use the resource.
    void start(void (*remove)(int), int what, void (*run_anywhere)(void *), void *self);
    // Cancels the cleanup.
    void cancel();

  private:
    pid_t waiting_ = -1;
};

}  // namespace support
}  // namespace yamba
