// The place of this run in a fleet, and the file that takes its capture.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <string>

#include "json.h"

namespace bundle {

// The names of a run in a fleet. A launcher gives them; without a fleet's name, the run is on its
// own.
struct Member {
    std::string fleet, node, job, rank;

    // The field of the item `begin`.
    std::string field() const {
        if (fleet.empty()) return "";
        return ",\"fleet\":{\"name\":" + quoted(fleet) + ",\"node\":" + quoted(node.empty() ? host_name() : node) +
               ",\"job\":" + (job.empty() ? "null" : quoted(job)) + ",\"rank\":" + (rank.empty() ? "null" : rank) + "}";
    }

  private:
    static std::string host_name() {
        utsname names;
        return uname(&names) == 0 ? names.nodename : "";
    }
};

// Sends standard output to a file that gets its name when it is complete: no reader of a shared
// folder sees a part of a capture.
class OutputFile {
  public:
    explicit OutputFile(const char *path) : path_(path) {
        utsname names;
        const std::string host = uname(&names) == 0 ? names.nodename : "";
        part_ = path_ + "." + host + "." + std::to_string(getpid()) + ".part";
        const int fd = open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        is_open_ = fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0;
        if (fd >= 0) close(fd);
    }

    bool is_open() const { return is_open_; }

    // Removes an incomplete file.
    void discard() const { unlink(part_.c_str()); }

    // Gives the file its name once its bytes are stored.
    bool complete() const { return fsync(STDOUT_FILENO) == 0 && rename(part_.c_str(), path_.c_str()) == 0; }

  private:
    std::string path_, part_;
    bool is_open_ = false;
};

}  // namespace bundle
