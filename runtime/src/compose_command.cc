#include "yamba/compose_command.h"

namespace yamba {

static void add_hex(Text &json, const unsigned char *data, size_t count) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        const char two[2] = {digits[data[i] >> 4], digits[data[i] & 15]};
        json.add(two, 2);
    }
}

static void add_parts(Text &json, const Composer &composed) {
    for (size_t i = 0; i < composed.contributions(); i++) {
        const Contribution &c = composed.contribution(i);
        Text name;
        composed.print_contribution(name, i);
        json.add(i > 0 ? ",{\"name\":" : "{\"name\":").quote(name.c_str());
        json.addf(",\"start\":%zu,\"end\":%zu,\"depth\":%u}", c.start, c.end, c.depth);
    }
}

int compose_command(const ProgramInfo &info, const Variant &variant, Subject &subject, const char *member, int argc,
                    char **argv) {
    Composer composed;
    if (!variant.compose(subject, composed, member, argc, argv)) {
        fprintf(stderr, "%s: there is no bitstring `%s`\n", info.name, member);
        return 2;
    }
    Text json;
    json.addf("{\"bits\":%zu,\"bytes\":\"", composed.bits());
    add_hex(json, composed.data(), composed.size());
    json.add("\",\"isa\":").quote(info.isa).add(",\"base\":0,\"parts\":[");
    add_parts(json, composed);
    json.add("]}\n");
    write_all(STDOUT_FILENO, json.c_str(), json.size());
    return 0;
}

}  // namespace yamba
