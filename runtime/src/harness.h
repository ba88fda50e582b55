// Measures one benchmark at one parameter point: warm-up, sizing, then benchmark and dummy
// interleaved. It does not interpret: every reading goes into the record unchanged.
#pragma once

#include "batch_record.h"
#include "bounds.h"
#include "circle.h"
#include "confined_threads.h"
#include "counters.h"
#include "disturbance.h"
#include "precision.h"
#include "quietest.h"
#include "singles.h"
#include "width.h"
#include "yamba/clock.h"
#include "yamba/cycle.h"
#include "yamba/placement.h"
#include "yamba/record_writer.h"
#include "yamba/subject.h"

namespace yamba {

struct Plan {
    uint64_t batches = 11;       // least number of undisturbed batches
    uint64_t time = 2000000000;  // ns; measuring continues until this time is spent,
    double precision = 0;        // or until half the figure's confidence interval is at most this share of the figure
    double quiet_width = NAN;    // cycles of the width probe on an undisturbed core; NAN: unknown, so that any width counts
    double batch = 200000;       // least ns of a batch; longer ones contain more timer ticks and lose the processor more often
    uint64_t slow_batches = 0;   // number of batches if one pass takes longer than `time`; 0: `batches`
    uint64_t warmup = 20000000;  // ns of running before the timing
    bool warmup_told = false;    // set explicitly: then one-pass classes, which otherwise warm up for one pass, use it, too
    uint64_t processes = 0;      // concurrent processes; 0: one, without the protocol for several
    uint64_t threads = 0;        // concurrent threads of one process; 0: one, without that protocol
    uint64_t loaded_batch = 1000000000;  // least length in ns of a batch with several processes or threads
    bool free = false;                   // the system chooses the processor
    bool pinned = false;                 // threads that the benchmark starts stay on its processor, too
    int cpu = -1;                        // the processor to use; -1: the program chooses
    Choice choice{};                     // how it chooses
    bool realtime = false;
    bool lock = true;      // memory
    int meeting = -1;      // the socket through which other nodes are waited for, see meeting.h; -1: no other nodes
    uint64_t singles = 0;  // operations to time alone, after the batches

    // Whether the protocol for several workers runs, and their number.
    bool is_loaded() const { return workers() > 0; }
    uint64_t workers() const { return threads > 0 ? threads : processes; }
};

namespace harness {

constexpr double clock_errors = 100;   // least length of a batch in clock errors, so that reading the clock costs less than 1 %
constexpr uint64_t told_warm = 3;      // recorded trials at either end of the warm-up
constexpr int most_warm_trials = 100;  // limit for passes that take no time, where elapsed time would not end the loop
constexpr uint64_t most_intervals = 10000;  // unless more are requested
constexpr uint64_t most_passes = uint64_t(1) << 40;
constexpr int growth_rounds = 5;
constexpr int most_growth_rounds = 50;  // the most, while disturbances hide the growth
constexpr double clear_growth = 1.5;    // least growth of the shortest times at twice the passes
constexpr uint64_t check_every = 8;     // batches between uses of the second reference chain, after the first ones
constexpr double steady_clock = 0.01;   // largest relative change of the length of a cycle while the second chain runs
constexpr double singles_share = 0.25;  // time for single operations, as a share of the plan's time
constexpr double refresh_share = 1. / 8, refresh_ns = 25000;  // untimed passes before a batch: their share, and least time
constexpr double patience = 3;  // limit, in multiples of the plan's time, while most batches are disturbed

inline double shortest_batch(const Plan &plan, const ClockError &error) { return fmax(plan.batch, clock_errors * error.worst()); }

// Times one run of the benchmark or its dummy. Only the call is between the readings.
template <bool real>
double time(Subject &subject, uint64_t passes) {
    uint64_t begin = read_clock();
    if (real) subject.run(passes);
    else subject.run_dummy(passes);
    uint64_t end = read_clock();
    return nanoseconds(begin, end);
}

// Runs the hooks before a batch. Evidence from a counter starts last, so that it excludes
// before_pass.
inline void begin_batch(Subject &subject) {
    subject.before_pass();
    subject.before_batch();
}

struct Pair {
    double ns, dummy_ns;
    // The longer time: a benchmark that takes no time may have a dummy that does.
    double longer() const { return ns > dummy_ns ? ns : dummy_ns; }
};

class Measurement {
  public:
    Measurement(Subject &subject, bool pass_hooks, const Plan &plan)
        : subject_(subject),
          plan_(plan),
          own_{subject.may_wait(), subject.may_fault()},
          is_value_(strcmp(subject.figure(), "value") == 0),
          threads_(plan.pinned || plan.cpu >= 0 || subject.shares_processor()) {
        one_pass_ = pass_hooks || is_value_;
    }

    void run(const ClockError &error) {
        if (subject_.circle_groups() > 0) measure_circles(subject_, own_, double(plan_.warmup));
        // The figure comes from a curve; one batch has the evidence.
        else if (subject_.inferred() != nullptr) measure_batch(0, 1);
        else measure_prepared(prepare(error));
    }

    // Warms up. Returns the number of passes per batch.
    uint64_t prepare(const ClockError &error) {
        begin_ = read_clock();
        batch_ns_ = shortest_batch(plan_, error);
        uint64_t passes = one_pass_ ? warm_pass() : size(batch_ns_);
        if (!one_pass_ && !is_slow_) check_growth(passes);
        return passes;
    }

  private:
    // A class may decide during its warm-up whether it waits itself.
    void measure_prepared(uint64_t passes) {
        own_.waits = subject_.may_wait();
        measure(passes);
        if (plan_.singles > 0 && subject_.operations() == 1 && strcmp(subject_.figure(), "latency") == 0)
            Singles(subject_, one_pass_).measure(plan_.singles, double(plan_.time) * singles_share);
    }

    double since_begin() const { return nanoseconds(begin_, read_clock()); }

    // Times passes without reading evidence, for warm-up and sizing.
    template <bool real>
    double time_quietly(uint64_t passes) {
        begin_batch(subject_);
        Watch watch;
        double ns = time<real>(subject_, passes);
        // A short run does not represent the wait of many passes.
        if (real && (one_pass_ || ns >= plan_.batch / 2)) {
            const Disturbance d = watch.end();
            queue_.see(d.waited_ns, passes);
            faults_.see(d.faults(), passes);
            threads_.see(d, ns);
        }
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

    // Runs one trial of the warm-up. A long warm-up has many; only the first and last ones are
    // recorded, with their numbers.
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

    // Warm-up for one pass per batch: the first pass differs from later ones.
    uint64_t warm_pass() {
        if (!is_value_) warm_trial(1);
        while (plan_.warmup_told && since_begin() < double(plan_.warmup)) warm_trial(1);
        end_warm_up(1);
        return 1;
    }

    // Increases the passes until a batch is long enough. Passes before the warm-up are slower, so
    // the number is checked again after it.
    uint64_t size(double target) {
        uint64_t passes = 1;
        Pair t;
        for (; passes < most_passes && (t = trial("size", passes)).longer() < target;) passes = grown(passes, t, target);
        // Such a long pass has warmed up, is a batch by itself, and was not optimised away.
        is_slow_ = passes == 1 && plan_.slow_batches > 0 && t.longer() > double(plan_.time);
        if (is_slow_) return passes;
        warm_up(passes);
        for (Pair least; passes < most_passes && (least = least_of_three(passes, target)).longer() < target;)
            passes = grown(passes, least, target);
        return passes;
    }

    // The next number of passes: at most tenfold, since short runs predict long ones poorly.
    static uint64_t grown(uint64_t passes, const Pair &t, double target) {
        double factor = t.longer() > 0 ? fmin(10, 1.1 * target / t.longer()) : 10;
        uint64_t next = uint64_t(double(passes) * factor);
        return next > passes ? next : passes + 1;
    }

    // The least of three trials, since one or two may be disturbed. Stops early after a trial that
    // is too short, or when trials take long.
    Pair least_of_three(uint64_t passes, double target) {
        double begin = since_begin();
        Pair least = trial("size", passes);
        for (int i = 0; i < 2 && least.longer() >= target && since_begin() - begin < double(plan_.time) / 4; i++) {
            Pair t = trial("size", passes);
            if (t.longer() < least.longer()) least = t;
        }
        return least;
    }

    // Warms up for the plan's time. If trials take no time, their number is limited instead.
    void warm_up(uint64_t passes) {
        for (int idle = 0; idle < most_warm_trials && since_begin() < double(plan_.warmup);)
            idle = warm_trial(passes).longer() < plan_.batch / 2 ? idle + 1 : 0;
        end_warm_up(passes);
    }

    // Records trials with single and double passes. Double passes must take longer; otherwise the
    // compiler or the processor has eliminated the work. Trials beside other load can hide that, so
    // they are repeated until it shows.
    void check_growth(uint64_t passes) {
        double begin = since_begin(), once = HUGE_VAL, twice = HUGE_VAL;
        for (int i = 0; i < most_growth_rounds; i++) {
            once = fmin(once, trial("growth", passes).ns);
            twice = fmin(twice, trial("growth", 2 * passes).ns);
            if (i + 1 >= growth_rounds && twice >= clear_growth * once) break;
            // One pair may be disturbed; three rarely are.
            if (i >= 2 && since_begin() - begin > double(plan_.time) / 4) break;
        }
    }

    void measure(uint64_t passes) {
        double begin = since_begin();
        const uint64_t least = is_slow_ && plan_.slow_batches < plan_.batches ? plan_.slow_batches : plan_.batches;
        uint64_t checkpoint = least, short_ones = 0, count = 0;
        uint64_t most = least > most_intervals ? least : most_intervals;
        for (uint64_t i = 0; i < most; i++) {
            if (measure_batch(i, passes)) good_.push_back(last_);
            count++, short_ones += last_length_ < plan_.batch / 2;
            double spent = since_begin() - begin;
            // The clock was set back: the time spent is unknown, so it restarts.
            if (spent < 0) begin = since_begin(), spent = 0;
            if (i + 1 < least || (good_.size() < least && spent < wait_for(good_.size()))) continue;
            if (spent >= double(plan_.time)) break;
            // Checked only at checkpoints: a check after every batch would stop where the interval
            // is narrow by chance.
            if (plan_.precision <= 0 || good_.size() < checkpoint) continue;
            checkpoint *= 2;
            if (half_width(good_) <= plan_.precision) break;
        }
        // Passes that take no time at all are reported elsewhere.
        if (!one_pass_ && passes < most_passes && 2 * short_ones > count)
            place::note(
                "most batches are far shorter than they were made to be: a pass became faster meanwhile, and the clock's error "
                "weighs more");
    }

    // How long to measure while fewer batches than planned are undisturbed. Without such a batch, a
    // later launch has better chances.
    double wait_for(size_t undisturbed) const {
        const bool is_hopeless = undisturbed == 0 && !isnan(plan_.quiet_width);
        return (is_hopeless ? 1 : patience) * double(plan_.time);
    }

    // Returns whether the batch was undisturbed.
    bool measure_batch(uint64_t index, uint64_t passes) {
        BatchFacts facts;
        facts.index = index;
        facts.passes = passes;
        facts.operations = passes * subject_.operations();
        time_benchmark(facts);
        if (!is_value_) time_dummy(facts);
        facts.disturbance.clock_went_back = facts.ns < 0 || facts.dummy_ns < 0;
        find_normal(facts);
        facts.disturbed = held_against(facts.disturbance, facts.ns + facts.dummy_ns, tolerance());
        bool is_contended = !isnan(plan_.quiet_width) && !is_quiet(facts.probes, plan_.quiet_width, !is_value_);
        last_length_ = facts.ns > facts.dummy_ns ? facts.ns : facts.dummy_ns;
        last_ = is_value_ ? facts.value : (facts.ns - facts.dummy_ns) / double(facts.operations);
        record_batch(facts);
        return facts.disturbed.empty() && !is_contended;
    }

    // A benchmark with threads waits for them, and the system moves all of them between processors.
    Tolerance tolerance() const {
        const bool shares = isnan(subject_.waited_for_processors());
        return {own_.waits || threads_.have_run(), own_.faults, shares};
    }

    // Computes the wait beyond the normal one, and whether the page faults are the benchmark's own.
    // A quantity's passes may differ in work, so it has no normal wait and no normal faults. It may
    // know how long its threads waited.
    void find_normal(BatchFacts &facts) {
        if (is_value_) {
            const double waited_ns = subject_.waited_for_processors();
            facts.disturbance.queued_ns = isnan(waited_ns) ? 0 : waited_ns;
            return;
        }
        const uint64_t watched = facts.passes + refreshing_passes(facts.passes), faults = facts.disturbance.faults();
        faults_.see(faults, watched);
        facts.disturbance.faults_are_own = !faults_.exceeded_by(faults, watched);
        queue_.see(facts.disturbance.waited_ns, facts.passes);
        facts.disturbance.queued_ns = queue_.beyond_least(facts.disturbance.waited_ns, facts.passes);
    }

    // Prepares a batch, and starts to watch for disturbances. A class with hooks around each pass
    // may wait or fault in these.
    template <bool real>
    Watch begin_watched(uint64_t passes) {
        if (one_pass_) begin_batch(subject_);
        Watch watch;
        if (one_pass_) return watch;
        if (const uint64_t fresh = refreshing_passes(passes)) refresh<real>(fresh);
        begin_batch(subject_);
        return watch;
    }

    // The number of passes before a batch, which are watched with it.
    uint64_t refreshing_passes(uint64_t passes) const {
        if (one_pass_ || passes <= 1) return 0;
        return uint64_t(ceil(double(passes) * fmax(refresh_share, refresh_ns / batch_ns_)));
    }

    // Runs some passes before a batch is timed. The work since the last batch has evicted a part of
    // the benchmark's code and data, and the processor has forgotten its branches. That costs a
    // certain time, which is a larger share of a shorter batch. So the passes before a short batch
    // take as long as before a long one. With an eighth of its passes, a batch of 10 us of a system
    // call took 1 to 3 % longer.
    template <bool real>
    void refresh(uint64_t passes) {
        begin_batch(subject_);
        if (real) subject_.run(passes);
        else subject_.run_dummy(passes);
        subject_.after_pass();
    }

    // Reads the second chain in some batches, soon after `reference`, a reading of the first one.
    void check_cycle(BatchFacts &facts, double reference) const {
        if (!one_pass_ && facts.index >= check_every && facts.index % check_every != 0) return;
        const double length = check_cycle_length();
        // If the clock rate changed since `reference`, the two chains differ by this change.
        if (fabs(cycle_length() / reference - 1) <= steady_clock) facts.check_cycle_ns = length;
    }

    void time_benchmark(BatchFacts &facts) {
        const Watch watch = begin_watched<true>(facts.passes);
        Counters::Reading from, to;
        const width::Core before = width::read_core();
        counters_.read(from);
        facts.ns = time<true>(subject_, facts.passes);
        counters_.read(to);
        facts.counters = counters_.difference(from, to);
        const width::Core after = width::read_core();
        facts.cycle_ns = (before.cycle_ns + after.cycle_ns) / 2;
        facts.probes.before = before.width, facts.probes.divided_before = before.is_divided;
        facts.probes.between = after.width, facts.probes.divided_between = after.is_divided;
        facts.probes.cycle_change_ppm = width::change_ppm(before.cycle_ns, after.cycle_ns);
        if (is_value_) check_cycle(facts, after.cycle_ns);
        const Disturbance d = watch.end();
        threads_.see(d, facts.ns);
        facts.disturbance += d;
        facts.disturbance.processor_ns = d.processor_ns;
        batch = Batch{facts.passes, facts.operations, facts.ns};
        subject_.evidence(facts.evidence);
        if (is_value_) facts.value = subject_.value();
        subject_.after_pass();
    }

    void time_dummy(BatchFacts &facts) {
        const Watch watch = begin_watched<false>(facts.passes);
        const double before = cycle_length();
        facts.dummy_ns = time<false>(subject_, facts.passes);
        const width::Core after = width::read_core();
        facts.dummy_cycle_ns = (before + after.cycle_ns) / 2;
        facts.probes.after = after.width, facts.probes.divided_after = after.is_divided;
        facts.probes.dummy_cycle_change_ppm = width::change_ppm(before, after.cycle_ns);
        check_cycle(facts, after.cycle_ns);
        facts.disturbance += watch.end();
        subject_.after_pass();
    }

    Subject &subject_;
    const Plan &plan_;
    Tolerance own_;
    bool one_pass_, is_value_;
    ConfinedThreads threads_;
    bool is_slow_ = false;  // one pass takes longer than the plan's time, and the plan then has fewer batches
    uint64_t begin_ = 0;
    double batch_ns_ = INFINITY;         // least length of a batch; unknown before the sizing
    double last_ = 0, last_length_ = 0;  // of the last batch: its sample, and the ns of its longer run
    Values<double> good_;
    Counters counters_;
    Queue queue_;
    OwnFaults faults_;
    uint64_t warm_trials_ = 0;
    Pair last_warm_[told_warm];
};

}  // namespace harness

// Measures a configured benchmark, from `prepare` to `finish`.
inline void measure(Subject &subject, bool pass_hooks, const Plan &plan, const ClockError &error) {
    const FixedBounds bounds(subject);
    read_waited();  // opens its descriptor before the benchmark counts its own
    subject.prepare();
    subject.setup();
    system::find_children();
    if (plan.lock && !subject.may_fault()) place::lock_memory();
    harness::Measurement(subject, pass_hooks, plan).run(error);
    bounds.check(subject);
    subject.cleanup();
    subject.finish();
}

}  // namespace yamba
