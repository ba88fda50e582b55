// The processor's hardware counters, if the system lets this process read them. Virtual machines
// rarely have any.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "yamba/system.h"
#include "yamba/text.h"

namespace yamba {

// Counts events of this thread in user space between two readings.
class Counters {
  public:
    static constexpr size_t most = 4;
    struct Reading {
        system::CounterReading each[most];
        bool known[most];
    };

    explicit Counters(const system::CounterKind *kinds = system::counter_kinds, size_t count = system::counter_kind_count) {
        for (size_t i = 0; i < count && size_ < most; i++) {
            int counter = system::open_counter(kinds[i]);
            if (counter >= 0) names_[size_] = kinds[i].name, counters_[size_++] = counter;
        }
    }
    Counters(const Counters &) = delete;
    Counters &operator=(const Counters &) = delete;
    ~Counters() {
        for (size_t i = 0; i < size_; i++) system::close_counter(counters_[i]);
    }

    bool any() const { return size_ > 0; }

    void read(Reading &out) const {
        for (size_t i = 0; i < size_; i++) out.known[i] = system::read_counter(counters_[i], out.each[i]);
    }

    // Returns {"cycles":123,...} without the braces. Omits counters that were multiplexed.
    Text difference(const Reading &from, const Reading &to) const {
        Text json;
        for (size_t i = 0; i < size_; i++) {
            const system::CounterReading &a = from.each[i], &b = to.each[i];
            if (!from.known[i] || !to.known[i] || b.enabled - a.enabled != b.running - a.running) continue;
            json.add(json.empty() ? "" : ",").quote(names_[i]).addf(":%llu", static_cast<unsigned long long>(b.value - a.value));
        }
        return json;
    }

  private:
    const char *names_[most] = {};
    int counters_[most] = {};
    size_t size_ = 0;
};

}  // namespace yamba
