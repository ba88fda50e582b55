// One of several processes that run a benchmark concurrently, or one of several threads of a
// process.
#pragma once

#include "harness.h"
#include "load_shared.h"
#include "yamba/clock.h"
#include "yamba/placement.h"

namespace yamba {
namespace load {

// The record's lock, and whether this worker holds it, for the hook below, which has no other
// access to them.
inline uint32_t *record_lock = nullptr;
inline thread_local bool holds_record = false;
inline uint32_t *failed_worker = nullptr;  // `failed` of the header, if the workers are threads

// Takes the record's lock permanently before an error is written. Other workers may have the same
// error to report; they are killed meanwhile. Names the failing thread, which the parent could not
// tell from the end of its process.
inline void last_words() {
    uint32_t none = 0;
    if (failed_worker != nullptr)
        __atomic_compare_exchange_n(failed_worker, &none, uint32_t(1 + thread_index), false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    if (record_lock == nullptr || holds_record) return;
    uint64_t begin = system_clock();
    holds_record = try_lock(*record_lock);
    while (!holds_record && system_clock() - begin < 2 * look_up) holds_record = lock_or_sleep(*record_lock);
    if (!holds_record) _exit(failed_status);
}

// Connects this process's records and signs of life with the other workers. Called before its
// workers start.
inline void join(const Shared &shared) {
    record_lock = &shared.header->record_lock;
    signs_of_life = &shared.header->signs;
    if (threads > 1) failed_worker = &shared.header->failed;
    before_last_words = last_words;
}

// The processor of a worker, assigned round-robin in the order of `placement`. Worker 0 gets the
// processor of a single-process run. If the user chose a processor, all workers share it. -1 if
// they are not pinned.
inline int processor(const Plan &plan, uint64_t index) {
    if (!placement.pinned() || plan.cpu >= 0) return placement.cpu;
    return place::after(placement.order.empty() ? placement.cpu : placement.order[0], index);
}

// Puts the calling thread on the processor of a worker and into its scheduling class. Returns the
// processor.
inline int take_place(const Plan &plan, uint64_t index) {
    int cpu = processor(plan, index);
    if (cpu >= 0 && !system::stay_on(&cpu, 1)) fail("cannot run on processor %d", cpu);
    if (plan.realtime) system::enter_realtime_in_turns(0);
    return cpu;
}

class Worker {
  public:
    Worker(Subject &subject, const FixedBounds &bounds, bool pass_hooks, const Plan &plan, const Shared &shared,
           uint64_t processors, uint64_t index, pid_t parent)
        : subject_(subject),
          bounds_(bounds),
          plan_(plan),
          shared_(shared),
          header_(*shared.header),
          processors_(processors),
          index_(index),
          parent_(parent),
          pass_hooks_(pass_hooks) {
        is_value_ = strcmp(subject.figure(), "value") == 0;
    }

    // Follows the parent's protocol from the first wait to the last.
    void live(const ClockError &error) {
        if (index_ == 0) take_baseline(error);
        arrive_and_sleep(waiting);
        if (index_ != 0) set_up();
        arrive_and_sleep(waiting);
        const bool one_pass = pass_hooks_ || is_value_;
        if (has_trial(plan_, one_pass)) try_together();
        size_ = one_pass ? Size{1, 1, 1} : size(header_, double(plan_.loaded_batch), shared_.workers, processors_);
        for (uint64_t round = 0;; round++) {
            run_round(round);
            arrive_and_sleep(reported);
            if (read(header_.again) == 0) break;
        }
        bounds_.check(subject_);
        enter(cleaning_up);
        take_turn();
        subject_.cleanup();
        end_turn();
        enter(cleaned_up);
    }

  private:
    struct Stretch {
        LoadTimes times{};
        double ns = 0, value = NAN;
        Disturbance disturbance;
        EvidenceObject evidence;
    };

    void enter(State state) {
        end_if_abandoned();
        write(shared_.slots[index_].state, state);
    }

    void arrive(State state) {
        enter(state);
        if (__atomic_add_fetch(&header_.arrived, 1, __ATOMIC_ACQ_REL) != shared_.workers) return;
        __atomic_add_fetch(&header_.news, 1, __ATOMIC_RELEASE);
        system::wake(&header_.news, 1);
    }

    // Arrives and waits for the next step. Each woken worker wakes two more, so that the parent
    // need not wake all.
    void arrive_and_sleep(State state) {
        arrive(state);
        bool slept = false;
        for (uint32_t step; (step = read(header_.step)) == step_; slept = true) {
            end_if_abandoned();
            system::sleep_while(&header_.step, step, look_up);
        }
        step_++;
        // The step orders this worker after all arrivals. ThreadSanitizer cannot see that, since
        // the parent is another process.
        (void)read(header_.arrived);
        if (slept) system::wake(&header_.step, 2);
    }

    bool step_has_begun() {
        end_if_abandoned();
        return read(header_.step) != step_;
    }

    // Ends this process if the parent is gone, on systems that do not do so themselves. Also ends
    // it if the benchmark became a daemon, since a copy has then replaced this process.
    void end_if_abandoned() {
        if (getppid() != parent_) _exit(failed_status);
    }

    // Threads set up and clean up one after the other: the runtime and many libraries keep state of
    // the whole process then.
    void take_turn() {
        if (threads <= 1 || try_lock(header_.turn)) return;
        do end_if_abandoned();
        while (!lock_or_sleep(header_.turn));
    }
    void end_turn() {
        if (threads > 1) unlock(header_.turn);
    }

    void set_up() {
        enter(setting_up);
        system::find_waited();  // see harness.h
        take_turn();
        subject_.setup();
        if (plan_.lock && !subject_.may_fault()) lock_memory();
        end_turn();
    }

    // Only one worker reports that memory cannot be locked.
    void lock_memory() const {
        if (index_ == 0) place::lock_memory();
        else place::lock_memory_silently();
    }

    // Measures setup and pass while all other workers sleep.
    void take_baseline(const ClockError &error) {
        uint64_t begin = system_clock();
        set_up();
        header_.alone.setup = double(system_clock() - begin);
        enter(sizing);
        harness::Measurement measurement(subject_, pass_hooks_, plan_);
        uint64_t passes = measurement.prepare(error);
        // One may be disturbed; two rarely are.
        double ns[3], dummy_ns[3];
        for (int i = 0; i < 3; i++) {
            ns[i] = begin_stretch(true, passes), dummy_ns[i] = is_value_ ? 0 : begin_stretch(false, passes);
            Record("sizing").text("purpose", "size").count("passes", passes).number("ns", ns[i]).number("dummy_ns", dummy_ns[i]);
        }
        header_.alone.pass = middle(ns) / double(passes);
        header_.alone.dummy_pass = middle(dummy_ns) / double(passes);
        since_evidence_ = Batch{};
    }

    // Measures a pass while all threads run.
    void try_together() {
        Stretch trial;
        size_ = trial_size(header_.alone);
        run_stretch(true, size_.piece, trial);
        const double pass = trial.ns / double(size_.passes);
        take_turn();
        header_.contended_pass += pass;
        end_turn();
        arrive_and_sleep(waiting);
    }

    // Times passes. The hooks around them are not timed.
    double run(bool real, uint64_t passes) {
        double ns = real ? harness::time<true>(subject_, passes) : harness::time<false>(subject_, passes);
        if (real) since_evidence_.passes += passes, since_evidence_.nanoseconds += ns;
        return ns;
    }

    // Runs the first piece that the next evidence covers.
    double begin_stretch(bool real, uint64_t passes) {
        harness::begin_batch(subject_);
        double ns = run(real, passes);
        subject_.after_pass();
        return ns;
    }

    double run_piece(bool real, uint64_t passes) {
        subject_.before_pass();
        double ns = run(real, passes);
        subject_.after_pass();
        return ns;
    }

    // Runs, times and runs again: timing starts after all workers run, and running stops after all
    // have timed.
    void run_stretch(bool real, uint64_t piece, Stretch &s) {
        enter(running);
        s.times.ready = system_clock();
        begin_stretch(real, piece);
        for (arrive(ready); !step_has_begun();) run_piece(real, piece);
        step_++;
        time(real, s);
        arrive(done);
        subject_.before_pass();
        for (run(real, piece); !step_has_begun(); run(real, piece)) subject_.after_pass(), subject_.before_pass();
        s.times.left = system_clock();
        step_++;
        if (real) collect(s.evidence);
        subject_.after_pass();
    }

    void time(bool real, Stretch &s) {
        enter(timing);
        subject_.before_pass();
        s.times.begin = system_clock();
        Watch watch;
        s.ns = run(real, size_.passes);
        s.disturbance = watch.end();
        s.times.end = system_clock();
        if (real && is_value_) s.value = subject_.value();
        subject_.after_pass();
    }

    // Reads evidence for all passes since its last reading.
    void collect(EvidenceObject &evidence) {
        since_evidence_.operations = since_evidence_.passes * subject_.operations();
        batch = since_evidence_;
        subject_.evidence(evidence);
        since_evidence_ = Batch{};
    }

    void run_round(uint64_t round) {
        Stretch benchmark, dummy;
        run_stretch(true, size_.piece, benchmark);
        if (!is_value_) run_stretch(false, size_.dummy_piece, dummy);
        BatchFacts facts;
        facts.evidence.json = benchmark.evidence.json;
        facts.index = round;
        facts.process = process;
        facts.thread = thread_index;
        facts.passes = size_.passes;
        facts.operations = facts.passes * subject_.operations();
        facts.ns = benchmark.ns, facts.dummy_ns = dummy.ns, facts.value = benchmark.value;
        facts.load = &benchmark.times;
        facts.disturbance = benchmark.disturbance;
        facts.disturbance += dummy.disturbance;
        facts.disturbance.clock_went_back = facts.ns < 0 || facts.dummy_ns < 0;
        facts.disturbed = held(facts);
        report(facts);
    }

    // Workers share processors on purpose, and may wait for each other's locks: neither is a
    // disturbance. The wait for a partner is unknown. Where the system places the workers, it may
    // put two on one processor for a while.
    Text held(BatchFacts &facts) const {
        const double ns = facts.ns + facts.dummy_ns;
        const bool has_partner = subject_.may_wait();
        const bool shares = has_partner || shared_.workers > processors_ || !placement.pinned();
        if (!has_partner)
            facts.disturbance.queued_ns = wait_for_others(facts.disturbance.waited_ns, ns, shared_.workers, processors_);
        return held_against(facts.disturbance, ns, {true, subject_.may_fault(), shares});
    }

    // Writes the record under the lock: lines of several workers must not mix, however long they
    // are.
    void report(const BatchFacts &facts) {
        enter(reporting);
        holds_record = try_lock(header_.record_lock);
        while (!holds_record) {
            end_if_abandoned();
            holds_record = lock_or_sleep(header_.record_lock);
        }
        record_batch(facts);
        holds_record = false;
        unlock(header_.record_lock);
    }

    Subject &subject_;
    const FixedBounds &bounds_;
    const Plan &plan_;
    const Shared &shared_;
    Header &header_;
    uint64_t processors_, index_;
    pid_t parent_;
    bool pass_hooks_, is_value_;
    Size size_{};
    Batch since_evidence_{};
    uint32_t step_ = 0;  // the last step of the parent that this worker has completed
};

}  // namespace load
}  // namespace yamba
