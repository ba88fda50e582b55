// replay LIST FILE: reads parts of a file as a list says. LIST has pairs of offset and length, 64 bits each. Prints the cached pages, the pages and the seconds.
// With COUNT=0 in the environment it only reads.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cached.h"

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
    int list = open(words[1], O_RDONLY), file = open(words[2], O_RDONLY);
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
        if (does_count && count_part(file, parts[i].offset, parts[i].length)) fail("cachestat");
        if (pread(file, buffer, parts[i].length, parts[i].offset) < 0) fail("pread");
    }
    printf("%llu %llu %f\n", (unsigned long long)hits, (unsigned long long)pages, now() - begun);
    return 0;
}
