#include "yamba/parameters.h"

namespace yamba {
namespace parse {

bool suffix(const char *end, int &shift) {
    static const char letters[] = "KMGT";
    shift = 0;
    if (*end == '\0') return true;
    const char *letter = strchr(letters, *end >= 'a' ? *end - 'a' + 'A' : *end);
    if (letter == nullptr) return false;
    const char *rest = end + 1;
    if (*rest == 'i') rest += rest[1] == 'B' ? 2 : 1;  // tables show 65536 as 64Ki
    if (*rest != '\0') return false;
    shift = 10 * int(letter - letters + 1);
    return true;
}

Fault integer(const char *text, bool &negative, uint64_t &magnitude) {
    negative = *text == '-';
    if (*text == '-' || *text == '+') text++;
    if (*text < '0' || *text > '9') return not_a_number;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    char *end;
    int shift;
    errno = 0;
    magnitude = strtoull(text, &end, hex ? 16 : 10);
    if (end == text || !suffix(end, shift)) return not_a_number;
    if (errno == ERANGE || (magnitude << shift) >> shift != magnitude) return out_of_range;
    magnitude <<= shift;
    return nullptr;
}

Fault truth(const char *text, bool &out) {
    for (const char *yes : {"true", "yes", "on", "1"})
        if (strcmp(text, yes) == 0) return out = true, nullptr;
    for (const char *no : {"false", "no", "off", "0"})
        if (strcmp(text, no) == 0) return out = false, nullptr;
    return "is neither true nor false";
}

}  // namespace parse

bool ParameterSource::understood(const char *class_name) {
    for (const Setting &s : settings) {
        if (!fault.empty()) break;
        if (parameter(s.name.c_str()) == nullptr) refuse_name(s, class_name);
    }
    return fault.empty();
}

Text ParameterSource::as_given(const char *name) const {
    Text text;
    if (const Setting *setting = find(name)) return text.addf("--set %s=%s", name, setting->text);
    text.add(name);
    for (const Settled &p : settled)
        if (strcmp(p.name, name) == 0) text.add("=").add(p.value.plain);
    return text;
}

Settled *ParameterSource::parameter(const char *name) {
    for (Settled &p : settled)
        if (strcmp(p.name, name) == 0) return &p;
    return nullptr;
}

const Setting *ParameterSource::find(const char *name) const {
    for (size_t i = settings.size(); i-- > 0;)
        if (settings[i].name.is(name)) return &settings[i];
    return nullptr;
}

void ParameterSource::refuse(const Setting &s, const char *type, parse::Fault wrong) {
    if (!fault.empty()) return;
    fault.addf("--set %s=%s: %s is of type %s; `%s` %s", s.name.c_str(), s.text, s.name.c_str(), type, s.text, wrong);
}

void ParameterSource::refuse_name(const Setting &s, const char *class_name) {
    fault.addf("--set %s=%s: %s has no parameter `%s`; ", s.name.c_str(), s.text, class_name, s.name.c_str());
    if (settled.empty()) fault.add("it has none at all");
    for (size_t i = 0; i < settled.size(); i++)
        fault.addf("%s%s (%s)", i == 0 ? "it has " : ", ", settled[i].name, settled[i].type);
}

YAMBA_USUAL_PARAMETERS(template)

}  // namespace yamba
