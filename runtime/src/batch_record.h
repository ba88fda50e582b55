// Writes one timed batch into the record.
#pragma once

#include <math.h>

#include "disturbance.h"
#include "width.h"
#include "yamba/record_writer.h"
#include "yamba/subject.h"

namespace yamba {

// Collects the values of evidence into one JSON object.
struct EvidenceObject final : EvidenceSink {
    Text json;
    void value(const char *name, double value) override { json.add(json.empty() ? "" : ",").quote(name).add(":").number(value); }
};

// The times of one worker's run among several, in ns of the system's clock.
struct LoadTimes {
    uint64_t ready, begin, end, left;
};

struct BatchFacts {
    uint64_t index = 0, passes = 0, operations = 0;
    double ns = 0, dummy_ns = 0, value = NAN;
    double cycle_ns = NAN, dummy_cycle_ns = NAN, check_cycle_ns = NAN;
    Probes probes;
    Disturbance disturbance;
    EvidenceObject evidence;
    Text disturbed, counters;
    uint64_t process = 0, thread = 0;
    const LoadTimes *load = nullptr;
    const uint64_t *group = nullptr;
};

inline void add_disturbance(Text &json, const Disturbance &d) {
    json.addf(
        "{\"involuntary\":%llu,\"voluntary\":%llu,\"migrations\":%llu,\"minor_faults\":%llu,\"major_faults\":%llu,\"stolen_ns\":",
        static_cast<unsigned long long>(d.involuntary), static_cast<unsigned long long>(d.voluntary),
        static_cast<unsigned long long>(d.migrations), static_cast<unsigned long long>(d.minor_faults),
        static_cast<unsigned long long>(d.major_faults));
    json.number(isfinite(d.stolen_ns) ? d.stolen_ns : 0).add(",\"waited_ns\":").number(d.waited_ns);
    json.add(",\"processor_ns\":").number(d.processor_ns).add("}");
}

// Notes once that the disturbance is unknown. Missing numbers are better than invented ones.
inline void note_unknown_disturbance() {
    static bool said = false;
    if (!said) Record("note").text("text", "disturbance is not known here: the system does not tell what it did to the process");
    said = true;
}

inline void add_probes(Text &json, const Probes &p) {
    json.add("{\"before\":").number(p.before).add(",\"between\":").number(p.between).add(",\"after\":").number(p.after);
    if (p.divided_before) json.add(",\"divided_before\":1");
    if (p.divided_between) json.add(",\"divided_between\":1");
    if (p.divided_after) json.add(",\"divided_after\":1");
    json.add(",\"cycle_change_ppm\":").number(p.cycle_change_ppm);
    json.add(",\"dummy_cycle_change_ppm\":").number(p.dummy_cycle_change_ppm).add("}");
}

inline void record_batch(const BatchFacts &f) {
    if (!f.disturbance.known) note_unknown_disturbance();
    only_in_measured_process();
    Record record("batch");
    record.count("index", f.index).count("passes", f.passes).count("operations", f.operations);
    record.number("ns", f.ns).number("dummy_ns", f.dummy_ns).number("value", f.value);
    record.number("cycle_ns", f.cycle_ns).number("dummy_cycle_ns", f.dummy_cycle_ns).number("check_cycle_ns", f.check_cycle_ns);
    if (f.probes.any()) add_probes(record.key("probes"), f.probes);
    record.key("evidence").add("{").add(f.evidence.json).add("}");
    if (f.disturbance.known) add_disturbance(record.key("disturbance"), f.disturbance);
    record.key("disturbed").add("[").add(f.disturbed).add("]");
    if (!f.counters.empty()) record.key("counters").add("{").add(f.counters).add("}");
    record.count("process", f.process);
    if (threads > 1) record.count("thread", f.thread);
    if (f.group != nullptr) record.count("group", *f.group);
    if (f.load != nullptr) {
        Text &load = record.key("load");
        load.add("{\"ready_ns\":").number(double(f.load->ready)).add(",\"begin_ns\":").number(double(f.load->begin));
        load.add(",\"end_ns\":").number(double(f.load->end)).add(",\"left_ns\":").number(double(f.load->left)).add("}");
    }
}

}  // namespace yamba
