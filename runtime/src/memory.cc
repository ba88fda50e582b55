#include "yamba/memory.h"

namespace yamba {
namespace memory {

// The remainder of this process's address-space limit (`ulimit -v`); the greatest number if
// unlimited.
static uint64_t address_room() {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return ~uint64_t(0);
    const uint64_t taken = number_in("/proc/self", "statm", "", 0) * platform.page_size;
    return limit.rlim_cur > taken ? limit.rlim_cur - taken : 0;
}

size_t available() {
    size_t kilobytes = platform.memory_size / 2048;
    if (FILE *file = fopen("/proc/meminfo", "r")) {
        char line[128];
        while (fgets(line, sizeof line, file) != nullptr)
            if (sscanf(line, "MemAvailable: %zu", &kilobytes) == 1) break;
        fclose(file);
    }
    size_t most = sizeof(void *) == 4 ? size_t(1) << 30 : ~size_t(0) >> 1;
    // The minimum when a limit is reached. The process may fail to get even this, which costs one
    // figure.
    constexpr uint64_t least = 16 << 20;
    const uint64_t group = group_room(), own = address_room(), room = own < group ? own : group;
    if (room < most) most = size_t(room > least ? room : least);
    // YAMBA_SIZES may give less memory than there is.
    if (platform.memory_size < most) most = platform.memory_size;
    return kilobytes < most / 1024 ? kilobytes * 1024 : most;
}

static Reduction reductions[16];
static size_t reduced = 0;

const Reduction *reduction_to(size_t bytes) {
    for (size_t i = 0; i < reduced; i++)
        if (reductions[i].given == bytes) return &reductions[i];
    return nullptr;
}

size_t beyond_caches() {
    const size_t reported = platform.last_cache_size, measured = 4 * platform.measured_cache;
    return measured > 0 && measured < reported ? measured : reported;
}

bool may_fit_cache(size_t bytes) { return bytes < beyond_caches(); }

// The least power of two that no cache holds. A measured cache varies; with powers of two, later
// runs still choose the same size.
static size_t least_in_memory() {
    size_t bytes = 1 << 20;
    while (bytes < beyond_caches()) bytes *= 2;
    return bytes;
}

size_t affordable(size_t bytes, size_t buffers, size_t timed) {
    const size_t wanted = bytes, half = available() / 2 / buffers, filled = platform.buffer_room / timed;
    const size_t most = filled < half ? filled : half;
    while (bytes > most) bytes /= 2;
    const size_t least = least_in_memory();
    if (bytes < least && least <= most && least < wanted) bytes = least;
    constexpr size_t room = sizeof reductions / sizeof *reductions;
    if (bytes != wanted && reduction_to(bytes) == nullptr && reduced < room)
        reductions[reduced++] = Reduction{wanted, bytes, filled < half};
    return bytes;
}

static void advise(void *start, size_t bytes, bool huge_pages) {
#ifdef MADV_HUGEPAGE
    madvise(start, bytes, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#else
    (void)start, (void)bytes, (void)huge_pages;
#endif
}

void *reserve(Reserved *&latest, size_t bytes, bool huge_pages) {
    if (bytes > available() / 2)
        skip("%zu MiB are more than half of the memory that is available (%zu MiB)", bytes >> 20, available() >> 20);
    size_t whole = huge_pages ? (bytes + huge_page - 1) / huge_page * huge_page : bytes;
    size_t mapped = whole + huge_page;
    void *mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (mapping == MAP_FAILED) return nullptr;
    uintptr_t begin = (reinterpret_cast<uintptr_t>(mapping) + huge_page - 1) / huge_page * huge_page;
    latest = new Reserved{mapping, mapped, begin, begin + whole, latest};
    advise(reinterpret_cast<void *>(begin), whole, huge_pages);
    return reinterpret_cast<void *>(begin);
}

int release(Reserved *&latest) {
    while (latest != nullptr) {
        Reserved *last = latest;
        if (munmap(last->mapping, last->mapped) < 0) return -1;
        latest = last->before;
        delete last;
    }
    return 0;
}

static bool overlaps(const Reserved *latest, unsigned long long begin, unsigned long long end) {
    for (; latest != nullptr; latest = latest->before)
        if (latest->begin < end && begin < latest->end) return true;
    return false;
}

// Bytes in huge pages of the mappings that contain the ranges.
static size_t huge_bytes(const Reserved *latest) {
    FILE *file = fopen("/proc/self/smaps", "r");
    if (file == nullptr) return 0;
    char line[256];
    size_t sum = 0;
    bool ours = false;
    while (fgets(line, sizeof line, file) != nullptr) {
        unsigned long long begin, end;
        size_t kilobytes;
        if (sscanf(line, "%llx-%llx ", &begin, &end) == 2) ours = overlaps(latest, begin, end);
        else if (ours && sscanf(line, "AnonHugePages: %zu kB", &kilobytes) == 1) sum += kilobytes * 1024;
    }
    fclose(file);
    return sum;
}

double huge_share(const Reserved *latest) {
    size_t all = 0, huge = huge_bytes(latest);
    for (; latest != nullptr; latest = latest->before) all += latest->end - latest->begin;
    return huge >= all ? 1 : double(huge) / double(all);
}

}  // namespace memory
}  // namespace yamba
