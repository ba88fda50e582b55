// Measures one benchmark at one parameter point: warm-up, sizing, then benchmark and dummy in turn. Interprets nothing:
// every reading goes into the record as it was.
#pragma once

#include "bounds.h"
#include "circle.h"
#include "counters.h"
#include "disturbance.h"
#include "interval_record.h"
#include "precision.h"
#include "yamba/clock.h"
#include "yamba/cycle.h"
#include "yamba/placement.h"
#include "yamba/record_writer.h"
#include "yamba/subject.h"

namespace yamba {

struct Plan {
    uint64_t intervals = 11;      // at least so many that nothing disturbed
    uint64_t time = 2000000000;   // ns; measuring goes on until it is spent,
    double precision = 0;         // or, looked at now and then, until the figure's interval is as narrow as this part of it
    uint64_t slow_intervals = 0;  // number of intervals if one pass takes longer than `time`; 0: `intervals`
    uint64_t warmup = 20000000;   // ns of running before anything is timed
    bool warmup_told = false;     // asked for: given to one-pass classes, too, which take one pass otherwise
    uint64_t processes = 0;       // run the benchmark at the same time; 0: one, without the protocol that several need
    uint64_t loaded_interval = 1000000000;  // ns that an interval lasts at least where several do
    bool free = false;                      // the system chooses the processor
    int cpu = -1;                           // to stay on; -1: the harness chooses
    bool realtime = false;
    bool lock = true;  // memory
};

namespace harness {

constexpr double enough =
    200000;  // ns an interval lasts at least; longer ones hold more of the timer's ticks and lose the processor more often
constexpr double clock_errors = 100;        // and this many clock errors, so that reading it costs less than 1 %
constexpr uint64_t told_warm = 3;           // trials at either end of the warm-up
constexpr int most_warm_trials = 100;       // where nothing takes any time, time never comes to an end
constexpr uint64_t most_intervals = 10000;  // unless more were asked for
constexpr uint64_t most_passes = uint64_t(1) << 40;
constexpr int growth_rounds = 5;
constexpr uint64_t check_every = 8;  // intervals: the second reference chain, once there are so many
constexpr double patience = 3;       // times the plan's time, for undisturbed intervals where most are disturbed

inline double shortest_interval(const ClockError &error) { return fmax(enough, clock_errors * error.worst()); }

// One timed stretch of the benchmark or of its dummy. Nothing but the call stands between the readings.
template <bool real>
double time(Subject &subject, uint64_t passes) {
    uint64_t begin = read_clock();
    if (real) subject.run(passes);
    else subject.run_dummy(passes);
    uint64_t end = read_clock();
    return nanoseconds(begin, end);
}

// The hooks before a batch. Evidence from a counter starts last, so that it does not count what before_pass does.
inline void begin_batch(Subject &subject) {
    subject.before_pass();
    subject.before_batch();
}

struct Pair {
    double ns, dummy_ns;
    // What takes no time itself may have a dummy that does.
    double longer() const { return ns > dummy_ns ? ns : dummy_ns; }
};

class Measurement {
  public:
    Measurement(Subject &subject, bool pass_hooks, const Plan &plan)
        : subject_(subject),
          plan_(plan),
          own_{subject.may_wait(), subject.may_fault()},
          is_value_(strcmp(subject.figure(), "value") == 0) {
        one_pass_ = pass_hooks || is_value_;
    }

    void run(const ClockError &error) {
        if (subject_.circle_groups() > 0) measure_circles(subject_, own_);
        else measure_prepared(prepare(error));
    }

    // Warms up, and finds how many passes an interval needs.
    uint64_t prepare(const ClockError &error) {
        begin_ = read_clock();
        uint64_t passes = one_pass_ ? warm_pass() : size(shortest_interval(error));
        if (!one_pass_ && !is_slow_) check_growth(passes);
        return passes;
    }

  private:
    // A class may decide by its warm-up whether it waits itself.
    void measure_prepared(uint64_t passes) {
        own_.waits = subject_.may_wait();
        measure(passes);
    }

    double since_begin() const { return nanoseconds(begin_, read_clock()); }

    // Untold: warm-up and sizing show no evidence.
    template <bool real>
    double time_quietly(uint64_t passes) {
        begin_batch(subject_);
        Watch watch;
        double ns = time<real>(subject_, passes);
        // Fewer passes are no measure of what many wait.
        if (real && (one_pass_ || ns >= enough / 2)) queue_.see(watch.end().waited_ns, passes);
        subject_.after_pass();
        return ns;
    }

    Pair time_both(uint64_t passes) {
        double ns = time_quietly<true>(passes);
        return {ns, is_value_ ? 0 : time_quietly<false>(passes)};
    }

    Pair trial(const char *purpose, uint64_t passes) {
        Pair t = time_both(passes);
        Record("sizing").text("purpose", purpose).count("passes", passes).number("ns", t.ns).number("dummy_ns", t.dummy_ns);
        return t;
    }

    // A long warm-up has as many trials as fit: the first and the last ones are recorded with their numbers.
    Pair warm_trial(uint64_t passes) {
        Pair t = time_both(passes);
        last_warm_[warm_trials_ % told_warm] = t;
        if (warm_trials_++ < told_warm) record_warm(warm_trials_ - 1, passes);
        return t;
    }
    void end_warm_up(uint64_t passes) const {
        uint64_t first = warm_trials_ < 2 * told_warm ? told_warm : warm_trials_ - told_warm;
        for (uint64_t i = first; i < warm_trials_; i++) record_warm(i, passes);
    }
    void record_warm(uint64_t number, uint64_t passes) const {
        const Pair &t = last_warm_[number % told_warm];
        Record("sizing")
            .text("purpose", "warm-up")
            .count("passes", passes)
            .number("ns", t.ns)
            .number("dummy_ns", t.dummy_ns)
            .count("trial", number);
    }

    // Where one pass is an interval: the first is not like the others.
    uint64_t warm_pass() {
        if (!is_value_) warm_trial(1);
        while (plan_.warmup_told && since_begin() < double(plan_.warmup)) warm_trial(1);
        end_warm_up(1);
        return 1;
    }

    // Passes grow until an interval is long enough. The first ones are slower than those that come after the warm-up, so they are
    // counted again then.
    uint64_t size(double target) {
        uint64_t passes = 1;
        Pair t;
        for (; passes < most_passes && (t = trial("size", passes)).longer() < target;) passes = grown(passes, t, target);
        // A pass that long has warmed up, is an interval, and is no code that was optimised away.
        is_slow_ = passes == 1 && plan_.slow_intervals > 0 && t.longer() > double(plan_.time);
        if (is_slow_) return passes;
        warm_up(passes);
        for (Pair least; passes < most_passes && (least = least_of_three(passes, target)).longer() < target;)
            passes = grown(passes, least, target);
        return passes;
    }

    // At most tenfold, since short stretches foretell long ones badly.
    static uint64_t grown(uint64_t passes, const Pair &t, double target) {
        double factor = t.longer() > 0 ? fmin(10, 1.1 * target / t.longer()) : 10;
        uint64_t next = uint64_t(double(passes) * factor);
        return next > passes ? next : passes + 1;
    }

    // One or two may be disturbed. One that is too short is enough to know, and long ones are not repeated for ever.
    Pair least_of_three(uint64_t passes, double target) {
        double begin = since_begin();
        Pair least = trial("size", passes);
        for (int i = 0; i < 2 && least.longer() >= target && since_begin() - begin < double(plan_.time) / 4; i++) {
            Pair t = trial("size", passes);
            if (t.longer() < least.longer()) least = t;
        }
        return least;
    }

    // Until the time is over; trials that take no time at all are counted instead.
    void warm_up(uint64_t passes) {
        for (int idle = 0; idle < most_warm_trials && since_begin() < double(plan_.warmup);)
            idle = warm_trial(passes).longer() < enough / 2 ? idle + 1 : 0;
        end_warm_up(passes);
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
        const uint64_t least = is_slow_ && plan_.slow_intervals < plan_.intervals ? plan_.slow_intervals : plan_.intervals;
        uint64_t checkpoint = least, short_ones = 0, count = 0;
        uint64_t most = least > most_intervals ? least : most_intervals;
        for (uint64_t i = 0; i < most; i++) {
            if (measure_interval(i, passes)) good_.push_back(last_);
            count++, short_ones += last_length_ < enough / 2;
            double spent = since_begin() - begin;
            // A clock that was set back: what has been spent is not known any more.
            if (spent < 0) begin = since_begin(), spent = 0;
            if (i + 1 < least || (good_.size() < least && spent < patience * double(plan_.time))) continue;
            if (spent >= double(plan_.time)) break;
            // Looked at always, a rule would stop where the interval is narrow by chance.
            if (plan_.precision <= 0 || good_.size() < checkpoint) continue;
            checkpoint *= 2;
            if (half_width(good_) <= plan_.precision) break;
        }
        // Of passes that take no time at all something else is said.
        if (!one_pass_ && passes < most_passes && 2 * short_ones > count)
            place::note(
                "most intervals are far shorter than they were made to be: a pass became faster meanwhile, and the clock's error "
                "weighs more");
    }

    // Whether nothing disturbed it.
    bool measure_interval(uint64_t index, uint64_t passes) {
        IntervalFacts facts;
        facts.index = index;
        facts.passes = passes;
        facts.operations = passes * subject_.operations();
        time_benchmark(facts);
        if (!is_value_) time_dummy(facts);
        if (one_pass_ || index < check_every || index % check_every == 0) facts.check_cycle_ns = check_cycle_length();
        facts.disturbance.clock_went_back = facts.ns < 0 || facts.dummy_ns < 0;
        find_queue(facts);
        facts.disturbed = held_against(facts.disturbance, facts.ns + facts.dummy_ns, own_);
        last_length_ = facts.ns > facts.dummy_ns ? facts.ns : facts.dummy_ns;
        last_ = is_value_ ? facts.value : (facts.ns - facts.dummy_ns) / double(facts.operations);
        record_interval(facts);
        return facts.disturbed.empty();
    }

    // What a quantity does in a pass may be another thing each time.
    void find_queue(IntervalFacts &facts) {
        if (is_value_) return;
        queue_.see(facts.disturbance.waited_ns, facts.passes);
        facts.disturbance.queued_ns = queue_.beyond_least(facts.disturbance.waited_ns, facts.passes);
    }

    void time_benchmark(IntervalFacts &facts) {
        begin_batch(subject_);
        Watch watch;
        Counters::Reading from, to;
        double before = cycle_length();
        counters_.read(from);
        facts.ns = time<true>(subject_, facts.passes);
        counters_.read(to);
        facts.counters = counters_.difference(from, to);
        facts.cycle_ns = (before + cycle_length()) / 2;
        facts.disturbance += watch.end();
        interval = Interval{facts.passes, facts.operations, facts.ns};
        subject_.evidence(facts.evidence);
        if (is_value_) facts.value = subject_.value();
        subject_.after_pass();
    }

    void time_dummy(IntervalFacts &facts) {
        begin_batch(subject_);
        Watch watch;
        double before = cycle_length();
        facts.dummy_ns = time<false>(subject_, facts.passes);
        facts.dummy_cycle_ns = (before + cycle_length()) / 2;
        facts.disturbance += watch.end();
        subject_.after_pass();
    }

    Subject &subject_;
    const Plan &plan_;
    Tolerance own_;
    bool one_pass_, is_value_;
    bool is_slow_ = false;  // one pass takes longer than the plan's time, and the plan has fewer intervals then
    uint64_t begin_ = 0;
    double last_ = 0, last_length_ = 0;  // of the last interval: its sample, and what its longer stretch took in ns
    Values<double> good_;
    Counters counters_;
    Queue queue_;
    uint64_t warm_trials_ = 0;
    Pair last_warm_[told_warm];
};

}  // namespace harness

// The whole life of a configured benchmark.
inline void measure(Subject &subject, bool pass_hooks, const Plan &plan, const ClockError &error) {
    const FixedBounds bounds(subject);
    read_waited();  // what it opens, it opens before the benchmark counts its own descriptors
    subject.prepare();
    subject.setup();
    if (plan.lock && !subject.may_fault()) place::lock_memory();
    harness::Measurement(subject, pass_hooks, plan).run(error);
    bounds.check(subject);
    subject.cleanup();
    subject.finish();
}

}  // namespace yamba
