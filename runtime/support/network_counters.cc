#include "support/network_counters.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yamba/cold.h"
#include "yamba/must.h"
#include "yamba/system.h"

YAMBA_COLD_BEGIN
namespace yamba {
namespace support {

double protocol_count(const char *protocol, const char *counter) {
    FILE *counts = must(fopen("/proc/self/net/snmp", "re"));
    char names[1024], values[1024];
    const size_t length = strlen(protocol);
    double found = 0;
    // Each protocol has a line of names, then a line of values.
    while (fgets(names, sizeof names, counts) && fgets(values, sizeof values, counts)) {
        if (strncmp(names, protocol, length) != 0 || names[length] != ':') continue;
        char *rest_of_names, *rest_of_values;
        const char *name = strtok_r(names, " \n", &rest_of_names), *value = strtok_r(values, " \n", &rest_of_values);
        while (name && value && strcmp(name, counter) != 0)
            name = strtok_r(nullptr, " \n", &rest_of_names), value = strtok_r(nullptr, " \n", &rest_of_values);
        found = name && value ? strtod(value, nullptr) : 0;
    }
    fclose(counts);
    return found;
}

Received received_by(const std::string &device) {
    FILE *devices = must(fopen("/proc/self/net/dev", "re"));
    Received each{}, found{};
    char line[512], name[IFNAMSIZ + 1];
    while (fgets(line, sizeof line, devices))
        if (sscanf(line, " %16[^:]: %llu %llu", name, &each.bytes, &each.packets) == 3 && device == name) found = each;
    fclose(devices);
    return found;
}

uint64_t time_wait_connections() {
    FILE *sockets = must(fopen("/proc/self/net/sockstat", "re"));
    unsigned long long count = 0;
    char line[256];
    while (fgets(line, sizeof line, sockets))
        if (sscanf(line, "TCP: inuse %*u orphan %*u tw %llu", &count) == 1) break;
    fclose(sockets);
    return count;
}

std::string interface_between(in_addr near, in_addr far) {
    ifaddrs *all = nullptr;
    std::string found;
    bool is_local = false;
    must(getifaddrs(&all));
    for (ifaddrs *each = all; each; each = each->ifa_next) {
        if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET) continue;
        const in_addr own = reinterpret_cast<sockaddr_in *>(each->ifa_addr)->sin_addr;
        if (own.s_addr == near.s_addr) found = each->ifa_name;
        if (own.s_addr == far.s_addr) is_local = true;
    }
    freeifaddrs(all);
    // An address may have a label: the device's name, a colon, and more.
    return is_local ? "lo" : found.substr(0, found.find(':'));
}

std::string boot_id() {
    char id[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!file) return "";
    if (fscanf(file, "%63s", id) != 1) id[0] = '\0';
    fclose(file);
    return id;
}

std::string processor_name() {
    char line[512];
    const char *name;
    if (!system::read_key("/proc/cpuinfo", "model name", line, name)) return "";
    name += strspn(name, " \t");
    return std::string(name, strcspn(name, "\n"));
}

}  // namespace support
}  // namespace yamba
YAMBA_COLD_END
