#include "yamba/conditions.h"
#include "yamba/isa_hooks.h"

namespace yamba {
namespace condition {

bool version_at_least(const char *release, std::initializer_list<unsigned> wanted) {
    for (unsigned want : wanted) {
        char *end;
        unsigned long have = strtoul(release, &end, 10);
        if (have != want) return have > want;
        release = *end == '.' ? end + 1 : "";
    }
    return true;
}

bool system_at_least(std::initializer_list<unsigned> version) {
    struct utsname names;
    return uname(&names) == 0 && version_at_least(names.release, version);
}

bool cpu(const char *feature) {
    const int known = isa_hooks.cpu_feature != nullptr ? isa_hooks.cpu_feature(feature) : -1;
    return known >= 0 ? known != 0 : system::cpu_feature(feature);
}

bool root() { return geteuid() == 0; }

bool file(const char *path) { return access(path, R_OK) == 0 || access(path, W_OK) == 0; }

}  // namespace condition
}  // namespace yamba
