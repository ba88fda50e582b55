#include "support/virtual_hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "yamba/cold.h"

YAMBA_COLD_BEGIN
namespace yamba {
namespace support {

static sockaddr_in place(const char *address, uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = inet_addr(address);
    return at;
}

namespace {

// A request to the kernel for a device `near` whose other end is `far`, in the far host. Attributes
// are nested, each with its length.
struct Request {
    nlmsghdr header;
    ifinfomsg link;
    char room[256];

    rtattr *add(unsigned short type, const void *data, size_t size) {
        auto *attribute = reinterpret_cast<rtattr *>(reinterpret_cast<char *>(this) + NLMSG_ALIGN(header.nlmsg_len));
        attribute->rta_type = type;
        attribute->rta_len = static_cast<unsigned short>(RTA_LENGTH(size));
        if (size > 0) memcpy(RTA_DATA(attribute), data, size);
        header.nlmsg_len = NLMSG_ALIGN(header.nlmsg_len) + static_cast<unsigned int>(RTA_ALIGN(attribute->rta_len));
        return attribute;
    }
    void end(rtattr *outer) {
        outer->rta_len =
            static_cast<unsigned short>(reinterpret_cast<char *>(this) + header.nlmsg_len - reinterpret_cast<char *>(outer));
    }
};

}  // namespace

static bool ask(Request &request) {
    struct {
        nlmsghdr header;
        nlmsgerr error;
        char room[256];
    } answer{};
    int kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    bool heard =
        kernel >= 0 && send(kernel, &request, request.header.nlmsg_len, 0) >= 0 && recv(kernel, &answer, sizeof answer, 0) >= 0;
    if (kernel >= 0) close(kernel);
    if (!heard) return false;
    errno = -answer.error.error;
    return answer.error.error == 0;
}

static bool join(int far) {
    Request request{};
    request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.link);
    request.header.nlmsg_type = RTM_NEWLINK;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK;
    request.add(IFLA_IFNAME, "near", 5);
    rtattr *info = request.add(IFLA_LINKINFO, nullptr, 0);
    request.add(IFLA_INFO_KIND, "veth", 4);
    rtattr *data = request.add(IFLA_INFO_DATA, nullptr, 0);
    ifinfomsg peer_link{};
    rtattr *peer = request.add(VETH_INFO_PEER, &peer_link, sizeof peer_link);
    request.add(IFLA_IFNAME, "far", 4);
    request.add(IFLA_NET_NS_FD, &far, sizeof far);
    request.end(peer);
    request.end(data);
    request.end(info);
    return ask(request);
}

static int socket_on(int host) { return setns(host, CLONE_NEWNET) == 0 ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1; }

// Waits until a broadcast of one host arrives at the other. A device starts to send shortly after
// both ends are up. A packet dropped before would be repeated only after a second.
static bool reaches(int from, int to, const char *all_address) {
    int mouth = socket_on(from), ear = socket_on(to), yes = 1;
    sockaddr_in at = place("0.0.0.0", 0);
    socklen_t length = sizeof at;
    bool able = mouth >= 0 && ear >= 0 && ::bind(ear, reinterpret_cast<sockaddr *>(&at), length) == 0 &&
                getsockname(ear, reinterpret_cast<sockaddr *>(&at), &length) == 0 &&
                setsockopt(mouth, SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes) == 0;
    at.sin_addr.s_addr = inet_addr(all_address);
    bool arrived = false;
    for (int tries = 0; able && !arrived && tries < 30000; tries++) {
        char c = 0;
        able = sendto(mouth, &c, 1, 0, reinterpret_cast<sockaddr *>(&at), sizeof at) == 1;
        arrived = recv(ear, &c, 1, MSG_DONTWAIT) == 1;
        if (!arrived) usleep(100);
    }
    if (mouth >= 0) close(mouth);
    if (ear >= 0) close(ear);
    return arrived;
}

bool leave_network() {
    bool left = unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;  // as root; as anybody
    if (!left && errno == ENOSPC) errno = EPERM;  // the kernel reports that none is allowed
    return left;
}

bool bring_up(const char *device, const char *address) {
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", device);
    auto set = [&](unsigned long what, const char *value) {
        sockaddr_in at = place(value, 0);
        memcpy(&request.ifr_addr, &at, sizeof at);
        return ioctl(any, what, &request) == 0;
    };
    bool done = any >= 0 && (address == nullptr || (set(SIOCSIFADDR, address) && set(SIOCSIFNETMASK, "255.255.255.252")));
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    done = done && ioctl(any, SIOCSIFFLAGS, &request) == 0;
    if (any >= 0) close(any);
    return done;
}

const char *VirtualHosts::make(const char *near_address, const char *far_address, const char *all_address) {
    if (!leave_network()) return "network name space";
    far = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (far < 0 || !bring_up("lo", nullptr)) return "descriptor of it";
    if (unshare(CLONE_NEWNET) != 0) return "second network name space";
    near = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (near < 0 || !bring_up("lo", nullptr)) return "descriptor of it";
    if (!join(far)) return "pair of virtual Ethernet devices";
    if (setns(far, CLONE_NEWNET) != 0 || !bring_up("far", far_address)) return "address of the far host";
    if (setns(near, CLONE_NEWNET) != 0 || !bring_up("near", near_address)) return "address of the near host";
    if (!reaches(far, near, all_address) || !reaches(near, far, all_address) || setns(near, CLONE_NEWNET) != 0)
        return "cable that carries anything";
    return nullptr;
}

const char *VirtualHosts::fix(const char *missing) {
    return strstr(missing, "Ethernet") != nullptr ? "`modprobe veth`, as root, may fix that"
                                                  : "root may, or anybody where user name spaces are allowed (sysctl "
                                                    "user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns)";
}

}  // namespace support
}  // namespace yamba
YAMBA_COLD_END
