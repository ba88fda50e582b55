// The width of the undisturbed core, as the harness finds it (crates/harness/src/contention.rs).
// The runner needs it only to ask programs for more batches beside a neighbour; figures are judged
// when the capture is imported.
#pragma once

#include <math.h>

#include <algorithm>

#include "json.h"

namespace bundle {

class Widths {
  public:
    void add(const Json &record) {
        if (record.at("event").plain == "probes") return add_all(record.at("widths"));
        if (record.at("event").plain != "batch" || !is_free_of_others(record)) return;
        const Json &probes = record.at("probes");
        for (const char *name : {"before", "between", "after"})
            if (probes.at(name).has_value()) add_one(probes.at(name).value());
    }

    // Ends a launch: updates the level and the share of contended probes.
    void launched() {
        if (all_.size() > judged_ + judged_ / 10) level_ = found(), judged_ = all_.size();
        size_t contended = 0;
        for (double width : latest_) contended += fabs(width / level_ - 1) <= 0.02 ? 0 : 1;
        if (level_ > 0 && !latest_.empty()) share_ += 0.2 * (double(contended) / double(latest_.size()) - share_);
        latest_.clear();
    }

    // In core cycles of 10 000 instructions; 0 if it is unknown.
    double level() const { return level_; }
    bool is_contended() const { return share_ > 0.04; }

  private:
    void add_all(const Json &list) {
        for (const auto &member : list.members) add_one(member.second.value());
    }

    void add_one(double width) {
        if (width > 0 && all_.size() < (size_t(1) << 20)) all_.push_back(width), latest_.push_back(width);
    }

    static bool is_free_of_others(const Json &record) { return record.at("disturbed").members.empty(); }

    // The lowest stretch of 1 % that holds at least 4 % of the probes and half of those within 5 %
    // on each side.
    double found() const {
        std::vector<double> logs;
        for (double width : all_) logs.push_back(log(width));
        std::sort(logs.begin(), logs.end());
        const double width = log1p(0.01);
        const size_t fewest = std::max<size_t>(30, size_t(0.04 * double(logs.size())));
        auto count = [&](size_t i) {
            return size_t(std::upper_bound(logs.begin(), logs.end(), logs[i] + width) - logs.begin()) - i;
        };
        for (size_t i = 0; i < logs.size();) {
            if (count(i) < fewest) {
                i++;
                continue;
            }
            size_t end = size_t(std::upper_bound(logs.begin(), logs.end(), logs[i] + width) - logs.begin()), best = i;
            for (size_t j = i; j < end; j++) best = count(j) > count(best) ? j : best;
            const double middle = (logs[best] + logs[best + count(best) - 1]) / 2;
            auto near = std::upper_bound(logs.begin(), logs.end(), middle + 5 * width) -
                        std::lower_bound(logs.begin(), logs.end(), middle - 5 * width);
            if (2 * count(best) >= size_t(near)) return exp(middle);
            i = end;
        }
        return level_;
    }

    std::vector<double> all_, latest_;
    size_t judged_ = 0;
    double level_ = 0, share_ = 0;
};

}  // namespace bundle
