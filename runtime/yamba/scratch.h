// A private directory for the files that a benchmark measures on. It is removed at the end of the
// run, even if the run is killed.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk.h"
#include "must.h"
#include "subject.h"
#include "system.h"

namespace yamba {

namespace scratch {

extern Text directory;  // empty until the first request

// The parent directory of scratch directories. It is normally on a disk; /tmp is often memory.
const char *home();

// Fills a file with pseudo-random words, which no file system can compress or store as a hole. The
// initial `state` determines the contents, so that they can be checked without reading the file.
constexpr uint64_t first_state = 88172645463325252u;
void fill(uint64_t *words, size_t count, uint64_t &state);

}  // namespace scratch

// The run's private directory, on the disk under TMPDIR or /var/tmp. All calls in a run return the
// same one.
const char *scratch_directory();

// Returns the path of a file of `bytes` bytes in the scratch directory, written and synchronised.
// An existing file of that size is reused: each point of a sweep has its own process, and writing
// takes longer than most measurements. Ends the run as skipped if there is no room.
const char *scratch_file(const char *name, uint64_t bytes);

// Checks that the benchmark may write `bytes` bytes to the scratch directory itself. Ends the run
// as skipped if there is no room.
void scratch_room(uint64_t bytes);

}  // namespace yamba
