#include "support/storage.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "yamba/cold.h"
#include "yamba/must.h"
#include "yamba/platform.h"
#include "yamba/scratch.h"

YAMBA_COLD_BEGIN
namespace yamba {
namespace support {

// cachestat has this number on every instruction set.
constexpr long cachestat_number = 451;

// Checks a property on a page of a scratch file written a moment ago. The result holds for the
// whole file system.
static bool is_true_of_written_page(bool (*seen)(int file)) {
    const std::string path = std::string(scratch_directory()) + "/counted." + std::to_string(getpid());
    const int file = must(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    must(unlink(path.c_str()));
    const std::string page(platform.page_size, 'y');
    must(write(file, page.data(), page.size()) == static_cast<ssize_t>(page.size()));
    const bool is = seen(file);
    must(close(file));
    return is;
}

// Reads each page first: /proc/self/smaps reports only pages that this process has touched.
static uint64_t changed_in_mapping(void *pages, size_t bytes, void *) {
    for (size_t at = 0; at < bytes; at += platform.page_size) (void)static_cast<volatile byte_t *>(pages)[at];
    FILE *file = must(fopen("/proc/self/smaps", "re"));
    const unsigned long long wanted = reinterpret_cast<uintptr_t>(pages);
    char line[256];
    uint64_t changed = 0;
    bool found = false;
    while (fgets(line, sizeof line, file)) {
        unsigned long long begin, end, kilobytes;
        if (sscanf(line, "%llx-%llx ", &begin, &end) == 2) found = begin <= wanted && wanted < end;
        else if (found && (sscanf(line, "Shared_Dirty: %llu kB", &kilobytes) == 1 ||
                           sscanf(line, "Private_Dirty: %llu kB", &kilobytes) == 1))
            changed += kilobytes * 1024 / platform.page_size;
    }
    fclose(file);
    return changed;
}

PageCounts count_pages(int file, uint64_t bytes) {
    struct {
        uint64_t from, length;
    } range = {0, bytes};
    PageCounts counts;
    return syscall(cachestat_number, file, &range, &counts, 0) == 0 ? counts : PageCounts{};
}

bool cachestat_is_true() {
    static const bool is = is_true_of_written_page([](int file) {
        const PageCounts counts = count_pages(file, platform.page_size);
        return counts.present > 0 && counts.changed + counts.on_their_way > 0;
    });
    return is;
}

bool smaps_is_true() {
    static const bool is = is_true_of_written_page([](int file) { return changed_pages(file, platform.page_size) > 0; });
    return is;
}

uint64_t sum_over_mapping(int file, uint64_t bytes, uint64_t (*count)(void *pages, size_t part, void *self), void *self) {
    const uint64_t window = 1 << 30;  // fits into a small address space
    uint64_t sum = 0;
    for (uint64_t at = 0; at < bytes; at += window) {
        const size_t part = static_cast<size_t>(bytes - at < window ? bytes - at : window);
        void *pages = must(mmap64(nullptr, part, PROT_READ, MAP_SHARED, file, static_cast<off64_t>(at)));
        sum += count(pages, part, self);
        must(munmap(pages, part));
    }
    return sum;
}

uint64_t changed_pages(int file, uint64_t bytes) { return sum_over_mapping(file, bytes, changed_in_mapping, nullptr); }

double io_count(const char *name) {
    FILE *file = must(fopen("/proc/self/io", "r"));
    char found[32];
    unsigned long long bytes;
    while (must(fscanf(file, "%31[^:]: %llu\n", found, &bytes) == 2))
        if (strcmp(found, name) == 0) break;
    fclose(file);
    return double(bytes);
}

}  // namespace support
}  // namespace yamba
YAMBA_COLD_END
