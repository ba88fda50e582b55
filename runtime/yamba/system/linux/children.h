// The processor time of this process's child processes: partners that answer it, and programs that
// it starts.
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "../../floating.h"

namespace yamba {
namespace system {

// To read the clocks of more processes takes too long beside a batch.
constexpr int most_children = 8;

// The clocks of the child processes that were alive at the end of the set-up, of their children,
// and so on.
struct ChildClocks {
    clockid_t clocks[most_children];
    int count = 0;
    bool known = false;  // whether these are all
};
inline ChildClocks child_clocks;

// Adds the children of one process. The kernel lists the children of each thread.
inline bool add_children(int process) {
    char path[300];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *threads = opendir(path);
    if (threads == nullptr) return false;
    bool known = true;
    while (const struct dirent *thread = readdir(threads)) {
        if (thread->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/children", process, thread->d_name);
        FILE *list = fopen(path, "re");
        known = known && list != nullptr;
        int child = 0;
        while (list != nullptr && known && fscanf(list, "%d", &child) == 1) {
            ChildClocks &all = child_clocks;
            known = all.count < most_children && clock_getcpuclockid(child, &all.clocks[all.count]) == 0;
            if (known) all.count++, known = add_children(child);
        }
        if (list != nullptr) fclose(list);
    }
    closedir(threads);
    return known;
}

// Finds the child processes that are alive now.
inline void find_children() {
    child_clocks.count = 0;
    child_clocks.known = add_children(getpid());
}

inline double processor_ns(const struct timeval &time) { return double(time.tv_sec) * 1e9 + double(time.tv_usec) * 1e3; }

// The processor time of the children that were found and of all that have ended since, in ns. NaN
// if unknown.
inline double children_time() {
    struct rusage ended {};
    if (!child_clocks.known || getrusage(RUSAGE_CHILDREN, &ended) != 0) return not_known;
    double all = processor_ns(ended.ru_utime) + processor_ns(ended.ru_stime);
    for (int i = 0; i < child_clocks.count; i++) {
        struct timespec one {};
        if (clock_gettime(child_clocks.clocks[i], &one) != 0) return not_known;
        all += double(one.tv_sec) * 1e9 + double(one.tv_nsec);
    }
    return all;
}

}  // namespace system
}  // namespace yamba
