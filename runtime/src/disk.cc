#include "yamba/disk.h"

namespace yamba {
namespace disk {

Room granted_room() {
    Room room;
    const char *text = getenv("YAMBA_DISK_ROOM");
    if (text == nullptr || *text == '\0') return room;
    char *rest;
    room.all = strtoull(text, &rest, 10);
    if (*rest == ' ') room.is_shared = true, room.each = strtoull(rest, &rest, 10);
    if (*rest == ' ') room.fix = rest + 1;
    return room;
}

static struct timespec launched {};
void launch() {
#ifdef CLOCK_REALTIME_COARSE
    clock_gettime(CLOCK_REALTIME_COARSE, &launched);
#else
    clock_gettime(CLOCK_REALTIME, &launched);
    launched.tv_sec--;
#endif
}

static bool is_left(const struct stat &file) {
    const struct timespec &at = file.st_mtim;
    return at.tv_sec < launched.tv_sec || (at.tv_sec == launched.tv_sec && at.tv_nsec < launched.tv_nsec);
}

// The space of a file. Holes need none, except in a file that is being written, because they are
// about to be filled.
static uint64_t taken(const char *name, const struct stat &file) {
    uint64_t blocks = uint64_t(file.st_blocks) * 512, length = uint64_t(file.st_size);
    size_t n = strlen(name), ending = strlen(being_written);
    if (n > ending && strcmp(name + n - ending, being_written) == 0) return length;
    return blocks < length ? blocks : length;
}

// Bytes of all files below a directory. With `sweep`, removes files of other launches.
static uint64_t held(int directory_fd, bool sweep) {
    uint64_t bytes = 0;
    DIR *entries = fdopendir(directory_fd);
    if (entries == nullptr) return (void)close(directory_fd), 0;
    while (const dirent *entry = readdir(entries)) {
        const char *name = entry->d_name;
        struct stat file;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        if (fstatat(dirfd(entries), name, &file, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (S_ISDIR(file.st_mode)) {
            int below = openat(dirfd(entries), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (below >= 0) bytes += held(below, sweep);
        } else if (!sweep || !is_left(file) || unlinkat(dirfd(entries), name, 0) != 0) {
            bytes += S_ISREG(file.st_mode) ? taken(name, file) : 0;
        }
    }
    closedir(entries);
    return bytes;
}

static uint64_t held(const char *directory, bool sweep) {
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? 0 : held(fd, sweep);
}

// Formats a size in thousandths of its unit, rounded up, so that a required size never reads as if
// it were available.
static Text size(uint64_t bytes) {
    Text text;
    for (int shift = 30; shift > 0; shift -= 10) {
        if (bytes >> shift == 0) continue;
        double thousandths = double(((bytes & ((uint64_t(1) << shift) - 1)) * 1000 + (uint64_t(1) << shift) - 1) >> shift);
        return text.addf("%.10g %ciB", double(bytes >> shift) + thousandths / 1000, " KMG"[shift / 10]), text;
    }
    return text.addf("%llu bytes", static_cast<unsigned long long>(bytes)), text;
}

static uint64_t unused(const char *directory) {
    struct statvfs space;
    return statvfs(directory, &space) == 0 ? uint64_t(space.f_bavail) * space.f_frsize : UINT64_MAX;
}

void find_room(const char *directory, uint64_t more, uint64_t unwritten, const char *reserved) {
    Room room = granted_room();
    Text whole(directory);
    if (room.is_shared) whole.add("/..");
    bool is_full = held(whole.c_str(), false) + more > room.all || unused(directory) < unwritten;
    if (!is_full) return;
    uint64_t needed = held(whole.c_str(), true) + more, left = unused(directory);
    if (needed <= room.all && unwritten <= left) return;
    unlink(reserved);
    if (needed > room.all) skip("needs %s on disk and may use %s: %s", size(needed).c_str(), size(room.all).c_str(), room.fix);
    skip("needs %s on disk, and %s are left there: let TMPDIR name a larger disk", size(unwritten).c_str(), size(left).c_str());
}

}  // namespace disk
}  // namespace yamba
