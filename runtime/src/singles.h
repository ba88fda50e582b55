// Times single operations, each alone, for the distribution of their times. A clock is read before
// and after each.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "precision.h"
#include "yamba/clock.h"
#include "yamba/parameters.h"
#include "yamba/record_writer.h"
#include "yamba/subject.h"

namespace yamba {
namespace harness {

class Singles {
  public:
    // `prepares_each`: the class has hooks around each pass.
    Singles(Subject &subject, bool prepares_each) : subject_(subject), prepares_each_(prepares_each) {}

    // Times at most `most` operations in about `limit` ns, and as many of the dummy at most.
    void measure(uint64_t most, double limit) {
        Values<double> dummies = times<false>(most < enough_dummies ? most : enough_dummies, limit / 4);
        Values<double> operations = times<true>(most, limit);
        if (dummies.empty() || operations.empty()) return;
        qsort(dummies.data(), dummies.size(), sizeof(double), ascending);
        Record record("singles");
        record.number("dummy_ns", dummies[dummies.size() / 2]);
        Text &list = record.key("ns").add("[");
        for (size_t i = 0; i < operations.size(); i++) list.addf("%s%.1f", i == 0 ? "" : ",", operations[i]);
        list.add("]");
    }

  private:
    static constexpr uint64_t enough_dummies = 1001;

    template <bool real>
    Values<double> times(uint64_t most, double limit) {
        Values<double> times;
        times.reserve(most);
        uint64_t begin = read_clock();
        if (!prepares_each_) prepare();
        while (times.size() < most && nanoseconds(begin, read_clock()) < limit) times.push_back(time<real>());
        if (!prepares_each_) subject_.after_pass();
        return times;
    }

    template <bool real>
    double time() {
        if (prepares_each_) prepare();
        uint64_t begin = read_clock();
        if (real) subject_.run(1);
        else subject_.run_dummy(1);
        uint64_t end = read_clock();
        if (prepares_each_) subject_.after_pass();
        return nanoseconds(begin, end);
    }

    void prepare() {
        subject_.before_pass();
        subject_.before_batch();
    }

    Subject &subject_;
    bool prepares_each_;
};

}  // namespace harness
}  // namespace yamba
