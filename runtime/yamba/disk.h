// How much a benchmark may put into its scratch directory. The parent of a run tells what `--disk-limit` and the file system
// leave.
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "must.h"

namespace yamba {
namespace disk {

// Without a parent.
constexpr uint64_t usual_room = uint64_t(1) << 30;

struct Room {
    uint64_t all = usual_room;
    uint64_t each = 0;  // of all processes of the run's largest load; 0: not told
    const char *mend = "set YAMBA_DISK_ROOM to the bytes that it may have";  // how to get more
    bool is_shared = false;                                                  // the folders beside it are of the same run
};

// "BYTES EACH MEND"
Room told();

// What was written or asked for before is left from other launches. Read from the clock that dates files, where there is one: it
// ticks.
void launch();

// Ends the name of a file that is being written: its length was set first.
constexpr const char *being_written = ".part";

// Sees that `more` bytes fit besides what the run's folders hold, and that the file system has the `unwritten` ones. What other
// launches left is removed if need be: they write it again. Ends the run as skipped, without `reserved`, where there is no room.
void find_room(const char *directory, uint64_t more, uint64_t unwritten, const char *reserved = "");

}  // namespace disk
}  // namespace yamba
