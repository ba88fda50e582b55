// The space that a benchmark may use in its scratch directory. The run's parent passes the limit
// from `--disk-limit` and the file system.
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

// The limit without a parent.
constexpr uint64_t usual_room = uint64_t(1) << 30;

struct Room {
    uint64_t all = usual_room;
    uint64_t each = 0;  // for each process of the run's largest load; 0: unknown
    const char *fix = "set YAMBA_DISK_ROOM to the bytes that it may have";  // how to get more
    bool is_shared = false;                                                 // the sibling folders belong to the same run
};

// Parses "BYTES EACH FIX" from YAMBA_DISK_ROOM.
Room granted_room();

// Marks the start of a launch: files written before it belong to other launches. Uses the coarse
// clock of file timestamps where available.
void launch();

// Suffix of a file that is still being written; its length is set before its contents.
constexpr const char *being_written = ".part";

// Ensures that `more` bytes fit into the limit, together with the run's folders, and that the file
// system has `unwritten` free bytes. If needed, removes files of other launches, which can be
// rewritten. If there is no room, removes `reserved` and ends the run as skipped.
void find_room(const char *directory, uint64_t more, uint64_t unwritten, const char *reserved = "");

}  // namespace disk
}  // namespace yamba
