// Finds the points to measure: every combination of the values of a program's swept parameters.
#pragma once

#include <functional>

#include "json.h"

namespace bundle {

using Settings = std::vector<std::pair<std::string, std::string>>;

// The answer of a program to --describe.
struct Description {
    Settings settings;
    int status = 0;
    std::string text, errors;
    Json json;

    bool is_described() const { return status == 0 && json.kind == Json::object; }
    bool is_measurable() const {
        return is_described() && !json.at("skip").has_value() && !json.at("unmet").has_value() && !json.at("refused").has_value();
    }
};

using Describe = std::function<Description(const Settings &)>;

// The values of the first parameter that is swept and not yet fixed, or null.
inline const Json *swept(const Json &program, bool is_quick, std::string &name) {
    for (const auto &member : program.at("parameters").members) {
        const Json &parameter = member.second, &quick = parameter.at("quick"), &over = parameter.at("over");
        if (parameter.at("set").plain == "true") continue;
        const Json &values = is_quick && quick.has_value() ? quick : over;
        if (!values.has_value()) continue;
        name = parameter.at("name").plain;
        return &values;
    }
    return nullptr;
}

// Calls `point` with the description of each point. Later parameters may depend on earlier ones, so
// each step asks the program again.
inline void expand(const Describe &describe, bool is_quick, const Settings &settings,
                   const std::function<void(const Description &)> &point) {
    const Description found = describe(settings);
    std::string name;
    const bool goes_on = found.is_described() && !found.json.at("skip").has_value();
    const Json *values = goes_on ? swept(found.json, is_quick, name) : nullptr;
    if (values == nullptr) return point(found);
    for (const auto &value : values->members) {
        Settings fixed = settings;
        fixed.emplace_back(name, value.second.plain);
        expand(describe, is_quick, fixed, point);
    }
}

inline std::string listed(const Settings &settings) {
    std::string out = "[";
    for (const auto &setting : settings)
        out += (out.size() > 1 ? ",[" : "[") + quoted(setting.first) + "," + quoted(setting.second) + "]";
    return out + "]";
}

}  // namespace bundle
