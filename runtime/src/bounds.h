// The bounds of a benchmark's evidence. They are evaluated before `prepare`, and the record
// contains those values. A second evaluation afterwards detects changes.
#pragma once

#include "yamba/floating.h"
#include "yamba/must.h"
#include "yamba/parameters.h"
#include "yamba/record_writer.h"
#include "yamba/subject.h"

namespace yamba {

inline Values<Bound> evaluate_bounds(Subject &subject) {
    Values<Bound> bounds(subject.bounds(nullptr, 0));
    subject.bounds(bounds.data(), bounds.size());
    return bounds;
}

// The bounds at the construction of this object. A bound may use parameters and facts of the
// platform. The compiler refuses a bound that names `batch`, evidence or state. A bound that
// reaches them through its own C++ code is detected here, by its changed value.
class FixedBounds {
  public:
    explicit FixedBounds(Subject &subject) : first_(evaluate_bounds(subject)) {
        for (const Bound &bound : first_)
            if (bound.bounded && !(bound.low <= bound.high))
                fail("the evidence `%s` expects [%g, %g], which no value is in: write two numbers, the lower one first",
                     bound.evidence, bound.low, bound.high);
    }

    // Ends the run if a bound has changed.
    void check(Subject &subject) const {
        Values<Bound> now = evaluate_bounds(subject);
        for (size_t i = 0; i < now.size(); i++)
            if (differ(first_[i].low, now[i].low) || differ(first_[i].high, now[i].high))
                fail(
                    "the bound of the evidence `%s` changed from [%g, %g] to [%g, %g] while the benchmark ran: bounds are "
                    "evaluated once, before `prepare`, and may use "
                    "parameters and `platform` only; let the evidence return a ratio to what changes, and expect [1, 1]",
                    now[i].evidence, first_[i].low, first_[i].high, now[i].low, now[i].high);
    }

  private:
    // Unlike `!=`, treats two NaNs as equal.
    static bool differ(double a, double b) { return a != b && !(is_nan(a) && is_nan(b)); }

    Values<Bound> first_;
};

}  // namespace yamba
