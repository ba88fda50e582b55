// Probes the width of cores for a while, without a benchmark: a first run learns the width of an
// undisturbed core before its first figure.
#pragma once

#include "quietest.h"
#include "width.h"
#include "yamba/clock.h"
#include "yamba/cycle.h"
#include "yamba/parameters.h"
#include "yamba/placement.h"
#include "yamba/record_writer.h"

namespace yamba {
namespace width {

// The time from one probe to the next. Neighbours come and go within milliseconds.
constexpr double apart_ns = 400000;

// Writes the probes of one processor, or of this process if `cpu` is negative, as one record.
// Interrupted readings are null.
inline void record(int cpu, const Values<double> &widths, const Values<double> &windows) {
    Record record("probes");
    if (cpu >= 0) record.count("cpu", uint64_t(cpu));
    auto list = [&](const char *key, const Values<double> &all) {
        Text &text = record.key(key).add("[");
        const char *separator = "";
        for (double each : all) text.add(separator).number(each), separator = ",";
        text.add("]");
    };
    list("widths", widths);
    list("windows", windows);
}

// Writes probes of `ns` nanoseconds.
inline void record_probes(double ns) {
    Values<double> widths, windows;
    const uint64_t begin = read_clock();
    for (double next = 0; next < ns; next += apart_ns) {
        while (nanoseconds(begin, read_clock()) < next) {
        }
        widths.push_back(read_core().width);
        windows.push_back(window::entries());
    }
    record(placement.pinned() ? placement.cpu : -1, widths, windows);
}

// Most processors that are probed together: each needs some milliseconds.
constexpr size_t most_processors = 64;

// Writes probes of all processors that a launch may choose, `ns` nanoseconds together.
inline void record_all_probes(double ns, uint64_t seed) {
    const Values<int> cpus = quietest::candidates(place::alike(placement.cpu), placement.cpu, most_processors, seed);
    Values<ProcessorProbes> all = quietest::without_probes(cpus, {});
    const uint64_t begin = read_clock();
    do
        for (ProcessorProbes &each : all) quietest::visit(each, quietest::longest_visit_ns);
    while (nanoseconds(begin, read_clock()) < ns);
    for (const ProcessorProbes &each : all) record(each.cpu, each.widths, each.windows);
}

}  // namespace width
}  // namespace yamba
