// LD_PRELOAD: counts the cached pages before each read of a program. Each process appends its cached pages and pages to the file READS_COUNTED.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/stat.h>

#include "cached.h"

static uint64_t counted_device;

// Whether the descriptor is a regular file on the device of the counted files.
static uint64_t left_in(int file, uint64_t offset, uint64_t length)
{
    struct stat shape;
    if (fstat(file, &shape) || !S_ISREG(shape.st_mode)) return 0;
    if (!counted_device) {
        const char *folder = getenv("FILES_COUNTED");
        struct stat of_folder;
        if (!folder || stat(folder, &of_folder)) return 0;
        counted_device = of_folder.st_dev;
    }
    if (shape.st_dev != counted_device || offset >= (uint64_t)shape.st_size) return 0;
    const uint64_t left = shape.st_size - offset;
    return left < length ? left : length;
}

ssize_t pread64(int file, void *to, size_t length, off64_t offset)
{
    count_part(file, offset, left_in(file, offset, length));
    return syscall(SYS_pread64, file, to, length, offset);
}

ssize_t pread(int file, void *to, size_t length, off_t offset) { return pread64(file, to, length, offset); }

ssize_t read(int file, void *to, size_t length)
{
    const off64_t offset = lseek(file, 0, SEEK_CUR);
    if (offset >= 0) count_part(file, offset, left_in(file, offset, length));
    return syscall(SYS_read, file, to, length);
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("READS_COUNTED");
    int file = path && pages ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    if (file >= 0) dprintf(file, "%llu %llu\n", (unsigned long long)hits, (unsigned long long)pages);
}
