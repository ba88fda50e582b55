#include "support/cleanup_guard.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "yamba/cold.h"
#include "yamba/must.h"

YAMBA_COLD_BEGIN
namespace yamba {
namespace support {

// Waits for the end of a pipe whose other end all the other processes hold. Signals to their
// terminal or process group must not arrive here, and their files must not stay open because of
// this process.
[[noreturn]] static void wait_and_remove(int end, void (*remove)(int), int what) {
    setsid();
    for (int file = 0; file < 1024; file++)
        if (file != end) close(file);
    char c;
    while (read(end, &c, 1) < 0) {
    }
    remove(what);
    _exit(0);
}

void CleanupGuard::start(void (*remove)(int), int what, void (*run_anywhere)(void *), void *self) {
    int ends[2];
    must(pipe(ends));
    waiting_ = must(fork());
    if (waiting_ == 0) {
        run_anywhere(self);
        wait_and_remove(ends[0], remove, what);
    }
    must(close(ends[0]));
}

void CleanupGuard::cancel() {
    must(kill(waiting_, SIGKILL));
    must(waitpid(waiting_, nullptr, 0));
}

}  // namespace support
}  // namespace yamba
YAMBA_COLD_END
