// Describes a program as JSON, for the parent, before the measurement.
#pragma once

#include "bounds.h"
#include "yamba/memory.h"
#include "yamba/parameters.h"
#include "yamba/record_writer.h"
#include "yamba/subject.h"

namespace yamba {
namespace describe {

inline void add_values(Text &out, bool given, const Values<Spelling> &list) {
    if (!given) return (void)out.add("null");
    out.add("[");
    for (size_t i = 0; i < list.size(); i++) out.add(i == 0 ? "" : ",").add(list[i].json);
    out.add("]");
}

inline void add_ports(Text &out, const char *ports) {
    out.add("[");
    bool first = true;
    while (*ports != '\0') {
        size_t n = strcspn(ports, " ");
        Text one;
        one.add(ports, n);
        if (n > 0) out.add(first ? "" : ",").quote(one.c_str()), first = false;
        ports += n + (ports[n] == ' ');
    }
    out.add("]");
}

// Adds {"scale":16,...}
inline void add_point(Text &out, const ParameterSource &source) {
    out.add("{");
    for (size_t i = 0; i < source.settled.size(); i++) {
        out.add(i == 0 ? "" : ",").quote(source.settled[i].name);
        out.add(":").add(source.settled[i].value.json);
    }
    out.add("}");
}

inline void add_parameters(Text &out, const ParameterSource &source) {
    out.add("[");
    for (size_t i = 0; i < source.settled.size(); i++) {
        const Settled &p = source.settled[i];
        out.add(i == 0 ? "{\"name\":" : ",{\"name\":").quote(p.name).add(",\"type\":").quote(p.type);
        out.add(",\"value\":").add(p.value.json).add(",\"over\":");
        add_values(out, p.has_over, p.over);
        out.add(",\"quick\":");
        add_values(out, p.has_quick, p.quick);
        out.add(",\"set\":").add(p.set ? "true}" : "false}");
    }
    out.add("]");
}

// A bound that is not finite becomes null: [1,null].
inline void add_evidence(Text &out, Subject &subject) {
    const Values<Bound> bounds = evaluate_bounds(subject);
    out.add("[");
    for (size_t i = 0; i < bounds.size(); i++) {
        out.add(i == 0 ? "{\"name\":" : ",{\"name\":").quote(bounds[i].evidence).add(",\"expects\":");
        if (bounds[i].bounded) out.add("[").number(bounds[i].low).add(",").number(bounds[i].high).add("]}");
        else out.add("null}");
    }
    out.add("]");
}

inline void add_charts(Text &out, List<Chart> charts) {
    out.add("[");
    for (size_t i = 0; i < charts.size; i++) {
        const Chart &c = charts.data[i];
        out.add(i == 0 ? "{\"figure\":" : ",{\"figure\":")
            .quote(c.figure)
            .add(",\"against\":")
            .quote(c.against)
            .add(",\"by\":")
            .quote(c.by);
        out.add(",\"log\":").add(c.log ? "true" : "false").add(",\"fit_linear\":").add(c.fit_linear ? "true}" : "false}");
    }
    out.add("]");
}

inline void add_circles(Text &out, Subject &subject) {
    out.addf("{\"groups\":%llu,\"confidence\":", static_cast<unsigned long long>(subject.circle_groups()));
    out.number(subject.circle_confidence()).add(",\"half_width\":").number(subject.circle_half_width());
    out.add(",\"margin\":").number(subject.circle_margin()).add("}");
}

inline void add_physical(Text &out, List<Physical> physical) {
    out.add("[");
    for (size_t i = 0; i < physical.size; i++) {
        const Physical &p = physical.data[i];
        out.add(i == 0 ? "{\"kind\":" : ",{\"kind\":").quote(p.at_least ? "at_least" : "at_most");
        out.add(",\"value\":").number(p.value).add(",\"unit\":").quote(p.unit).add("}");
    }
    out.add("]");
}

inline void add_primitive(Text &out, const Primitive &primitive) {
    out.add("{\"name\":").quote(primitive.name).add(",\"by\":").quote(primitive.by).add(",\"contains\":[");
    for (size_t i = 0; i < primitive.contains.size; i++) {
        const Contained &c = primitive.contains.data[i];
        out.add(i == 0 ? "{\"name\":" : ",{\"name\":").quote(c.name);
        if (c.evidence == nullptr) out.addf(",\"count\":%llu,\"evidence\":null}", c.count);
        else out.add(",\"count\":null,\"evidence\":").quote(c.evidence).add("}");
    }
    out.add("]}");
}

// Parameters whose value is smaller than the benchmark wanted.
inline void add_notes(Text &out, const ParameterSource &source) {
    out.add("[");
    bool first = true;
    for (const Settled &p : source.settled) {
        const memory::Reduction *reduction = memory::reduction_to(size_t(strtoull(p.value.plain.c_str(), nullptr, 10)));
        if (reduction == nullptr) continue;
        Text note;
        note.addf("%s is %.4g MiB instead of %.4g: there is no %s for more", p.name, double(reduction->given) / (1 << 20),
                  double(reduction->wanted) / (1 << 20), reduction->by_time ? "time" : "memory");
        if (memory::may_fit_cache(reduction->given))
            note.addf(", and the last cache (%.4g MiB) may hold it", double(platform.last_cache_size) / (1 << 20));
        else if (reduction->given < platform.last_cache_size)
            note.addf("; it is %.2g times the largest cache that was measured",
                      double(reduction->given) / double(platform.measured_cache));
        out.add(first ? "" : ",").quote(note.c_str());
        first = false;
    }
    out.add("]");
}

// The facts about the program that do not depend on the machine.
inline void add_identity(Text &out, const ProgramInfo &info) {
    out.add("{\"schema\":\"yamba-program/1\",\"class\":").quote(info.name);
    out.add(",\"isa\":").quote(info.isa).add(",\"system\":").quote(info.system);
}

inline Text skipped(const ProgramInfo &info, const char *reason) {
    Text out;
    add_identity(out, info);
    out.add(",\"variant\":null,\"skip\":").quote(reason);
    out.add(",\"ports\":[],\"parameters\":[],\"evidence\":[],\"figure\":null,\"unit\":null,\"charts\":[],\"bounds\":[]}\n");
    return out;
}

// `unmet`: the condition that these parameters do not fulfil, or nullptr. `objection`: the
// benchmark's refusal of them, or empty. In both cases the bounds are not evaluated.
inline Text program(const ProgramInfo &info, int variant, const ParameterSource &source, Subject &subject, const char *unmet,
                    const Text &objection) {
    const Variant &v = info.variants.data[variant];
    bool valid = unmet == nullptr && objection.empty();
    Text out;
    add_identity(out, info);
    out.addf(",\"variant\":%d,\"skip\":null,\"refused\":", variant);
    out.quote(objection.empty() ? nullptr : objection.c_str()).add(",\"unmet\":").quote(unmet).add(",\"ports\":");
    add_ports(out, v.ports);
    add_parameters(out.add(",\"parameters\":"), source);
    out.add(",\"evidence\":");
    if (valid) add_evidence(out, subject);
    else out.add("[]");
    out.add(",\"figure\":").quote(subject.figure()).add(",\"unit\":").quote(subject.unit());
    if (valid && subject.inferred() != nullptr)
        out.add(",\"infer\":{\"kind\":")
            .quote(subject.inferred())
            .addf(",\"level\":%llu}", static_cast<unsigned long long>(subject.inferred_level()));
    if (subject.primitive() != nullptr) add_primitive(out.add(",\"primitive\":"), *subject.primitive());
    if (valid && subject.circle_groups() > 0) add_circles(out.add(",\"circles\":"), subject);
    add_charts(out.add(",\"charts\":"), v.charts);
    add_physical(out.add(",\"bounds\":"), v.physical);
    out.addf(",\"setup_bytes\":%llu", static_cast<unsigned long long>(valid ? subject.setup_bytes() : 0));
    add_notes(out.add(",\"notes\":"), source);
    out.add("}\n");
    return out;
}

}  // namespace describe
}  // namespace yamba
