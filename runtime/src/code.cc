#include "yamba/code.h"

namespace yamba {
namespace code {

constexpr size_t most_idle_regions = 32;

static CodeRegion *first = nullptr;
static bool busy = false;

// A spin lock: composing is rare and short, and a spin lock needs no library.
class Lock {
  public:
    Lock() {
        while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) {
        }
    }
    ~Lock() { __atomic_clear(&busy, __ATOMIC_RELEASE); }
};

static uint64_t hash(const unsigned char *data, size_t size) {
    uint64_t h = 0xCBF29CE484222325u ^ size;
    for (; size >= 8; data += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, data, 8);
        h = (h ^ word) * 0x9E3779B97F4A7C15u;
        h ^= h >> 29;
    }
    for (; size > 0; data++, size--) h = (h ^ *data) * 0x100000001B3u;
    return h;
}

static void unmap(CodeRegion *region) {
    munmap(region->base, region->mapped);
    delete region;
}

// Unmaps the regions that have been idle longest. New regions are inserted first, so the oldest are
// last in the list.
static void drop_idle() {
    size_t idle = 0;
    for (CodeRegion **at = &first; *at != nullptr;) {
        CodeRegion *region = *at;
        if (region->users == 0 && ++idle > most_idle_regions) {
            __atomic_store_n(at, region->next, __ATOMIC_RELEASE);
            unmap(region);
        } else {
            at = &region->next;
        }
    }
}

// Prints the names now, because a signal handler could not.
static void name_parts(CodeRegion &region, const Composer &composed) {
    size_t count = composed.contributions();
    Buffer<size_t> starts;
    for (size_t i = 0; i < count; i++) {
        starts.add(region.names.size());
        composed.print_contribution(region.names, i);
        region.names.add("", 1);
    }
    region.parts.reserve(count);
    for (size_t i = 0; i < count; i++) {
        const Contribution &c = composed.contribution(i);
        region.parts.add({region.names.c_str() + starts[i], c.start, c.end, c.depth});
    }
}

static CodeRegion *map(const Composer &composed, uint64_t hash) {
    size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), size = composed.size();
    size_t mapped = (size + page) / page * page;  // at least one page
    void *base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) fail("no memory for %zu bytes of code: %s", size, strerror(errno));
    if (size > 0) memcpy(base, composed.data(), size);
    if (mprotect(base, mapped, PROT_READ | PROT_EXEC) != 0)
        fail("the system does not let %zu bytes of code be executed: %s", size, strerror(errno));
    char *start = static_cast<char *>(base);
    __builtin___clear_cache(start, start + size);
    CodeRegion *region = new CodeRegion{static_cast<unsigned char *>(base), size, mapped, hash, 0, nullptr, {}, {}};
    name_parts(*region, composed);
    return region;
}

static CodeRegion *find(const Composer &composed, uint64_t hash) {
    for (CodeRegion *r = first; r != nullptr; r = r->next)
        if (r->hash == hash && r->size == composed.size() && (r->size == 0 || memcmp(r->base, composed.data(), r->size) == 0))
            return r;
    return nullptr;
}

CodeRegion *take(const Composer &composed) {
    Lock lock;
    uint64_t key = hash(composed.data(), composed.size());
    CodeRegion *region = find(composed, key);
    if (region == nullptr) {
        region = map(composed, key);
        drop_idle();
        region->next = first;
        __atomic_store_n(&first, region, __ATOMIC_RELEASE);
    }
    region->users++;
    return region;
}

void retain(CodeRegion *region) {
    if (region == nullptr) return;
    Lock lock;
    region->users++;
}

void release(CodeRegion *region) {
    if (region == nullptr) return;
    Lock lock;
    region->users--;
}

// Finds the region of an address. For a signal handler: walks the list without a lock.
static bool site(uintptr_t address, CodeSite &out) {
    for (CodeRegion *r = __atomic_load_n(&first, __ATOMIC_ACQUIRE); r != nullptr;
         r = __atomic_load_n(&r->next, __ATOMIC_ACQUIRE)) {
        uintptr_t base = reinterpret_cast<uintptr_t>(r->base);
        if (address < base || address >= base + r->mapped) continue;
        const char *member = r->parts.empty() ? "" : r->parts[0].name;
        out = {member, r->base, r->size, r->parts.data(), r->parts.size()};
        return true;
    }
    return false;
}

// The hook by which a crash report finds composed code.
static const bool findable = (find_code = site, true);

}  // namespace code
}  // namespace yamba
