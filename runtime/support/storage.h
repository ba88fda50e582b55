// Counts of a file's pages in memory and of a process's reads and writes, as Linux reports them.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace yamba {
namespace support {

// Page counts of a range of a file.
struct PageCounts {
    uint64_t present, changed, on_their_way, gone, gone_recently;
};

// Counts with cachestat (Linux 6.5), which counts whole folios; mincore looks at each page. All
// counts are 0 on an older system.
PageCounts count_pages(int file, uint64_t bytes);
// Whether cachestat counts the pages of files in the scratch directory. A file system on top of
// another (overlayfs) has no pages of its own and reports none.
bool cachestat_is_true();
// Whether /proc/self/smaps reports changed pages of files in the scratch directory.
bool smaps_is_true();

// Maps the file part by part and adds up what `count` returns for each part.
uint64_t sum_over_mapping(int file, uint64_t bytes, uint64_t (*count)(void *pages, size_t part, void *self), void *self);
// Pages of the file that were changed, by any process, since they were last sent to storage. A page
// on its way there counts as unchanged.
uint64_t changed_pages(int file, uint64_t bytes);

// One number of /proc/self/io, by its name.
double io_count(const char *name);

}  // namespace support
}  // namespace yamba
