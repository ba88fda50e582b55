#include "yamba/platform.h"

namespace yamba {
namespace detect {

static size_t first(size_t a, size_t b) { return a != 0 ? a : b; }

static size_t configured(int name) {
    long value = sysconf(name);
    return value > 0 ? size_t(value) : 0;
}

// The share is the same for every number of processes in a run, so that the points of a scaling curve differ in nothing else.
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

// Asks the C library only if the system reports nothing: on some machines it reports shared caches many times too large.
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

}  // namespace detect

void detect_platform(Platform &p, uint64_t processes) {
    p.page_size = detect::configured(_SC_PAGESIZE);
    p.cpus = detect::first(detect::configured(_SC_NPROCESSORS_ONLN), 1);
    p.memory_size = system::memory_size();
    detect::caches(p);
    Text home = detect::scratch_home();
    p.read_ahead = system::read_ahead(home.c_str());
    p.scratch_is_memory = system::is_memory(home.c_str());
    detect::disk_room(p, processes);
}

}  // namespace yamba
