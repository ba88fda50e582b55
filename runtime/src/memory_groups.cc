#include "yamba/memory_groups.h"

namespace yamba {
namespace memory {

// One version of control groups: the folder of all groups, and the names of a group's files. These
// are its limits, its memory use, and the part of that use that can be reclaimed at once.
struct Groups {
    const char *top, *limits[2], *used, *unused_file;
};

uint64_t number_in(const char *folder, const char *name, const char *word, uint64_t otherwise) {
    char path[1280], line[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (file == nullptr) return otherwise;
    const size_t length = strlen(word);
    unsigned long long number = otherwise;
    while (fgets(line, sizeof line, file) != nullptr)
        if (strncmp(line, word, length) == 0 && sscanf(line + length, "%llu", &number) == 1) break;
    fclose(file);
    return number;
}

static uint64_t room_in(const Groups &groups, const char *folder) {
    uint64_t limit = ~uint64_t(0);
    for (const char *name : groups.limits) {
        uint64_t own = name == nullptr ? limit : number_in(folder, name, "", limit);
        if (own < limit) limit = own;
    }
    if (limit == ~uint64_t(0)) return limit;
    uint64_t used = number_in(folder, groups.used, "", 0), unused = number_in(folder, "memory.stat", groups.unused_file, 0);
    used -= unused < used ? unused : used;
    return limit > used ? limit - used : 0;
}

// Whether Yamba made this group for the launches of a run. Its limit is the memory that was
// available when the run began, less the memory that the launches have used since. Parameters that
// follow from the room must not depend on that use.
static bool is_of_run(const char *folder) {
    const char *name = strrchr(folder, '/');
    return name != nullptr && strncmp(name, "/yamba-run-", strlen("/yamba-run-")) == 0;
}

// The room in a group and all its parents. A container may hide the groups outside it; its own
// group is then the folder of all groups.
static uint64_t room_from(const Groups &groups, const char *path) {
    char folder[1024];
    snprintf(folder, sizeof folder, "%s%s", groups.top, path);
    uint64_t room = ~uint64_t(0);
    for (size_t top = strlen(groups.top); strlen(folder) >= top;) {
        uint64_t own = is_of_run(folder) ? room : room_in(groups, folder);
        if (own < room) room = own;
        char *end = strrchr(folder, '/');
        if (end == nullptr) break;
        *end = '\0';
    }
    return room;
}

// The path in a line "4:cpu,memory:/path", if that hierarchy limits memory; otherwise null.
static const char *path_in_memory(const char *line) {
    const char *begin = strchr(line, ':'), *end = begin == nullptr ? nullptr : strchr(begin + 1, ':');
    if (end == nullptr) return nullptr;
    const size_t length = strlen("memory");
    for (const char *word = begin; word < end; word = strpbrk(word + 1, ",:"))
        if (strncmp(word + 1, "memory", length) == 0 && strchr(",:", word[1 + length]) != nullptr) return end + 1;
    return nullptr;
}

uint64_t group_room() {
    static const Groups first = {
        "/sys/fs/cgroup/memory", {"memory.limit_in_bytes", nullptr}, "memory.usage_in_bytes", "total_inactive_file "};
    static const Groups second = {"/sys/fs/cgroup", {"memory.max", "memory.high"}, "memory.current", "inactive_file "};
    uint64_t room = ~uint64_t(0);
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[1024];
    while (file != nullptr && fgets(line, sizeof line, file) != nullptr) {
        line[strcspn(line, "\n")] = '\0';
        const char *path = path_in_memory(line);
        uint64_t own = room;
        if (path != nullptr) own = room_from(first, path);
        else if (strncmp(line, "0::", 3) == 0) own = room_from(second, line + 3);
        if (own < room) room = own;
    }
    if (file != nullptr) fclose(file);
    return room;
}

}  // namespace memory
}  // namespace yamba
