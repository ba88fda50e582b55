#include "support/memory_group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "yamba/cold.h"
#include "yamba/must.h"

YAMBA_COLD_BEGIN
namespace yamba {
namespace support {

static std::string name(int owner) { return "/yamba." + std::to_string(owner); }

static bool write_to(const std::string &path, const std::string &text) {
    FILE *file = fopen(path.c_str(), "we");
    if (!file) return false;
    const bool written = fputs(text.c_str(), file) >= 0;
    return (fclose(file) == 0) && written;
}

// Locks an unlocked folder. Returns the open folder, or -1.
static int lock_folder(const std::string &folder) {
    const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0 || flock(file, LOCK_EX | LOCK_NB) == 0) return file;
    close(file);
    return -1;
}

// Removes the groups of runs that were killed together with the process that should remove them.
static void remove_orphans(const std::string &home) {
    DIR *groups = opendir(home.c_str());
    while (const dirent *entry = groups ? readdir(groups) : nullptr) {
        if (strncmp(entry->d_name, "yamba.", strlen("yamba.")) != 0) continue;
        const std::string folder = home + "/" + entry->d_name;
        const int lock = lock_folder(folder);
        if (lock < 0) continue;
        rmdir(folder.c_str());
        close(lock);
    }
    if (groups) closedir(groups);
    errno = 0;
}

std::string GroupPlace::home() const { return holds_others || path == "/" ? folder() : top + path.substr(0, path.rfind('/')); }

bool find_group(GroupPlace &place) {
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[1024];
    bool found = false, first = false;
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        const char *v1 = strstr(line, ":memory:");
        if (v1)
            place = {"/sys/fs/cgroup/memory", v1 + strlen(":memory:"), "/memory.limit_in_bytes", "/memory.usage_in_bytes", true};
        else if (strncmp(line, "0::", 3) == 0 && !first)
            place = {"/sys/fs/cgroup", line + 3, "/memory.max", "/memory.current", false};
        else continue;
        found = true, first |= v1 != nullptr;
    }
    if (file) fclose(file);
    return found;
}

bool MemoryGroup::create() {
    errno = ENOENT;
    if (!find_group(from_)) return false;
    remove_orphans(from_.home());
    own_ = from_.home() + name(getpid());
    return make_folder();
}

bool MemoryGroup::limit(uint64_t bytes) { return write_to(own_ + from_.limit, std::to_string(bytes)) && enter() && leave(); }

bool MemoryGroup::enter() { return write_to(own_ + "/cgroup.procs", std::to_string(getpid())); }

bool MemoryGroup::leave() { return write_to(from_.folder() + "/cgroup.procs", std::to_string(getpid())); }

void MemoryGroup::close_lock() { must(close(lock_)); }

// Until the folder is locked, another run may take it for an orphan and remove it.
bool MemoryGroup::make_folder() {
    for (int tries = 0; tries < 20; tries++, usleep(1000)) {
        if (mkdir(own_.c_str(), 0755) != 0 && errno != EEXIST) return false;
        lock_ = lock_folder(own_);
        if (lock_ >= 0 && access(own_.c_str(), F_OK) == 0) return true;
        if (lock_ >= 0) close(lock_);
    }
    errno = EEXIST;
    return false;
}

void MemoryGroup::remove(int owner) {
    GroupPlace place;
    if (!find_group(place)) return;
    const std::string folder = place.home() + name(owner);
    for (int tries = 0; tries < 200 && rmdir(folder.c_str()) != 0 && errno == EBUSY; tries++) usleep(10000);
}

}  // namespace support
}  // namespace yamba
YAMBA_COLD_END
