// replay LIST FILE: reads and writes parts of a file as a list says. LIST has pairs of offset and length, 64 bits each. The highest bit of the length marks a write.
// Prints the cached pages and the pages of the reads, and the seconds. With COUNT=0 in the environment it does not count.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cached.h"

#define WRITES (1ull << 63)

static char buffer[1 << 20];

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **words)
{
    if (count != 3) return 2;
    int list = open(words[1], O_RDONLY), file = open(words[2], O_RDWR);
    struct stat shape;
    if (list < 0 || file < 0 || fstat(list, &shape)) fail("open");
    struct part *parts = malloc(shape.st_size);
    for (off_t at = 0; at < shape.st_size;) {
        ssize_t some = read(list, (char *)parts + at, shape.st_size - at);
        if (some <= 0) fail("read the list");
        at += some;
    }
    posix_fadvise(list, 0, 0, POSIX_FADV_DONTNEED);
    memset(buffer, 1, sizeof buffer);
    const char *counts = getenv("COUNT");
    const int does_count = !counts || *counts != '0';
    const double begun = now();
    for (size_t i = 0; i < shape.st_size / sizeof *parts; i++) {
        const uint64_t length = parts[i].length & ~WRITES;
        if (length != parts[i].length) {
            if (pwrite(file, buffer, length, parts[i].offset) < 0) fail("pwrite");
            continue;
        }
        if (does_count && count_part(file, parts[i].offset, length)) fail("cachestat");
        if (pread(file, buffer, length, parts[i].offset) < 0) fail("pread");
    }
    printf("%llu %llu %f\n", (unsigned long long)hits, (unsigned long long)pages, now() - begun);
    return 0;
}
