#include "yamba/platform.h"

#include "yamba/must.h"

namespace yamba {
namespace detect {

static size_t first(size_t a, size_t b) { return a != 0 ? a : b; }

static size_t configured(int name) {
    long value = sysconf(name);
    return value > 0 ? size_t(value) : 0;
}

// The share is the same for every number of processes in a run, so that the points of a scaling
// curve differ in nothing else.
static void disk_room(Platform &p, uint64_t processes) {
    disk::Room room = disk::granted_room();
    p.disk_room = room.all;
    p.disk_room_each = room.each != 0 ? room.each : room.all / (processes > 0 ? processes : 1);
}

// The size of the last-level data cache.
static size_t last_cache() {
    for (int level = 4; level > 1; level--)
        if (size_t size = system::data_cache(level)) return size;
    return 0;
}

// The parent of the scratch directory, which may not exist yet; its parent is on the same disk.
static Text scratch_home() {
    Text home(scratch::home());
    struct stat there;
    while (stat(home.c_str(), &there) != 0) {
        const char *slash = strrchr(home.c_str(), '/');
        if (slash == nullptr || slash == home.c_str()) return Text(slash ? "/" : ".");
        Text parent;
        parent.add(home.c_str(), size_t(slash - home.c_str()));
        home = parent;
    }
    return home;
}

static void assume(Platform &p, const char *name, size_t &fact, size_t smallest) {
    if (fact != 0) return;
    fact = smallest;
    p.assumed.addf("%s%s = %zu", p.assumed.empty() ? "" : ", ", name, smallest);
}

// Asks the C library only if the system reports nothing: on some machines it reports shared caches
// many times too large.
static void caches(Platform &p) {
#ifdef _SC_LEVEL1_DCACHE_SIZE
    size_t line = configured(_SC_LEVEL1_DCACHE_LINESIZE), l1d = configured(_SC_LEVEL1_DCACHE_SIZE),
           l1i = configured(_SC_LEVEL1_ICACHE_SIZE);
    size_t l2 = configured(_SC_LEVEL2_CACHE_SIZE), l3 = configured(_SC_LEVEL3_CACHE_SIZE);
#else
    size_t line = 0, l1d = 0, l1i = 0, l2 = 0, l3 = 0;
#endif
    p.cache_line = first(system::cache_line(), line);
    p.l1d_size = first(system::data_cache(1), l1d);
    p.l1i_size = first(system::instruction_cache(), l1i);
    assume(p, "cache_line", p.cache_line, 64);
    assume(p, "l1d_size", p.l1d_size, 32768);
    assume(p, "l1i_size", p.l1i_size, 32768);
    p.l2_size = first(first(system::data_cache(2), l2), p.l1d_size);
    p.last_cache_size = first(last_cache(), first(l3, p.l2_size));
}

// Reads a number of bytes with an optional suffix K, M, G or T. `rest` then points behind it.
static size_t bytes_of(const char *text, const char *&rest) {
    char *end;
    size_t value = strtoull(text, &end, 10);
    static const char suffixes[] = "KMGT";
    const char *suffix = end > text && *end != '\0' ? strchr(suffixes, *end) : nullptr;
    if (suffix != nullptr) value <<= 10 * (suffix - suffixes + 1), end++;
    rest = end;
    return value;
}

static size_t *size_named(Platform &p, const char *name, size_t length) {
    const struct {
        const char *name;
        size_t &fact;
    } facts[] = {{"l1d_size", p.l1d_size},
                 {"l1i_size", p.l1i_size},
                 {"l2_size", p.l2_size},
                 {"last_cache_size", p.last_cache_size},
                 {"memory_size", p.memory_size},
                 {"buffer_room", p.buffer_room},
                 {"measured_cache", p.measured_cache}};
    for (const auto &each : facts)
        if (strlen(each.name) == length && strncmp(each.name, name, length) == 0) return &each.fact;
    return nullptr;
}

// Replaces detected sizes by those of YAMBA_SIZES: "NAME=BYTES NAME=BYTES ...".
static void given_sizes(Platform &p) {
    const char *text = getenv("YAMBA_SIZES"), *rest = text;
    while (rest != nullptr && *(rest += strspn(rest, " ")) != '\0') {
        const size_t length = strcspn(rest, "= ");
        size_t *fact = size_named(p, rest, length), value = 0;
        if (fact != nullptr && rest[length] == '=') value = bytes_of(rest + length + 1, rest);
        if (value == 0 || (*rest != ' ' && *rest != '\0')) {
            fprintf(stderr, "%s: YAMBA_SIZES=%s: it must be `l2_size=2M last_cache_size=480M memory_size=64G`\n", program_name,
                    text);
            exit(usage_status);
        }
        *fact = value;
    }
}

}  // namespace detect

void detect_platform(Platform &p, uint64_t processes) {
    p.page_size = detect::configured(_SC_PAGESIZE);
    p.cpus = detect::first(detect::configured(_SC_NPROCESSORS_ONLN), 1);
    p.memory_size = system::memory_size();
    detect::caches(p);
    Text home = detect::scratch_home();
    p.read_ahead = system::read_ahead(home.c_str());
    p.scratch_is_memory = system::is_memory(home.c_str());
    p.buffer_room = ~size_t(0), p.measured_cache = 0;
    detect::given_sizes(p);
    detect::disk_room(p, processes);
}

}  // namespace yamba
