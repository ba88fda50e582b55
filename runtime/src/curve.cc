// Curves of processor parameters: see yamba/curve.h.
#include "yamba/curve.h"

#include <math.h>

#include "width.h"
#include "yamba/record_writer.h"

namespace yamba {
namespace curve {

Core core() {
    const width::Core now = width::read_core();
    return {now.cycle_ns, now.width, now.is_divided};
}

// Fisher and Yates, with the generator xorshift64.
Buffer<size_t> order(size_t count, size_t round) {
    Buffer<size_t> places;
    for (size_t i = 0; i < count; i++) places.add(i);
    uint64_t state = 0x9E3779B97F4A7C15 * (round + 1);
    for (size_t i = count; i > 1; i--) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const size_t j = size_t(state % i), last = places[i - 1];
        places[i - 1] = places[j];
        places[j] = last;
    }
    return places;
}

template <class Field>
static void list(Record &record, const char *key, const Buffer<Pass> &passes, Field field) {
    Text &list = record.key(key).add("[");
    for (size_t i = 0; i < passes.size(); i++) list.add(i == 0 ? "" : ",").number(field(passes[i]));
    list.add("]");
}

static double rounded(double ns) { return round(1e4 * ns) / 1e4; }

// The mean of the lengths of a cycle before and after a pass; NaN if the clock rate changed
// between.
static double cycle_ns(const Pass &pass) {
    const double before = pass.before.cycle_ns, after = pass.after.cycle_ns;
    return fabs(before - after) <= cycle::same_rate * before ? (before + after) / 2 : not_known;
}

void write(const char *name, const char *x_unit, const Buffer<Pass> &passes, double huge_share) {
    only_in_measured_process();
    Record record("curve");
    record.text("name", name).text("x_unit", x_unit);
    if (!isnan(huge_share)) record.number("huge_share", huge_share);
    list(record, "x", passes, [](const Pass &p) { return p.x; });
    list(record, "ns", passes, [](const Pass &p) { return rounded(p.ns); });
    list(record, "cycle_ns", passes, [](const Pass &p) { return rounded(cycle_ns(p)); });
    list(record, "probes_before", passes, [](const Pass &p) { return p.before.width; });
    list(record, "probes_after", passes, [](const Pass &p) { return p.after.width; });
    if (window::is_known())
        list(record, "divided", passes, [](const Pass &p) { return double(p.before.is_divided || p.after.is_divided); });
}

}  // namespace curve
}  // namespace yamba
