// A memory control group for a benchmark: limits the memory of the processes in it, with the file
// pages that they bring in, and takes none from other processes.
#pragma once

#include <stdint.h>

#include <string>

namespace yamba {
namespace support {

// Where the system shows a control group.
struct GroupPlace {
    std::string top, path;     // the folder of all groups; the path of this group below it
    const char *limit, *used;  // files in the folder of a group
    bool holds_others;         // a group with processes may contain groups (version 1)

    std::string folder() const { return top + path; }
    // The folder in which another group may be made.
    std::string home() const;
};

// Finds the group of this process. Returns whether memory is controlled here.
bool find_group(GroupPlace &place);

class MemoryGroup {
  public:
    // Makes the group. Returns false, with errno, if the system refuses.
    bool create();
    // Sets its limit in bytes and checks that this process may enter and leave it. Returns false,
    // with errno, if not.
    bool limit(uint64_t bytes);
    // Move this process into the group and back. They return whether the system allows that.
    bool enter();
    bool leave();
    // Closes the lock. Call it after `remove`.
    void close_lock();
    // Removes the group that the process `owner` made. The caller must not be in it; processes that
    // were in it may still be ending.
    static void remove(int owner);

  private:
    bool make_folder();

    GroupPlace from_;
    std::string own_;  // its folder
    // A lock on the folder, held as long as a process lives that may use the group. A process
    // number would not do: it means nothing in another name space.
    int lock_ = -1;
};

}  // namespace support
}  // namespace yamba
