// A private directory for files to measure on, removed however the run ends.
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

extern Text directory;  // empty until it is asked for

// Where scratch directories are made: on a disk, if the system follows custom (/tmp is often memory).
const char *home();

// Bytes that no file system compresses or keeps as a hole. Who knows the state that a file begins with, knows the file without
// reading it.
constexpr uint64_t first_state = 88172645463325252u;
void fill(uint64_t *words, size_t count, uint64_t &state);

}  // namespace scratch

// A private directory on the disk under TMPDIR or /var/tmp. The same one throughout a run.
const char *scratch_directory();

// The path of a file of this many bytes there, written and synchronised. One that is there already, of that size, is
// used again: each point of a sweep has its own process, and writing takes longer than most measurements. Ends the run as skipped
// where there is no room for it.
const char *scratch_file(const char *name, uint64_t bytes);

// Before a benchmark itself writes so many bytes there: ends the run as skipped where they are too many.
void scratch_room(uint64_t bytes);

}  // namespace yamba
