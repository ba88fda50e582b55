// Facts about this machine for the capture: files of the system, and answers to system calls. Yamba
// derives the rest.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "json.h"

namespace bundle {
namespace facts {

inline std::string read_file(const char *path) {
    std::string text;
    char buffer[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    for (ssize_t n; fd >= 0 && text.size() < (1 << 20) && (n = read(fd, buffer, sizeof buffer)) > 0;)
        text.append(buffer, size_t(n));
    if (fd >= 0) close(fd);
    return text;
}

// The files as {"PATH":"TEXT"}. `patterns` are paths with `*`; a pattern after `-` keeps only the
// existence of the file.
inline std::string files(const std::vector<std::string> &patterns) {
    std::string out = "{";
    for (const std::string &pattern : patterns) {
        glob_t found;
        const bool is_mark = pattern[0] == '-';
        if (glob(pattern.c_str() + is_mark, 0, nullptr, &found) != 0) continue;
        for (size_t i = 0; i < found.gl_pathc; i++) {
            out += (out.size() > 1 ? "," : "") + quoted(found.gl_pathv[i]) + ":";
            out += quoted(is_mark ? "" : read_file(found.gl_pathv[i]));
        }
        globfree(&found);
    }
    return out + "}";
}

inline std::string limit(int resource) {
    rlimit limit;
    if (getrlimit(resource, &limit) != 0) return "null";
    return limit.rlim_cur == RLIM_INFINITY ? "\"unlimited\"" : std::to_string(limit.rlim_cur);
}

inline std::string step(clockid_t clock) {
    timespec step;
    return clock_getres(clock, &step) == 0 ? std::to_string(step.tv_sec * 1000000000LL + step.tv_nsec) : "null";
}

inline int processors() {
    static cpu_set_t set[16];
    return sched_getaffinity(0, sizeof set, set) == 0 ? CPU_COUNT_S(sizeof set, set) : 1;
}

// In a child: the class must not stay.
inline const char *realtime() {
    pid_t child = fork();
    if (child == 0) {
        sched_param lowest = {};
        lowest.sched_priority = 1;
        _exit(sched_setscheduler(0, SCHED_FIFO, &lowest) == 0 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return status == 0 ? "true" : "false";
}

inline std::string error_name(int error) {
    switch (error) {
        case ENOENT: return "ENOENT";
        case EACCES: return "EACCES";
        case EPERM: return "EPERM";
        case ENOSYS: return "ENOSYS";
        case EOPNOTSUPP: return "EOPNOTSUPP";
        case ENODEV: return "ENODEV";
        case EBUSY: return "EBUSY";
        default: return "errno " + std::to_string(error);
    }
}

// Whether a counter of core cycles opens and counts: an empty text, or the error.
inline std::string counters() {
    perf_event_attr attributes = {};
    attributes.size = PERF_ATTR_SIZE_VER0;
    attributes.exclude_kernel = attributes.exclude_hv = 1;
    int fd = int(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
    if (fd < 0) return error_name(errno);
    uint64_t count = 0;
    bool counts = read(fd, &count, sizeof count) == sizeof count && count > 0;
    close(fd);
    return counts ? "" : "zero";
}

inline const char *guests() {
    int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
    if (fd >= 0) close(fd);
    return fd >= 0 ? "true" : "false";
}

inline std::string answers() {
    utsname names;
    uname(&names);
    const char *container = getenv("container");
    std::string out = "{\"release\":" + quoted(names.release) + ",\"build\":" + quoted(names.version);
    out += ",\"cpus\":" + std::to_string(processors()) + ",\"page_size\":" + std::to_string(sysconf(_SC_PAGESIZE));
    out += std::string(",\"root\":") + (geteuid() == 0 ? "true" : "false");
    out += ",\"limits\":{\"locked_memory\":" + limit(RLIMIT_MEMLOCK) + ",\"realtime_priority\":" + limit(RLIMIT_RTPRIO);
    out +=
        ",\"open_files\":" + limit(RLIMIT_NOFILE) + ",\"processes\":" + limit(RLIMIT_NPROC) + ",\"stack\":" + limit(RLIMIT_STACK);
    out += "},\"resolution_ns\":" + step(CLOCK_MONOTONIC) + ",\"tick_ns\":" + step(CLOCK_MONOTONIC_COARSE);
    out += ",\"container\":" + (container == nullptr || *container == '\0' ? "null" : quoted(container));
    out += std::string(",\"realtime\":") + realtime() + ",\"counters\":" + quoted(counters()) + ",\"guests\":" + guests();
    return out + "}";
}

}  // namespace facts
}  // namespace bundle
