// Probes the width of the core for a while, without a benchmark: a first run learns the width of an undisturbed core before its
// first figure.
#pragma once

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

// Writes probes of `ns` nanoseconds as one record. Interrupted readings are left out.
inline void record_probes(double ns) {
    Values<double> all;
    const uint64_t begin = read_clock();
    for (double next = 0; next < ns; next += apart_ns) {
        while (nanoseconds(begin, read_clock()) < next) {
        }
        const double width = read_core().width;
        if (width > 0) all.push_back(width);
    }
    Record record("probes");
    if (placement.pinned()) record.count("cpu", uint64_t(placement.cpu));
    Text &list = record.key("widths").add("[");
    for (size_t i = 0; i < all.size(); i++) list.add(i == 0 ? "" : ",").number(all[i]);
    list.add("]");
}

}  // namespace width
}  // namespace yamba
