// The protocol by which runs on several nodes measure at the same time, as lmbench3's benchmp
// synchronises processes: a node sends its vote through a socket, and receives an answer when every
// node has voted. `runtime/mpi/together.cc` carries the votes over MPI.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

namespace yamba {
namespace meeting {

// The subject of a vote. If the kinds differ, nodes with a smaller kind get the answer 0, and the
// others wait.
enum Kind : uint64_t {
    stretch = 1,     // all processes of the node run the benchmark, or have timed their batch; the answer lets them continue
    launch_end = 2,  // its launch has ended
    launch = 3,      // `value` identifies the launch that the node can start; 0: none
    gone = 4,        // its run has ended
};

struct Vote {
    uint64_t kind, value;
};

// The answer is 1 if all kinds and values are the same and not 0. The time of the first node is
// that of this node plus `offset_ns`, within `error_ns`; both are measured after the vote, except
// for a stretch.
struct Answer {
    uint64_t kind, agreed;  // the kind of the vote, or `gone` if the run of another node has ended
    double offset_ns, error_ns;
};

template <class T>
bool write_whole(int fd, const T &value) {
    return write(fd, &value, sizeof value) == ssize_t(sizeof value);
}

template <class T>
bool read_whole(int fd, T &value) {
    ssize_t n;
    while ((n = read(fd, &value, sizeof value)) < 0 && errno == EINTR) {
    }
    return n == ssize_t(sizeof value);
}

}  // namespace meeting
}  // namespace yamba
