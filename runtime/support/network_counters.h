// Counters and names of the current host's network, as Linux reports them. They cover all programs
// of the host.
#pragma once

#include <netinet/in.h>
#include <stdint.h>

#include <string>

namespace yamba {
namespace support {

// One counter of a protocol, by its names in /proc/net/snmp. 0 if it does not exist.
double protocol_count(const char *protocol, const char *counter);

struct Received {
    unsigned long long bytes, packets;
};
// The bytes (with all headers) and packets that a device has received. Zeros if the device does not
// exist.
Received received_by(const std::string &device);

// Ended TCP connections that the kernel still holds (TIME_WAIT).
uint64_t time_wait_connections();

// The name of the device with the address `near`; "lo" if this host also has the address `far`.
// Empty if no device has it.
std::string interface_between(in_addr near, in_addr far);

// The boot id: the kernel draws it when it starts, so no two machines have the same. Empty if
// unknown.
std::string boot_id();

// The processor's model name. Empty if unknown.
std::string processor_name();

}  // namespace support
}  // namespace yamba
