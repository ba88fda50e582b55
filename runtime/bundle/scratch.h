// The folder for the files of benchmarks. Without a folder that can be written, benchmarks that
// need files say so.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace bundle {

class Scratch {
  public:
    // Below `named`, or else below the first usual folder that can be written.
    explicit Scratch(const char *named) {
        const char *places[] = {named, getenv("TMPDIR"), "/var/tmp", "/tmp", "/dev/shm", "/run"};
        for (const char *place : places) {
            if (place == nullptr || *place == '\0') continue;
            std::string path = std::string(place) + "/yamba-run-XXXXXX";
            if (mkdtemp(&path[0]) == nullptr) continue;
            path_ = path;
            return;
        }
    }

    ~Scratch() {
        if (!path_.empty()) remove_tree(AT_FDCWD, path_.c_str());
    }

    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;

    const std::string &path() const { return path_; }

    // Tells the next program its folder, and how many bytes its files may have: 1 GiB, and less if
    // the file system has less to spare.
    void enter(const std::string &name) const {
        if (path_.empty()) return;
        setenv("YAMBA_SCRATCH", (path_ + "/" + name).c_str(), 1);
        struct statvfs space;
        uint64_t room = uint64_t(1) << 30;
        if (statvfs(path_.c_str(), &space) == 0) {
            const uint64_t size = uint64_t(space.f_blocks) * space.f_frsize, free = uint64_t(space.f_bavail) * space.f_frsize;
            const uint64_t reserve = std::min<uint64_t>(std::max<uint64_t>(size / 20, 16 << 20), uint64_t(1) << 30);
            room = std::min(room, free > reserve ? free - reserve : 0);
        }
        const std::string bytes = std::to_string(room);
        setenv("YAMBA_DISK_ROOM", (bytes + " " + bytes + " --scratch names another folder").c_str(), 1);
    }

    // Removes the files of a program that could not clean up.
    void forget(const std::string &name) const {
        if (!path_.empty()) remove_tree(AT_FDCWD, (path_ + "/" + name).c_str());
    }

  private:
    static void remove_tree(int folder, const char *name) {
        int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *entries = fd < 0 ? nullptr : fdopendir(fd);
        while (const dirent *entry = entries == nullptr ? nullptr : readdir(entries)) {
            if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
            if (unlinkat(dirfd(entries), entry->d_name, 0) != 0) remove_tree(dirfd(entries), entry->d_name);
        }
        if (entries != nullptr) closedir(entries);
        unlinkat(folder, name, AT_REMOVEDIR);
    }

    std::string path_;
};

}  // namespace bundle
