// System facts from Linux's /sys and /proc. They are read directly: on some machines sysconf() of
// the C library reports wrong caches.
#pragma once

#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <initializer_list>

#include "../../floating.h"
#include "../../usage.h"

namespace yamba {
namespace system {

// Reads the first line of a small file; "" if it cannot be read.
template <size_t N>
bool read_text(const char *path, char (&out)[N]) {
    out[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, out, N - 1);
    close(fd);
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return n > 0;
}

// Reads a size such as "32K", "1024K", "2M" or "64", in bytes.
inline size_t read_size(const char *path) {
    char text[32], *end;
    if (!read_text(path, text)) return 0;
    size_t value = strtoull(text, &end, 10);
    return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : *end == 'G' ? value << 30 : value;
}

// One property of the first CPU's cache of this level that holds `kind` ("Data", "Instruction") or
// both.
inline size_t cache_fact(int level, const char *kind, const char *fact) {
    for (int i = 0; i < 8; i++) {
        char path[96], text[32];
        auto file = [&](const char *name) {
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", i, name);
            return path;
        };
        if (!read_text(file("level"), text) || atoi(text) != level) continue;
        if (!read_text(file("type"), text) || (strcmp(text, kind) != 0 && strcmp(text, "Unified") != 0)) continue;
        return read_size(file(fact));
    }
    return 0;
}

inline size_t data_cache(int level) { return cache_fact(level, "Data", "size"); }
inline size_t instruction_cache() { return cache_fact(1, "Instruction", "size"); }
inline size_t cache_line() { return cache_fact(1, "Data", "coherency_line_size"); }

// Finds the first line of `path` that starts with `key`, and sets `value` to the text after its
// colon. Returns whether it exists.
template <size_t N>
bool read_key(const char *path, const char *key, char (&line)[N], const char *&value) {
    FILE *f = fopen(path, "re");
    if (f == nullptr) return false;
    bool found = false;
    while (!found && fgets(line, N, f)) found = strncmp(line, key, strlen(key)) == 0 && strchr(line, ':') != nullptr;
    fclose(f);
    if (found) value = strchr(line, ':') + 1;
    return found;
}

inline size_t memory_size() {
    char line[256];
    const char *value;
    return read_key("/proc/meminfo", "MemTotal", line, value) ? strtoull(value, nullptr, 10) << 10 : 0;
}

// Replacements for the C library's major() and minor(). Those are macros, which would keep a class
// from having members of these names.
inline unsigned int device_major(uint64_t device) { return unsigned((device >> 8 & 0xfff) | (device >> 32 & 0xfffff000)); }
inline unsigned int device_minor(uint64_t device) { return unsigned((device & 0xff) | (device >> 12 & 0xffffff00)); }

inline size_t read_ahead(const char *directory) {
    struct stat at;
    if (stat(directory, &at) != 0) return 0;
    // A partition has no queue of its own. A file system without block device (btrfs, network) is
    // known only to the bdi class.
    for (const char *place : {"/sys/dev/block/%u:%u/queue/read_ahead_kb", "/sys/dev/block/%u:%u/../queue/read_ahead_kb",
                              "/sys/class/bdi/%u:%u/read_ahead_kb"}) {
        char path[96], text[32];
        snprintf(path, sizeof path, place, device_major(at.st_dev), device_minor(at.st_dev));
        if (read_text(path, text)) return strtoull(text, nullptr, 10) << 10;
    }
    return 0;
}

inline bool is_memory(const char *directory) {
    struct statfs fs;
    constexpr unsigned long tmpfs = 0x01021994, ramfs = 0x858458f6;
    if (statfs(directory, &fs) != 0) return false;
    unsigned long type = static_cast<unsigned int>(fs.f_type);
    return type == tmpfs || type == ramfs;
}

// `separators`: the characters between words.
inline bool is_word(const char *list, const char *word, const char *separators = " \t\n") {
    size_t n = strlen(word);
    if (n == 0) return false;
    for (const char *s = list; (s = strstr(s, word)) != nullptr; s++)
        if ((s == list || strchr(separators, s[-1])) && (s[n] == '\0' || strchr(separators, s[n]))) return true;
    return false;
}

// RISC-V lists all its extensions in one word, starting with the one-letter ones:
// "rv64imafdc_zba_zbb".
inline bool is_extension(const char *isa, const char *name) { return is_word(isa, name, " \t\n_"); }
inline bool is_letter_extension(const char *isa, const char *letter) {
    while (*isa == ' ' || *isa == '\t') isa++;
    if (letter[0] == '\0' || letter[1] != '\0' || strncmp(isa, "rv", 2) != 0) return false;
    for (const char *s = isa + 4; *s != '\0' && *s != '_' && *s != '\n'; s++)
        if (*s == letter[0]) return true;
    return false;
}

inline bool cpu_feature(const char *name) {
    char line[8192];
    const char *list;
    for (const char *key : {"flags", "Features"})
        if (read_key("/proc/cpuinfo", key, line, list) && is_word(list, name)) return true;
    return read_key("/proc/cpuinfo", "isa", line, list) && (is_extension(list, name) || is_letter_extension(list, name));
}

// The kernel removes an unstable clock from the list of available ones.
inline bool clock_is_trusted(const char *name) {
    char available[256];
    return !read_text("/sys/devices/system/clocksource/clocksource0/available_clocksource", available) ||
           is_word(available, name);
}

// The usage of the calling thread.
constexpr bool has_thread_usage = true;
inline Usage usage() {
    struct rusage used {};
    struct timespec cpu {};
    bool known = getrusage(RUSAGE_THREAD, &used) == 0;
    known = clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) == 0 && known;
    return {uint64_t(used.ru_nivcsw),
            uint64_t(used.ru_nvcsw),
            uint64_t(used.ru_minflt),
            uint64_t(used.ru_majflt),
            double(cpu.tv_sec) * 1e9 + double(cpu.tv_nsec),
            sched_getcpu(),
            known};
}

// The processor time of all threads of this process, those that have ended included, in ns. NaN if
// unknown.
inline double process_time() {
    struct timespec cpu {};
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) != 0) return not_known;
    return double(cpu.tv_sec) * 1e9 + double(cpu.tv_nsec);
}

// The file of the calling thread's wait. It is closed when the thread ends.
struct WaitFile {
    int descriptor = -1;
    ~WaitFile() {
        if (descriptor >= 0) close(descriptor);
    }
};
inline thread_local WaitFile wait_file;

// Opens the file of the calling thread's wait, also after a fork: the child inherits its parent's.
inline void find_waited() {
    if (wait_file.descriptor >= 0) close(wait_file.descriptor);
    wait_file.descriptor = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

// The time in ns that the calling thread was runnable while another ran: its run-queue wait. NaN if
// the kernel does not report it.
inline double waited() {
    if (wait_file.descriptor < 0) find_waited();
    char text[96];
    ssize_t n = pread(wait_file.descriptor, text, sizeof text - 1, 0);
    if (n <= 0) return not_known;
    text[n] = '\0';
    const char *second = strchr(text, ' ');
    return second != nullptr ? double(strtoull(second, nullptr, 10)) : not_known;
}

// A processor set larger than any machine's today.
using ProcessorSet = unsigned long[16384 / (8 * sizeof(unsigned long))];

inline size_t allowed_processors(int *out, size_t room) {
    ProcessorSet set{};
    constexpr size_t width = 8 * sizeof(unsigned long);
    if (sched_getaffinity(0, sizeof set, reinterpret_cast<cpu_set_t *>(set)) != 0) return 0;
    size_t n = 0;
    for (size_t cpu = 0; cpu < 8 * sizeof set; cpu++)
        if ((set[cpu / width] >> cpu % width & 1) != 0 && n < room) out[n++] = int(cpu);
    return n;
}

inline bool stay_on(const int *processors, size_t count) {
    ProcessorSet set{};
    constexpr size_t width = 8 * sizeof(unsigned long);
    for (size_t i = 0; i < count; i++) set[size_t(processors[i]) / width] |= 1ul << size_t(processors[i]) % width;
    return sched_setaffinity(0, sizeof set, reinterpret_cast<const cpu_set_t *>(set)) == 0;
}

// Arm reports a capacity, other processors the highest clock rate. Both serve only to compare
// processors.
inline uint64_t processor_strength(int cpu) {
    for (const char *fact : {"cpu_capacity", "cpufreq/cpuinfo_max_freq"}) {
        char path[96], text[32];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, fact);
        if (read_text(path, text)) return strtoull(text, nullptr, 10);
    }
    return 0;
}

// The first processor of the core that this one belongs to, which identifies the core; -1 if
// unknown.
inline int first_of_core(int cpu) {
    for (const char *name : {"core_cpus_list", "thread_siblings_list"}) {
        char path[96], text[64];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
        if (read_text(path, text)) return atoi(text);
    }
    return -1;
}

// One hardware counter, with its name in the record.
struct CounterKind {
    const char *name;
    uint32_t type;
    uint64_t number;
};
constexpr CounterKind counter_kinds[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
};
constexpr size_t counter_kind_count = sizeof counter_kinds / sizeof *counter_kinds;

// Counts this thread in user space, which perf_event_paranoid 2 still allows all users. Negative if
// there is no such counter.
inline int open_counter(const CounterKind &kind) {
    struct perf_event_attr event {};
    event.size = sizeof event;
    event.type = kind.type;
    event.config = kind.number;
    event.exclude_kernel = event.exclude_hv = 1;
    event.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return int(syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}
// The kernel's format of a reading.
struct CounterReading {
    uint64_t value, enabled, running;  // times in ns: a multiplexed counter runs for less time than it is enabled
};
inline bool read_counter(int counter, CounterReading &out) { return read(counter, &out, sizeof out) == ssize_t(sizeof out); }
inline void close_counter(int counter) { close(counter); }

// The lowest real-time priority precedes all ordinary ones.
inline bool enter_realtime() {
    struct sched_param parameter {};
    parameter.sched_priority = sched_get_priority_min(SCHED_FIFO);
    return sched_setscheduler(0, SCHED_FIFO, &parameter) == 0;
}

// Real-time round-robin scheduling for several processes: one that is `above` the others gets the
// processor at once.
inline bool enter_realtime_in_turns(int above) {
    struct sched_param parameter {};
    parameter.sched_priority = sched_get_priority_min(SCHED_RR) + above;
    return sched_setscheduler(0, SCHED_RR, &parameter) == 0;
}

inline bool lock_memory() { return mlockall(MCL_CURRENT) == 0; }

inline bool signal_with_parent(int signal) { return prctl(PR_SET_PDEATHSIG, signal) == 0; }

}  // namespace system
}  // namespace yamba
