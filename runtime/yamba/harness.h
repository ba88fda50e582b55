// Measures one benchmark at one parameter point: warm-up, sizing, then benchmark and dummy in turn. Interprets nothing:
// every reading goes into the record as it was.
#pragma once

#include "clock.h"
#include "isa_hooks.h"
#include "record_writer.h"
#include "subject.h"

namespace yamba {

struct Plan {
    uint64_t intervals = 11;            // at least
    uint64_t time = 2000000000;         // ns; measuring goes on until it is spent
};

namespace harness {

constexpr double enough = 1e6;              // ns an interval lasts at least: what disturbs it then is rare and shows
constexpr double clock_errors = 100;        // and this many clock errors, so that reading it costs less than 1 %
constexpr double warm = 2e7;                // ns of warm-up
constexpr int most_warm_trials = 100;       // where nothing takes any time, time never comes to an end
constexpr uint64_t most_intervals = 10000;
constexpr uint64_t most_passes = uint64_t(1) << 40;
constexpr int growth_rounds = 5;

struct Pair {
    double ns, dummy_ns;
};

// Collects the values of evidence into one JSON object.
struct EvidenceObject final : EvidenceSink {
    Text json;
    void value(const char *name, double value) override { json.add(json.empty() ? "" : ",").quote(name).add(":").number(value); }
};

class Measurement {
  public:
    Measurement(Subject &subject, bool pass_hooks, const Plan &plan) : subject_(subject), plan_(plan) {
        is_value_ = strcmp(subject.figure(), "value") == 0;
        one_pass_ = pass_hooks || is_value_;
    }

    void run(const ClockError &error) {
        begin_ = read_clock();
        double target = enough > clock_errors * error.worst() ? enough : clock_errors * error.worst();
        record_cycle();
        uint64_t passes = one_pass_ ? warm_pass() : size(target);
        if (!one_pass_) check_growth(passes);
        measure(passes);
        record_cycle();
    }

  private:
    double since_begin() const { return double(read_clock() - begin_); }

    // One timed stretch of the benchmark or of its dummy. Nothing but the call stands between the readings.
    template <bool real>
    double time(uint64_t passes) {
        subject_.before_pass();
        uint64_t begin = read_clock();
        if (real) subject_.run(passes);
        else subject_.run_dummy(passes);
        uint64_t end = read_clock();
        return double(end - begin);
    }

    // Untold: warm-up, sizing and the dummy's stretches show no evidence.
    template <bool real>
    double time_quietly(uint64_t passes) {
        double ns = time<real>(passes);
        subject_.after_pass();
        return ns;
    }

    Pair trial(const char *purpose, uint64_t passes) {
        Pair t{time_quietly<true>(passes), time_quietly<false>(passes)};
        Record("sizing").text("purpose", purpose).count("passes", passes).number("ns", t.ns).number("dummy_ns", t.dummy_ns);
        return t;
    }

    // Where one pass is an interval: the first is not like the others.
    uint64_t warm_pass() {
        if (!is_value_) trial("warm-up", 1);
        return 1;
    }

    // Passes grow until an interval is long enough; at most tenfold, since short stretches foretell long ones badly.
    uint64_t size(double target) {
        uint64_t passes = 1;
        while (passes < most_passes) {
            double ns = trial("size", passes).ns;
            // Once may be a disturbance, and an interval that is sized by it stays too short for good.
            if (ns >= target) ns = trial("size", passes).ns;
            if (ns >= target) break;
            double factor = ns > 0 ? 1.1 * target / ns : 10;
            if (factor > 10) factor = 10;
            uint64_t next = uint64_t(double(passes) * factor);
            passes = next > passes ? next : passes + 1;
        }
        for (int i = 0; i < most_warm_trials && since_begin() < warm; i++) trial("warm-up", passes);
        return passes;
    }

    // Twice the passes must take longer; if they do not, the compiler or the processor has found that there is nothing to do.
    void check_growth(uint64_t passes) {
        double begin = since_begin();
        for (int i = 0; i < growth_rounds; i++) {
            trial("growth", passes);
            trial("growth", 2 * passes);
            // One pair may be disturbed; three seldom are.
            if (i >= 2 && since_begin() - begin > double(plan_.time) / 4) break;
        }
    }

    void measure(uint64_t passes) {
        double begin = since_begin();
        for (uint64_t i = 0; i < most_intervals; i++) {
            if (i >= plan_.intervals && since_begin() - begin >= double(plan_.time)) break;
            measure_interval(i, passes);
        }
    }

    void measure_interval(uint64_t index, uint64_t passes) {
        uint64_t operations = passes * subject_.operations();
        double ns = time<true>(passes);
        interval = Interval{passes, operations, ns};
        EvidenceObject evidence;
        subject_.evidence(evidence);
        double value = is_value_ ? subject_.value() : NAN;
        subject_.after_pass();
        double dummy_ns = is_value_ ? 0 : time_quietly<false>(passes);
        Record record("interval");
        record.count("index", index).count("passes", passes).count("operations", operations);
        record.number("ns", ns).number("dummy_ns", dummy_ns);
        record.key("evidence").add("{").add(evidence.json).add("}");
        record.number("value", value);
    }

    // The length of a core cycle now: the same chain at two lengths, so that call and clock cancel. The shortest of
    // several readings, since a disturbance only ever lengthens one.
    static double cycle() {
        if (isa_hooks.reference_chain == nullptr) return NAN;
        uint64_t unit = isa_hooks.reference_chain_multiple, steps = (20000 / unit + 1) * unit;
        double shorter = INFINITY, longer = INFINITY;
        for (int i = 0; i < 15; i++) {
            shorter = least(shorter, chain(steps));
            longer = least(longer, chain(2 * steps));
        }
        return longer > shorter ? (longer - shorter) / double(steps) : NAN;
    }
    static double chain(uint64_t steps) {
        uint64_t begin = read_clock();
        isa_hooks.reference_chain(steps);
        return double(read_clock() - begin);
    }
    static double least(double a, double b) { return a < b ? a : b; }
    static void record_cycle() { Record("cycle").number("ns", cycle()); }

    Subject &subject_;
    const Plan &plan_;
    bool one_pass_, is_value_;
    uint64_t begin_ = 0;
};

}  // namespace harness

// The whole life of a configured benchmark.
inline void measure(Subject &subject, bool pass_hooks, const Plan &plan, const ClockError &error) {
    subject.prepare();
    subject.setup();
    harness::Measurement(subject, pass_hooks, plan).run(error);
    subject.cleanup();
    subject.finish();
}

}  // namespace yamba
