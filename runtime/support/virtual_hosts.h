// Two hosts on this machine: unnamed network name spaces, joined by a pair of virtual Ethernet
// devices. They end with the last process and descriptor that holds them.
#pragma once

namespace yamba {
namespace support {

struct VirtualHosts {
    int near = -1, far = -1;  // descriptors of the name spaces

    // Makes both hosts in an IPv4 network of two with these addresses and this broadcast address.
    // Leaves this process on the near host. Returns null, or the part that could not be made, with
    // errno.
    const char *make(const char *near_address, const char *far_address, const char *all_address);
    // The fix for a part that `make` reported missing.
    static const char *fix(const char *missing);
};

// Moves this process to its own network name space. An ordinary user also gets a user name space.
bool leave_network();
// Gives a device of the current host its address, unless null, in a network of two, and starts it.
bool bring_up(const char *device, const char *address);

}  // namespace support
}  // namespace yamba
