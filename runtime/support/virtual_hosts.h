// Two hosts on this machine: network name spaces without names, joined by a pair of virtual Ethernet devices. They end with the
// last process and descriptor that holds them.
#pragma once

namespace yamba {
namespace support {

struct VirtualHosts {
    int near = -1, far = -1;  // descriptors of the name spaces

    // Makes both hosts, in an IPv4 network of two with these addresses and this one for broadcasts, and leaves this process on
    // the near host. Returns null, or with errno the part that could not be made.
    const char *make(const char *near_address, const char *far_address, const char *all_address);
    // How to get the part that `make` named.
    static const char *fix(const char *missing);
};

// Takes this process to a network name space of its own. An ordinary user gets a user name space with it.
bool leave_network();
// Gives a device of the present host its address, if there is one, in a network of two, and starts it.
bool bring_up(const char *device, const char *address);

}  // namespace support
}  // namespace yamba
